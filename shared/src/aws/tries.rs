//! What became of the earlier tries of one request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use aws_sdk_sns::config::interceptors::{BeforeTransmitInterceptorContextRef, FinalizerInterceptorContextRef};
use aws_sdk_sns::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_sns::error::BoxError;

use super::failure::never_connected;

/// Watches the tries that the SDK makes of one request.
///
/// The SDK returns the last try's error only. When an earlier one may have been done, its answer lost, a last error
/// such as "throttled" proves nothing about the request as a whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Tries(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    begun: AtomicU32,
    refused: AtomicU32,
}

impl Tries {
    /// Whether each try that was begun was surely not done.
    pub(super) fn all_refused(&self) -> bool {
        self.0.begun.load(Ordering::Acquire) == self.0.refused.load(Ordering::Acquire)
    }
}

impl Intercept for Tries {
    fn name(&self) -> &'static str {
        "sendonce.tries"
    }

    fn read_before_transmit(
        &self,
        _: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.0.begun.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    fn read_after_attempt(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        _: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let unconnected = match context.output_or_error() {
            Some(Err(error)) => error.as_connector_error().is_some_and(|error| never_connected(error)),
            Some(Ok(_)) | None => false,
        };
        // A 4xx is given before anything is done, but for 408: that one gave up waiting for the request.
        let rejected =
            context.response().is_some_and(|answer| matches!(answer.status().as_u16(), 400..=407 | 409..=499));
        if unconnected || rejected {
            self.0.refused.fetch_add(1, Ordering::AcqRel);
        }
        Ok(())
    }
}
