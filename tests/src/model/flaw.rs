//! What can be done wrong on purpose, to show that the properties would see it.

/// One thing done wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// The store takes a guard although one holds.
    GuardIgnored,
    /// The store takes an event although it has its record.
    EventIgnored,
    /// The store takes a step whatever revision the record is at.
    StepUnfenced,
    /// A row is not in its step's transaction: it is missing when the step's answer is lost.
    RowOutside,
    /// A dispatcher calls without recording the attempt.
    IntentNotWritten,
    /// A lease that ended counts as proof that nothing was sent.
    LeaseEndResends,
    /// The reconciler hands out an attempt that is running.
    SendingResent,
    /// A dispatcher tries again what is unknown.
    UnknownRetried,
    /// An outcome is written for whatever attempt is the latest, and a retried write does not look for its own row.
    OutcomeUnchecked,
    /// A dispatcher that was frozen calls all the same.
    LateCallsMade,
    /// Nobody ends what has expired.
    ExpiryForgotten,
}

impl Flaw {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::GuardIgnored,
        Self::EventIgnored,
        Self::StepUnfenced,
        Self::RowOutside,
        Self::IntentNotWritten,
        Self::LeaseEndResends,
        Self::SendingResent,
        Self::UnknownRetried,
        Self::OutcomeUnchecked,
        Self::LateCallsMade,
        Self::ExpiryForgotten,
    ];
}
