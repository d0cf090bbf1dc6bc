//! `begin -> run -> complete`, for effects that lie outside the store.
//!
//! ```text
//!  two requests:    begin ═════════════ effect ═══════════ complete
//!                   begun               (perhaps done)     settled
//!
//!  three requests:  open ──── prepare ──── mark ══ effect ══ complete
//!                   open                   begun             settled
//!                   └ may be taken over ┘  └ ends as unknown ┘
//! ```

use crate::land::{Doubt, WRITE_TRIES, pause};
use crate::ports::{Clock, WriteFault, Written};
use crate::time::{EpochMillis, Millis};

use super::{
    Answer, AnswerBound, DedupWindow, Ending, Execution, ExecutionId, Executions, Judgement, Lease, Moment, Named,
    NoTimeLeft, Owner, Phase, judge,
};

/// The numbers of one layer. A value, not a shared object: two layers over one table do not know of each other.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// How long a settled answer is given again.
    pub window: DedupWindow,
    /// How far apart two clocks may be.
    pub skew: Millis,
    /// What is kept back of the deadline for writing down what came of the effect. An effect that began within its
    /// lease is over this long after it, or was killed with the sandbox.
    pub margin: Millis,
    /// The longest answer kept.
    pub answer_max: AnswerBound,
}

/// Leased execution over a store.
#[derive(Clone, Debug)]
pub struct Leased<S, C> {
    pub(super) store: S,
    pub(super) clock: C,
    pub(super) rules: Rules,
}

/// Taken, and surely not begun: [`Leased::mark`] it, or [`Leased::release`] it.
#[derive(Debug)]
#[must_use = "it is locked until its lease is over"]
pub struct Open(pub(super) Hold);

/// Taken, and counted as begun: [`Leased::complete`] it.
#[derive(Debug)]
#[must_use = "left alone, its outcome becomes unknown"]
pub struct Begun(pub(super) Hold);

#[derive(Debug)]
pub(super) struct Hold {
    pub(super) execution: Execution,
    pub(super) lease: Lease,
}

/// What an effect is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    /// The execution's name, the same at every retry: the token or reference to give to the effect's own service.
    pub reference: ExecutionId,
    /// The effect must not begin at this instant or later, by the clock of this environment.
    pub not_after: EpochMillis,
}

/// The key was free, or is answered for.
#[derive(Debug)]
pub enum Taken<H> {
    /// It is ours: go on.
    Run(H),
    /// The same command is over.
    Replay {
        /// How it ended.
        ending: Ending,
        /// What was said.
        answer: Answer,
    },
}

/// Nothing was run, and nothing by this call was locked that was not given back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRun {
    /// Too little time is left to begin.
    #[error(transparent)]
    NoTimeLeft(#[from] NoTimeLeft),
    /// The key belongs to another command.
    #[error("the idempotency key was used for another command")]
    Reused,
    /// The same command is running.
    #[error("the same command is still running")]
    InFlight {
        /// For at most this long.
        left: Millis,
    },
    /// The same command ran, and what became of it is not known. A new key would not be safe either.
    #[error("what became of an earlier run of this command is not known")]
    OutcomeUnknown(ExecutionId),
    /// The store did not do its part; the same key makes a retry safe.
    #[error("the store is not available")]
    Unavailable,
}

/// The effect must not be run: the mark may or may not be there, and the key was given back if it could be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotMarked {
    /// The lease is over, or another owner has taken over.
    #[error("the lease is over")]
    LeaseOver,
    /// The store did not do its part.
    #[error("the store is not available")]
    Unavailable,
}

/// What came of the effect is not written down, as far as this owner knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotWritten {
    /// Surely not: a resolution was first.
    #[error("the execution is no longer this owner's")]
    Overtaken,
    /// Perhaps.
    #[error("the store is not available")]
    Unavailable,
}

/// What became of an effect, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Conclusion {
    Settled(Ending, Answer),
    Unknown {
        lease_until: EpochMillis,
    },
    /// It surely did not begin.
    Reopened,
}

