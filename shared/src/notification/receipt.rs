//! What provider and carrier report later, and what a record makes of it.

use serde::{Deserialize, Serialize};

use crate::marks::{Mark, mark, marked};

use super::fact::Fact;
use super::record::{Record, State};
use super::{AttemptId, Reference};

/// Who says what became of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReceiptSource {
    /// The attempt's own answer, written late.
    LateAnswer,
    /// An event of AWS End User Messaging, which carries the attempt's name.
    EumEvent,
    /// SNS's delivery log.
    SnsLog,
}

/// How surely evidence speaks of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// By the attempt's or message's own name.
    Exact,
    /// By number and time, with one candidate on each side. A text that somebody else sent to the same number from the
    /// same account in the same moment would look the same.
    Probable,
}

/// What a receipt says. Any of them says that the provider took the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptStatus {
    /// No more than that.
    Accepted,
    /// It arrived.
    Delivered,
    /// It did not, and will not.
    Undelivered,
}

/// Why a text did not arrive, as the closed list this service knows. An unknown reason's text is kept nowhere, for it
/// may hold a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DeliveryCode {
    /// The account's spending limit was reached.
    QuotaExhausted,
    /// A carrier or the provider took it for spam.
    BlockedAsSpam,
    /// The carrier does not carry it.
    BlockedByCarrier,
    /// The provider does not carry it: a block list, or a protect configuration.
    BlockedByProvider,
    /// The recipient's phone does not take texts like it.
    BlockedByRecipient,
    /// There is no such number.
    InvalidNumber,
    /// The message itself is not acceptable.
    InvalidMessage,
    /// The recipient asked not to be texted.
    OptedOut,
    /// It would have cost more than allowed.
    OverMaxPrice,
    /// The carrier could not be reached.
    CarrierUnreachable,
    /// The phone could not be reached.
    PhoneUnreachable,
    /// The account is in the sandbox and the number is not verified there.
    Sandbox,
    /// The provider wants to look at it first.
    ReviewRequired,
    /// Its life was over before the carrier took it.
    LifeEnded,
    /// Anything else.
    Other,
}

/// What a look for evidence found, when it decided nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Nothing that could be of this attempt.
    Nothing,
    /// More than one thing that could be, or one that could be of more than one attempt.
    Ambiguous,
}

/// One report about one attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Which attempt.
    pub attempt: AttemptId,
    /// Who says so.
    pub source: ReceiptSource,
    /// How surely it speaks of this attempt.
    pub strength: Strength,
    /// The provider's name for the message.
    pub message_id: Option<Reference>,
    /// What it says.
    pub status: ReceiptStatus,
    /// Why the text did not arrive, if it says so.
    pub code: Option<DeliveryCode>,
}

impl Receipt {
    /// The next fact that it adds to `record`, if any: first that the provider took the text, then what became of it.
    ///
    /// A receipt is proof, so it need not wait for the attempt's own answer. It never reopens what has settled, and a
    /// contradiction stands beside what it contradicts.
    #[must_use]
    pub fn adds_to(&self, record: &Record) -> Option<Fact> {
        let progress = &record.progress;
        let is_taken = progress.taken.as_ref() == Some(&self.attempt);
        match record.state() {
            State::Sending if progress.is_latest(&self.attempt) => {
                marked(Mark::ReceiptBeforeAnswer, Some(self.reconciled()))
            }
            State::DispatchUnknown | State::Accepted if progress.attempts > 0 => {
                marked(Mark::ReceiptSettles, Some(self.reconciled()))
            }
            State::Sent if is_taken => self.delivery(),
            State::Delivered if is_taken && self.status != ReceiptStatus::Undelivered => None,
            State::Undelivered if is_taken && self.status != ReceiptStatus::Delivered => None,
            State::Accepted => None,
            State::Delivered | State::Undelivered if is_taken => marked(Mark::ReceiptContradicts, self.noted(record)),
            State::Sending
            | State::DispatchUnknown
            | State::Sent
            | State::Delivered
            | State::Undelivered
            | State::Failed
            | State::Stopped(_) => marked(Mark::ReceiptNoted, self.noted(record)),
        }
    }

