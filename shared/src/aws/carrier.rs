//! What all carriers share: the last look at the clock, what an answer's kind proves, and the line in the log.

use super::eum_carrier::EumCarrier;
use super::failure::{Failure, FailureKind, log};
use super::sns_carrier::SnsCarrier;
use crate::notification::{Outcome, ProviderCode, Reference, Refusal, RefusalClass, UnknownBasis};
use crate::ports::{Carrier, Clock, Text};
use crate::time::EpochMillis;

/// The carrier that a deployment chose. Every client under one of these never retries and never reuses a connection.
#[derive(Clone, Debug)]
pub enum AnyCarrier<C> {
    /// Through Amazon SNS.
    Sns(SnsCarrier<C>),
    /// Through AWS End User Messaging SMS.
    Eum(EumCarrier<C>),
}

impl<C: Clock> Carrier for AnyCarrier<C> {
    async fn send(&self, text: &Text) -> Outcome {
        match self {
            Self::Sns(carrier) => carrier.send(text).await,
            Self::Eum(carrier) => carrier.send(text).await,
        }
    }
}

/// The last thing before the call: the instant it begins at. A worker that was frozen since it recorded the attempt
/// stops here.
pub(super) fn begin(clock: &impl Clock, text: &Text) -> Result<EpochMillis, Outcome> {
    let now = clock.now();
    if now > text.not_after { Err(refused(RefusalClass::Retryable, ProviderCode::TooLate)) } else { Ok(now) }
}

/// An answer that says the text was taken; what it holds that is no name is no name.
pub(super) fn accepted(message_id: Option<&str>, request_id: Option<&str>) -> Outcome {
    Outcome::Accepted {
        message_id: message_id.and_then(Reference::parse),
        request_id: request_id.and_then(Reference::parse),
    }
}

/// What a failed call proves, where `listed` says what the provider's own codes do with a 4xx status. What it does not
/// list is unknown.
pub(super) fn outcome_of(failure: &Failure<'_>, listed: impl FnOnce(&str) -> Option<Outcome>) -> Outcome {
    match failure.kind {
        FailureKind::NotBuilt => refused(RefusalClass::PermanentAlarm, ProviderCode::NotBuilt),
        FailureKind::NeverConnected => refused(RefusalClass::Retryable, ProviderCode::NotConnected),
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

pub(super) const fn refused(class: RefusalClass, code: ProviderCode) -> Outcome {
    Outcome::Refused(Refusal { class, code })
}

/// Logs a failed call with the class that it was put in.
pub(super) fn logged(operation: &'static str, text: &Text, failure: &Failure<'_>, outcome: Outcome) -> Outcome {
    let class = match &outcome {
        Outcome::Accepted { .. } => "accepted",
        Outcome::Refused(_) => "refused",
        Outcome::Unknown(_) => "unknown",
    };
    let _span = tracing::warn_span!("carrier", "attempt.id" = %text.attempt.id).entered();
    log(operation, failure, class);
    outcome
}
