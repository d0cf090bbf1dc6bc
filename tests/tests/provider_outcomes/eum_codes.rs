//! The exceptions of End User Messaging and their reasons. They stand here a second time, on purpose: a change of one
//! must be made in both places.

use sendonce::notification::ProviderCode as Code;
use sendonce::notification::RefusalClass::{Permanent, Retryable, RetryableAlarm};
use sendonce::notification::UnknownBasis::{ServerError, Timeout, UnlistedError};
use sendonce::notification::{Outcome, Provider};

use crate::codes::{Refusals, Table, assert_answers, refused};
use crate::endpoint::Script;
use crate::wire::{error, exception, http};

pub const TABLE: Table = Table {
    provider: Provider::Eum,
    refusals: &REFUSALS,
    unlisted: &[
        "InternalServerException",
        "UnrecognizedClientException",
        "ExpiredTokenException",
        "SerializationException",
        "UnknownOperationException",
        "Throttled", // of SNS
        "InvalidParameter",
        "validationException",
        "",
        "A b",
    ],
};

const REFUSALS: [Refusals; 6] = [
    (&["ValidationException"], Permanent, Code::InvalidParameter),
    (&["ConflictException"], Permanent, Code::Conflict),
    (&["ServiceQuotaExceededException"], RetryableAlarm, Code::QuotaExceeded),
    (&["AccessDeniedException"], RetryableAlarm, Code::AccessDenied),
    (&["ResourceNotFoundException"], RetryableAlarm, Code::NotFound),
    (&["ThrottlingException"], Retryable, Code::Throttled),
];

/// Reasons, each in the exception that gives it.
const REASONS: [(&str, &str, Code); 19] = [
    ("ValidationException", "DESTINATION_COUNTRY_BLOCKED", Code::CountryBlocked),
    ("ValidationException", "COUNTRY_NOT_ENABLED", Code::CountryBlocked),
    ("ValidationException", "PRICE_OVER_THRESHOLD", Code::PriceOverThreshold),
    ("ValidationException", "INVALID_IDENTITY_FOR_DESTINATION_COUNTRY", Code::OriginationUnfit),
    ("ValidationException", "INTERNATIONAL_SENDING_NOT_SUPPORTED", Code::OriginationUnfit),
    ("ValidationException", "SENDER_ID_NOT_REGISTERED", Code::OriginationUnfit),
    ("ValidationException", "SENDER_ID_NOT_SUPPORTED", Code::OriginationUnfit),
    ("ValidationException", "SENDER_ID_REQUIRES_REGISTRATION", Code::OriginationUnfit),
    ("ValidationException", "INVALID_PARAMETER", Code::InvalidParameter),
    ("ValidationException", "OF_THE_FUTURE", Code::InvalidParameter),
    ("ValidationException", "+15550142973", Code::InvalidParameter),
    ("ConflictException", "DESTINATION_PHONE_NUMBER_OPTED_OUT", Code::OptedOut),
    ("ConflictException", "DESTINATION_PHONE_NUMBER_NOT_VERIFIED", Code::NotVerified),
    ("ConflictException", "DESTINATION_COUNTRY_BLOCKED_BY_PROTECT_CONFIGURATION", Code::BlockedByProtect),
    ("ConflictException", "DESTINATION_PHONE_NUMBER_BLOCKED_BY_PROTECT_NUMBER_OVERRIDE", Code::BlockedByProtect),
    ("ConflictException", "NO_ORIGINATION_IDENTITIES_FOUND", Code::NoOrigination),
    ("ConflictException", "MESSAGE_TYPE_MISMATCH", Code::OriginationUnfit),
    ("ConflictException", "RESOURCE_NOT_ACTIVE", Code::Conflict),
    ("ConflictException", "OF_THE_FUTURE", Code::Conflict),
];

fn with_reason(status: &str, code: &str, reason: &str) -> Script {
    Script::Say(http(status, &exception(code, reason)))
}

#[tokio::test]
async fn a_reason_is_kept_as_a_code_of_ours() {
    let cases = REASONS.map(|(exception, reason, code)| {
        (with_reason("400 Bad Request", exception, &format!("\"{reason}\"")), refused(Permanent, code))
    });
    assert_answers(Provider::Eum, cases).await;
}

#[tokio::test]
async fn a_reason_makes_no_refusal_of_what_is_none() {
    let blocked = "\"DESTINATION_COUNTRY_BLOCKED\"";
    let answer = |status, exception| with_reason(status, exception, blocked);
    let cases = [
        (answer("500 Oops", "ValidationException"), Outcome::Unknown(ServerError)),
        (answer("408 Request Timeout", "ConflictException"), Outcome::Unknown(Timeout)),
        (answer("400 Bad Request", "InternalServerException"), Outcome::Unknown(UnlistedError)),
        (answer("400 Bad Request", "BrandNewException"), Outcome::Unknown(UnlistedError)),
    ];
    assert_answers(Provider::Eum, cases).await;
}

#[tokio::test]
async fn the_reason_of_another_exception_changes_nothing() {
    let opted_out = "\"DESTINATION_PHONE_NUMBER_OPTED_OUT\"";
    let cases = [
        ("ThrottlingException", refused(Retryable, Code::Throttled)),
        ("AccessDeniedException", refused(RetryableAlarm, Code::AccessDenied)),
        ("ServiceQuotaExceededException", refused(RetryableAlarm, Code::QuotaExceeded)),
    ];
    let cases = cases.map(|(exception, outcome)| (with_reason("400 Bad Request", exception, opted_out), outcome));
    assert_answers(Provider::Eum, cases).await;
}

#[tokio::test]
async fn an_exception_whose_reason_is_no_text_is_unknown() {
    let cases = [("5", UnlistedError), ("{}", UnlistedError)];
    let cases = cases
        .map(|(reason, basis)| (with_reason("400 Bad Request", "ConflictException", reason), Outcome::Unknown(basis)));
    assert_answers(Provider::Eum, cases).await;
    let none = (with_reason("400 Bad Request", "ConflictException", "null"), refused(Permanent, Code::Conflict));
    assert_answers(Provider::Eum, [none]).await;
}

#[tokio::test]
async fn s15_five_answers_of_end_user_messaging_are_five_outcomes() {
    let five = [
        (Script::Say(error(Provider::Eum, 400, "ValidationException")), refused(Permanent, Code::InvalidParameter)),
        (
            with_reason("400 Bad Request", "ConflictException", "\"DESTINATION_PHONE_NUMBER_OPTED_OUT\""),
            refused(Permanent, Code::OptedOut),
        ),
        (Script::Say(error(Provider::Eum, 400, "ThrottlingException")), refused(Retryable, Code::Throttled)),
        (Script::Say(error(Provider::Eum, 500, "InternalServerException")), Outcome::Unknown(ServerError)),
        (Script::SayAndStay(String::new()), Outcome::Unknown(Timeout)),
    ];
    assert_answers(Provider::Eum, five).await;
}
