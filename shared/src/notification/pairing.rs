//! Which row of a delivery log speaks of which attempt.
//!
//! SNS takes no name of ours for a text. A row that names a message which an attempt is known by speaks of that attempt;
//! any other can be told by number and time alone, and counts only if nothing else could be meant.

use crate::time::{EpochMillis, Millis};

use super::evidence::Row;
use super::fact::Fact;
use super::receipt::{DeliveryCode, Finding, Receipt, ReceiptSource, ReceiptStatus, Strength};
use super::{AttemptId, DestinationMac, Policy, Provider, Reference};

/// How long after its caller is gone a request may still reach the provider: AWS refuses a signature that is fifteen
/// minutes old, where it does not after five.
pub const LATE: Millis = Millis::from_secs(900);

/// One row of a delivery log, its number hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogRow {
    /// The provider's name for the message.
    pub message_id: Option<Reference>,
    /// To whom.
    pub destination: DestinationMac,
    /// When the provider took it, by its clock.
    pub published_at: EpochMillis,
    /// What became of it.
    pub status: ReceiptStatus,
    /// Why it did not arrive, if it did not.
    pub code: Option<DeliveryCode>,
}

/// One attempt at the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its name.
    pub attempt: AttemptId,
    /// When it was recorded.
    pub began_at: EpochMillis,
    /// Until when it may have been running.
    pub lease_until: EpochMillis,
    /// The provider's name for its message, where its answer gave one.
    pub message_id: Option<Reference>,
    /// Whether it is known not to have been accepted, or to have gone through another provider.
    pub is_out: bool,
}

/// What a log says about one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// This.
    Receipt(Receipt),
    /// Nothing that counts.
    Undecided(Finding),
}

/// All attempts that a notification's evidence tells of.
#[must_use]
pub fn traces(rows: &[Row]) -> Vec<Trace> {
    let mut traces: Vec<Trace> = Vec::new();
    for row in rows {
        if let Fact::AttemptStarted { attempt, lease_until, provider, .. } = row.fact() {
            traces.push(Trace {
                attempt: attempt.clone(),
                began_at: row.at(),
                lease_until: *lease_until,
                message_id: None,
                is_out: *provider != Provider::Sns,
            });
        }
        if let Some((attempt, message_id, is_out)) = verdict(row.fact())
            && let Some(trace) = traces.iter_mut().find(|trace| trace.attempt == *attempt)
        {
            trace.is_out |= is_out;
            if message_id.is_some() {
                trace.message_id.clone_from(message_id);
            }
        }
    }
    traces
}

/// What a fact says of an attempt: its message's name, and whether it was refused.
fn verdict(fact: &Fact) -> Option<(&AttemptId, &Option<Reference>, bool)> {
    match fact {
        Fact::AttemptAccepted { attempt, message_id, .. } | Fact::ReconciledAccepted { attempt, message_id, .. } => {
            Some((attempt, message_id, false))
        }
        Fact::AttemptRefused { attempt, .. } | Fact::LateAnswer { attempt, accepted: Some(false) } => {
            Some((attempt, &None, true))
        }
        Fact::Accepted(_)
        | Fact::DoorbellRung { .. }
        | Fact::AttemptStarted { .. }
        | Fact::AttemptUnknown { .. }
        | Fact::LateAnswer { .. }
        | Fact::EvidenceSought { .. }
        | Fact::ResendAuthorised { .. }
        | Fact::Closed { .. }
        | Fact::Delivered { .. }
        | Fact::Undelivered { .. }
        | Fact::ReceiptNoted { .. }
        | Fact::Stopped { .. } => None,
    }
}

impl Trace {
    /// From when to when the provider's clock may have stood while it took this attempt's text.
    #[must_use]
    pub fn window(&self, policy: &Policy) -> (EpochMillis, EpochMillis) {
        let skew = policy.clock_skew.times(2);
        (self.began_at.minus(skew), self.lease_until.plus(skew))
    }

