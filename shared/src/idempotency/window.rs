//! How long a key is remembered.

use crate::time::{EpochMillis, Millis};

/// Everything that may still repeat a command, and so what a window must outlast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowTerms {
    /// How long an accepted command may wait for its effect.
    pub message_lifetime: Millis,
    /// How long clients go on retrying with the same key.
    pub client_retry_window: Millis,
    /// The queue's visibility timeout.
    pub visibility_timeout: Millis,
    /// How often the queue delivers a message before it gives up.
    pub max_receive_count: i64,
    /// How far apart two clocks may be.
    pub clock_skew: Millis,
}

impl WindowTerms {
    /// `message lifetime + client retry window + visibility timeout x max receive count + 2 x clock skew`.
    #[must_use]
    pub const fn shortest(&self) -> Millis {
        self.message_lifetime
            .plus(self.client_retry_window)
            .plus(self.visibility_timeout.times(self.max_receive_count))
            .plus(self.clock_skew.times(2))
    }
}

/// A dedup window that covers every retry. It cannot be built any shorter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DedupWindow(Millis);

/// A window that some retry would outlive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the dedup window of {} s is shorter than {} s = message lifetime {} s + client retry window {} s \
     + visibility timeout {} s x max receive count {} + 2 x clock skew {} s",
    .window.secs_ceil(), .terms.shortest().secs_ceil(), .terms.message_lifetime.secs_ceil(),
    .terms.client_retry_window.secs_ceil(), .terms.visibility_timeout.secs_ceil(), .terms.max_receive_count,
    .terms.clock_skew.secs_ceil()
)]
pub struct WindowFault {
    /// The window asked for.
    pub window: Millis,
    /// What it must outlast.
    pub terms: WindowTerms,
}

impl DedupWindow {
    /// A window of this length, if it outlasts all terms.
    ///
    /// # Errors
    /// [`WindowFault`], whose text names each term.
    pub fn new(window: Millis, terms: WindowTerms) -> Result<Self, WindowFault> {
        if window < terms.shortest() { Err(WindowFault { window, terms }) } else { Ok(Self(window)) }
    }

    /// The shortest window that these terms allow.
    #[must_use]
    pub const fn shortest(terms: WindowTerms) -> Self {
        Self(terms.shortest())
    }

    /// The first instant at which a guard taken at `from` no longer holds.
    #[must_use]
    pub const fn ends_at(self, from: EpochMillis) -> EpochMillis {
        from.plus(self.0)
    }

    /// Its length.
    #[must_use]
    pub const fn length(self) -> Millis {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: WindowTerms = WindowTerms {
        message_lifetime: Millis::from_secs(600),
        client_retry_window: Millis::from_secs(3_600),
        visibility_timeout: Millis::from_secs(180),
        max_receive_count: 5,
        clock_skew: Millis::from_secs(5),
    };

    #[test]
    fn the_exact_sum_is_enough_and_a_millisecond_less_is_not() {
        let shortest = Millis::from_secs(600 + 3_600 + 180 * 5 + 2 * 5);
        assert_eq!(TERMS.shortest(), shortest);
        assert_eq!(DedupWindow::new(shortest, TERMS).unwrap().length(), shortest);
        assert!(DedupWindow::new(Millis::new(shortest.get() - 1), TERMS).is_err());
    }

    #[test]
    fn the_error_names_every_term() {
        let fault = DedupWindow::new(Millis::from_secs(60), TERMS).unwrap_err().to_string();
        assert_eq!(
            fault,
            "the dedup window of 60 s is shorter than 5110 s = message lifetime 600 s + client retry window 3600 s \
             + visibility timeout 180 s x max receive count 5 + 2 x clock skew 5 s"
        );
    }
}
