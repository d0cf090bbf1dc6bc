//! Faults planted on purpose, to show that the checks see them.

use core::cell::Cell;

/// One thing that a part of the world, or a wrapper around a flow's port, does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Flaw {
    /// The store takes a guard although one holds.
    GuardConditionIgnored,
    /// The store takes a record although one exists.
    RecordConditionIgnored,
    /// The store takes a row 0 although one exists.
    RowZeroConditionIgnored,
    /// The store takes a record whatever revision it stands at.
    RevConditionIgnored,
    /// The store writes a row over another.
    RowConditionIgnored,
    /// The store takes an event twice: neither its record nor its row 0 stands in the way.
    EventConditionsIgnored,
    /// The store takes a step whatever stands there.
    StepConditionsIgnored,
    /// The store takes a lone guard although one holds.
    BindConditionIgnored,
    /// The store writes a record and, when the call is disturbed, not its row.
    RowOutsideTransaction,
    /// The table forgets records that are still open.
    OpenRecordsForgotten,
    /// The SMS client sends again when an answer stays away.
    CarrierRetries,
    /// The SMS client does not look at the last useful instant.
    LateCallsMade,
    /// Own writes are taken for another's: what stands in the way comes back with another nonce and another head.
    OwnWriteUnrecognised,
    /// What stands in the way of a guard comes back with the caller's own fingerprint.
    MismatchHidden,
    /// A duplicate's answer is made anew instead of read back.
    AnswerRebuilt,
    /// The index never shows that a doorbell was lost.
    LostDoorbellsForgotten,
    /// Clocks may be further apart than decisions allow for.
    SkewIgnored,
    /// The window is shorter than the formula asks for.
    WindowTooShort,
    /// A lease that ended lets the next attempt start.
    LeaseEndResends,
    /// The reconciler takes `sending` for work to hand out.
    SendingRungAgain,
    /// An attempt's outcome is written to whatever attempt is the latest.
    OutcomeOfAnotherAttempt,
    /// An unknown becomes sendable by its age.
    UnknownRetriedByAge,
    /// A worker writes no intent before it calls.
    IntentNotWritten,
    /// Whoever pairs a log row sees no other notification to the same number.
    RivalsHidden,
    /// Receipts of a certain age are dropped unread.
    OldReceiptsDropped,
    /// A log row is taken for one about whatever was sent to its number.
    MessageNamesIgnored,
}

impl Flaw {
    /// All of them.
    pub const ALL: [Self; 26] = [
        Self::GuardConditionIgnored,
        Self::RecordConditionIgnored,
        Self::RowZeroConditionIgnored,
        Self::RevConditionIgnored,
        Self::RowConditionIgnored,
        Self::EventConditionsIgnored,
        Self::StepConditionsIgnored,
        Self::BindConditionIgnored,
        Self::RowOutsideTransaction,
        Self::OpenRecordsForgotten,
        Self::CarrierRetries,
        Self::LateCallsMade,
        Self::OwnWriteUnrecognised,
        Self::MismatchHidden,
        Self::AnswerRebuilt,
        Self::LostDoorbellsForgotten,
        Self::SkewIgnored,
        Self::WindowTooShort,
        Self::LeaseEndResends,
        Self::SendingRungAgain,
        Self::OutcomeOfAnotherAttempt,
        Self::UnknownRetriedByAge,
        Self::IntentNotWritten,
        Self::RivalsHidden,
        Self::OldReceiptsDropped,
        Self::MessageNamesIgnored,
    ];

    /// Reads a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|flaw| format!("{flaw:?}") == name)
    }
}

/// The flaws in force; none by default.
#[derive(Clone, Debug, Default)]
pub struct Flaws(Cell<u32>);

impl Flaws {
    /// Only this one.
    pub fn only(&self, flaw: Option<Flaw>) {
        self.0.set(flaw.map_or(0, |flaw| 1 << flaw as u32));
    }

    /// Whether any of these is in force.
    #[must_use]
    pub fn any(&self, flaws: &[Flaw]) -> bool {
        flaws.iter().any(|flaw| self.has(*flaw))
    }

    /// Whether it is in force.
    #[must_use]
    pub fn has(&self, flaw: Flaw) -> bool {
        self.0.get() & (1 << flaw as u32) != 0
    }
}
