//! What the Lambda runtime says of an invocation.

use lambda_runtime::Context;

use crate::invocation::Invocation;
use crate::notification::{Actor, Function, Reference};
use crate::time::EpochMillis;

/// Who writes in this invocation, and until when it may run.
#[must_use]
pub fn invocation(function: Function, context: &Context) -> Invocation {
    let actor = Actor {
        function,
        version: Reference::parse(&context.env_config.version),
        request_id: Reference::parse(&context.request_id),
    };
    Invocation { actor, deadline: EpochMillis::new(i64::try_from(context.deadline).unwrap_or(i64::MAX)) }
}
