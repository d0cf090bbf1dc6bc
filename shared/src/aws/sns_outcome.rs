//! What the answer to one `Publish` proves. The table is in one place, and closed: what it does not list is unknown.

use super::failure::{Failure, FailureKind};
use crate::notification::{Outcome, ProviderCode, Refusal, RefusalClass, UnknownBasis};

use ProviderCode as Code;
use RefusalClass::{Permanent, PermanentAlarm, Retryable, RetryableAlarm};

/// Codes that, with a 4xx status, are given before SNS takes a text. A code joins this list on evidence only.
const REFUSALS: [(&str, RefusalClass, ProviderCode); 25] = [
    ("InvalidParameter", Permanent, Code::InvalidParameter),
    ("ParameterValueInvalid", Permanent, Code::InvalidParameter),
    ("ValidationException", Permanent, Code::InvalidParameter),
    ("OptedOut", Permanent, Code::OptedOut), // not in the model of Publish, and given all the same
    ("AuthorizationError", RetryableAlarm, Code::AccessDenied),
    ("AccessDenied", RetryableAlarm, Code::AccessDenied),
    ("OptInRequired", RetryableAlarm, Code::AccessDenied),
    ("InvalidSecurity", RetryableAlarm, Code::BadCredentials),
    ("SignatureDoesNotMatch", RetryableAlarm, Code::BadCredentials),
    ("InvalidClientTokenId", RetryableAlarm, Code::BadCredentials),
    ("ExpiredToken", RetryableAlarm, Code::BadCredentials),
    ("MissingAuthenticationToken", RetryableAlarm, Code::BadCredentials),
    ("Throttling", Retryable, Code::Throttled),
    ("Throttled", Retryable, Code::Throttled),
    ("ThrottledException", Retryable, Code::Throttled),
    ("RequestLimitExceeded", Retryable, Code::Throttled),
    ("NotFound", PermanentAlarm, Code::NotFound),
    ("EndpointDisabled", PermanentAlarm, Code::NotFound),
    ("PlatformApplicationDisabled", PermanentAlarm, Code::NotFound),
    ("KMSAccessDenied", PermanentAlarm, Code::KeyUnusable),
    ("KMSDisabled", PermanentAlarm, Code::KeyUnusable),
    ("KMSInvalidState", PermanentAlarm, Code::KeyUnusable),
    ("KMSNotFound", PermanentAlarm, Code::KeyUnusable),
    ("KMSOptInRequired", PermanentAlarm, Code::KeyUnusable),
    ("KMSThrottling", PermanentAlarm, Code::KeyUnusable),
];

/// What a failed `Publish` proves.
#[must_use]
pub fn sns_outcome(failure: &Failure<'_>) -> Outcome {
    match failure.kind {
        FailureKind::NotBuilt => refused(PermanentAlarm, Code::NotBuilt),
        FailureKind::NeverConnected => refused(Retryable, Code::NotConnected),
        FailureKind::TimedOut => Outcome::Unknown(UnknownBasis::Timeout),
        FailureKind::ConnectionLost => Outcome::Unknown(UnknownBasis::ConnectionLost),
        FailureKind::Unreadable(200..=299) | FailureKind::Answered(200..=299) => {
            Outcome::Unknown(UnknownBasis::UnreadableSuccess)
        }
        // A request time-out: the far side gave up on the request, not we on the answer.
        FailureKind::Answered(408) => Outcome::Unknown(UnknownBasis::Timeout),
        FailureKind::Answered(400..=499) => {
            listed(failure.code).unwrap_or(Outcome::Unknown(UnknownBasis::UnlistedError))
        }
        FailureKind::Unreadable(500..=599) | FailureKind::Answered(500..=599) => {
            Outcome::Unknown(UnknownBasis::ServerError)
        }
        FailureKind::Unreadable(_) | FailureKind::Answered(_) => Outcome::Unknown(UnknownBasis::UnlistedError),
    }
}

fn listed(code: &str) -> Option<Outcome> {
    REFUSALS.iter().find(|(name, _, _)| *name == code).map(|(_, class, reason)| refused(*class, *reason))
}

const fn refused(class: RefusalClass, code: ProviderCode) -> Outcome {
    Outcome::Refused(Refusal { class, code })
}
