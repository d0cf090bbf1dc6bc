//! What now? Given a record and an instant, the one thing that may be done with it.

use crate::time::{EpochMillis, Millis};

use super::record::{Attempt, Provider, Record, State, StopReason};

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
    /// After how long every text to a number can be seen in its index: no earlier is a log row paired by number.
    pub index_lag: Millis,
    /// What the silence of a provider that reports everything means.
    pub silence: Silence,
}

/// What it means that no receipt comes for an unknown attempt. It is never proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Nothing: the unknown ends when it expires.
    Stop,
    /// One further attempt, where the provider names each attempt in its receipts (AWS End User Messaging). **A risk**:
    /// a receipt that is late or lost makes it a second text.
    ResendOnce {
        /// How long after the attempt surely was over.
        after: Millis,
    },
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
    /// The same, and it is time to look for evidence.
    Seek,
    /// The same, and the deployment's policy takes the silence for a no.
    ResendOnSilence,
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
        State::DispatchUnknown if seek_at(record, policy).is_some_and(|at| now >= at) => Next::Seek,
        State::DispatchUnknown if silent_at(record, policy).is_some_and(|at| now >= at) => {
            match now < last_useful_instant(record, policy) {
                true => Next::ResendOnSilence,
                false => Next::Unknown,
            }
        }
        State::DispatchUnknown => Next::Unknown,
        State::Sent | State::Delivered | State::Undelivered | State::Failed | State::Stopped(_) => Next::Settled,
    }
}

/// The first instant at which it is too late to start an attempt.
#[must_use]
pub fn last_useful_instant(record: &Record, policy: &Policy) -> EpochMillis {
    record.expires_at.minus(policy.min_useful_life)
}

/// From when on the latest attempt's provider can be asked for evidence: SNS keeps a log, by number. Not before all that
/// could be confused with it can be seen.
fn seek_at(record: &Record, policy: &Policy) -> Option<EpochMillis> {
    let attempt = record.progress.attempt.as_ref()?;
    match attempt.provider {
        Provider::Eum => None,
        Provider::Sns => Some(record.progress.check_at.unwrap_or_else(|| pairable_at(attempt, policy))),
    }
}

/// When everything is visible that was sent while this attempt may have been running.
fn pairable_at(attempt: &Attempt, policy: &Policy) -> EpochMillis {
    attempt.lease_until.plus(policy.clock_skew.times(2)).plus(policy.index_lag)
}

/// Whether a record's latest attempt can be told from all others by now, in a log that goes by number and time.
#[must_use]
pub fn is_pairable(record: &Record, now: EpochMillis, policy: &Policy) -> bool {
    let attempt = record.progress.attempt.as_ref();
    attempt.is_some_and(|attempt| attempt.provider == Provider::Sns && now >= pairable_at(attempt, policy))
}

/// From when on the silence about the latest attempt allows another.
fn silent_at(record: &Record, policy: &Policy) -> Option<EpochMillis> {
    let progress = &record.progress;
    let attempt = progress.attempt.as_ref()?;
    match (attempt.provider, policy.silence) {
        (Provider::Eum, Silence::ResendOnce { after })
            if !progress.resent_on_silence && progress.attempts < policy.attempts_max =>
        {
            Some(attempt.lease_until.plus(policy.clock_skew.times(2)).plus(after))
        }
        (Provider::Eum | Provider::Sns, Silence::Stop | Silence::ResendOnce { .. }) => None,
    }
}

