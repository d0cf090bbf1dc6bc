//! The facts that evidence rows state. There is no free-text field, and so no place for a token to hide.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::idempotency::Fingerprint;
use crate::tenant::TenantId;
use crate::time::EpochMillis;

use super::operator::{CloseBasis, PrincipalId, ResendBasis};
use super::receipt::{DeliveryCode, Finding, ReceiptSource, ReceiptStatus, Strength};
use super::{AttemptId, DestinationMac, EventType, Kind, Provider, ProviderCode, Reference, RefusalClass, StopReason};

/// One thing that happened to a notification. Applying it to the record before gives the record after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fact {
    /// A client's command was accepted.
    Accepted(Accepted),
    /// No worker came, so the reconciler rang again.
    DoorbellRung {
        /// How many times it has by now.
        rings: u32,
        /// When it will next look.
        next_at: EpochMillis,
    },
    /// A provider call is about to be made.
    AttemptStarted {
        /// Its name.
        attempt: AttemptId,
        /// Which one it is, from 1.
        number: u32,
        /// To whom.
        provider: Provider,
        /// Until when it may still be running.
        lease_until: EpochMillis,
    },
    /// The provider took the text.
    AttemptAccepted {
        /// Which attempt.
        attempt: AttemptId,
        /// The provider's name for the message.
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<Reference>,
        /// The provider's name for the request.
        #[serde(skip_serializing_if = "Option::is_none")]
        request_id: Option<Reference>,
    },
    /// The provider surely did not take the text.
    AttemptRefused {
        /// Which attempt.
        attempt: AttemptId,
        /// What follows from it.
        class: RefusalClass,
        /// Why.
        code: ProviderCode,
        /// When the next attempt may start.
        #[serde(skip_serializing_if = "Option::is_none")]
        next_at: Option<EpochMillis>,
    },
    /// Whether the provider took the text cannot be told.
    AttemptUnknown {
        /// Which attempt.
        attempt: AttemptId,
        /// What was seen instead of an answer.
        basis: UnknownBasis,
    },
    /// An attempt that had no answer turns out to have been accepted.
    ReconciledAccepted {
        /// Which attempt.
        attempt: AttemptId,
        /// Who says so.
        source: ReceiptSource,
        /// How surely it speaks of this attempt.
        strength: Strength,
        /// The provider's name for the message.
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<Reference>,
    },
    /// An answer came for an attempt whose notification had already ended or moved on; it changes nothing.
    LateAnswer {
        /// Which attempt.
        attempt: AttemptId,
        /// Whether the provider took that text, if the answer says.
        accepted: Option<bool>,
    },
    /// Evidence of an unknown attempt was looked for, and none decided it.
    EvidenceSought {
        /// Of which attempt.
        attempt: AttemptId,
        /// Where.
        source: ReceiptSource,
        /// What was there.
        finding: Finding,
        /// How many times it was looked for by now.
        checks: u32,
        /// When it will be looked for again.
        next_at: EpochMillis,
    },
    /// Another attempt may follow, although nobody knows what became of this one. It is a risk, and whose it is stands
    /// here.
    ResendAuthorised {
        /// The attempt that stays unknown.
        attempt: AttemptId,
        /// Why.
        basis: ResendBasis,
        /// Who said so; nobody where the deployment's policy does.
        #[serde(skip_serializing_if = "Option::is_none")]
        principal: Option<PrincipalId>,
    },
    /// An operator ended it.
    Closed {
        /// Why.
        basis: CloseBasis,
        /// Who said so.
        principal: PrincipalId,
    },
    /// A receipt says that the text arrived.
    Delivered {
        /// Of which attempt.
        attempt: AttemptId,
        /// Who says so.
        source: ReceiptSource,
        /// How surely it speaks of this attempt.
        strength: Strength,
    },
    /// A receipt says that the text did not arrive.
    Undelivered {
        /// Of which attempt.
        attempt: AttemptId,
        /// Who says so.
        source: ReceiptSource,
        /// How surely it speaks of this attempt.
        strength: Strength,
        /// Why it did not.
        code: DeliveryCode,
    },
    /// A receipt that changes nothing: it came after the end, contradicts an earlier one, or is about an attempt that
    /// is not the one that settled the notification.
    ReceiptNoted {
        /// Of which attempt.
        attempt: AttemptId,
        /// Who says so.
        source: ReceiptSource,
        /// How surely it speaks of this attempt.
        strength: Strength,
        /// What it says.
        status: ReceiptStatus,
        /// Why the text did not arrive, if it says so.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<DeliveryCode>,
    },
    /// No further send can follow.
    Stopped {
        /// Why.
        reason: StopReason,
    },
}

