//! The idempotency layer around Lambda handlers.
//!
//! * [`http::idempotent`] is a tower layer for `lambda_http`: the `Idempotency-Key` header, a typed body, the stored
//!   answer.
//! * [`sqs::Consumer`] runs the records of an SQS batch, each under a key of its own.
//!
//! Both take their lease from the invocation's deadline, and both ask an [`crate::idempotency::Authority`] before they
//! say that an outcome is unknown.

pub mod http;
pub mod sqs;
mod stored;

use lambda_runtime::Context;

use crate::idempotency::Fields;
use crate::time::EpochMillis;

/// When the platform ends this invocation; `None` when the context does not say.
#[must_use]
pub fn deadline(context: &Context) -> Option<EpochMillis> {
    i64::try_from(context.deadline).ok().filter(|ms| *ms > 0).map(EpochMillis::new)
}

/// A command with the name of what it asks for: one key is one command, whatever path it came by.
struct Of<'a, T>(&'a str, &'a T);

impl<T: Fields> Fields for Of<'_, T> {
    fn fields(&self, field: &mut dyn FnMut(&[u8])) {
        field(self.0.as_bytes());
        self.1.fields(field);
    }
}
