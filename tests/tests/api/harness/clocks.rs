//! The clock of one environment: the seam's, and what may be wrong with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use sendonce::ports::Clock;
use sendonce::time::{EpochMillis, Millis};
use tests::aws_seam::SeamClock;
use tokio::time::Instant;

/// Right, unless told otherwise. One type for all of it, so that the functions are compiled once.
#[derive(Clone, Debug)]
pub struct Watch {
    clock: SeamClock,
    ahead: Millis,
    step: Millis,
    since: Option<Instant>,
    draws_left: Arc<AtomicI64>,
}

impl Watch {
    pub fn new(clock: SeamClock) -> Self {
        let draws_left = Arc::new(AtomicI64::new(i64::MAX));
        Self { clock, ahead: Millis::ZERO, step: Millis::ZERO, since: None, draws_left }
    }

    /// Off by a constant.
    pub fn ahead(self, ahead: Millis) -> Self {
        Self { ahead, ..self }
    }

    /// Moves each time somebody looks at it, as if all work took that long.
    pub fn ticking(self, step: Millis) -> Self {
        Self { step, ..self }
    }

    /// Moves with the runtime's time, so that time-outs are seen to pass.
    pub fn flowing(self) -> Self {
        Self { since: Some(Instant::now()), ..self }
    }

    /// Panics, once, when so many random values have been drawn.
    pub fn panicking(self, after_draws: i64) -> Self {
        self.draws_left.store(after_draws, Ordering::SeqCst);
        self
    }

    pub fn has_panicked(&self) -> bool {
        self.draws_left.load(Ordering::SeqCst) < 0
    }
}

impl Clock for Watch {
    fn now(&self) -> EpochMillis {
        self.clock.advance(self.step);
        let flown = self.since.map_or(0, |since| i64::try_from(since.elapsed().as_millis()).expect("a short test"));
        self.clock.now().plus(self.ahead).plus(Millis::new(flown))
    }

    fn random(&self) -> [u8; 16] {
        assert_ne!(self.draws_left.fetch_sub(1, Ordering::SeqCst), 0, "this panic is part of the test");
        self.clock.random()
    }

    async fn pause(&self, length: Millis) {
        match self.since {
            Some(_) => tokio::time::sleep(length.to_std()).await,
            None => self.clock.pause(length).await,
        }
    }
}
