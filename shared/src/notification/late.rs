//! An attempt's outcome meets the record as it stands by then, which others may have moved.

use crate::time::EpochMillis;

use super::AttemptId;
use super::fact::{Fact, ReceiptSource, Strength};
use super::outcome::Outcome;
use super::record::{Record, State};

/// The fact that the outcome of `attempt` adds to `record`, if any. `retry_at` is when a refused attempt may be
/// followed by another.
///
/// In the ordinary case the record is still `sending` that attempt. Otherwise its lease ended first, and what the
/// answer proves decides: an acceptance settles whatever is not running, a refusal reopens only its own attempt's
/// unknown, and doubt adds nothing to doubt.
#[must_use]
pub fn merge_outcome(record: &Record, attempt: &AttemptId, outcome: &Outcome, retry_at: EpochMillis) -> Option<Fact> {
    let is_latest = record.progress.is_latest(attempt);
    match (record.state(), outcome) {
        (State::Sending, _) if is_latest => Some(first_hand(attempt, outcome, retry_at)),
        (State::DispatchUnknown, Outcome::Refused(_)) if is_latest => Some(first_hand(attempt, outcome, retry_at)),
        (State::DispatchUnknown | State::Accepted, Outcome::Accepted { message_id, .. }) => {
            Some(Fact::ReconciledAccepted {
                attempt: attempt.clone(),
                source: ReceiptSource::LateAnswer,
                strength: Strength::Exact,
                message_id: message_id.clone(),
            })
        }
        (State::Sending | State::Stopped(_) | State::Failed, Outcome::Accepted { .. }) => {
            Some(Fact::LateAnswer { attempt: attempt.clone(), accepted: Some(true) })
        }
        (State::Stopped(_), Outcome::Refused(_)) => {
            Some(Fact::LateAnswer { attempt: attempt.clone(), accepted: Some(false) })
        }
        _ => None,
    }
}

fn first_hand(attempt: &AttemptId, outcome: &Outcome, retry_at: EpochMillis) -> Fact {
    let attempt = attempt.clone();
    match outcome {
        Outcome::Accepted { message_id, request_id } => {
            Fact::AttemptAccepted { attempt, message_id: message_id.clone(), request_id: request_id.clone() }
        }
        Outcome::Refused(refusal) => Fact::AttemptRefused {
            attempt,
            class: refusal.class,
            code: refusal.code,
            next_at: (!refusal.is_final()).then_some(retry_at),
        },
        Outcome::Unknown(basis) => Fact::AttemptUnknown { attempt, basis: *basis },
    }
}
