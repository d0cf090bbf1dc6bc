//! An attempt's outcome meets the record as it stands by then, which others may have moved.

use crate::marks::{Mark, mark, marked};
use crate::time::EpochMillis;

use super::AttemptId;
use super::fact::Fact;
use super::outcome::Outcome;
use super::receipt::{ReceiptSource, Strength};
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
        (State::DispatchUnknown, Outcome::Refused(_)) if is_latest => {
            marked(Mark::LateRefusalReopens, Some(first_hand(attempt, outcome, retry_at)))
        }
        (State::DispatchUnknown | State::Accepted, Outcome::Accepted { message_id, .. }) => {
            mark(Mark::LateAcceptanceSettles);
            Some(Fact::ReconciledAccepted {
                attempt: attempt.clone(),
                source: ReceiptSource::LateAnswer,
                strength: Strength::Exact,
                message_id: message_id.clone(),
            })
        }
        (State::Sending | State::Stopped(_) | State::Failed, Outcome::Accepted { .. }) => {
            marked(Mark::LateAcceptanceNoted, Some(Fact::LateAnswer { attempt: attempt.clone(), accepted: Some(true) }))
        }
        // A second text, and whoever allowed it must be able to see so.
        (State::Sent | State::Delivered | State::Undelivered, Outcome::Accepted { .. })
            if record.progress.taken.as_ref() != Some(attempt) =>
        {
            marked(Mark::LateAcceptanceNoted, Some(Fact::LateAnswer { attempt: attempt.clone(), accepted: Some(true) }))
        }
        // Of an attempt that somebody took for lost, or a receipt for taken: it changes nothing, and is not lost.
        (
            State::Accepted
            | State::Sending
            | State::DispatchUnknown
            | State::Stopped(_)
            | State::Failed
            | State::Sent
            | State::Delivered
            | State::Undelivered,
            Outcome::Refused(_),
        ) => marked(Mark::LateRefusalNoted, Some(Fact::LateAnswer { attempt: attempt.clone(), accepted: Some(false) })),
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

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::super::{ProviderCode, Refusal, RefusalClass, StopReason, UnknownBasis};
    use super::*;

    fn accepted_outcome() -> Outcome {
        Outcome::Accepted { message_id: None, request_id: None }
    }

    fn refusal(class: RefusalClass) -> Outcome {
        Outcome::Refused(Refusal { class, code: ProviderCode::Throttled })
    }

    fn doubt() -> Outcome {
        Outcome::Unknown(UnknownBasis::Timeout)
    }

    /// The facts that attempt 1's acceptance, refusal and doubt add to a story's end.
    fn merged(facts: impl IntoIterator<Item = Fact>) -> [Option<Fact>; 3] {
        let (record, _) = story(facts);
        let merge = |outcome| merge_outcome(&record, &attempt(1), &outcome, at(50_000));
        [merge(accepted_outcome()), merge(refusal(RefusalClass::Retryable)), merge(doubt())]
    }

    fn reconciled() -> Option<Fact> {
        let (source, strength) = (ReceiptSource::LateAnswer, Strength::Exact);
        Some(Fact::ReconciledAccepted { attempt: attempt(1), source, strength, message_id: None })
    }

    fn kept(accepted: bool) -> Option<Fact> {
        Some(Fact::LateAnswer { attempt: attempt(1), accepted: Some(accepted) })
    }

    const RETRYABLE: RefusalClass = RefusalClass::Retryable;

    #[test]
    fn while_its_own_attempt_is_running_each_outcome_is_first_hand() {
        assert_eq!(merged([started(1, 1)]), [Some(taken(1)), Some(refused(1, RETRYABLE)), Some(unknown(1))]);
    }

    #[test]
    fn r7_after_its_lease_ended_proof_counts_and_doubt_adds_nothing() {
        assert_eq!(merged([started(1, 1), unknown(1)]), [reconciled(), Some(refused(1, RETRYABLE)), None]);
    }

    #[test]
    fn an_earlier_attempts_acceptance_settles_what_is_not_running() {
        let next_unknown = [started(1, 1), refused(1, RETRYABLE), started(2, 2), unknown(2)];
        assert_eq!(merged(next_unknown), [reconciled(), kept(false), None]);
        assert_eq!(merged([started(1, 1), refused(1, RETRYABLE)]), [reconciled(), kept(false), None]);
        assert_eq!(merged([started(1, 1), refused(1, RETRYABLE), started(2, 2)]), [kept(true), kept(false), None]);
    }

    #[test]
    fn after_the_end_an_answer_is_kept_as_evidence_and_changes_nothing() {
        let ended = [started(1, 1), unknown(1), stopped(StopReason::ExpiredUnresolved)];
        assert_eq!(merged(ended), [kept(true), kept(false), None]);
        assert_eq!(merged([started(1, 1), taken(1)]), [None, kept(false), None]);
        let basis = super::super::ResendBasis::RiskAccepted;
        let resent = Fact::ResendAuthorised { attempt: attempt(1), basis, principal: None };
        let failed = [started(1, 1), unknown(1), resent, started(2, 2), refused(2, RefusalClass::Permanent)];
        assert_eq!(merged(failed), [kept(true), kept(false), None]);
    }

    #[test]
    fn an_earlier_attempts_late_answer_decides_once_the_running_one_is_refused() {
        let basis = super::super::ResendBasis::RiskAccepted;
        let resent = Fact::ResendAuthorised { attempt: attempt(1), basis, principal: None };
        for (accepted, end) in [(Some(true), State::Sent), (Some(false), State::Accepted), (None, State::Accepted)] {
            let late = Fact::LateAnswer { attempt: attempt(1), accepted };
            let facts = [started(1, 1), unknown(1), resent.clone(), started(2, 2), late, refused(2, RETRYABLE)];
            assert_eq!(story(facts).0.state(), end, "{accepted:?}");
        }
    }

    #[test]
    fn only_a_refusal_worth_retrying_names_a_time() {
        let (record, _) = story([started(1, 1)]);
        let merge = |class| merge_outcome(&record, &attempt(1), &refusal(class), at(50_000)).unwrap();
        assert_eq!(merge(RefusalClass::RetryableAlarm), refused(1, RefusalClass::RetryableAlarm));
        assert_eq!(merge(RefusalClass::Permanent), refused(1, RefusalClass::Permanent));
    }
}
