//! Where executions are kept.
#![expect(async_fn_in_trait, reason = "flows are generic over ports; whoever spawns one names concrete types")]

use crate::ports::{Unreadable, WriteFault, Written};

use super::{Execution, ExecutionId, Moment, Owner};

/// A store of executions. One method is one request; [`super::conformance`] is what an implementation must pass.
///
/// Both writes are conditional, so each may be tried again, and a writer that lost an answer finds its own write in
/// what is [`Written::Held`].
pub trait Executions {
    /// Writes `execution` unless one stands in its way: unless [`super::judge`] on its behalf, at `at`, finds that the
    /// stored one gives way ([`super::Judgement::gives_way`]).
    ///
    /// `Done`: durable. `Held`: not written by this try; what stands in the way is exact at that instant, and this
    /// very execution when an earlier try was written. `Conflict`, `Refused`: not written. `Unknown`: perhaps written.
    async fn begin(&self, execution: &Execution, at: Moment) -> Result<Written<Execution>, WriteFault>;

    /// Replaces what `held_by` holds with `next`: only while the stored owner is `held_by` and nothing is settled.
    ///
    /// `Done`: durable. `Held`: not written by this try; what is there instead, `None` when nothing is. `Conflict`,
    /// `Refused`: not written. `Unknown`: perhaps written.
    async fn advance(&self, next: &Execution, held_by: Owner) -> Result<Written<Option<Execution>>, WriteFault>;

    /// The execution as it stands. Sees every write that was answered before.
    async fn execution(&self, id: &ExecutionId) -> Result<Option<Execution>, Unreadable>;
}

impl<S: Executions> Executions for &S {
    async fn begin(&self, execution: &Execution, at: Moment) -> Result<Written<Execution>, WriteFault> {
        (**self).begin(execution, at).await
    }

    async fn advance(&self, next: &Execution, held_by: Owner) -> Result<Written<Option<Execution>>, WriteFault> {
        (**self).advance(next, held_by).await
    }

    async fn execution(&self, id: &ExecutionId) -> Result<Option<Execution>, Unreadable> {
        (**self).execution(id).await
    }
}