    fn reconciled(&self) -> Fact {
        Fact::ReconciledAccepted {
            attempt: self.attempt.clone(),
            source: self.source,
            strength: self.strength,
            message_id: self.message_id.clone(),
        }
    }

    fn delivery(&self) -> Option<Fact> {
        let (attempt, source, strength) = (self.attempt.clone(), self.source, self.strength);
        match self.status {
            ReceiptStatus::Accepted => None,
            ReceiptStatus::Delivered => {
                mark(Mark::Delivered);
                Some(Fact::Delivered { attempt, source, strength })
            }
            ReceiptStatus::Undelivered => {
                mark(Mark::Undelivered);
                Some(Fact::Undelivered { attempt, source, strength, code: self.code.unwrap_or(DeliveryCode::Other) })
            }
        }
    }

    fn noted(&self, record: &Record) -> Option<Fact> {
        let is_new = !record.progress.noted.holds(record.progress.is_latest(&self.attempt), self.status);
        is_new.then(|| Fact::ReceiptNoted {
            attempt: self.attempt.clone(),
            source: self.source,
            strength: self.strength,
            status: self.status,
            code: self.code,
        })
    }
}

/// Which receipts stand in the evidence as noted: each kind once for the latest attempt and once for those before it,
/// so that no provider can fill a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Noted(u8);

impl Noted {
    /// None.
    pub(super) const NOTHING: Self = Self(0);

    const fn bit(is_latest: bool, status: ReceiptStatus) -> u8 {
        let bit = match status {
            ReceiptStatus::Accepted => 1,
            ReceiptStatus::Delivered => 2,
            ReceiptStatus::Undelivered => 4,
        };
        if is_latest { bit } else { bit << 3 }
    }

    /// Whether this kind was noted before.
    #[must_use]
    pub const fn holds(self, is_latest: bool, status: ReceiptStatus) -> bool {
        self.0 & Self::bit(is_latest, status) != 0
    }

    /// With this kind added.
    #[must_use]
    pub(super) const fn with(self, is_latest: bool, status: ReceiptStatus) -> Self {
        Self(self.0 | Self::bit(is_latest, status))
    }

    /// Whether nothing was noted.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::super::{RefusalClass, ResendBasis, StopReason};
    use super::*;

    fn receipt(byte: u8, status: ReceiptStatus) -> Receipt {
        let code = (status == ReceiptStatus::Undelivered).then_some(DeliveryCode::QuotaExhausted);
        let (source, strength) = (ReceiptSource::EumEvent, Strength::Exact);
        Receipt { attempt: attempt(byte), source, strength, message_id: None, status, code }
    }

    /// The states that a story goes through while receipts come in, each until it adds nothing more.
    fn told(facts: impl IntoIterator<Item = Fact>, receipts: &[Receipt]) -> Vec<(State, u32)> {
        let (mut record, _) = story(facts);
        let mut seen = Vec::new();
        for receipt in receipts {
            while let Some(fact) = receipt.adds_to(&record) {
                record =
                    record.step(fact, at(100), actor(super::super::Function::Reconciliation), &POLICY).unwrap().record;
            }
            seen.push((record.state(), record.rev));
        }
        seen
    }

    use ReceiptStatus::{Accepted, Delivered, Undelivered};

    #[test]
    fn r7_a_receipt_and_the_own_answer_merge_in_either_order() {
        let first = told([started(1, 1)], &[receipt(1, Delivered)]);
        assert_eq!(first, [(State::Delivered, 3)]);
        let after = told([started(1, 1), taken(1)], &[receipt(1, Delivered)]);
        assert_eq!(after, [(State::Delivered, 3)]);
        let unknown_first = told([started(1, 1), unknown(1)], &[receipt(1, Accepted), receipt(1, Delivered)]);
        assert_eq!(unknown_first, [(State::Sent, 3), (State::Delivered, 4)]);
    }

    #[test]
    fn r1_a_final_failure_is_a_fact_about_the_message_and_nothing_is_sent_again() {
        let told = told([started(1, 1), taken(1)], &[receipt(1, Undelivered), receipt(1, Undelivered)]);
        assert_eq!(told, [(State::Undelivered, 3), (State::Undelivered, 3)]);
        assert!(State::Undelivered.is_settled());
    }

