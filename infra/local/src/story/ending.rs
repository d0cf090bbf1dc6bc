//! How a notification must end, given how the provider behaves.

use crate::provider::{Provider, THROTTLED};

/// What must be true of a notification in the end.
#[derive(Debug, Clone)]
pub(crate) struct Ending {
    /// Its status.
    pub(crate) status: &'static str,
    /// The reason, if it was stopped.
    pub(crate) reason: &'static str,
    /// How many texts reach the handset.
    pub(crate) texts: usize,
    /// How many calls the provider gets.
    pub(crate) calls: usize,
    /// What the evidence says, row by row.
    pub(crate) kinds: Vec<&'static str>,
}

impl Ending {
    /// The ending under a provider that behaves like this.
    pub(crate) fn under(provider: Provider) -> Self {
        match provider {
            Provider::Ok => Self::delivered(0),
            Provider::Throttle => Self::delivered(THROTTLED),
            Provider::Reject => Self::of("failed", "", 0, 1, &["attempt_refused"]),
            Provider::Error => Self::unresolved(0),
            Provider::Hang | Provider::Reset => Self::reconciled(),
        }
    }

    /// The ending if the provider took the text, never answered, and never reports on it either.
    pub(crate) fn in_silence() -> Self {
        Self::unresolved(1)
    }

    /// The ending if reconciliation has to ring first.
    pub(crate) fn after_lost_doorbell() -> Self {
        let mut ending = Self::delivered(0);
        ending.kinds.insert(1, "doorbell_rung");
        ending
    }

    /// Whether only its expiry ends it.
    pub(crate) fn needs_expiry(&self) -> bool {
        self.status == "stopped"
    }

    /// Whether its outcome is unknown on the way there.
    pub(crate) fn passes_unknown(&self) -> bool {
        self.kinds.contains(&"attempt_unknown")
    }

    /// The state it is to be seen in before time passes.
    pub(crate) fn first_state(&self) -> &'static str {
        if self.passes_unknown() { "dispatch_unknown" } else { self.status }
    }

    /// The status as one says it, with the reason.
    pub(crate) fn name(&self) -> String {
        name(self.status, self.reason)
    }

    fn delivered(refusals: usize) -> Self {
        let mut ending = Self::of("delivered", "", 1, refusals + 1, &["attempt_accepted", "delivered"]);
        for _ in 0..refusals {
            ending.kinds.splice(1..1, ["attempt_started", "attempt_refused"]);
        }
        ending
    }

    fn reconciled() -> Self {
        Self::of("delivered", "", 1, 1, &["attempt_unknown", "reconciled_accepted", "delivered"])
    }

    fn unresolved(texts: usize) -> Self {
        Self::of("stopped", "expired_unresolved", texts, 1, &["attempt_unknown", "stopped"])
    }

    fn of(status: &'static str, reason: &'static str, texts: usize, calls: usize, last: &[&'static str]) -> Self {
        let mut kinds = vec!["accepted", "attempt_started"];
        kinds.extend(last);
        Self { status, reason, texts, calls, kinds }
    }
}

/// A status as one says it, with the reason if there is one.
pub(crate) fn name(status: &str, reason: &str) -> String {
    match reason {
        "" => status.to_owned(),
        reason => format!("{status}: {reason}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_throttled_text_is_refused_and_then_taken_once() {
        let ending = Ending::under(Provider::Throttle);
        assert_eq!((ending.texts, ending.calls), (1, 3));
        let refused = ["attempt_started", "attempt_refused"];
        assert_eq!(
            ending.kinds,
            [&["accepted"], &refused[..], &refused[..], &["attempt_started", "attempt_accepted", "delivered"]].concat()
        );
    }
}
