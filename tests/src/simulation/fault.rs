//! Where a fault can strike, and what it does there.

/// A point at which the schedule decides: one port call, or one thing that the world does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Op {
    /// Guard, record and row 0 are written.
    Admit,
    /// A guard is written alone.
    Bind,
    /// A guard is read.
    ReadGuard,
    /// A record is read.
    ReadRecord,
    /// Record and row are written.
    Commit,
    /// A page of open work is read.
    Due,
    /// Evidence is read.
    ReadRows,
    /// A doorbell is rung.
    Ring,
    /// An envelope is closed.
    Seal,
    /// An envelope is opened.
    Open,
    /// A text is handed to the provider.
    Send,
    /// A flow waits.
    Pause,
    /// The queue delivers.
    Deliver,
    /// The schedule fires.
    Tick,
    /// A client acts.
    Act,
    /// An answer goes back to its client.
    Answer,
    /// The notifications to a number are looked for.
    SentTo,
    /// A page of the delivery log is read.
    ReadLog,
}

/// What strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Fault {
    /// Nothing does.
    None,
    /// Refused: surely not done, and the caller knows.
    Refused,
    /// Refused because another write was at the same items.
    Conflict,
    /// Done, and its answer lost.
    Lost,
    /// Not done, and no answer either.
    Vanished,
    /// No answer; done a good while later all the same.
    Ghost,
    /// The caller dies before the request goes out.
    KilledBefore,
    /// The caller dies when it is done.
    KilledAfter,
    /// The caller freezes before the request, past any lease, and goes on.
    FrozenBefore,
    /// The caller freezes before it hears the answer, past any lease, and goes on.
    FrozenAfter,
    /// As frozen, past the message's life.
    AsleepBefore,
    /// As frozen, past the message's life.
    AsleepAfter,
    /// The client library sends it twice by itself; the second answer is heard.
    Twice,
    /// Refused, and always will be.
    ForGood,
    /// Taken, and the answer holds no name for it.
    Nameless,
    /// The index is well behind.
    Stale,
    /// Delivered to two consumers at once.
    Duplicated,
    /// Delivered again while the first consumer runs.
    Again,
    /// Lost to the dead letters and put back a day later.
    DayLate,
    /// The schedule does not fire.
    Skipped,
    /// The schedule fires twice.
    Doubled,
    /// The client never hears the answer.
    Unheard,
    /// The client does not act; only shrinking uses it.
    Dropped,
}

use Fault as F;

const READ: &[Fault] = &[F::Refused, F::KilledBefore, F::FrozenBefore, F::AsleepBefore];
const INDEX: &[Fault] = &[F::Refused, F::KilledBefore, F::FrozenBefore, F::AsleepBefore, F::FrozenAfter, F::Stale];
const WRITE: &[Fault] = &[
    F::Refused,
    F::Conflict,
    F::Lost,
    F::Vanished,
    F::Ghost,
    F::KilledBefore,
    F::KilledAfter,
    F::FrozenBefore,
    F::FrozenAfter,
    F::AsleepBefore,
    F::AsleepAfter,
    F::Twice,
];
const RING: &[Fault] = &[
    F::Refused,
    F::Lost,
    F::Vanished,
    F::Ghost,
    F::KilledBefore,
    F::KilledAfter,
    F::FrozenBefore,
    F::FrozenAfter,
    F::AsleepBefore,
    F::AsleepAfter,
    F::Twice,
];
const SEND: &[Fault] = &[
    F::Refused,
    F::ForGood,
    F::Lost,
    F::Vanished,
    F::Ghost,
    F::Nameless,
    F::KilledBefore,
    F::KilledAfter,
    F::FrozenBefore,
    F::FrozenAfter,
    F::AsleepBefore,
    F::AsleepAfter,
];

impl Op {
    /// Every kind of point.
    pub const ALL: [Self; 18] = [
        Self::Admit,
        Self::Bind,
        Self::ReadGuard,
        Self::ReadRecord,
        Self::Commit,
        Self::Due,
        Self::ReadRows,
        Self::Ring,
        Self::Seal,
        Self::Open,
        Self::Send,
        Self::Pause,
        Self::Deliver,
        Self::Tick,
        Self::Act,
        Self::Answer,
        Self::SentTo,
        Self::ReadLog,
    ];

