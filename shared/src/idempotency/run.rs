//! One call around an effect.

use crate::ports::Clock;
use crate::time::EpochMillis;

use super::leased::Conclusion;
use super::{
    AsAnswer, Authority, Begun, Ending, Executions, Leased, Named, NoAuthority, NotMarked, NotResolved, NotRun,
    NotWritten, Permit, Resolved, Taken,
};

/// What became of an effect: the caller's choice of what is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// It happened; every retry within the window is given this answer.
    Succeeded(T),
    /// It ended badly and for good; every retry within the window is given this answer.
    Failed(T),
    /// It surely did not begin. Nothing is kept, and the same command may be run again at once.
    Released(T),
    /// It may have happened. Nothing is run again until a resolution says what became of it.
    Unknown,
}

impl<T> Outcome<T> {
    /// The same outcome with another answer.
    pub fn map<U>(self, answer: impl FnOnce(T) -> U) -> Outcome<U> {
        match self {
            Self::Succeeded(value) => Outcome::Succeeded(answer(value)),
            Self::Failed(value) => Outcome::Failed(answer(value)),
            Self::Released(value) => Outcome::Released(answer(value)),
            Self::Unknown => Outcome::Unknown,
        }
    }
}

/// What a call came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ran<T> {
    /// The effect ran in this call, and what came of it is durable.
    First(Outcome<T>),
    /// The effect ran in this call, and what came of it is perhaps not written down. To the next one who asks it may be
    /// unknown, so whoever is told of it now should not be told more than that.
    Unrecorded(Outcome<T>),
    /// It ran before; this is what was said then.
    Replayed {
        /// How it ended.
        ending: Ending,
        /// The first answer; `None` when it was too long to keep.
        answer: Option<T>,
    },
}

impl<S: Executions, C: Clock> Leased<S, C> {
    /// Runs `effect` at most once for this command, or gives the answer of the run that was.
    ///
    /// Two requests. The effect counts as begun from the first one on: if this invocation is killed, the outcome reads
    /// as unknown. `effect` is called at most once, whatever it returns; no retry loop is around it.
    ///
    /// # Errors
    /// [`NotRun`]: `effect` was not called.
    pub async fn run<T: AsAnswer>(
        &self,
        command: &Named,
        deadline: Option<EpochMillis>,
        effect: impl AsyncFnOnce(Permit) -> Outcome<T>,
    ) -> Result<Ran<T>, NotRun> {
        self.run_or_ask(command, deadline, &NoAuthority, effect).await
    }

    /// As [`Leased::run`], but where the outcome of an earlier run is unknown, `authority` is asked what became of it,
    /// and its word is acted on at once. Four requests then: the refusal, a read, what it said, and the key again.
    ///
    /// # Errors
    /// [`NotRun`]: `effect` was not called.
    pub async fn run_or_ask<T: AsAnswer>(
        &self,
        command: &Named,
        deadline: Option<EpochMillis>,
        authority: &impl Authority,
        effect: impl AsyncFnOnce(Permit) -> Outcome<T>,
    ) -> Result<Ran<T>, NotRun> {
        let taken = match self.begin(command, deadline).await {
            Err(NotRun::OutcomeUnknown(id)) if !authority.is_nobody() => match self.resolve(&id, authority).await {
                Ok(Resolved::Settled | Resolved::Reopened | Resolved::NotUnknown) => {
                    self.begin(command, deadline).await?
                }
                Ok(Resolved::StillUnknown | Resolved::NotQuietYet { .. }) | Err(NotResolved) => {
                    return Err(NotRun::OutcomeUnknown(id));
                }
            },
            taken => taken?,
        };
        match taken {
            Taken::Replay { ending, answer } => Ok(replayed(ending, &answer)),
            Taken::Run(begun) => {
                let outcome = effect(begun.permit()).await;
                Ok(self.finish(begun, outcome).await)
            }
        }
    }

    /// As [`Leased::run`], with work before the effect that may be done again: until `prepare` returns, a lost
    /// invocation leaves nothing but a lease, after which the same command is taken over. Three requests.
    ///
    /// `prepare` returns what the effect needs, or an answer with which the key is given back.
    ///
    /// # Errors
    /// [`NotRun`]: `effect` was not called.
    pub async fn prepare_and_run<P, T: AsAnswer>(
        &self,
        command: &Named,
        deadline: Option<EpochMillis>,
        prepare: impl AsyncFnOnce() -> Result<P, T>,
        effect: impl AsyncFnOnce(P, Permit) -> Outcome<T>,
    ) -> Result<Ran<T>, NotRun> {
        let open = match self.open(command, deadline).await? {
            Taken::Replay { ending, answer } => return Ok(replayed(ending, &answer)),
            Taken::Run(open) => open,
        };
        let prepared = match prepare().await {
            Ok(prepared) => prepared,
            Err(answer) => {
                let written = self.release(open).await;
                return Ok(recorded(written, Outcome::Released(answer)));
            }
        };
        let begun = self.mark(open).await.map_err(|fault| match fault {
            NotMarked::LeaseOver => NotRun::NoTimeLeft(super::NoTimeLeft),
            NotMarked::Unavailable => NotRun::Unavailable,
        })?;
        let outcome = effect(prepared, begun.permit()).await;
        Ok(self.finish(begun, outcome).await)
    }

    /// Writes down what came of the effect. One request.
    ///
    /// # Errors
    /// [`NotWritten`]: it will read as unknown, unless it was written after all.
    pub async fn complete<T: AsAnswer>(&self, begun: Begun, outcome: &Outcome<T>) -> Result<(), NotWritten> {
        let kept = |answer: &T| self.rules.answer_max.keep(answer.to_answer());
        let conclusion = match outcome {
            Outcome::Succeeded(answer) => Conclusion::Settled(Ending::Succeeded, kept(answer)),
            Outcome::Failed(answer) => Conclusion::Settled(Ending::Failed, kept(answer)),
            Outcome::Released(_) => Conclusion::Reopened,
            Outcome::Unknown => Conclusion::Unknown { lease_until: begun.0.lease.until() },
        };
        self.conclude(&begun.0.execution, conclusion).await
    }

    async fn finish<T: AsAnswer>(&self, begun: Begun, outcome: Outcome<T>) -> Ran<T> {
        let written = self.complete(begun, &outcome).await;
        recorded(written, outcome)
    }
}

fn recorded<T>(written: Result<(), NotWritten>, outcome: Outcome<T>) -> Ran<T> {
    match written {
        Ok(()) => Ran::First(outcome),
        Err(fault) => {
            tracing::error!(%fault, "what came of an effect is not written down");
            Ran::Unrecorded(outcome)
        }
    }
}

fn replayed<T: AsAnswer>(ending: Ending, answer: &super::Answer) -> Ran<T> {
    Ran::Replayed { ending, answer: answer.bytes().and_then(T::from_answer) }
}