/// How long after the look number `checks` the next one follows: each tick for as long as a text usually lives, then in
/// doubling gaps.
#[must_use]
pub(crate) fn seek_gap(checks: u32) -> Millis {
    Millis::from_secs(60).times(1_i64.checked_shl(checks.saturating_sub(10).min(4)).unwrap_or(16))
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
        State::DispatchUnknown => {
            let silent_at = silent_at(record, policy).filter(|at| *at < last_useful_instant(record, policy));
            let sooner = seek_at(record, policy).or(silent_at);
            Some(sooner.unwrap_or(record.expires_at).min(record.expires_at))
        }
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

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::super::{Fact, Finding, Function, ReceiptSource, RefusalClass, ResendBasis};
    use super::*;

    fn after(facts: impl IntoIterator<Item = Fact>) -> Record {
        story(facts).0
    }

    #[test]
    fn an_accepted_record_starts_until_too_little_life_is_left() {
        let record = after([]);
        assert_eq!(next(&record, at(0), &POLICY), Next::Start);
        assert_eq!(next(&record, at(569_999), &POLICY), Next::Start);
        let stop = Next::Stop(StopReason::ExpiredBeforeAttempt);
        assert_eq!(next(&record, at(570_000), &POLICY), stop);
        assert_eq!(next(&record, at(600_000), &POLICY), stop);
    }

    #[test]
    fn a_refused_attempt_waits_for_its_turn() {
        let record = after([started(1, 1), refused(1, RefusalClass::Retryable)]);
        assert_eq!(next(&record, at(49_999), &POLICY), Next::Wait(at(50_000)));
        assert_eq!(next(&record, at(50_000), &POLICY), Next::Start);
    }

    #[test]
    fn attempts_run_out() {
        let again = |byte, number| [started(byte, number), refused(byte, RefusalClass::Retryable)];
        let two = after([again(1, 1), again(2, 2)].concat());
        assert_eq!(next(&two, at(50_000), &POLICY), Next::Start);
        let three = after([again(1, 1), again(2, 2), again(3, 3)].concat());
        assert_eq!(next(&three, at(0), &POLICY), Next::Stop(StopReason::AttemptsExhausted));
    }

    #[test]
    fn r6_a_lease_ends_only_after_its_skew() {
        let record = after([started(1, 1)]);
        assert_eq!(next(&record, at(44_999), &POLICY), Next::Running);
        assert_eq!(next(&record, at(45_000), &POLICY), Next::LeaseEnded);
    }

    #[test]
    fn an_unknown_stays_unknown_until_it_expires_and_is_looked_up_on_the_way() {
        let record = after([started(1, 1), unknown(1)]);
        assert_eq!(next(&record, at(109_999), &POLICY), Next::Unknown);
        assert_eq!(next(&record, at(110_000), &POLICY), Next::Seek);
        assert_eq!(next(&record, at(599_999), &POLICY), Next::Seek);
        assert_eq!(next(&record, at(600_000), &POLICY), Next::Stop(StopReason::ExpiredUnresolved));
        let sought = after([started(1, 1), unknown(1), sought(1, 170_000)]);
        assert_eq!(next(&sought, at(169_999), &POLICY), Next::Unknown);
        assert_eq!(next(&sought, at(170_000), &POLICY), Next::Seek);
    }

    fn sought(checks: u32, next: i64) -> Fact {
        let (source, finding) = (ReceiptSource::SnsLog, Finding::Nothing);
        Fact::EvidenceSought { attempt: attempt(1), source, finding, checks, next_at: at(next) }
    }

    /// An unknown attempt of a provider that names attempts in its receipts.
    fn unknown_through_eum() -> Record {
        let mut start = started(1, 1);
        if let Fact::AttemptStarted { provider, .. } = &mut start {
            *provider = Provider::Eum;
        }
        after([start, unknown(1)])
    }

    const RESENDING: Policy = Policy { silence: Silence::ResendOnce { after: Millis::new(120_000) }, ..POLICY };

    #[test]
    fn silence_means_nothing_unless_the_policy_says_so_and_then_once() {
        let record = unknown_through_eum();
        for ms in [110_000, 170_000, 599_999] {
            assert_eq!(next(&record, at(ms), &POLICY), Next::Unknown, "nothing keeps a log to look in");
        }
        assert_eq!(next(&record, at(169_999), &RESENDING), Next::Unknown);
        assert_eq!(next(&record, at(170_000), &RESENDING), Next::ResendOnSilence);
        assert_eq!(next(&record, at(570_000), &RESENDING), Next::Unknown, "too little life is left to try again");
        assert_eq!(due_at(&record, &RESENDING), Some(at(170_000)));
        assert_eq!(due_at(&record, &POLICY), Some(at(600_000)));

        for (basis, then) in [(ResendBasis::Silence, Next::Unknown), (ResendBasis::RiskAccepted, Next::ResendOnSilence)]
        {
            let again = Fact::ResendAuthorised { attempt: attempt(1), basis, principal: None };
            let mut second = record.step(again, at(5), actor(Function::Reconciliation), &RESENDING).unwrap().record;
            for fact in [started(2, 2), unknown(2)] {
                second = second.step(fact, at(6), actor(Function::Dispatch), &RESENDING).unwrap().record;
            }
            second.progress.attempt.as_mut().unwrap().provider = Provider::Eum;
            for ms in [170_000, 569_999] {
                assert_eq!(next(&second, at(ms), &RESENDING), then, "silence speaks once; {basis:?} is not silence");
            }
        }
        let one_attempt = Policy { attempts_max: 1, ..RESENDING };
        assert_eq!(next(&record, at(170_000), &one_attempt), Next::Unknown, "attempts are used up");
        let patient = |after| Policy { silence: Silence::ResendOnce { after: Millis::new(after) }, ..POLICY };
        assert_eq!(due_at(&record, &patient(519_999)), Some(at(569_999)));
        assert_eq!(due_at(&record, &patient(520_000)), Some(at(600_000)), "no look at what is too late");
        // SNS gives nothing back: its silence never means anything.
        assert_eq!(
            next(&after([started(1, 1), unknown(1), sought(1, 599_000)]), at(598_999), &RESENDING),
            Next::Unknown
        );
    }

    #[test]
    fn r4_looks_follow_each_tick_at_first_and_then_in_growing_gaps() {
        let gaps: Vec<i64> = (1..=16).map(|checks| seek_gap(checks).get() / 60_000).collect();
        assert_eq!(gaps, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 16, 16, 16]);
    }

    #[test]
    fn settled_records_are_left_alone_for_ever() {
        for fact in [taken(1), refused(1, RefusalClass::Permanent)] {
            let record = after([started(1, 1), fact]);
            assert_eq!(next(&record, at(0), &POLICY), Next::Settled);
            assert_eq!(next(&record, at(10_000_000), &POLICY), Next::Settled);
        }
    }

    #[test]
    fn due_times_cover_every_open_state_and_no_settled_one() {
        let due = |facts: Vec<Fact>| after(facts).due_at;
        let rung = Fact::DoorbellRung { rings: 1, next_at: at(180_000) };
        let late_ring = Fact::DoorbellRung { rings: 1, next_at: at(900_000) };
        let retry = vec![started(1, 1), refused(1, RefusalClass::Retryable)];
        assert_eq!(due_at(&accepted().0, &POLICY), Some(at(60_000)));
        assert_eq!(due(vec![rung]), Some(at(180_000)));
        assert_eq!(due(vec![late_ring]), Some(at(570_000)), "expiry is never slept through");
        assert_eq!(due(retry), Some(at(110_000)));
        assert_eq!(due(vec![started(1, 1)]), Some(at(45_000)));
        assert_eq!(due(vec![started(1, 1), unknown(1)]), Some(at(110_000)));
        assert_eq!(due(vec![started(1, 1), unknown(1), sought(1, 170_000)]), Some(at(170_000)));
        assert_eq!(due(vec![started(1, 1), unknown(1), sought(9, 601_000)]), Some(at(600_000)));
        assert_eq!(due(vec![started(1, 1), taken(1)]), None);
        assert_eq!(due(vec![stopped(StopReason::Cancelled)]), None);
    }

    #[test]
    fn backoff_doubles_to_its_ceiling_and_is_never_nothing() {
        assert_eq!(backoff(1, 1_999, &POLICY), Millis::new(2_000));
        assert_eq!(backoff(1, 2_000, &POLICY), Millis::new(1));
        assert_eq!(backoff(2, 3_999, &POLICY), Millis::new(4_000));
        assert_eq!(backoff(9, 59_999, &POLICY), Millis::new(60_000));
        assert_eq!(backoff(u32::MAX, 60_000, &POLICY), Millis::new(1));
    }

    #[test]
    fn s13_gaps_between_rings_grow_to_sixteen_graces() {
        let gaps: Vec<i64> = (0..7).map(|rings| ring_gap(rings, &POLICY).get() / 60_000).collect();
        assert_eq!(gaps, [1, 2, 4, 8, 16, 16, 16]);
    }
}
