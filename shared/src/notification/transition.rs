//! One step of a record: the record after it, and the row that tells of it. Both are written in one transaction.

use crate::time::{EpochMillis, Millis};

use super::decide::{Policy, due_at};
use super::evidence::Row;
use super::fact::{Actor, Fact};
use super::record::{Record, State};

/// A fact that this state does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a notification in state {} does not know this fact", .from.as_str())]
pub struct IllegalTransition {
    /// The state it stood in.
    pub from: State,
}

/// A step ready to be written: `record` replaces the one at `expected_rev`, and `row` is added at `record.rev`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transition {
    /// The revision that the stored record must still have.
    pub expected_rev: u32,
    /// The record after the step.
    pub record: Record,
    /// The evidence of the step.
    pub row: Row,
}

impl Record {
    /// A settled record is kept this long for those who ask; evidence is kept longer.
    const RETENTION: Millis = Millis::from_secs(30 * 86_400);

    /// The step that `fact` makes at `at`, written by `actor`.
    ///
    /// # Errors
    /// [`IllegalTransition`] as [`super::record::Progress::after`].
    pub fn step(
        &self,
        fact: Fact,
        at: EpochMillis,
        actor: Actor,
        policy: &Policy,
    ) -> Result<Transition, IllegalTransition> {
        let progress = self.progress.after(&fact)?;
        let rev = self.rev.checked_add(1).ok_or(IllegalTransition { from: self.state() })?;
        let row = Row::new(&self.id, self.accepted_at, rev, at, actor, fact, self.head);
        let mut record = Self { rev, progress, updated_at: at, head: row.hash(), ..self.clone() };
        record.due_at = due_at(&record, policy);
        if record.state().is_settled() {
            record.sealed = None;
            record.ttl = self.ttl.or_else(|| Some(at.plus(Self::RETENTION).secs_ceil()));
        }
        Ok(Transition { expected_rev: self.rev, record, row })
    }
}

/// What stood in the way of a conditional write.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Held {
    /// The record as it stands now, when its condition failed.
    pub record: Option<Record>,
    /// The row that stands at the place of ours, when its condition failed.
    pub row: Option<Row>,
}

