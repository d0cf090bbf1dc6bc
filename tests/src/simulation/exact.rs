//! What a conditional write must answer, foretold from what was written before: a part that stands in the way is
//! named, and no other.

use sendonce::notification::{Held, Transition};
use sendonce::ports::{Admission, HeldAdmission, WriteFault, Written};

use super::sim::Sim;

const RULE: &str = "ports: what stands in the way is exact";

/// What stands in the way of a write: a record, a row. None: it cannot be told, for the table may have forgotten it.
type Foretold = (Option<bool>, bool);

impl Sim {
    fn foretell(&self, id: &sendonce::notification::NotificationId, seq: usize, rev: Option<u32>) -> Foretold {
        let history = self.history.borrow();
        let Some(story) = history.story(id).map(|at| &history.stories[at]) else { return (Some(rev.is_some()), false) };
        let record = story.settled_at.is_none().then(|| rev.is_none_or(|rev| story.record.rev != rev));
        (record, seq < story.hashes.len())
    }

    pub(super) fn foretell_admission(&self, admission: &Admission) -> Foretold {
        self.foretell(&admission.record.id, 0, None)
    }

    pub(super) fn foretell_step(&self, step: &Transition) -> Foretold {
        self.foretell(&step.record.id, step.row.seq() as usize, Some(step.expected_rev))
    }

    pub(super) fn compare_admission(&self, foretold: Foretold, done: &Result<Written<HeldAdmission>, WriteFault>) {
        match done {
            Ok(Written::Done) => self.compare(foretold, (false, false)),
            Ok(Written::Held(held)) => self.compare(foretold, (held.record.is_some(), held.row.is_some())),
            Err(_) => {}
        }
    }

    pub(super) fn compare_step(&self, foretold: Foretold, done: &Result<Written<Held>, WriteFault>) {
        match done {
            Ok(Written::Done) => self.compare(foretold, (false, false)),
            Ok(Written::Held(held)) => self.compare(foretold, (held.record.is_some(), held.row.is_some())),
            Err(_) => {}
        }
    }

    fn compare(&self, (record, row): Foretold, told: (bool, bool)) {
        if (record.unwrap_or(told.0), row) != told {
            let detail = format!("record, row: {:?} foretold, {told:?} told", (record, row));
            self.history.borrow_mut().violated(RULE, detail);
        }
    }
}
