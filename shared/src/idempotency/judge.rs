//! What a stored execution means for a command that meets it.

use crate::time::{EpochMillis, Millis};

use super::{Answer, Ending, Execution, Fingerprint, Owner, Phase};

/// When a command meets an execution, by a clock that may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// What the clock says.
    pub now: EpochMillis,
    /// How far apart two clocks may be.
    pub skew: Millis,
}

impl Moment {
    /// Whether a lease is over by every clock. The very instant of its end is outside it.
    #[must_use]
    pub fn is_past(&self, lease_until: EpochMillis) -> bool {
        lease_until <= self.leases_over()
    }

    /// A lease that ends here or before is over, by every clock.
    #[must_use]
    pub fn leases_over(&self) -> EpochMillis {
        self.now.minus(self.skew)
    }
}

/// What is to be done about a command whose key is already known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement<'a> {
    /// It was taken by this very owner, whose first answer was lost on the way.
    Mine,
    /// Another command came before: refuse, apply nothing.
    Reused,
    /// The same command is over: give its answer again.
    Replay {
        /// How it ended.
        ending: Ending,
        /// What was said.
        answer: &'a Answer,
    },
    /// The same command is running.
    InFlight {
        /// For at most this long.
        left: Millis,
    },
    /// The same command may have had its effect. Only a resolution ends this.
    OutcomeUnknown,
    /// The same command was left before its effect began, and its lease is over: it may be taken over.
    TakeOver,
    /// Nothing of it matters any more; it stands in nobody's way.
    Ended,
}

impl Judgement<'_> {
    /// Whether the conditional put of a newcomer replaces what is stored. Every store's condition says the same.
    #[must_use]
    pub const fn gives_way(&self) -> bool {
        matches!(self, Self::TakeOver | Self::Ended)
    }
}

/// Reads a stored execution on behalf of the command that met it.
///
/// ```text
///   open ──────── lease_until ── + skew ──► TakeOver (same command) · Ended (window over too: anyone)
///   begun ─────── lease_until ── + skew ──► OutcomeUnknown, without a write, for ever
///   settled ───── window_ends_at ─────────► Ended
///   unknown ──────────────────────────────► OutcomeUnknown, for ever
/// ```
///
/// Another command is told `Reused` before it is told anything else: also while the first one runs, and for as long as
/// the first one's outcome is unknown, whatever the window says.
#[must_use]
pub fn judge<'a>(stored: &'a Execution, command: &Fingerprint, mine: Owner, at: Moment) -> Judgement<'a> {
    if stored.owner == mine {
        return Judgement::Mine;
    }
    if is_ended(stored, at) {
        return Judgement::Ended;
    }
    if stored.fingerprint != *command {
        return Judgement::Reused;
    }
    match &stored.phase {
        Phase::Settled { ending, answer } => Judgement::Replay { ending: *ending, answer },
        Phase::Open { lease_until } if at.is_past(*lease_until) => Judgement::TakeOver,
        Phase::Begun { lease_until } if at.is_past(*lease_until) => Judgement::OutcomeUnknown,
        Phase::Open { lease_until } | Phase::Begun { lease_until } => {
            Judgement::InFlight { left: lease_until.since(at.leases_over()) }
        }
        Phase::Unknown { .. } => Judgement::OutcomeUnknown,
    }
}

/// Only what certainly has no effect outstanding can end.
fn is_ended(stored: &Execution, at: Moment) -> bool {
    let window_over = stored.window_ends_at <= at.now;
    match stored.phase {
        Phase::Settled { .. } => window_over,
        Phase::Open { lease_until } => window_over && at.is_past(lease_until),
        Phase::Begun { .. } | Phase::Unknown { .. } => false,
    }
}

/// Whether nobody can tell, by looking at it, what became of this execution.
#[must_use]
pub fn reads_as_unknown(stored: &Execution, at: Moment) -> bool {
    match stored.phase {
        Phase::Unknown { .. } => true,
        Phase::Begun { lease_until } => at.is_past(lease_until),
        Phase::Open { .. } | Phase::Settled { .. } => false,
    }
}