    #[test]
    fn a_contradiction_stands_beside_what_it_contradicts_once() {
        let told = told(
            [started(1, 1), taken(1)],
            &[receipt(1, Undelivered), receipt(1, Delivered), receipt(1, Delivered), receipt(1, Accepted)],
        );
        let undelivered = State::Undelivered;
        assert_eq!(told, [(undelivered, 3), (undelivered, 4), (undelivered, 4), (undelivered, 4)]);
    }

    #[test]
    fn of_two_texts_only_the_one_that_settled_it_is_delivered_and_the_others_fate_is_noted() {
        let basis = ResendBasis::RiskAccepted;
        let resent = Fact::ResendAuthorised { attempt: attempt(1), basis, principal: None };
        for (own, end) in [(Delivered, State::Delivered), (Undelivered, State::Undelivered)] {
            for others in [Accepted, Delivered, Undelivered] {
                let facts = [started(1, 1), unknown(1), resent.clone(), started(2, 2), taken(2)];
                let told = told(facts, &[receipt(2, own), receipt(1, others), receipt(1, others), receipt(2, own)]);
                assert_eq!(told, [(end, 6), (end, 7), (end, 7), (end, 7)], "{own:?}, {others:?}");
            }
        }
    }

    #[test]
    fn what_is_noted_stays_noted() {
        let once = Noted::NOTHING.with(true, Delivered);
        assert_eq!(once.with(true, Delivered), once);
        assert!(once.holds(true, Delivered) && !once.holds(false, Delivered) && !once.holds(true, Accepted));
    }

    #[test]
    fn after_the_end_each_kind_is_noted_once() {
        let stop = State::Stopped(StopReason::ExpiredUnresolved);
        let ended = [started(1, 1), unknown(1), stopped(StopReason::ExpiredUnresolved)];
        let told =
            told(ended, &[receipt(1, Accepted), receipt(1, Accepted), receipt(1, Delivered), receipt(1, Delivered)]);
        assert_eq!(told, [(stop, 4), (stop, 4), (stop, 5), (stop, 5)]);
    }

    #[test]
    fn an_earlier_attempts_receipt_counts_before_the_next_starts_and_is_noted_after() {
        let resent = || {
            let basis = ResendBasis::RiskAccepted;
            [started(1, 1), unknown(1), Fact::ResendAuthorised { attempt: attempt(1), basis, principal: None }]
        };
        assert_eq!(told(resent(), &[receipt(1, Accepted)]), [(State::Sent, 4)]);
        let running = || resent().into_iter().chain([started(2, 2)]);
        assert_eq!(told(running(), &[receipt(1, Accepted)]), [(State::Sending, 5)]);
        // What was proved while another attempt ran decides, once that one is over.
        let refusal = running().chain([noted(1), refused(2, RefusalClass::Retryable)]);
        assert_eq!(story(refusal).0.state(), State::Sent);
        let doubt = running().chain([noted(1), unknown(2)]);
        assert_eq!(story(doubt).0.state(), State::Sent);
        // Of two that were taken, the first that settled it is the one whose delivery counts.
        let both = running().chain([taken(2)]);
        assert_eq!(
            told(both, &[receipt(1, Delivered), receipt(2, Delivered)]),
            [(State::Sent, 6), (State::Delivered, 7)]
        );
    }

    #[test]
    fn what_is_proved_after_the_end_decides_nothing() {
        let basis = ResendBasis::RiskAccepted;
        let resent = Fact::ResendAuthorised { attempt: attempt(1), basis, principal: None };
        let end = stopped(StopReason::ExpiredUnresolved);
        let ended = [started(1, 1), unknown(1), resent, started(2, 2), unknown(2), end, noted(1)];
        assert_eq!(story(ended).0.progress.taken, None);
    }

    fn noted(byte: u8) -> Fact {
        let (source, strength) = (ReceiptSource::EumEvent, Strength::Exact);
        Fact::ReceiptNoted { attempt: attempt(byte), source, strength, status: Accepted, code: None }
    }

    #[test]
    fn a_receipt_for_what_was_never_attempted_adds_nothing() {
        assert_eq!(told([], &[receipt(1, Delivered)]), [(State::Accepted, 0)]);
    }
}