    fn could_be(&self, row: &LogRow, policy: &Policy) -> bool {
        let (from, until) = self.window(policy);
        !self.is_out && (from..=until).contains(&row.published_at)
    }

    /// Whether it stands in the way of another's row: its request may be under way for a long time.
    fn could_also_be(&self, row: &LogRow, policy: &Policy) -> bool {
        let (from, until) = self.window(policy);
        !self.is_out && self.message_id.is_none() && (from..=until.plus(LATE)).contains(&row.published_at)
    }
}

/// What `log` says about `attempt`. `traces` are all attempts at the same number around that time, its own among them;
/// `log` holds every row about that number in its window.
#[must_use]
pub fn pair(attempt: &AttemptId, traces: &[Trace], log: &[LogRow], policy: &Policy) -> Pairing {
    let Some(own) = traces.iter().find(|trace| trace.attempt == *attempt) else {
        return Pairing::Undecided(Finding::Nothing);
    };
    let named = |row: &LogRow| row.message_id.as_ref().and_then(|id| trace_named(id, traces));
    if let Some(row) = log.iter().rev().find(|row| named(row).is_some_and(|trace| trace.attempt == *attempt)) {
        return Pairing::Receipt(row.receipt(attempt, Strength::Exact));
    }
    let mut free: Vec<&LogRow> = Vec::new();
    for row in log.iter().filter(|row| named(row).is_none() && own.could_be(row, policy)) {
        match free.iter().position(|known| known.message_id.is_some() && known.message_id == row.message_id) {
            // The same message once more: its latest row says what became of it.
            Some(place) => free.iter_mut().skip(place).take(1).for_each(|known| *known = row),
            None => free.push(row),
        }
    }
    let rivals = |row: &LogRow| traces.iter().filter(|trace| trace.could_also_be(row, policy)).count();
    match free.as_slice() {
        [] => Pairing::Undecided(Finding::Nothing),
        [row] if own.message_id.is_none() && rivals(row) == 1 => {
            Pairing::Receipt(row.receipt(attempt, Strength::Probable))
        }
        _ => Pairing::Undecided(Finding::Ambiguous),
    }
}

/// The attempt that is known by this message's name.
#[must_use]
pub fn trace_named<'t>(message_id: &Reference, traces: &'t [Trace]) -> Option<&'t Trace> {
    traces.iter().find(|trace| trace.message_id.as_ref() == Some(message_id))
}

