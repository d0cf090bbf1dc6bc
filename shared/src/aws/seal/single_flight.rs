//! One request for many who need the same answer.

use core::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::Mutex;

use crate::ports::SealFault;

/// A value that is asked for by one task while the others wait, and that then serves all of them. They share its
/// failure too: ten who wait for a service that is down fail together, not one time-out after the other.
#[derive(Debug, Default)]
pub(super) struct SingleFlight<T> {
    value: Mutex<Option<T>>,
    failures: AtomicU32,
}

impl<T> SingleFlight<T> {
    pub(super) fn new() -> Self {
        Self { value: Mutex::new(None), failures: AtomicU32::new(0) }
    }

    /// What `take` finds in the value at hand, else in a new one.
    pub(super) async fn get<R, F>(
        &self,
        take: impl Fn(&mut T) -> Option<R>,
        make: impl FnOnce() -> F,
    ) -> Result<R, SealFault>
    where
        F: Future<Output = Result<T, SealFault>>,
    {
        let failures = self.failures.load(Ordering::Acquire);
        let mut value = self.value.lock().await;
        if let Some(taken) = value.as_mut().and_then(&take) {
            return Ok(taken);
        }
        if self.failures.load(Ordering::Acquire) != failures {
            return Err(SealFault::Unavailable);
        }
        let made = make().await.inspect_err(|_| {
            self.failures.fetch_add(1, Ordering::AcqRel);
        })?;
        take(value.insert(made)).ok_or(SealFault::Unavailable)
    }
}
