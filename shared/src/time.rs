//! Instants and lengths of time whose unit is their type.
//!
//! Three clocks meet in this service: Lambda deadlines and our own records count milliseconds, DynamoDB TTL counts
//! seconds. Mixing them by hand has locked keys for years elsewhere; here it does not compile.

use core::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A length of time in milliseconds, never negative when built from configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Millis(i64);

impl Millis {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// `ms` milliseconds.
    #[must_use]
    pub const fn new(ms: i64) -> Self {
        Self(ms)
    }

    /// `s` seconds.
    #[must_use]
    pub const fn from_secs(s: i64) -> Self {
        Self(s.saturating_mul(1_000))
    }

    /// The number of milliseconds.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Whole seconds, rounded up: what a `Retry-After` or an SQS delay needs so as not to be early.
    #[must_use]
    pub const fn secs_ceil(self) -> i64 {
        self.0.saturating_add(999).div_euclid(1_000)
    }

    /// Whole seconds, rounded down: what a time-to-live needs so as not to be late.
    #[must_use]
    pub const fn secs_floor(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// The sum, saturating.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The product with a whole number, saturating.
    #[must_use]
    pub const fn times(self, factor: i64) -> Self {
        Self(self.0.saturating_mul(factor))
    }

    /// As the standard library's type; negative lengths become zero.
    #[must_use]
    pub fn to_std(self) -> core::time::Duration {
        core::time::Duration::from_millis(u64::try_from(self.0).unwrap_or(0))
    }
}

/// An instant in milliseconds since the Unix epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EpochMillis(i64);

impl EpochMillis {
    /// The instant `ms` milliseconds after the epoch.
    #[must_use]
    pub const fn new(ms: i64) -> Self {
        Self(ms)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The instant `length` later, saturating.
    #[must_use]
    pub const fn plus(self, length: Millis) -> Self {
        Self(self.0.saturating_add(length.0))
    }

    /// The instant `length` earlier, saturating.
    #[must_use]
    pub const fn minus(self, length: Millis) -> Self {
        Self(self.0.saturating_sub(length.0))
    }

    /// How much later than `earlier` this is; negative when it is not.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Millis {
        Millis(self.0.saturating_sub(earlier.0))
    }

    /// The first whole second at or after this instant.
    #[must_use]
    pub const fn secs_ceil(self) -> EpochSeconds {
        EpochSeconds(Millis(self.0).secs_ceil())
    }

    /// RFC 3339 in UTC with milliseconds, always 24 characters: `2026-11-30T20:10:00.123Z`.
    #[must_use]
    pub fn rfc3339(self) -> String {
        match Timestamp::from_millisecond(self.0) {
            Ok(at) => format!("{at:.3}"),
            Err(_) => String::from("9999-12-31T23:59:59.999Z"),
        }
    }

    /// Reads an RFC 3339 date-time. Other ISO 8601 forms are refused: two parsers must never read two instants.
    #[must_use]
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        has_rfc3339_shape(text.as_bytes()).then_some(())?;
        let at: Timestamp = text.parse().ok()?;
        Some(Self(at.as_millisecond()))
    }
}

impl fmt::Debug for EpochMillis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}

/// `YYYY-MM-DDThh:mm:ss[.f…](Z|±hh:mm)`, digits where digits belong; the calendar is the parser's business. A leap second
/// is refused, for the parser would read the second before it, and so is a zone of a day or more.
fn has_rfc3339_shape(text: &[u8]) -> bool {
    const DATE_TIME: &[u8] = b"dddd-dd-ddTdd:dd:dd";
    let Some((head, rest)) = text.split_at_checked(DATE_TIME.len()) else { return false };
    let matches = |pattern: &[u8], part: &[u8]| {
        pattern.len() == part.len()
            && pattern.iter().zip(part).all(|(p, b)| if *p == b'd' { b.is_ascii_digit() } else { p == b })
    };
    let zone = match rest.split_first() {
        Some((b'.', fraction)) => {
            let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            if !(1..=9).contains(&digits) {
                return false;
            }
            fraction.get(digits..).unwrap_or_default()
        }
        _ => rest,
    };
    let is_zone = match zone {
        b"Z" => true,
        [_, hour @ .., b':', _, _] => (matches(b"+dd:dd", zone) || matches(b"-dd:dd", zone)) && hour < b"24".as_slice(),
        _ => false,
    };
    matches(DATE_TIME, head) && !head.ends_with(b"60") && is_zone
}

/// An instant in whole seconds since the Unix epoch: the only unit that DynamoDB TTL understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EpochSeconds(i64);

impl EpochSeconds {
    /// The instant `s` seconds after the epoch.
    #[must_use]
    pub const fn new(s: i64) -> Self {
        Self(s)
    }

    /// Seconds since the epoch.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc3339_round_trips_with_milliseconds() {
        let at = EpochMillis::parse_rfc3339("2026-11-30T20:10:00.123Z").unwrap();
        assert_eq!(at.get(), 1_796_069_400_123);
        assert_eq!(at.rfc3339(), "2026-11-30T20:10:00.123Z");
        assert_eq!(EpochMillis::new(1_796_069_400_000).rfc3339(), "2026-11-30T20:10:00.000Z");
    }

    #[test]
    fn rfc3339_reads_offsets_as_the_same_instant() {
        let utc = EpochMillis::parse_rfc3339("2026-11-30T20:10:00Z");
        assert!(utc.is_some());
        assert_eq!(EpochMillis::parse_rfc3339("2026-11-30T21:10:00+01:00"), utc);
        assert_eq!(EpochMillis::parse_rfc3339("2026-12-01T20:09:00+23:59"), utc);
        assert_eq!(EpochMillis::parse_rfc3339("2026-11-30T15:10:00.000000000-05:00"), utc);
    }

    #[test]
    fn rfc3339_refuses_every_other_spelling() {
        for text in [
            "",
            "2026-11-30",
            "2026-11-30T20:10:00",
            "2026-11-30 20:10:00Z",
            "2026-11-30T20:10:00.Z",
            "2026-11-30T20:10:00+0100",
            "2026-11-30T20:10:00Z[Europe/Paris]",
            "2026-02-30T20:10:00Z",
            "20261130T201000Z",
            "2026-11-30T20:10:00.0000000001Z",
            "2026-11-30T20:10:00Zz",
            "2026-11-30T20:10:60Z",
            "2026-11-30T23:59:60Z",
            "2026-11-30T20:60:00Z",
            "2026-11-30T20:10:00+24:00",
            "2026-11-30T20:10:00-25:59",
            "2026-11-30T20:10:00+01:60",
            "2026-11-30t20:10:00z",
            "1764533400",
            "+002026-11-30T20:10:00Z",
            "2026-11-30T24:10:00Z",
            "2026-11-30T20:10:00−01:00",
        ] {
            assert_eq!(EpochMillis::parse_rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn seconds_round_up_so_that_nothing_ends_early() {
        assert_eq!(EpochMillis::new(1_000).secs_ceil().get(), 1);
        assert_eq!(EpochMillis::new(1_001).secs_ceil().get(), 2);
        assert_eq!(Millis::new(-1).secs_ceil(), 0);
    }

    #[test]
    fn seconds_round_down_so_that_nothing_outlives_its_end() {
        assert_eq!(Millis::new(1_999).secs_floor(), 1);
        assert_eq!(Millis::new(2_000).secs_floor(), 2);
        assert_eq!(Millis::new(-1).secs_floor(), -1);
    }
}
