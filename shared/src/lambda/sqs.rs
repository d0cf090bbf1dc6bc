//! The records of an SQS batch, each under a key of its own.

use std::panic::AssertUnwindSafe;

use aws_lambda_events::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::FutureExt;
use futures_util::future::join_all;
use lambda_runtime::Context;

use super::{Of, deadline};
use crate::idempotency::{Authority, Executions, Fields, FingerprintKey, Leased, Named, Outcome, Permit, Ran, Scope};
use crate::ports::Clock;
use crate::tenant::TenantId;
use crate::time::EpochMillis;

/// One record, read.
#[derive(Debug)]
pub struct Consumed<T> {
    /// Whose it is.
    pub tenant: TenantId,
    /// What it is once of: not the message's id, which a producer that sends again does not keep.
    pub scope: Scope,
    /// What is to be done.
    pub command: T,
}

/// Runs the records of batches of a standard queue, all of one batch at once. The mapping needs
/// `ReportBatchItemFailures`, without which SQS ignores the answer.
///
/// | a record that | is |
/// |---|---|
/// | ran, or had run before | done with |
/// | was released, met a running one, or found the store away | delivered again |
/// | has an unknown outcome that the authority cannot end | delivered again, and ends in the dead-letter queue |
/// | cannot be read, or names another command's operation | delivered again, and ends in the dead-letter queue |
#[derive(Debug)]
pub struct Consumer<S, C, A> {
    /// Where executions are kept, and the numbers of the contract.
    pub leased: Leased<S, C>,
    /// The secret under which commands are told apart.
    pub fingerprint: FingerprintKey,
    /// Who can say what became of an operation.
    pub authority: A,
    /// What a command of this consumer is called.
    pub operation: &'static str,
}

/// A batch in which a record has no id. No item can be named as failed, so all of it has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the batch holds a message without an id")]
pub struct Nameless;

impl<S: Executions, C: Clock, A: Authority> Consumer<S, C, A> {
    /// Runs a batch: `read` makes a command of a record, `effect` has its effect.
    ///
    /// # Errors
    /// [`Nameless`].
    pub async fn consume<T: Fields>(
        &self,
        event: &SqsEvent,
        context: &Context,
        read: impl Fn(&SqsMessage) -> Option<Consumed<T>>,
        effect: impl AsyncFn(T, Permit) -> Outcome<()>,
    ) -> Result<SqsBatchResponse, Nameless> {
        if event.records.iter().any(|record| record.message_id.as_deref().unwrap_or_default().is_empty()) {
            return Err(Nameless);
        }
        let (deadline, read, effect) = (deadline(context), &read, &effect);
        let records = event.records.iter().map(|record| async move {
            // A panic is one failed item; what it had begun is unknown from the end of its lease on.
            let done = AssertUnwindSafe(self.one(record, deadline, read, effect)).catch_unwind().await;
            (!done.unwrap_or(false)).then(|| failure(record))
        });
        let mut response = SqsBatchResponse::default();
        response.batch_item_failures = join_all(records).await.into_iter().flatten().collect();
        Ok(response)
    }

    /// Whether this record need not come again.
    async fn one<T: Fields>(
        &self,
        record: &SqsMessage,
        deadline: Option<EpochMillis>,
        read: &impl Fn(&SqsMessage) -> Option<Consumed<T>>,
        effect: &impl AsyncFn(T, Permit) -> Outcome<()>,
    ) -> bool {
        let Some(Consumed { tenant, scope, command }) = read(record) else {
            tracing::error!("a record cannot be read; it goes to the dead-letter queue");
            return false;
        };
        let named = Named::new(&tenant, &scope, &Of(self.operation, &command), &self.fingerprint);
        let once = async |permit: Permit| effect(command, permit).await;
        match self.leased.run_or_ask(&named, deadline, &self.authority, once).await {
            Ok(Ran::First(Outcome::Succeeded(()) | Outcome::Failed(())) | Ran::Replayed { .. }) => true,
            Ok(Ran::First(Outcome::Released(()) | Outcome::Unknown) | Ran::Unrecorded(_)) => false,
            Err(fault) => {
                tracing::warn!(execution.id = named.id.as_str(), %fault, "a record was not run; it comes again");
                false
            }
        }
    }
}

fn failure(record: &SqsMessage) -> BatchItemFailure {
    let mut failure = BatchItemFailure::default();
    failure.item_identifier = record.message_id.clone().unwrap_or_default();
    failure
}
