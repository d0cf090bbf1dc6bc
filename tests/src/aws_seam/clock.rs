//! Time that moves when it is told to, and chance without surprises.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_smithy_async::time::TimeSource;
use sendonce::ports::Clock;
use sendonce::time::{EpochMillis, Millis};
use sha2::{Digest, Sha256};

/// A clock for everything on one seam. Clones are the same one.
#[derive(Clone, Debug)]
pub struct SeamClock {
    millis: Arc<AtomicI64>,
    draws: Arc<AtomicU64>,
}

impl SeamClock {
    /// 2026-11-30T20:10:00.123Z.
    pub const START: EpochMillis = EpochMillis::new(1_796_069_400_123);

    pub fn set(&self, now: EpochMillis) {
        self.millis.store(now.get(), Ordering::SeqCst);
    }

    pub fn advance(&self, length: Millis) {
        self.millis.fetch_add(length.get(), Ordering::SeqCst);
    }
}

impl Default for SeamClock {
    fn default() -> Self {
        Self { millis: Arc::new(AtomicI64::new(Self::START.get())), draws: Arc::default() }
    }
}

impl Clock for SeamClock {
    fn now(&self) -> EpochMillis {
        EpochMillis::new(self.millis.load(Ordering::SeqCst))
    }

    /// Never the same twice on one seam, the same on each run of a test.
    fn random(&self) -> [u8; 16] {
        let draw = self.draws.fetch_add(1, Ordering::SeqCst);
        let hash: [u8; 32] = Sha256::digest(draw.to_be_bytes()).into();
        *hash.first_chunk().expect("32 bytes hold 16")
    }

    /// Moves this clock on; nothing waits.
    async fn pause(&self, length: Millis) {
        self.advance(length);
        tokio::task::yield_now().await;
    }
}

impl TimeSource for SeamClock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(Clock::now(self).get().unsigned_abs())
    }
}

impl dynoxide::storage_backend::Clock for SeamClock {
    fn now_unix_secs(&self) -> u64 {
        Clock::now(self).get().unsigned_abs() / 1_000
    }

    fn now_unix_secs_f64(&self) -> f64 {
        Clock::now(self).get() as f64 / 1_000.0
    }
}
