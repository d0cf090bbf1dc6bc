//! Quiet runs with known clients: the ground on which every sequence of faults is tried.

use sendonce::time::Millis;

use super::choice::{Pace, Weather};
use super::script::{FIRST, Session, Wish};
use super::setup::{DAY, Setup};
use crate::world::Flaw;

/// One quiet run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// One client wants one text.
    Single,
    /// Its retry overtakes it.
    Race,
    /// Another path asks for the same event under another key.
    TwoPaths,
    /// The same key comes with another body.
    OtherBody,
    /// Another tenant uses the same key for an event of the same name.
    TwoTenants,
    /// The client takes it back at once.
    Cancelled,
    /// Two reconcilers, and a client that looks and cancels late.
    TwoReconcilers,
    /// The client asks again when the message has expired, and when all but the evidence is gone.
    LongAfter,
}

impl Scene {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Single,
        Self::Race,
        Self::TwoPaths,
        Self::OtherBody,
        Self::TwoTenants,
        Self::Cancelled,
        Self::TwoReconcilers,
        Self::LongAfter,
    ];

    /// Its name in replay lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Race => "race",
            Self::TwoPaths => "two-paths",
            Self::OtherBody => "other-body",
            Self::TwoTenants => "two-tenants",
            Self::Cancelled => "cancelled",
            Self::TwoReconcilers => "two-reconcilers",
            Self::LongAfter => "long-after",
        }
    }

    /// Reads a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scene| scene.name() == name)
    }

    pub(super) fn setup(self, flaw: Option<Flaw>) -> Setup {
        let mut setup = Setup::plain(flaw);
        setup.policy.attempts_max = 3;
        setup.skew = Millis::ZERO;
        setup.reconcilers = if self == Self::TwoReconcilers { 2 } else { 1 };
        if self == Self::LongAfter {
            setup.forgetting = crate::world::Forgetting::AtOnce;
        }
        setup
    }

    pub(super) fn weather(setup: &Setup) -> Weather {
        let lifetime = setup.lifetime.get();
        Weather { seed: 1, pace: Pace::Even, rate: 0, throttled: 0, deaf: 0, kinds: 0, ends_at: i64::MIN, lifetime }
    }

    pub(super) fn sessions(self) -> Vec<Session> {
        let once = Session { retries: 1, ..FIRST };
        let then = |after: i64, wish: Wish| Session { at: FIRST.at + after, wish, ..once };
        let send = |key, command| Wish::Send { key, command };
        match self {
            Self::Single => vec![Session { retries: 2, ..FIRST }],
            Self::Race => vec![once, then(2, once.wish)],
            Self::TwoPaths => vec![once, then(7, send(1, 0))],
            Self::OtherBody => vec![once, then(2, send(0, 1))],
            Self::TwoTenants => vec![once, Session { tenant: 1, ..then(2, once.wish) }],
            Self::Cancelled => vec![once, then(16, Wish::Cancel { command: 0 })],
            Self::TwoReconcilers => {
                vec![once, then(100_000, Wish::Look { command: 0 }), then(130_000, Wish::Cancel { command: 0 })]
            }
            Self::LongAfter => vec![once, then(700_000, once.wish), then(40 * DAY, send(1, 0))],
        }
    }
}