/// What was accepted: enough to answer a duplicate when record and guard are long gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// For whom.
    pub tenant: TenantId,
    /// The event's kind; its id is in the notification's.
    pub event_type: EventType,
    /// Of the command.
    pub fingerprint: Fingerprint,
    /// Of the number.
    pub destination: DestinationMac,
    /// The provider's class of text.
    pub sms: Kind,
    /// When it ends.
    pub expires_at: EpochMillis,
}

/// What was seen instead of a clear answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnknownBasis {
    /// No answer within the time allowed.
    Timeout,
    /// The connection broke after the request may have been sent.
    ConnectionLost,
    /// A success status whose body was cut short, silent or unreadable: leaning accepted.
    UnreadableSuccess,
    /// The provider reported a fault of its own.
    ServerError,
    /// A refusal that is not on the list of those that prove something.
    UnlistedError,
    /// Whoever made the attempt never wrote its outcome.
    LeaseEnded,
}

/// Which function wrote a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Takes commands.
    Admission,
    /// Makes attempts.
    Dispatch,
    /// Closes what is open.
    Reconciliation,
}

impl Function {
    const ALL: [Self; 3] = [Self::Admission, Self::Dispatch, Self::Reconciliation];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Admission => "admission",
            Self::Dispatch => "dispatch",
            Self::Reconciliation => "reconciliation",
        }
    }
}

/// Who wrote a row: `function/version/request id`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Actor {
    /// Which function.
    pub function: Function,
    /// Which version of it; `None` when the platform's name for it has an unexpected form.
    pub version: Option<Reference>,
    /// In which invocation.
    pub request_id: Option<Reference>,
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = |reference: &Option<Reference>| reference.as_ref().map_or("-", Reference::as_str).to_owned();
        write!(f, "{}/{}/{}", self.function.as_str(), part(&self.version), part(&self.request_id))
    }
}

impl fmt::Debug for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Actor> for String {
    fn from(actor: Actor) -> Self {
        actor.to_string()
    }
}

impl TryFrom<String> for Actor {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let mut parts = text.split('/');
        let function = Function::ALL.into_iter().find(|function| parts.clone().next() == Some(function.as_str()));
        let reference = |part: Option<&str>| part.filter(|text| *text != "-").and_then(Reference::parse);
        match (parts.next(), parts.next(), parts.next(), parts.next(), function) {
            (_, version @ Some(_), request @ Some(_), None, Some(function)) => {
                Ok(Self { function, version: reference(version), request_id: reference(request) })
            }
            _ => Err("not an actor"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actors_text_round_trips() {
        let actor = Actor {
            function: Function::Reconciliation,
            version: Reference::parse("$LATEST"),
            request_id: Reference::parse("8d3b4d5e-0000-1111-2222-333344445555"),
        };
        assert_eq!(actor.to_string(), "reconciliation/$LATEST/8d3b4d5e-0000-1111-2222-333344445555");
        assert_eq!(Actor::try_from(actor.to_string()), Ok(actor));
        let bare = Actor { function: Function::Admission, version: None, request_id: None };
        assert_eq!([bare.to_string(), format!("{bare:?}")], ["admission/-/-"; 2]);
        assert_eq!(Actor::try_from(bare.to_string()), Ok(bare));
        for text in ["", "admission", "admission/1", "other/1/2", "admission/1/2/3"] {
            assert!(Actor::try_from(String::from(text)).is_err(), "{text}");
        }
    }
}
