//! The stored item that makes a key unique.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::{Hash32, base32};
use crate::time::{EpochMillis, EpochSeconds, Millis};

use super::Fingerprint;

/// A guard's primary key: `key#` and a hash of tenant, scope and key.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GuardId(String);

impl GuardId {
    pub(crate) fn from_digest(digest: &Hash32) -> Self {
        Self(format!("key#{}", base32(digest)))
    }

    /// As it stands in the table.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for GuardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Chosen anew for each write, so that a writer can tell its own retried write from another's.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nonce(u128);

impl Nonce {
    /// A nonce of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(bytes))
    }

    /// 32 hexadecimal digits.
    #[must_use]
    pub fn to_hex(self) -> String {
        format!("{:032x}", self.0)
    }

    /// Reads what [`Nonce::to_hex`] wrote.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok().map(Self))?
    }
}

/// The first answer to a key, given again byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAnswer {
    /// HTTP status code.
    pub status: u16,
    /// The body's exact text.
    pub body: String,
}

/// What is kept of a key within its window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Its place in the table.
    pub id: GuardId,
    /// Of the command that took the key.
    pub fingerprint: Fingerprint,
    /// The first answer.
    pub answer: StoredAnswer,
    /// The first instant at which it no longer holds.
    pub window_ends_at: EpochMillis,
    /// Of the write that made it.
    pub nonce: Nonce,
}

/// What a stored guard means for a command under its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// It is this very write, whose first answer was lost on the way.
    Own,
    /// The same command came before: give its answer again.
    Replay(&'a StoredAnswer),
    /// Another command came before: refuse, apply nothing.
    Reused,
    /// Its window is over; it stands in nobody's way.
    Ended,
}

impl Guard {
    /// TTL deletes days late and reads no state; this margin only spares it from deleting what readers still want.
    const TTL_MARGIN: Millis = Millis::from_secs(24 * 3_600);

    /// Whether it still holds. The very instant of its end is outside, here and in every condition expression.
    #[must_use]
    pub fn holds_at(&self, now: EpochMillis) -> bool {
        now < self.window_ends_at
    }

    /// When the table may forget it.
    #[must_use]
    pub fn ttl(&self) -> EpochSeconds {
        self.window_ends_at.plus(Self::TTL_MARGIN).secs_ceil()
    }

    /// Reads this stored guard on behalf of the command that met it.
    ///
    /// A mismatch is found before anything else could be: a key never answers for a command that is not its own.
    #[must_use]
    pub fn judge(&self, command: &Fingerprint, nonce: Nonce, now: EpochMillis) -> Verdict<'_> {
        if self.nonce == nonce {
            Verdict::Own
        } else if !self.holds_at(now) {
            Verdict::Ended
        } else if self.fingerprint == *command {
            Verdict::Replay(&self.answer)
        } else {
            Verdict::Reused
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fields, FingerprintKey};
    use super::*;

    struct Word(&'static str);
    impl Fields for Word {
        fn fields(&self, field: &mut dyn FnMut(&[u8])) {
            field(self.0.as_bytes());
        }
    }

    fn print(word: &'static str) -> Fingerprint {
        FingerprintKey::new([1; 32]).fingerprint(&Word(word))
    }

    fn guard() -> Guard {
        Guard {
            id: GuardId::from_digest(&[0; 32]),
            fingerprint: print("a"),
            answer: StoredAnswer { status: 202, body: String::from("{}") },
            window_ends_at: EpochMillis::new(1_000),
            nonce: Nonce::new([1; 16]),
        }
    }

    #[test]
    fn same_command_is_a_replay_and_another_is_reuse() {
        let (guard, other) = (guard(), Nonce::new([2; 16]));
        assert_eq!(guard.judge(&print("a"), other, EpochMillis::new(999)), Verdict::Replay(&guard.answer));
        assert_eq!(guard.judge(&print("b"), other, EpochMillis::new(999)), Verdict::Reused);
    }

    #[test]
    fn the_instant_of_its_end_is_outside_the_window() {
        let (guard, other) = (guard(), Nonce::new([2; 16]));
        assert_eq!(guard.judge(&print("a"), other, EpochMillis::new(1_000)), Verdict::Ended);
        assert_eq!(guard.judge(&print("b"), other, EpochMillis::new(1_000)), Verdict::Ended);
    }

    #[test]
    fn a8_own_write_is_recognised_by_its_nonce() {
        assert_eq!(guard().judge(&print("a"), Nonce::new([1; 16]), EpochMillis::new(0)), Verdict::Own);
    }

    #[test]
    fn a9_ttl_is_whole_seconds_a_day_after_the_window() {
        let mut guard = guard();
        guard.window_ends_at = EpochMillis::new(1_764_533_400_001);
        assert_eq!(guard.ttl().get(), 1_764_533_401 + 86_400);
    }

    #[test]
    fn nonce_text_round_trips() {
        let nonce = Nonce::new([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255]);
        assert_eq!(Nonce::from_hex(&nonce.to_hex()), Some(nonce));
        assert_eq!(Nonce::from_hex("1"), None);
    }
}
