//! Answering one doorbell: at most one provider call, recorded before it is made.

use crate::invocation::Invocation;
use crate::land::{Landed, land, random_u32};
use crate::marks::{Mark, mark, marked};
use crate::notification::{
    Attempt, AttemptId, Fact, Next, NotificationId, Outcome, Policy, Provider, Record, State, StopReason, Transition,
    UnknownBasis, backoff, last_useful_instant, merge_outcome, next,
};
use crate::ports::{Carrier, Clock, Doorbell, Opener, Records, SealFault, Text, Transitions, WriteFault};
use crate::time::Millis;

/// How often one doorbell follows a record that others keep moving.
const ROUNDS: u32 = 4;

/// How long the steps of an attempt take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// What recording an attempt may take before its provider call: one that takes longer is not begun.
    pub record: Millis,
    /// What one provider call may take, all in all.
    pub call: Millis,
    /// What must be left after it, to write its outcome.
    pub write_back: Millis,
}

/// The dispatch flow.
#[derive(Clone, Debug)]
pub struct Dispatch<L, O, P, D, C> {
    /// Where records are.
    pub ledger: L,
    /// What opens envelopes.
    pub opener: O,
    /// What sends texts.
    pub carrier: P,
    /// Through whom it sends them.
    pub provider: Provider,
    /// What asks for the next attempt.
    pub doorbell: D,
    /// Time, and chance.
    pub clock: C,
    /// The numbers decisions depend on.
    pub policy: Policy,
    /// How long the steps of an attempt take.
    pub timing: Timing,
}

/// What one doorbell led to. All of it is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatched {
    /// One provider call was made; where that left the notification.
    Attempted(State),
    /// A step without a provider call.
    Moved(State),
    /// Nothing was to be done.
    Nothing(State),
    /// There is no such notification, or no longer.
    Absent,
}

/// A doorbell that must ring again. Unless it is [`NotDispatched::OutcomeNotRecorded`], nothing was attempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDispatched {
    /// The record could not be read.
    #[error("the record could not be read")]
    Unreadable,
    /// Too little time was left in this invocation.
    #[error("too little time was left")]
    NoTimeLeft,
    /// The payload could not be had.
    #[error("{0}")]
    Seal(SealFault),
    /// The step could not be recorded.
    #[error("the step could not be recorded: {0}")]
    NotRecorded(WriteFault),
    /// Others kept moving the record.
    #[error("others kept moving the record")]
    Contended,
    /// A call was made and its outcome could not be recorded; its lease will end as unknown.
    #[error("the outcome could not be recorded: {0}")]
    OutcomeNotRecorded(WriteFault),
}

enum Tried {
    Over(Dispatched),
    Overtaken(Option<Record>),
}

