//! Coverage marks: each names a branch that matters and that tests must be seen to reach. Without the feature `marks`
//! they compile to nothing.

#[cfg(feature = "marks")]
use core::sync::atomic::{AtomicBool, Ordering};

/// Declares the marks, and the list of them all.
macro_rules! marks {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A branch that tests must reach.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mark {
            $($(#[$doc])* $name,)*
        }

        impl Mark {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name),*];
        }
    };
}

marks! {
    /// An admission met its own earlier try.
    AdmissionOwn,
    /// A duplicate was answered from its guard.
    AdmissionReplayed,
    /// A key was refused for another command.
    KeyReused,
    /// An event was refused for another command.
    EventConflict,
    /// An event was known by its row alone: its record had been forgotten.
    EventKnownByRow,
    /// A second key was bound to an event.
    KeyBound,
    /// A binding met its own earlier try.
    BindOwn,
    /// A binding met that of another request for the same command.
    BindReplayed,
    /// A binding met that of another command.
    BindReused,
    /// A retry was answered after its command's end.
    EndedReplayed,
    /// A key was refused after its command's end.
    EndedReused,
    /// A step met its own earlier try.
    StepOwn,
    /// A step came second.
    StepLost,
    /// A refusal after a lost answer was not believed.
    DoubtKept,
    /// No attempt was begun, for lack of time.
    NoTimeLeft,
    /// An envelope was open only when its attempt was no longer allowed.
    OpenedTooLate,
    /// A doorbell was overtaken by another writer.
    DispatchOvertaken,
    /// A doorbell found a lease over.
    LeaseEndedByDoorbell,
    /// An outcome met a record that had moved.
    OutcomeLate,
    /// An outcome added nothing to what was known.
    OutcomeAddsNothing,
    /// A refused attempt asked for the next.
    RetryAsked,
    /// A refused attempt was the last.
    StoppedAfterRefusal,
    /// A late refusal reopened its own attempt's unknown.
    LateRefusalReopens,
    /// A late acceptance settled an unknown.
    LateAcceptanceSettles,
    /// A late acceptance came after the end.
    LateAcceptanceNoted,
    /// A late refusal came after the end.
    LateRefusalNoted,
    /// A receipt settled an attempt whose own answer was not written yet.
    ReceiptBeforeAnswer,
    /// A receipt settled what nobody had an answer for.
    ReceiptSettles,
    /// A receipt said that the text arrived.
    Delivered,
    /// A receipt said that it did not.
    Undelivered,
    /// A receipt contradicted an earlier one.
    ReceiptContradicts,
    /// A receipt came after the end, or for an attempt that had settled nothing.
    ReceiptNoted,
    /// A receipt was about nothing that is known.
    ReceiptForNobody,
    /// A receipt was put off, for what it is about may be written any moment.
    ReceiptHeld,
    /// A log row was paired by number and time.
    PairedProbably,
    /// A log row could have been of more than one attempt, or an attempt have had more than one.
    PairedAmbiguously,
    /// A look for evidence brought nothing.
    SoughtInVain,
    /// An unknown was looked up once more when it expired.
    SoughtAtTheEnd,
    /// An unknown was ended although its provider's log could not be read.
    StoppedUnlooked,
    /// Silence was taken for a no.
    SilenceResent,
    /// An operator allowed another attempt.
    OperatorResent,
    /// An operator ended an unknown.
    OperatorClosed,
    /// An operator's decision was refused.
    OperatorRefused,
    /// The index named what was no longer due.
    StaleDueDropped,
    /// A lost doorbell was rung again.
    DoorbellRungAgain,
    /// A tick found a lease over.
    LeaseEndedByTick,
    /// A tick ended what had expired before any attempt.
    ExpiredBeforeAttempt,
    /// A tick ended what had expired unresolved.
    ExpiredUnresolved,
    /// A tick went on to a second page.
    NextPage,
    /// A tick left work to the next, for lack of time.
    TickCutShort,
    /// What was cancelled was cancelled again.
    CancelledAgain,
    /// A cancel met a running attempt.
    CancelWhileRunning,
    /// A cancel was overtaken by another writer.
    CancelOvertaken,
}

#[cfg(feature = "marks")]
static REACHED: [AtomicBool; Mark::ALL.len()] = [const { AtomicBool::new(false) }; Mark::ALL.len()];

/// Notes that a branch was reached.
#[inline]
#[cfg_attr(not(feature = "marks"), expect(clippy::missing_const_for_fn, reason = "it is one only without marks"))]
pub(crate) fn mark(_mark: Mark) {
    #[cfg(feature = "marks")]
    if let Some(reached) = REACHED.iter().zip(Mark::ALL).find_map(|(flag, mark)| (*mark == _mark).then_some(flag))
        && !reached.load(Ordering::Relaxed)
    {
        reached.store(true, Ordering::Relaxed);
    }
}

/// Notes that a branch was reached, and gives its value on.
#[inline]
pub(crate) fn marked<T>(reached: Mark, value: T) -> T {
    mark(reached);
    value
}

/// The marks that nothing has reached in this process.
#[cfg(feature = "marks")]
#[must_use]
pub fn unreached() -> Vec<Mark> {
    let flags = REACHED.iter().zip(Mark::ALL);
    flags.filter(|(flag, _)| !flag.load(Ordering::Relaxed)).map(|(_, mark)| *mark).collect()
}
