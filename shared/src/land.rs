//! Getting one step written, through lost answers and conflicts.

use crate::invocation::Invocation;
use crate::marks::{Mark, marked};
use crate::notification::{Fact, Record, State, StopReason, Transition};
use crate::ports::{Clock, Records, Transitions, Unreadable, WriteFault, Written};
use crate::time::Millis;

/// How often one write is tried. The condition makes each further try harmless.
pub(crate) const WRITE_TRIES: u32 = 4;

/// The longest that the store takes over one write, its client's own tries included: the client is held to it.
pub(crate) const WRITE_LIMIT: Millis = Millis::from_secs(5);

/// The longest pause before another try.
const PAUSE_LIMIT: Millis = Millis::new(160);

/// What became of a step.
#[derive(Debug)]
pub(crate) enum Landed {
    /// It is durable.
    Done,
    /// Another writer was first; the record as it stands now, if there is one.
    Lost(Option<Record>),
}

/// Writes a step, trying again where that cannot do harm.
///
/// A refusal after a try whose answer was lost is not a refusal: the lost try may have been applied. So doubt, once
/// there, stays until the store says which it was.
pub(crate) async fn land<L, C>(
    ledger: &L,
    clock: &C,
    step: &Transition,
    invocation: &Invocation,
) -> Result<Landed, WriteFault>
where
    L: Transitions + Records,
    C: Clock,
{
    let mut doubt = Doubt::default();
    for tried in 1..=WRITE_TRIES {
        match ledger.commit(step).await {
            Ok(Written::Done) => return Ok(done(step)),
            Ok(Written::Held(held)) if step.is_own(&held) => return marked(Mark::StepOwn, Ok(done(step))),
            Ok(Written::Held(held)) if held.record.is_some() => {
                return marked(Mark::StepLost, Ok(Landed::Lost(held.record)));
            }
            Ok(Written::Held(_)) => return reread(ledger, step, doubt).await,
            Err(fault) => doubt.after(fault)?,
        }
        if !once_more(clock, tried, invocation, WRITE_LIMIT).await {
            break;
        }
    }
    Err(doubt.verdict())
}

/// The one line that a transition leaves in the log, and one more, at every level, where somebody should know.
fn done(step: &Transition) -> Landed {
    let record = &step.record;
    tracing::info!(notification.id = %record.id, rev = record.rev, state = record.state().as_str(), "transition");
    let fact = step.row.fact();
    if let Fact::AttemptRefused { class, code, .. } = fact
        && class.is_alarming()
    {
        tracing::error!(notification.id = %record.id, alarm = "provider", ?code, "the fault lies in this account");
    } else if matches!(fact, Fact::AttemptUnknown { .. }) && record.state() == State::DispatchUnknown {
        tracing::error!(notification.id = %record.id, alarm = "unknown", "sent or not, nobody knows");
    } else if let Fact::Stopped { reason: StopReason::AttemptsExhausted | StopReason::ExpiredBeforeAttempt } = fact {
        tracing::error!(notification.id = %record.id, alarm = "unsent", "accepted, and ended without an attempt known to be taken");
    }
    Landed::Done
}

async fn reread<L: Records>(ledger: &L, step: &Transition, doubt: Doubt) -> Result<Landed, WriteFault> {
    let found = ledger.record(&step.record.id).await.map_err(|Unreadable| doubt.verdict())?;
    Ok(Landed::Lost(found))
}

/// What the failed tries of one write leave open.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Doubt {
    perhaps_done: bool,
}

impl Doubt {
    /// Takes note of a failed try; an error when trying again makes no sense.
    pub(crate) fn after(&mut self, fault: WriteFault) -> Result<(), WriteFault> {
        match fault {
            WriteFault::Conflict => Ok(()),
            WriteFault::Unknown => {
                self.perhaps_done = true;
                Ok(())
            }
            WriteFault::Refused => Err(self.refused()),
        }
    }

    /// What is known once no try is left.
    pub(crate) const fn verdict(self) -> WriteFault {
        if self.perhaps_done { WriteFault::Unknown } else { WriteFault::Conflict }
    }

    fn refused(self) -> WriteFault {
        if self.perhaps_done { marked(Mark::DoubtKept, WriteFault::Unknown) } else { WriteFault::Refused }
    }
}

/// Whether to try a write again, after a pause. Not when that could outlast the invocation: nobody would hear of it.
pub(crate) async fn once_more<C: Clock>(clock: &C, tried: u32, invocation: &Invocation, needed: Millis) -> bool {
    let is_due = tried < WRITE_TRIES && invocation.has_time(clock.now(), needed.plus(PAUSE_LIMIT));
    if is_due {
        pause(clock, tried).await;
    }
    is_due
}

/// Waits before another try: up to 40 ms at first, doubling to [`PAUSE_LIMIT`], spread by chance so that rivals part.
pub(crate) async fn pause<C: Clock>(clock: &C, tried: u32) {
    let ceiling = 20_i64.checked_shl(tried).unwrap_or(i64::MAX).min(PAUSE_LIMIT.get());
    let spread = i64::from(random_u32(clock) % 1_024);
    clock.pause(Millis::new(ceiling.saturating_mul(spread) / 1_024)).await;
}

/// 32 random bits.
pub(crate) fn random_u32<C: Clock>(clock: &C) -> u32 {
    let bytes = clock.random();
    bytes.first_chunk::<4>().map_or(0, |head| u32::from_be_bytes(*head))
}
