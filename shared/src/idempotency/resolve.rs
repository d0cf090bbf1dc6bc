//! Ending what is unknown: by asking, or by deciding; never by age.
#![expect(async_fn_in_trait, reason = "flows are generic over ports; whoever spawns one names concrete types")]

use crate::ports::{Clock, Unreadable};
use crate::time::Millis;

use super::leased::Conclusion;
use super::{Ending, Execution, ExecutionId, Executions, Leased, Moment, NotWritten, Phase, reads_as_unknown};

/// What became of an effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It happened, and this is its answer in the bytes in which answers are kept.
    Happened {
        /// How it ended.
        ending: Ending,
        /// What retries are told.
        answer: Vec<u8>,
    },
    /// It did not, and nothing that is still on its way will make it happen. The same command may be run again.
    DidNotHappen,
    /// That is not known yet. Not having found it is this, unless the place that was searched would surely have it.
    StillUnknown,
}

/// Who can say what became of an effect: the service that the effect is an effect on.
pub trait Authority {
    /// What became of the effect that was given this reference? Changes nothing anywhere.
    async fn what_became_of(&self, reference: &ExecutionId) -> Resolution;

    /// Whether asking is in vain, and what comes before it can be saved.
    fn is_nobody(&self) -> bool {
        false
    }
}

impl<A: Authority> Authority for &A {
    fn is_nobody(&self) -> bool {
        (**self).is_nobody()
    }

    async fn what_became_of(&self, reference: &ExecutionId) -> Resolution {
        (**self).what_became_of(reference).await
    }
}

/// Nobody can say.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoAuthority;

impl Authority for NoAuthority {
    async fn what_became_of(&self, _: &ExecutionId) -> Resolution {
        Resolution::StillUnknown
    }

    fn is_nobody(&self) -> bool {
        true
    }
}

/// A decision that somebody answers for is an authority too.
impl Authority for Resolution {
    async fn what_became_of(&self, _: &ExecutionId) -> Resolution {
        self.clone()
    }
}

/// Where a resolution left an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// Settled: it happened.
    Settled,
    /// Open again: it did not happen.
    Reopened,
    /// As it was.
    StillUnknown,
    /// As it was: an effect that began within the lease could still be running, and would be missed by whoever is asked.
    NotQuietYet {
        /// For at most this long.
        left: Millis,
    },
    /// There was nothing to resolve: it is settled, running, or was never taken.
    NotUnknown,
}

/// Whether anything was written is not known; resolving again is safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store is not available")]
pub struct NotResolved;

impl<S: Executions, C: Clock> Leased<S, C> {
    /// Asks `authority` what became of an execution whose outcome is unknown, and writes down what it says: for the
    /// owner it read, so that an owner who finds out first is not written over.
    ///
    /// # Errors
    /// [`NotResolved`].
    pub async fn resolve(&self, id: &ExecutionId, authority: &impl Authority) -> Result<Resolved, NotResolved> {
        let found = self.store.execution(id).await.map_err(|Unreadable| NotResolved)?;
        let at = Moment { now: self.clock.now(), skew: self.rules.skew };
        let Some(found) = found.filter(|found| reads_as_unknown(found, at)) else { return Ok(Resolved::NotUnknown) };
        if let Some(left) = self.not_quiet_for(&found, at) {
            return Ok(Resolved::NotQuietYet { left });
        }
        let (conclusion, resolved) = match authority.what_became_of(id).await {
            Resolution::Happened { ending, answer } => {
                (Conclusion::Settled(ending, self.rules.answer_max.keep(Some(answer))), Resolved::Settled)
            }
            Resolution::DidNotHappen => (Conclusion::Reopened, Resolved::Reopened),
            Resolution::StillUnknown => return Ok(Resolved::StillUnknown),
        };
        // The old owner is fenced off by it, whatever was decided: what is settled nobody writes, and what is open again is
        // under another token.
        match self.conclude(&found, conclusion).await {
            Ok(()) => Ok(resolved),
            Err(NotWritten::Overtaken) => Ok(Resolved::NotUnknown),
            Err(NotWritten::Unavailable) => Err(NotResolved),
        }
    }

    /// An effect may begin until the lease ends, by its owner's clock, and takes up to the margin to be over or killed.
    fn not_quiet_for(&self, found: &Execution, at: Moment) -> Option<Millis> {
        let (Phase::Begun { lease_until } | Phase::Unknown { lease_until }) = found.phase else { return None };
        let quiet = lease_until.plus(self.rules.margin);
        (!at.is_past(quiet)).then(|| quiet.since(at.leases_over()))
    }
}
