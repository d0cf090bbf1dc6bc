//! How long an owner may act.

use crate::time::{EpochMillis, Millis};

/// Until when an owner may begin its effect: the platform's deadline, less a margin for writing down what came of it.
///
/// ```
/// use sendonce::idempotency::{Lease, NoTimeLeft};
/// use sendonce::time::{EpochMillis, Millis};
///
/// let (now, margin) = (EpochMillis::new(1_000), Millis::new(500));
/// let lease = Lease::before(Some(EpochMillis::new(31_000)), margin, now)?;
/// assert_eq!(lease.until(), EpochMillis::new(30_500));
/// // Nothing left, or nobody who says what is left: nothing is begun, and so nothing is locked.
/// assert_eq!(Lease::before(Some(EpochMillis::new(1_500)), margin, now), Err(NoTimeLeft));
/// assert_eq!(Lease::before(None, margin, now), Err(NoTimeLeft));
/// # Ok::<(), NoTimeLeft>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease(EpochMillis);

/// No time is left in which an effect could begin and be written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too little time is left before the deadline, or no deadline is known")]
pub struct NoTimeLeft;

impl Lease {
    /// No function may run for longer than 15 minutes; what is further away than this is no deadline.
    const LONGEST: Millis = Millis::from_secs(16 * 60);

    /// A lease that ends `margin` before `deadline`, the instant at which the platform ends this invocation.
    ///
    /// # Errors
    /// [`NoTimeLeft`] when that is not after `now`, when there is no deadline, or when it is further away than any
    /// function may run: such a number is not a deadline, and a key must not be locked by it.
    pub fn before(deadline: Option<EpochMillis>, margin: Millis, now: EpochMillis) -> Result<Self, NoTimeLeft> {
        let deadline = deadline.ok_or(NoTimeLeft)?;
        let until = deadline.minus(margin);
        if until <= now || deadline > now.plus(Self::LONGEST) { Err(NoTimeLeft) } else { Ok(Self(until)) }
    }

    /// The first instant that is no longer within it.
    #[must_use]
    pub const fn until(self) -> EpochMillis {
        self.0
    }

    /// Whether an effect may still begin.
    #[must_use]
    pub fn holds_at(self, now: EpochMillis) -> bool {
        now < self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: EpochMillis = EpochMillis::new(1_796_069_400_000);

    fn lease(left: Millis) -> Result<Lease, NoTimeLeft> {
        Lease::before(Some(NOW.plus(left)), Millis::from_secs(2), NOW)
    }

    #[test]
    fn a_deadline_is_what_a_function_can_have() {
        assert!(lease(Millis::from_secs(2)).is_err());
        assert_eq!(lease(Millis::new(2_001)).map(Lease::until), Ok(NOW.plus(Millis::new(1))));
        assert!(lease(Lease::LONGEST).is_ok());
        assert!(lease(Lease::LONGEST.plus(Millis::new(1))).is_err());
        assert!(Lease::before(None, Millis::ZERO, NOW).is_err());
    }

    #[test]
    fn its_last_instant_is_the_one_before_its_end() {
        let lease = lease(Millis::from_secs(30)).unwrap();
        assert!(lease.holds_at(lease.until().minus(Millis::new(1))));
        assert!(!lease.holds_at(lease.until()));
    }
}
