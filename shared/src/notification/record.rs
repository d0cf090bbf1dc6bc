//! The record of one notification and the states it goes through.

use serde::{Deserialize, Serialize};

use crate::digest::Hash32;
use crate::idempotency::Fingerprint;
use crate::tenant::TenantId;
use crate::time::{EpochMillis, EpochSeconds};

use super::fact::Fact;
use super::operator::ResendBasis;
use super::receipt::Noted;
use super::{
    AttemptId, DestinationMac, Event, IllegalTransition, Kind, Mask, NotificationId, Reference, Sealed, SenderId,
};
use super::{Refusal, RefusalClass};

/// Where a notification stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "state", content = "reason", rename_all = "snake_case")]
pub enum State {
    /// Taken from the client; no attempt is running.
    Accepted,
    /// An attempt is running, or its worker died.
    Sending,
    /// The provider took it.
    Sent,
    /// A receipt says that it arrived.
    Delivered,
    /// A receipt says that it did not arrive.
    Undelivered,
    /// The provider refused it for good.
    Failed,
    /// An attempt may or may not have been accepted.
    DispatchUnknown,
    /// Ended by this service or its users.
    Stopped(StopReason),
}

impl State {
    /// Whether no further send can follow.
    #[must_use]
    pub const fn is_settled(self) -> bool {
        !matches!(self, Self::Accepted | Self::Sending | Self::DispatchUnknown)
    }

    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Delivered => "delivered",
            Self::Undelivered => "undelivered",
            Self::Failed => "failed",
            Self::DispatchUnknown => "dispatch_unknown",
            Self::Stopped(_) => "stopped",
        }
    }
}

/// Why a notification was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// Too little useful life was left to start an attempt.
    ExpiredBeforeAttempt,
    /// It expired while nobody could say whether it was sent.
    ExpiredUnresolved,
    /// Its client took it back.
    Cancelled,
    /// As many attempts as are allowed were refused.
    AttemptsExhausted,
    /// An operator ended it while nobody could say whether it was sent.
    ClosedByOperator,
}

impl StopReason {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExpiredBeforeAttempt => "expired_before_attempt",
            Self::ExpiredUnresolved => "expired_unresolved",
            Self::Cancelled => "cancelled",
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::ClosedByOperator => "closed_by_operator",
        }
    }
}

/// Who carries texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Amazon SNS, `Publish` to a phone number.
    Sns,
    /// AWS End User Messaging SMS, `SendTextMessage`.
    Eum,
}

/// One call to the provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Attempt {
    /// Its name.
    pub id: AttemptId,
    /// Which one it is, from 1.
    pub number: u32,
    /// To whom.
    pub provider: Provider,
    /// Until when it may still be running.
    pub lease_until: EpochMillis,
}

/// The part of a record that facts move. Folding the facts of all evidence rows gives it again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Progress {
    /// Where the notification stands.
    pub state: State,
    /// How many attempts were started.
    pub attempts: u32,
    /// The latest attempt.
    pub attempt: Option<Attempt>,
    /// The provider's name for the accepted message.
    pub message_id: Option<Reference>,
    /// Before when no attempt may start.
    pub not_before: Option<EpochMillis>,
    /// How often the reconciler rang.
    pub rings: u32,
    /// Before when the reconciler does not ring.
    pub ring_at: Option<EpochMillis>,
    /// The attempt that is known to have been accepted.
    pub taken: Option<AttemptId>,
    /// How often evidence of the latest attempt was looked for.
    pub checks: u32,
    /// Before when it is not looked for again.
    pub check_at: Option<EpochMillis>,
    /// Whether silence was once taken for a no.
    pub resent_on_silence: bool,
    /// Which receipts stand in the evidence without effect.
    pub noted: Noted,
}

impl Progress {
    /// Just accepted.
    #[must_use]
    pub const fn start() -> Self {
        Self {
            state: State::Accepted,
            attempts: 0,
            attempt: None,
            message_id: None,
            not_before: None,
            rings: 0,
            ring_at: None,
            taken: None,
            checks: 0,
            check_at: None,
            resent_on_silence: false,
            noted: Noted::NOTHING,
        }
    }

    /// Whether `attempt` is the latest one.
    #[must_use]
    pub fn is_latest(&self, attempt: &AttemptId) -> bool {
        self.attempt.as_ref().is_some_and(|latest| latest.id == *attempt)
    }

    /// Where a fact leads from here.
    ///
    /// # Errors
    /// [`IllegalTransition`] when this state does not know this fact: settled states absorb, and an attempt's outcome
    /// belongs to that attempt.
    pub fn after(&self, fact: &Fact) -> Result<Self, IllegalTransition> {
        let legal = match fact {
            Fact::Accepted(_) => false,
            Fact::DoorbellRung { .. } => self.state == State::Accepted,
            Fact::AttemptStarted { number, .. } => {
                self.state == State::Accepted && Some(*number) == self.attempts.checked_add(1)
            }
            Fact::AttemptAccepted { attempt, .. } | Fact::AttemptUnknown { attempt, .. } => {
                self.state == State::Sending && self.is_latest(attempt)
            }
            Fact::AttemptRefused { attempt, .. } => {
                matches!(self.state, State::Sending | State::DispatchUnknown) && self.is_latest(attempt)
            }
            Fact::ReconciledAccepted { attempt, .. } => match self.state {
                State::DispatchUnknown | State::Accepted => self.attempts > 0,
                State::Sending => self.is_latest(attempt),
                State::Sent | State::Delivered | State::Undelivered | State::Failed | State::Stopped(_) => false,
            },
            Fact::LateAnswer { .. } | Fact::ReceiptNoted { .. } => self.attempts > 0,
            Fact::EvidenceSought { attempt, .. } | Fact::ResendAuthorised { attempt, .. } => {
                self.state == State::DispatchUnknown && self.is_latest(attempt)
            }
            Fact::Closed { .. } => self.state == State::DispatchUnknown,
            Fact::Delivered { attempt, .. } | Fact::Undelivered { attempt, .. } => {
                self.state == State::Sent && self.taken.as_ref() == Some(attempt)
            }
            Fact::Stopped { .. } => matches!(self.state, State::Accepted | State::DispatchUnknown),
        };
        if legal { Ok(self.moved_by(fact)) } else { Err(IllegalTransition { from: self.state }) }
    }