impl Transition {
    /// Whether what stood in the way is this very step, written by an earlier try whose answer was lost.
    ///
    /// The row decides, not the record: the record may have moved on since, rows never change.
    #[must_use]
    pub fn is_own(&self, held: &Held) -> bool {
        held.row.as_ref().is_some_and(|row| row.hash() == self.row.hash())
            || held.record.as_ref().is_some_and(|record| record.head == self.record.head)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::super::{
        CloseBasis, DeliveryCode, Finding, Function, PrincipalId, ReceiptSource, ReceiptStatus, RefusalClass,
        ResendBasis, StopReason, Strength,
    };
    use super::*;

    fn late_acceptance(byte: u8) -> Fact {
        Fact::ReconciledAccepted {
            attempt: attempt(byte),
            source: ReceiptSource::LateAnswer,
            strength: Strength::Exact,
            message_id: None,
        }
    }

    /// One fact of each kind, about attempt 1 where it is about one.
    fn all_facts() -> Vec<Fact> {
        vec![
            accepted().1.fact().clone(),
            Fact::DoorbellRung { rings: 1, next_at: at(0) },
            started(9, 1),
            started(9, 2),
            taken(1),
            refused(1, RefusalClass::Retryable),
            refused(1, RefusalClass::Permanent),
            unknown(1),
            late_acceptance(1),
            Fact::LateAnswer { attempt: attempt(1), accepted: Some(true) },
            stopped(StopReason::Cancelled),
            Fact::EvidenceSought {
                attempt: attempt(1),
                source: LOG,
                finding: Finding::Nothing,
                checks: 1,
                next_at: at(9),
            },
            Fact::ResendAuthorised { attempt: attempt(1), basis: ResendBasis::RiskAccepted, principal: None },
            Fact::Closed { basis: CloseBasis::NoLongerNeeded, principal: PrincipalId::derive(&["a"]) },
            Fact::Delivered { attempt: attempt(1), source: LOG, strength: Strength::Exact },
            Fact::Undelivered {
                attempt: attempt(1),
                source: LOG,
                strength: Strength::Exact,
                code: DeliveryCode::Other,
            },
            noted(1),
        ]
    }

    const LOG: ReceiptSource = ReceiptSource::SnsLog;

    fn noted(byte: u8) -> Fact {
        let (strength, status) = (Strength::Exact, ReceiptStatus::Accepted);
        Fact::ReceiptNoted { attempt: attempt(byte), source: LOG, strength, status, code: None }
    }

    /// Which of [`all_facts`] a story's end knows, and where they lead.
    fn known(facts: impl IntoIterator<Item = Fact>) -> Vec<(usize, State)> {
        let (record, _) = story(facts);
        let step = |fact| record.step(fact, at(1), actor(Function::Dispatch), &POLICY);
        all_facts()
            .into_iter()
            .enumerate()
            .filter_map(|(at, fact)| Some((at, step(fact).ok()?.record.state())))
            .collect()
    }

    const CANCELLED: State = State::Stopped(StopReason::Cancelled);

    #[test]
    fn accepted_knows_a_ring_a_start_and_a_stop() {
        assert_eq!(known([]), [(1, State::Accepted), (2, State::Sending), (10, CANCELLED)]);
    }

    #[test]
    fn sending_knows_the_outcome_of_its_own_attempt_only() {
        let outcomes = [
            (4, State::Sent),
            (5, State::Accepted),
            (6, State::Failed),
            (7, State::DispatchUnknown),
            (8, State::Sent),
            (9, State::Sending),
            (16, State::Sending),
        ];
        assert_eq!(known([started(1, 1)]), outcomes);
        assert_eq!(known([started(2, 1)]), [(9, State::Sending), (16, State::Sending)]);
    }

    #[test]
    fn unknown_knows_late_answers_receipts_looks_decisions_and_a_stop() {
        let ways = [
            (5, State::Accepted),
            (6, State::Failed),
            (8, State::Sent),
            (9, State::DispatchUnknown),
            (10, CANCELLED),
            (11, State::DispatchUnknown),
            (12, State::Accepted),
            (13, State::Stopped(StopReason::ClosedByOperator)),
            (16, State::DispatchUnknown),
        ];
        assert_eq!(known([started(1, 1), unknown(1)]), ways);
    }

    #[test]
    fn a_refused_attempt_may_turn_out_accepted_or_be_followed_by_the_next() {
        let ways = [
            (1, State::Accepted),
            (3, State::Sending),
            (8, State::Sent),
            (9, State::Accepted),
            (10, CANCELLED),
            (16, State::Accepted),
        ];
        assert_eq!(known([started(1, 1), refused(1, RefusalClass::RetryableAlarm)]), ways);
    }

    #[test]
    fn settled_states_absorb() {
        let failed = [started(1, 1), refused(1, RefusalClass::PermanentAlarm)];
        assert_eq!(known(failed), [(9, State::Failed), (16, State::Failed)]);
        let sent = [(9, State::Sent), (14, State::Delivered), (15, State::Undelivered), (16, State::Sent)];
        assert_eq!(known([started(1, 1), taken(1)]), sent);
        let arrived = Fact::Delivered { attempt: attempt(1), source: LOG, strength: Strength::Exact };
        let delivered = [started(1, 1), taken(1), arrived];
        assert_eq!(known(delivered), [(9, State::Delivered), (16, State::Delivered)]);
        assert_eq!(known([stopped(StopReason::Cancelled)]), []);
    }

    #[test]
    fn settling_removes_the_seal_and_only_settled_records_may_be_forgotten() {
        let (open, _) = story([started(1, 1), unknown(1)]);
        assert!(open.sealed.is_some() && open.ttl.is_none());
        let (settled, _) = story([started(1, 1), taken(1)]);
        assert!(settled.sealed.is_none());
        assert_eq!(settled.ttl, Some(at(2).plus(Millis::from_secs(30 * 86_400)).secs_ceil()));
    }

    #[test]
    fn a_step_is_fenced_by_the_revision_before_it() {
        let (record, _) = story([started(1, 1)]);
        let step = record.step(taken(1), at(9), actor(Function::Dispatch), &POLICY).unwrap();
        assert_eq!((step.expected_rev, step.record.rev, step.row.seq()), (1, 2, 2));
        assert_eq!(step.record.head, step.row.hash());
        assert_eq!(step.record.updated_at, at(9));
    }

    #[test]
    fn a8_an_own_step_is_known_by_its_row_even_when_the_record_moved_on() {
        let (record, _) = story([]);
        let mine = record.step(started(1, 1), at(1), actor(Function::Dispatch), &POLICY).unwrap();
        let theirs = record.step(started(2, 1), at(1), actor(Function::Dispatch), &POLICY).unwrap();
        let moved = mine.record.step(unknown(1), at(2), actor(Function::Reconciliation), &POLICY).unwrap();
        let held = |record: &Record, row: &Row| Held { record: Some(record.clone()), row: Some(row.clone()) };
        assert!(mine.is_own(&held(&mine.record, &mine.row)));
        assert!(mine.is_own(&held(&moved.record, &mine.row)));
        assert!(mine.is_own(&Held { record: Some(mine.record.clone()), row: None }));
        assert!(!mine.is_own(&held(&theirs.record, &theirs.row)));
        assert!(!mine.is_own(&Held::default()));
    }
}
