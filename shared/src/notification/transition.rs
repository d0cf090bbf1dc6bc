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