impl LogRow {
    /// What it says about `attempt`.
    #[must_use]
    pub fn receipt(&self, attempt: &AttemptId, strength: Strength) -> Receipt {
        Receipt {
            attempt: attempt.clone(),
            source: ReceiptSource::SnsLog,
            strength,
            message_id: self.message_id.clone(),
            status: self.status,
            code: self.code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::RefusalClass;
    use super::super::fixture::*;
    use super::*;
    use crate::idempotency::FingerprintKey;
    use crate::notification::PhoneNumber;

    fn row(name: &str, ms: i64) -> LogRow {
        LogRow {
            message_id: Reference::parse(name),
            destination: PhoneNumber::parse("+15550142973").unwrap().mac(&FingerprintKey::new([1; 32])),
            published_at: at(ms),
            status: ReceiptStatus::Delivered,
            code: None,
        }
    }

    fn trace(byte: u8, began: i64) -> Trace {
        let (attempt, began_at) = (attempt(byte), at(began));
        Trace { attempt, began_at, lease_until: at(began + 30_000), message_id: None, is_out: false }
    }

    fn named(byte: u8, began: i64, name: &str) -> Trace {
        Trace { message_id: Reference::parse(name), ..trace(byte, began) }
    }

    fn first(traces: &[Trace], log: &[LogRow]) -> Pairing {
        pair(&attempt(1), traces, log, &POLICY)
    }

    fn probable(row: &LogRow) -> Pairing {
        Pairing::Receipt(row.receipt(&attempt(1), Strength::Probable))
    }

    const AMBIGUOUS: Pairing = Pairing::Undecided(Finding::Ambiguous);
    const NOTHING: Pairing = Pairing::Undecided(Finding::Nothing);

    #[test]
    fn one_row_and_one_attempt_are_a_pair_and_said_to_be_probable() {
        let one = row("m-1", 1_000);
        assert_eq!(first(&[trace(1, 0)], core::slice::from_ref(&one)), probable(&one));
        assert_eq!(first(&[trace(1, 0)], &[]), NOTHING);
    }

    #[test]
    fn two_texts_to_one_number_in_one_window_never_pair() {
        let log = [row("m-1", 1_000)];
        assert_eq!(first(&[trace(1, 0), trace(2, 5_000)], &log), AMBIGUOUS);
        assert_eq!(first(&[trace(1, 0)], &[row("m-1", 1_000), row("m-2", 2_000)]), AMBIGUOUS);
        assert_eq!(first(&[trace(1, 0), trace(2, 5_000)], &[row("m-1", 1_000), row("m-2", 2_000)]), AMBIGUOUS);
    }

    #[test]
    fn what_is_known_by_name_stands_in_nobodys_way() {
        let log = [row("m-1", 1_000), row("m-2", 2_000)];
        assert_eq!(first(&[trace(1, 0), named(2, 0, "m-2")], &log), probable(&log[0]));
        assert_eq!(first(&[trace(1, 0), named(2, 0, "m-2")], &log[1..]), NOTHING);
        let refused = Trace { is_out: true, ..trace(2, 0) };
        assert_eq!(first(&[trace(1, 0), refused], &log[..1]), probable(&log[0]));
        let exact = Pairing::Receipt(log[0].receipt(&attempt(1), Strength::Exact));
        assert_eq!(first(&[named(1, 0, "m-1"), trace(2, 0)], &log), exact);
        assert_eq!(first(&[named(1, 0, "m-9"), named(2, 0, "m-2")], &log), AMBIGUOUS);
    }

    #[test]
    fn a_window_reaches_from_the_intent_to_the_end_of_the_lease_by_any_clock() {
        let inside = |ms| first(&[trace(1, 0)], &[row("m-1", ms)]) != NOTHING;
        assert!(inside(-10_000) && inside(40_000));
        assert!(!inside(-10_001) && !inside(40_001));
        // A request that was given up on long before may have come just now.
        let late = |ms| first(&[trace(1, 900_000), trace(2, 0)], &[row("m-1", ms)]);
        assert_eq!(late(910_000), AMBIGUOUS);
        assert!(matches!(first(&[trace(1, 960_000), trace(2, 0)], &[row("m-1", 960_000)]), Pairing::Receipt(_)));
        // Another's window may cover the same row from further away.
        assert_eq!(first(&[trace(1, 0), trace(2, 40_000)], &[row("m-1", 35_000)]), AMBIGUOUS);
    }

    #[test]
    fn one_message_told_of_twice_is_one_and_its_last_row_counts() {
        let failed = LogRow { status: ReceiptStatus::Undelivered, ..row("m-1", 1_000) };
        assert_eq!(first(&[trace(1, 0)], &[row("m-1", 1_000), failed.clone()]), probable(&failed));
        let nameless = || LogRow { message_id: None, ..row("m-1", 1_000) };
        assert_eq!(first(&[trace(1, 0)], &[nameless(), nameless()]), AMBIGUOUS);
    }

    #[test]
    fn evidence_tells_of_every_attempt_and_what_is_known_of_it() {
        let retry = |byte, number| [started(byte, number), refused(byte, RefusalClass::Retryable)];
        let facts = retry(1, 1).into_iter().chain([started(2, 2), unknown(2)]);
        let told: Vec<_> = traces(&story(facts).1).into_iter().map(|trace| (trace.attempt, trace.is_out)).collect();
        assert_eq!(told, [(attempt(1), true), (attempt(2), false)]);
    }
}
