//! What now? Given a record and an instant, the one thing that may be done with it.

use crate::time::{EpochMillis, Millis};

use super::record::{Record, State, StopReason};

/// The numbers that decisions depend on, from configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// No attempt starts with less life left than this.
    pub min_useful_life: Millis,
    /// The most attempts one notification gets.
    pub attempts_max: u32,
    /// After how long without a worker a doorbell counts as lost.
    pub doorbell_grace: Millis,
    /// How far apart two clocks may be.
    pub clock_skew: Millis,
    /// Wait before the second attempt; doubles from attempt to attempt.
    pub backoff_base: Millis,
    /// The longest such wait.
    pub backoff_max: Millis,
}

/// The one thing that may be done with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Start an attempt.
    Start,
    /// Start none before this instant.
    Wait(EpochMillis),
    /// An attempt is running.
    Running,
    /// An attempt's lease is over and nobody wrote its outcome.
    LeaseEnded,
    /// Nobody knows whether it was sent; only evidence, an operator or expiry changes that.
    Unknown,
    /// End it.
    Stop(StopReason),
    /// Nothing: it has settled.
    Settled,
}

/// What may be done with `record` at `now`.
#[must_use]
pub fn next(record: &Record, now: EpochMillis, policy: &Policy) -> Next {
    let progress = &record.progress;
    match progress.state {
        State::Accepted if now >= last_useful_instant(record, policy) => Next::Stop(StopReason::ExpiredBeforeAttempt),
        State::Accepted if progress.attempts >= policy.attempts_max => Next::Stop(StopReason::AttemptsExhausted),
        State::Accepted => match progress.not_before {
            Some(instant) if now < instant => Next::Wait(instant),
            _ => Next::Start,
        },
        State::Sending => match &progress.attempt {
            Some(attempt) if now < attempt.lease_until.plus(policy.clock_skew) => Next::Running,
            _ => Next::LeaseEnded,
        },
        State::DispatchUnknown if now >= record.expires_at => Next::Stop(StopReason::ExpiredUnresolved),
        State::DispatchUnknown => Next::Unknown,
        State::Sent | State::Delivered | State::Undelivered | State::Failed | State::Stopped(_) => Next::Settled,
    }
}

/// The first instant at which it is too late to start an attempt.
#[must_use]
pub fn last_useful_instant(record: &Record, policy: &Policy) -> EpochMillis {
    record.expires_at.minus(policy.min_useful_life)
}

/// When the reconciler must look at a record again; never, once it has settled.
pub(crate) fn due_at(record: &Record, policy: &Policy) -> Option<EpochMillis> {
    let progress = &record.progress;
    match progress.state {
        State::Accepted => {
            let rung = progress.not_before.unwrap_or(record.updated_at).plus(policy.doorbell_grace);
            Some(progress.ring_at.unwrap_or(rung).min(last_useful_instant(record, policy)))
        }
        State::Sending => progress.attempt.as_ref().map(|attempt| attempt.lease_until.plus(policy.clock_skew)),
        State::DispatchUnknown => Some(record.expires_at),
        State::Sent | State::Delivered | State::Undelivered | State::Failed | State::Stopped(_) => None,
    }
}

/// How long to wait before attempt `number + 1`: full jitter over an interval that doubles, `random` spreading it.
#[must_use]
pub(crate) fn backoff(number: u32, random: u32, policy: &Policy) -> Millis {
    let doubled = policy.backoff_base.times(1_i64.checked_shl(number.saturating_sub(1).min(30)).unwrap_or(i64::MAX));
    let ceiling = u64::try_from(doubled.min(policy.backoff_max).get()).unwrap_or(0).max(1);
    Millis::new(i64::try_from(u64::from(random) % ceiling).unwrap_or(0).saturating_add(1))
}

/// How long the reconciler waits after its ring number `rings`: the grace, doubling, at most 16 times it.
#[must_use]
pub(crate) fn ring_gap(rings: u32, policy: &Policy) -> Millis {
    policy.doorbell_grace.times(1_i64.checked_shl(rings.min(4)).unwrap_or(16))
}
