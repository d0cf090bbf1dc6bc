//! The codes of SNS. They stand here a second time, on purpose: a change of one must be made in both places.

use sendonce::notification::ProviderCode as Code;
use sendonce::notification::RefusalClass::{Permanent, PermanentAlarm, Retryable, RetryableAlarm};
use sendonce::notification::UnknownBasis::{ServerError, Timeout};
use sendonce::notification::{Outcome, Provider};

use crate::codes::{Refusals, Table, assert_answers, refused};
use crate::endpoint::Script;
use crate::wire::error;

pub const TABLE: Table = Table {
    provider: Provider::Sns,
    refusals: &REFUSALS,
    unlisted: &[
        "InternalFailure",
        "InternalError",
        "RequestExpired",
        "FilterPolicyLimitExceeded",
        "ThrottlingException", // of End User Messaging
        "Unknown",
        "throttling",
        "",
        "A b",
    ],
};

const REFUSALS: [Refusals; 7] = [
    (&["InvalidParameter", "ParameterValueInvalid", "ValidationException"], Permanent, Code::InvalidParameter),
    (&["OptedOut"], Permanent, Code::OptedOut),
    (&["AuthorizationError", "AccessDenied", "OptInRequired"], RetryableAlarm, Code::AccessDenied),
    (
        &[
            "InvalidSecurity",
            "SignatureDoesNotMatch",
            "InvalidClientTokenId",
            "ExpiredToken",
            "MissingAuthenticationToken",
        ],
        RetryableAlarm,
        Code::BadCredentials,
    ),
    (&["Throttling", "Throttled", "ThrottledException", "RequestLimitExceeded"], Retryable, Code::Throttled),
    (&["NotFound", "EndpointDisabled", "PlatformApplicationDisabled"], PermanentAlarm, Code::NotFound),
    (
        &["KMSAccessDenied", "KMSDisabled", "KMSInvalidState", "KMSNotFound", "KMSOptInRequired", "KMSThrottling"],
        PermanentAlarm,
        Code::KeyUnusable,
    ),
];

#[tokio::test]
async fn s15_five_answers_of_sns_are_five_outcomes() {
    let said = |status, code| Script::Say(error(Provider::Sns, status, code));
    let five = [
        (said(400, "InvalidParameter"), refused(Permanent, Code::InvalidParameter)),
        (said(400, "OptedOut"), refused(Permanent, Code::OptedOut)),
        (said(400, "Throttled"), refused(Retryable, Code::Throttled)),
        (said(500, "InternalError"), Outcome::Unknown(ServerError)),
        (Script::SayAndStay(String::new()), Outcome::Unknown(Timeout)),
    ];
    assert_answers(Provider::Sns, five).await;
}
