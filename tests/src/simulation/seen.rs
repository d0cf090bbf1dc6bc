//! Things of the world that runs must be seen to meet, beside the marks of the flows.

use super::sim::{Errand, Sim};

/// One of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Seen {
    /// A guard whose window was over, but which still stood there, was replaced.
    EndedGuardReplaced,
    /// A record was forgotten while its evidence was kept.
    RecordForgotten,
    /// A doorbell was given up on after as many receives as are allowed.
    DeadLetter,
    /// A dead letter was put back.
    PutBack,
    /// The platform ended a task that was still at work.
    EndedByDeadline,
    /// A task that had been frozen wrote what it was about.
    FrozenWrote,
    /// A task that had been frozen came second.
    FrozenHeld,
    /// A write that had been given up on was done after all.
    GhostWrote,
    /// A write that had been given up on came second.
    GhostHeld,
    /// A call began at the last instant at which it may.
    LastInstant,
    /// A tick out of turn ran while another did.
    TicksOverlapped,
}

impl Seen {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::EndedGuardReplaced,
        Self::RecordForgotten,
        Self::DeadLetter,
        Self::PutBack,
        Self::EndedByDeadline,
        Self::FrozenWrote,
        Self::FrozenHeld,
        Self::GhostWrote,
        Self::GhostHeld,
        Self::LastInstant,
        Self::TicksOverlapped,
    ];
}

impl Sim {
    /// Notes that it was met.
    pub(super) fn saw(&self, seen: Seen) {
        self.history.borrow_mut().seen[seen as usize] += 1;
    }

    /// Notes who wrote, or came second, where that is out of the ordinary.
    pub(super) fn saw_write(&self, done: bool) {
        let (ghost, frozen) = self.slot(|slot| (slot.errand == Errand::Ghost, slot.frozen));
        match (ghost, frozen, done) {
            (true, _, true) => self.saw(Seen::GhostWrote),
            (true, _, false) => self.saw(Seen::GhostHeld),
            (_, true, true) => self.saw(Seen::FrozenWrote),
            (_, true, false) => self.saw(Seen::FrozenHeld),
            _ => {}
        }
    }
}
