//! What the answer to one `SendTextMessage` proves. The tables are in one place, and closed: a code that they do not
//! list is unknown, a reason that they do not list is its exception's general one.

use aws_sdk_pinpointsmsvoicev2::config::http::HttpResponse;
use aws_sdk_pinpointsmsvoicev2::error::SdkError;
use aws_sdk_pinpointsmsvoicev2::operation::send_text_message::SendTextMessageError;

use super::carrier::{outcome_of, refused};
use super::failure::Failure;
use crate::notification::{Outcome, ProviderCode, RefusalClass};

use ProviderCode as Code;
use RefusalClass::{Permanent, Retryable, RetryableAlarm};

/// Exceptions that, with a 4xx status, are thrown before the service takes a text. One joins this list on evidence only.
const REFUSALS: [(&str, RefusalClass, ProviderCode); 6] = [
    ("ValidationException", Permanent, Code::InvalidParameter),
    ("ConflictException", Permanent, Code::Conflict),
    ("ServiceQuotaExceededException", RetryableAlarm, Code::QuotaExceeded),
    ("AccessDeniedException", RetryableAlarm, Code::AccessDenied),
    ("ResourceNotFoundException", RetryableAlarm, Code::NotFound),
    ("ThrottlingException", Retryable, Code::Throttled),
];

/// What the reasons of `ValidationException` and `ConflictException` say more than their names.
const REASONS: [(&str, ProviderCode); 14] = [
    ("DESTINATION_COUNTRY_BLOCKED", Code::CountryBlocked),
    ("COUNTRY_NOT_ENABLED", Code::CountryBlocked),
    ("PRICE_OVER_THRESHOLD", Code::PriceOverThreshold),
    ("DESTINATION_PHONE_NUMBER_OPTED_OUT", Code::OptedOut),
    ("DESTINATION_PHONE_NUMBER_NOT_VERIFIED", Code::NotVerified),
    ("DESTINATION_COUNTRY_BLOCKED_BY_PROTECT_CONFIGURATION", Code::BlockedByProtect),
    ("DESTINATION_PHONE_NUMBER_BLOCKED_BY_PROTECT_NUMBER_OVERRIDE", Code::BlockedByProtect),
    ("NO_ORIGINATION_IDENTITIES_FOUND", Code::NoOrigination),
    ("INVALID_IDENTITY_FOR_DESTINATION_COUNTRY", Code::OriginationUnfit),
    ("INTERNATIONAL_SENDING_NOT_SUPPORTED", Code::OriginationUnfit),
    ("MESSAGE_TYPE_MISMATCH", Code::OriginationUnfit),
    ("SENDER_ID_NOT_REGISTERED", Code::OriginationUnfit),
    ("SENDER_ID_NOT_SUPPORTED", Code::OriginationUnfit),
    ("SENDER_ID_REQUIRES_REGISTRATION", Code::OriginationUnfit),
];

/// What a failed `SendTextMessage` proves. `reason` is its exception's, empty where it gives none.
#[must_use]
pub fn eum_outcome(failure: &Failure<'_>, reason: &str) -> Outcome {
    outcome_of(failure, |code| {
        let (_, class, general) = REFUSALS.iter().find(|(name, _, _)| *name == code)?;
        let particular = REASONS.iter().find(|(name, _)| *name == reason).map(|(_, code)| *code);
        Some(refused(*class, particular.unwrap_or(*general)))
    })
}

/// The reason that an exception gives, where it is one whose reasons say more than it.
pub(super) fn reason(error: &SdkError<SendTextMessageError, HttpResponse>) -> &str {
    let reason = match error.as_service_error() {
        Some(SendTextMessageError::ValidationException(exception)) => exception.reason().map(|reason| reason.as_str()),
        Some(SendTextMessageError::ConflictException(exception)) => exception.reason().map(|reason| reason.as_str()),
        _ => None,
    };
    reason.unwrap_or_default()
}