impl<S: Executions, C: Clock> Leased<S, C> {
    /// A layer over `store`.
    pub const fn new(store: S, clock: C, rules: Rules) -> Self {
        Self { store, clock, rules }
    }

    /// The store below.
    pub const fn store(&self) -> &S {
        &self.store
    }

    /// The clock it goes by.
    pub const fn clock(&self) -> &C {
        &self.clock
    }

    /// Its numbers.
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Takes the key with the effect counted as begun from here on. One request.
    ///
    /// `deadline` is when the platform ends this invocation.
    ///
    /// # Errors
    /// [`NotRun`].
    pub async fn begin(&self, command: &Named, deadline: Option<EpochMillis>) -> Result<Taken<Begun>, NotRun> {
        let taken = self.take(command, deadline, |lease_until| Phase::Begun { lease_until }).await?;
        Ok(taken.map(Begun))
    }

    /// Takes the key and says that the effect has not begun. One request; [`Leased::mark`] is another.
    ///
    /// # Errors
    /// [`NotRun`].
    pub async fn open(&self, command: &Named, deadline: Option<EpochMillis>) -> Result<Taken<Open>, NotRun> {
        let taken = self.take(command, deadline, |lease_until| Phase::Open { lease_until }).await?;
        Ok(taken.map(Open))
    }

    async fn take(
        &self,
        command: &Named,
        deadline: Option<EpochMillis>,
        phase: fn(EpochMillis) -> Phase,
    ) -> Result<Taken<Hold>, NotRun> {
        let now = self.clock.now();
        let lease = Lease::before(deadline, self.rules.margin, now)?;
        let execution = Execution {
            id: command.id.clone(),
            fingerprint: command.fingerprint,
            owner: self.token(),
            phase: phase(lease.until()),
            window_ends_at: self.rules.window.ends_at(now),
        };
        let at = Moment { now, skew: self.rules.skew };
        let mut doubt = Doubt::default();
        for tried in 1..=WRITE_TRIES {
            match self.store.begin(&execution, at).await {
                Ok(Written::Done) => return self.still_in_time(Hold { execution, lease }).await,
                Ok(Written::Held(found)) if found == execution => {
                    return self.still_in_time(Hold { execution, lease }).await;
                }
                Ok(Written::Held(found)) => return answer_for(&found, &execution, at),
                Err(fault) if doubt.after(fault).is_err() => break,
                Err(_) => pause(&self.clock, tried).await,
            }
        }
        self.give_back_perhaps_taken(&execution, doubt).await;
        Err(NotRun::Unavailable)
    }

    /// Tries and pauses may have used up what was left.
    async fn still_in_time(&self, hold: Hold) -> Result<Taken<Hold>, NotRun> {
        if hold.lease.holds_at(self.clock.now()) {
            return Ok(Taken::Run(hold));
        }
        let _ = self.conclude(&hold.execution, Conclusion::Reopened).await;
        Err(NoTimeLeft.into())
    }

    /// One try, where the key may be locked by a write whose answer never came. It is safe to leave: a lease ends.
    async fn give_back_perhaps_taken(&self, execution: &Execution, doubt: Doubt) {
        if doubt.verdict() == WriteFault::Unknown {
            let _ = self.store.advance(&self.concluded(execution, Conclusion::Reopened), execution.owner).await;
        }
    }

    /// Says that the effect begins now. One request.
    ///
    /// # Errors
    /// [`NotMarked`]: the effect must not be run.
    pub async fn mark(&self, open: Open) -> Result<Begun, NotMarked> {
        let Open(hold) = open;
        if !hold.lease.holds_at(self.clock.now()) {
            let _ = self.conclude(&hold.execution, Conclusion::Reopened).await;
            return Err(NotMarked::LeaseOver);
        }
        let begun = hold.execution.with(Phase::Begun { lease_until: hold.lease.until() });
        match self.write(&begun, hold.execution.owner).await {
            Ok(()) if hold.lease.holds_at(self.clock.now()) => Ok(Begun(Hold { execution: begun, ..hold })),
            Ok(()) => {
                let _ = self.conclude(&begun, Conclusion::Reopened).await;
                Err(NotMarked::LeaseOver)
            }
            Err(NotWritten::Overtaken) => Err(NotMarked::LeaseOver),
            Err(NotWritten::Unavailable) => {
                let _ = self.conclude(&begun, Conclusion::Reopened).await;
                Err(NotMarked::Unavailable)
            }
        }
    }

