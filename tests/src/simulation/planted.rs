//! The checker must be able to fail: flaws planted one at a time, and the rule that must find each.

use super::choice::Faults;
use super::play::{Ground, Keep, Play, play};
use super::script::Cast;
use crate::world::Flaw;

/// Every flaw, with the rule that must find it. A flaw may break others as well.
pub const PLANTED: [(Flaw, &str); Flaw::ALL.len()] = [
    (Flaw::GuardConditionIgnored, "6 same key, other command"),
    // Either of a pair of conditions holds where the other would; alone, one is missed only in the store's own answer.
    (Flaw::RecordConditionIgnored, "ports: what stands in the way is exact"),
    (Flaw::RowZeroConditionIgnored, "ports: what stands in the way is exact"),
    (Flaw::EventConditionsIgnored, "6 one event, one acceptance"),
    (Flaw::RevConditionIgnored, "ports: what stands in the way is exact"),
    (Flaw::RowConditionIgnored, "ports: what stands in the way is exact"),
    (Flaw::StepConditionsIgnored, "8 rows are never changed"),
    (Flaw::BindConditionIgnored, "6 same key, other command"),
    (Flaw::RowOutsideTransaction, "8 the chain verifies"),
    (Flaw::OpenRecordsForgotten, "2 nothing lost: settled in time"),
    (Flaw::CarrierRetries, "1 at most one acceptance"),
    (Flaw::LateCallsMade, "3 nothing stale"),
    (Flaw::OwnWriteUnrecognised, "6 409 only for another command"),
    (Flaw::MismatchHidden, "6 same key, other command"),
    (Flaw::AnswerRebuilt, "5 same command, same bytes"),
    (Flaw::LostDoorbellsForgotten, "2 nothing lost: settled in time"),
    (Flaw::SkewIgnored, "4 unknown only where a fault struck"),
    (Flaw::WindowTooShort, "6 same key, other command"),
    (Flaw::LeaseEndResends, "1 at most one acceptance"),
    (Flaw::SendingRungAgain, "1 at most one acceptance"),
    (Flaw::OutcomeOfAnotherAttempt, "states: legal transitions only"),
    (Flaw::UnknownRetriedByAge, "1 at most one acceptance"),
    (Flaw::IntentNotWritten, "8 no call without its intent"),
    (Flaw::RivalsHidden, "8 rows tell the truth"),
    (Flaw::OldReceiptsDropped, "a receipt of a known attempt is taken in"),
    (Flaw::MessageNamesIgnored, "8 what became of a text was reported of it"),
];

/// The first seed below `seeds` in which `rule` is broken while `flaw` is planted.
#[must_use]
pub fn found_by(flaw: Flaw, rule: &str, seeds: u64) -> Option<u64> {
    let cast = Cast::new();
    (0..seeds).find(|&seed| {
        let plan = Play { ground: Ground::Seed(seed), faults: Faults::Drawn, flaw: Some(flaw) };
        play(&cast, &plan, Keep::Verdict).violations.iter().any(|violation| violation.rule == rule)
    })
}
