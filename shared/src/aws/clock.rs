//! The system's time and chance.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::ports::Clock;
use crate::time::{EpochMillis, Millis};

/// This machine's clock, random source and timer.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> EpochMillis {
        let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).ok();
        let millis = since_epoch.and_then(|length| i64::try_from(length.as_millis()).ok());
        // A clock before 1970 is no clock. By the far future everything has expired, and so nothing starts.
        EpochMillis::new(millis.unwrap_or(i64::MAX))
    }

    fn random(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        if getrandom::fill(&mut bytes).is_err() {
            // Names and nonces that can be guessed, or come twice, are worse than a sandbox less.
            std::process::abort();
        }
        bytes
    }

    async fn pause(&self, length: Millis) {
        tokio::time::sleep(length.to_std()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn now_is_in_milliseconds_and_chance_differs() {
        let now = SystemClock.now().get();
        assert!((1_700_000_000_000..10_000_000_000_000).contains(&now), "{now}");
        assert_ne!(SystemClock.random(), SystemClock.random());
    }
}