    /// Gives the key back: the effect did not begin, and the same command may be run by anyone at once.
    ///
    /// # Errors
    /// [`NotWritten`]; the lease's end will do the same.
    pub async fn release(&self, open: Open) -> Result<(), NotWritten> {
        self.conclude(&open.0.execution, Conclusion::Reopened).await
    }

    pub(super) async fn conclude(&self, held: &Execution, conclusion: Conclusion) -> Result<(), NotWritten> {
        self.write(&self.concluded(held, conclusion), held.owner).await
    }

    /// The window counts from here: the client that is owed the answer starts its retries after this.
    pub(super) fn concluded(&self, held: &Execution, conclusion: Conclusion) -> Execution {
        let next = match conclusion {
            Conclusion::Settled(ending, answer) => held.with(Phase::Settled { ending, answer }),
            Conclusion::Unknown { lease_until } => held.with(Phase::Unknown { lease_until }),
            // Under a new token, so that a write of the old owner's which is still on its way finds itself fenced off.
            Conclusion::Reopened => {
                Execution { owner: self.token(), ..held.with(Phase::Open { lease_until: EpochMillis::new(0) }) }
            }
        };
        Execution { window_ends_at: self.rules.window.ends_at(self.clock.now()).max(held.window_ends_at), ..next }
    }

    /// Writes over what `held_by` holds, trying again where that cannot do harm.
    pub(super) async fn write(&self, next: &Execution, held_by: Owner) -> Result<(), NotWritten> {
        let mut doubt = Doubt::default();
        for tried in 1..=WRITE_TRIES {
            match self.store.advance(next, held_by).await {
                Ok(Written::Done) => return Ok(()),
                Ok(Written::Held(Some(found))) if found == *next => return Ok(()),
                Ok(Written::Held(_)) => return Err(NotWritten::Overtaken),
                Err(fault) => doubt.after(fault).map_err(|_| NotWritten::Unavailable)?,
            }
            pause(&self.clock, tried).await;
        }
        Err(NotWritten::Unavailable)
    }

    pub(super) fn token(&self) -> Owner {
        Owner::new(self.clock.random())
    }
}

/// What a newcomer is told about the execution that stands in its way.
fn answer_for(found: &Execution, mine: &Execution, at: Moment) -> Result<Taken<Hold>, NotRun> {
    match judge(found, &mine.fingerprint, mine.owner, at) {
        Judgement::Replay { ending, answer } => Ok(Taken::Replay { ending, answer: answer.clone() }),
        Judgement::Reused => Err(NotRun::Reused),
        Judgement::InFlight { left } => Err(NotRun::InFlight { left }),
        Judgement::OutcomeUnknown => Err(NotRun::OutcomeUnknown(found.id.clone())),
        // A store that keeps its promises gives no such answer.
        Judgement::Mine | Judgement::TakeOver | Judgement::Ended => Err(NotRun::Unavailable),
    }
}

impl<H> Taken<H> {
    fn map<T>(self, run: impl FnOnce(H) -> T) -> Taken<T> {
        match self {
            Self::Run(hold) => Taken::Run(run(hold)),
            Self::Replay { ending, answer } => Taken::Replay { ending, answer },
        }
    }
}

impl Begun {
    /// What the effect needs to know.
    #[must_use]
    pub fn permit(&self) -> Permit {
        Permit { reference: self.0.execution.id.clone(), not_after: self.0.lease.until() }
    }
}