    fn moved_by(&self, fact: &Fact) -> Self {
        let mut next = self.clone();
        match fact {
            Fact::Accepted(_) => {}
            Fact::LateAnswer { attempt, accepted } => {
                if *accepted == Some(true) {
                    next.remember_taken(attempt);
                }
            }
            Fact::ReceiptNoted { attempt, status, .. } => {
                next.noted = self.noted.with(self.is_latest(attempt), *status);
                next.remember_taken(attempt);
            }
            Fact::DoorbellRung { rings, next_at } => {
                next.rings = *rings;
                next.ring_at = Some(*next_at);
            }
            Fact::AttemptStarted { attempt, number, provider, lease_until } => {
                next.state = State::Sending;
                next.attempts = *number;
                next.not_before = None;
                next.checks = 0;
                next.check_at = None;
                next.attempt = Some(Attempt {
                    id: attempt.clone(),
                    number: *number,
                    provider: *provider,
                    lease_until: *lease_until,
                });
            }
            Fact::AttemptAccepted { attempt, message_id, .. }
            | Fact::ReconciledAccepted { attempt, message_id, .. } => {
                next.state = State::Sent;
                next.message_id.clone_from(message_id);
                next.taken = Some(attempt.clone());
            }
            Fact::AttemptRefused { class, next_at, .. } => {
                next.state = if class.is_retryable() { State::Accepted } else { State::Failed };
                next.not_before = *next_at;
                next.ring_at = None;
                next.settle_if_taken();
            }
            Fact::AttemptUnknown { .. } => {
                next.state = State::DispatchUnknown;
                next.settle_if_taken();
            }
            Fact::EvidenceSought { checks, next_at, .. } => {
                next.checks = *checks;
                next.check_at = Some(*next_at);
            }
            Fact::ResendAuthorised { basis, .. } => {
                next.state = State::Accepted;
                next.not_before = None;
                next.ring_at = None;
                next.resent_on_silence |= *basis == ResendBasis::Silence;
            }
            Fact::Delivered { .. } => next.state = State::Delivered,
            Fact::Undelivered { .. } => next.state = State::Undelivered,
            Fact::Closed { .. } => next.state = State::Stopped(StopReason::ClosedByOperator),
            Fact::Stopped { reason } => next.state = State::Stopped(*reason),
        }
        next
    }

    /// Another attempt is running; that an earlier one was taken decides as soon as it is over.
    fn remember_taken(&mut self, attempt: &AttemptId) {
        if self.state == State::Sending && !self.is_latest(attempt) {
            self.taken.get_or_insert_with(|| attempt.clone());
        }
    }

    /// An attempt is over without acceptance, and an earlier one had one.
    fn settle_if_taken(&mut self) {
        if self.taken.is_some() {
            self.state = State::Sent;
            self.not_before = None;
        }
    }
}

/// Everything kept of one notification. Number and body are inside the seal, and the seal goes when it settles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its name.
    pub id: NotificationId,
    /// Whose it is.
    pub tenant: TenantId,
    /// The business action behind it.
    pub event: Event,
    /// Of the command that made it.
    pub fingerprint: Fingerprint,
    /// A keyed hash of the number.
    pub destination: DestinationMac,
    /// What people may see of the number.
    pub mask: Mask,
    /// The provider's class of text.
    pub kind: Kind,
    /// Who the handset says it is from.
    pub sender_id: Option<SenderId>,
    /// When it was accepted.
    pub accepted_at: EpochMillis,
    /// When saying it no longer makes sense.
    pub expires_at: EpochMillis,
    /// When it last changed.
    pub updated_at: EpochMillis,
    /// How many rows follow row 0; the fence of every write.
    pub rev: u32,
    /// What facts have made of it.
    pub progress: Progress,
    /// When the reconciler must look at it; none once settled.
    pub due_at: Option<EpochMillis>,
    /// Number and body.
    pub sealed: Option<Sealed>,
    /// The hash of its latest evidence row.
    pub head: Hash32,
    /// When the table may forget it; none while it is open.
    pub ttl: Option<EpochSeconds>,
}

impl Record {
    /// Where it stands.
    #[must_use]
    pub const fn state(&self) -> State {
        self.progress.state
    }
}

impl Refusal {
    /// Whether the provider's refusal ends the notification.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        matches!(self.class, RefusalClass::Permanent | RefusalClass::PermanentAlarm)
    }
}