impl<L, O, P, D, C> Dispatch<L, O, P, D, C>
where
    L: Records + Transitions,
    O: Opener,
    P: Carrier,
    D: Doorbell,
    C: Clock,
{
    /// Looks at a notification and does the one thing that may be done with it.
    ///
    /// # Errors
    /// [`NotDispatched`] when the doorbell must ring again.
    pub async fn answer(&self, id: &NotificationId, invocation: &Invocation) -> Result<Dispatched, NotDispatched> {
        let mut found = self.ledger.record(id).await.map_err(|_| NotDispatched::Unreadable)?;
        for _ in 0..ROUNDS {
            let Some(record) = found else { return Ok(Dispatched::Absent) };
            match self.advance(&record, invocation).await? {
                Tried::Over(dispatched) => return Ok(dispatched),
                Tried::Overtaken(now) => found = marked(Mark::DispatchOvertaken, now),
            }
        }
        Err(NotDispatched::Contended)
    }

    async fn advance(&self, record: &Record, invocation: &Invocation) -> Result<Tried, NotDispatched> {
        match next(record, self.clock.now(), &self.policy) {
            Next::Start => self.attempt(record, invocation).await,
            // Evidence is looked for once more before that, which is the reconciler's to do.
            Next::Stop(StopReason::ExpiredUnresolved) => Ok(Tried::Over(Dispatched::Nothing(record.state()))),
            Next::Stop(reason) => self.step(record, Fact::Stopped { reason }, invocation).await,
            Next::LeaseEnded => match lease_ended(record) {
                Some(fact) => marked(Mark::LeaseEndedByDoorbell, self.step(record, fact, invocation).await),
                None => Ok(Tried::Over(Dispatched::Nothing(record.state()))),
            },
            Next::Wait(_) | Next::Running | Next::Unknown | Next::Seek | Next::ResendOnSilence | Next::Settled => {
                Ok(Tried::Over(Dispatched::Nothing(record.state())))
            }
        }
    }

    async fn step(&self, record: &Record, fact: Fact, invocation: &Invocation) -> Result<Tried, NotDispatched> {
        let step = self.transition(record, fact, invocation)?;
        match land(&self.ledger, &self.clock, &step, invocation).await.map_err(NotDispatched::NotRecorded)? {
            Landed::Done => Ok(Tried::Over(Dispatched::Moved(step.record.state()))),
            Landed::Lost(now) => Ok(Tried::Overtaken(now)),
        }
    }

    async fn attempt(&self, record: &Record, invocation: &Invocation) -> Result<Tried, NotDispatched> {
        self.check_time(invocation)?;
        let sealed = record.sealed.as_ref().ok_or(NotDispatched::Seal(SealFault::Broken))?;
        let payload = self.opener.open(sealed, &record.tenant, &record.id).await.map_err(NotDispatched::Seal)?;
        // Opening is a request and may have taken long: what allowed this attempt must hold where it is recorded.
        if next(record, self.clock.now(), &self.policy) != Next::Start {
            return marked(Mark::OpenedTooLate, Ok(Tried::Overtaken(Some(record.clone()))));
        }
        self.check_time(invocation)?;
        let attempt = Attempt {
            id: AttemptId::new(self.clock.random()),
            number: record.progress.attempts.saturating_add(1),
            provider: self.provider,
            lease_until: invocation.deadline,
        };
        let started = self.transition(record, attempt.started(), invocation)?;
        match land(&self.ledger, &self.clock, &started, invocation).await.map_err(NotDispatched::NotRecorded)? {
            Landed::Lost(now) => return Ok(Tried::Overtaken(now)),
            Landed::Done => {}
        }
        let text = Text {
            id: record.id.clone(),
            attempt: attempt.clone(),
            payload,
            sender_id: record.sender_id.clone(),
            kind: record.kind,
            not_after: invocation.deadline.minus(self.time_from_call()).min(last_useful_instant(record, &self.policy)),
            expires_at: record.expires_at,
            time_allowed: self.timing.call,
        };
        let outcome = self.carrier.send(&text).await;
        self.conclude(started.record, &attempt, &outcome, invocation).await.map(Tried::Over)
    }

    const fn time_from_call(&self) -> Millis {
        self.timing.call.plus(self.timing.write_back)
    }

    /// An attempt that is recorded counts, so what recording it takes must fit too.
    fn check_time(&self, invocation: &Invocation) -> Result<(), NotDispatched> {
        let fits = invocation.has_time(self.clock.now(), self.timing.record.plus(self.time_from_call()));
        if fits { Ok(()) } else { marked(Mark::NoTimeLeft, Err(NotDispatched::NoTimeLeft)) }
    }

    /// Writes what became of an attempt, into whatever the record has become meanwhile.
    async fn conclude(
        &self,
        started: Record,
        attempt: &Attempt,
        outcome: &Outcome,
        invocation: &Invocation,
    ) -> Result<Dispatched, NotDispatched> {
        let mut current = started;
        for _ in 0..ROUNDS {
            let wait = backoff(attempt.number, random_u32(&self.clock), &self.policy);
            let retry_at = self.clock.now().plus(wait);
            let Some(fact) = merge_outcome(&current, &attempt.id, outcome, retry_at) else {
                return marked(Mark::OutcomeAddsNothing, Ok(Dispatched::Attempted(current.state())));
            };
            let step = self.transition(&current, fact, invocation)?;
            match land(&self.ledger, &self.clock, &step, invocation).await.map_err(NotDispatched::OutcomeNotRecorded)? {
                Landed::Done => return Ok(Dispatched::Attempted(self.follow_up(step.record, invocation).await)),
                Landed::Lost(Some(now)) => current = marked(Mark::OutcomeLate, now),
                Landed::Lost(None) => return Ok(Dispatched::Absent),
            }
        }
        Err(NotDispatched::OutcomeNotRecorded(WriteFault::Conflict))
    }

    /// After a refusal: asks for the next attempt, or ends the notification when there is none. Either may fail; the
    /// record's due time covers both.
    async fn follow_up(&self, record: Record, invocation: &Invocation) -> State {
        let now = self.clock.now();
        match next(&record, now, &self.policy) {
            Next::Wait(until) => self.ask_again(record, until.since(now)).await,
            // To write the refusal took longer than its pause.
            Next::Start => self.ask_again(record, Millis::ZERO).await,
            Next::Stop(reason) => match self.step(&record, Fact::Stopped { reason }, invocation).await {
                Ok(Tried::Over(Dispatched::Moved(state))) => marked(Mark::StoppedAfterRefusal, state),
                _ => record.state(),
            },
            Next::Running | Next::LeaseEnded | Next::Unknown | Next::Seek | Next::ResendOnSilence | Next::Settled => {
                record.state()
            }
        }
    }

    async fn ask_again(&self, record: Record, after: Millis) -> State {
        mark(Mark::RetryAsked);
        if self.doorbell.ring(&record.id, after).await.is_err() {
            tracing::warn!(notification.id = %record.id, "doorbell not rung; reconciliation will ring it");
        }
        record.state()
    }

    fn transition(&self, record: &Record, fact: Fact, invocation: &Invocation) -> Result<Transition, NotDispatched> {
        record
            .step(fact, self.clock.now(), invocation.actor.clone(), &self.policy)
            .map_err(|_| NotDispatched::Contended)
    }
}

impl Attempt {
    /// The fact that it is about to be made.
    fn started(&self) -> Fact {
        Fact::AttemptStarted {
            attempt: self.id.clone(),
            number: self.number,
            provider: self.provider,
            lease_until: self.lease_until,
        }
    }
}

/// The fact that a record's attempt ended without an outcome.
pub(crate) fn lease_ended(record: &Record) -> Option<Fact> {
    let attempt = record.progress.attempt.as_ref()?.id.clone();
    Some(Fact::AttemptUnknown { attempt, basis: UnknownBasis::LeaseEnded })
}
