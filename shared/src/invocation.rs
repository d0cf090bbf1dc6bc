//! What a flow knows of the invocation it runs in.

use crate::notification::Actor;
use crate::time::{EpochMillis, Millis};

/// One invocation: who writes, and until when it may run.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// Who stands in the evidence.
    pub actor: Actor,
    /// When the platform ends it.
    pub deadline: EpochMillis,
}

impl Invocation {
    /// Whether `needed` fits before the deadline.
    #[must_use]
    pub fn has_time(&self, now: EpochMillis, needed: Millis) -> bool {
        now.plus(needed) <= self.deadline
    }
}
