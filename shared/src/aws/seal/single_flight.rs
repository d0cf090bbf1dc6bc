//! One request for many who need the same answer.

use core::future::Future;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::Mutex;

use crate::ports::SealFault;

/// A value that is asked for by one task while the others wait, and that then serves all of them. They share its
/// failure too: ten who wait for a service that is down fail together, not one time-out after the other.
#[derive(Debug)]
pub(super) struct SingleFlight<T> {
    latest: Mutex<Result<T, SealFault>>,
    failures: AtomicU32,
}

impl<T> SingleFlight<T> {
    pub(super) fn new() -> Self {
        Self { latest: Mutex::new(Err(SealFault::Unavailable)), failures: AtomicU32::new(0) }
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
        let mut latest = self.latest.lock().await;
        match latest.as_mut() {
            Ok(value) => {
                if let Some(taken) = take(value) {
                    return Ok(taken);
                }
            }
            // It failed while this task waited for it.
            Err(fault) if self.failures.load(Ordering::Acquire) != failures => return Err(*fault),
            Err(_) => {}
        }
        *latest = make().await.inspect_err(|_| {
            self.failures.fetch_add(1, Ordering::AcqRel);
        });
        match latest.as_mut() {
            Ok(value) => take(value).ok_or(SealFault::Unavailable),
            Err(fault) => Err(*fault),
        }
    }
}
