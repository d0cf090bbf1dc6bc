//! What the answer to one `Publish` proves. The table is in one place, and closed: what it does not list is unknown.

use super::carrier::{outcome_of, refused};
use super::failure::Failure;
use crate::notification::{Outcome, ProviderCode, RefusalClass};

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
    outcome_of(failure, |code| {
        REFUSALS.iter().find(|(name, _, _)| *name == code).map(|(_, class, reason)| refused(*class, *reason))
    })
}