    /// What can strike here.
    #[must_use]
    pub const fn faults(self) -> &'static [Fault] {
        match self {
            Self::Admit | Self::Bind | Self::Commit => WRITE,
            Self::ReadGuard | Self::ReadRecord | Self::ReadRows | Self::Seal | Self::Open | Self::ReadLog => READ,
            Self::Due | Self::SentTo => INDEX,
            Self::Ring => RING,
            Self::Send => SEND,
            Self::Pause => &[F::KilledBefore, F::FrozenBefore, F::AsleepBefore],
            Self::Deliver => &[F::Duplicated, F::Again, F::DayLate],
            Self::Tick => &[F::Skipped, F::Doubled],
            Self::Act => &[F::Twice],
            Self::Answer => &[F::Unheard],
        }
    }
}

impl Fault {
    /// Every fault but none.
    pub const ALL: [Self; 22] = [
        F::Refused,
        F::Conflict,
        F::Lost,
        F::Vanished,
        F::Ghost,
        F::KilledBefore,
        F::KilledAfter,
        F::FrozenBefore,
        F::FrozenAfter,
        F::AsleepBefore,
        F::AsleepAfter,
        F::Twice,
        F::ForGood,
        F::Nameless,
        F::Stale,
        F::Duplicated,
        F::Again,
        F::DayLate,
        F::Skipped,
        F::Doubled,
        F::Unheard,
        F::Dropped,
    ];

    /// Whether it strikes at all.
    #[must_use]
    pub const fn strikes(self) -> bool {
        !matches!(self, F::None)
    }

    /// Whether the caller freezes before its request goes out, and whether past the message's life.
    #[must_use]
    pub const fn frozen_before(self) -> Option<bool> {
        match self {
            F::FrozenBefore => Some(false),
            F::AsleepBefore => Some(true),
            _ => None,
        }
    }

    /// Whether the caller freezes once it is done, and whether past the message's life.
    #[must_use]
    pub const fn frozen_after(self) -> Option<bool> {
        match self {
            F::FrozenAfter => Some(false),
            F::AsleepAfter => Some(true),
            _ => None,
        }
    }

    /// Whether it may leave the caller in doubt about what was done.
    #[must_use]
    pub const fn blurs(self, op: Op) -> bool {
        match self {
            F::None | F::Nameless | F::ForGood => false,
            F::Refused => !matches!(op, Op::Send),
            _ => true,
        }
    }

    /// Whether its caller dies or freezes of it.
    #[must_use]
    pub const fn is_deadly(self) -> bool {
        matches!(self, F::KilledBefore | F::KilledAfter)
            || self.frozen_before().is_some()
            || self.frozen_after().is_some()
    }

    /// Whether a flow gets over it by itself: it tries the write again.
    #[must_use]
    pub const fn is_retried(self) -> bool {
        matches!(self, F::Conflict | F::Lost | F::Vanished | F::Twice | F::Ghost)
    }

    /// Its name in replay lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            F::None => "none",
            F::Refused => "refused",
            F::Conflict => "conflict",
            F::Lost => "lost",
            F::Vanished => "vanished",
            F::Ghost => "ghost",
            F::KilledBefore => "killed-before",
            F::KilledAfter => "killed-after",
            F::FrozenBefore => "frozen-before",
            F::FrozenAfter => "frozen-after",
            F::AsleepBefore => "asleep-before",
            F::AsleepAfter => "asleep-after",
            F::Twice => "twice",
            F::ForGood => "for-good",
            F::Nameless => "nameless",
            F::Stale => "stale",
            F::Duplicated => "duplicated",
            F::Again => "again",
            F::DayLate => "day-late",
            F::Skipped => "skipped",
            F::Doubled => "doubled",
            F::Unheard => "unheard",
            F::Dropped => "dropped",
        }
    }

    /// Reads a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }
}
