//! The SMS provider, and the only ground truth of what it took.

use core::cell::RefCell;

use sendonce::notification::{
    AttemptId, NotificationId, Outcome, ProviderCode, Reference, Refusal, RefusalClass, UnknownBasis,
};
use sendonce::ports::Text;

/// How the provider meets one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Takes it and says so.
    Accepts,
    /// Takes it and says so without a message id.
    AcceptsNameless,
    /// Takes it; the answer never comes.
    AcceptsSilently,
    /// Never sees it; no answer comes.
    NeverSees,
    /// Refuses it for now.
    Throttles,
    /// Refuses it for good.
    Rejects,
}

/// One request as the provider saw it.
#[derive(Clone, Debug)]
pub struct Call {
    /// Of which notification.
    pub id: NotificationId,
    /// Of which attempt.
    pub attempt: AttemptId,
    /// Whether it took the text.
    pub accepted: bool,
}

/// The provider.
#[derive(Clone, Debug, Default)]
pub struct CarrierModel {
    calls: RefCell<Vec<Call>>,
}

impl CarrierModel {
    /// Forgets all calls.
    pub fn reset(&self) {
        self.calls.borrow_mut().clear();
    }

    /// How many requests it has seen.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.borrow().len()
    }

    /// Its name for the message that its request number `number` was, from 1.
    #[must_use]
    pub fn message_id(number: usize) -> Option<Reference> {
        Reference::parse(&format!("msg-{number}"))
    }

    /// One request, met in this manner.
    pub fn request(&self, text: &Text, manner: Manner) -> Outcome {
        if manner == Manner::NeverSees {
            return Outcome::Unknown(UnknownBasis::ConnectionLost);
        }
        let accepted = matches!(manner, Manner::Accepts | Manner::AcceptsNameless | Manner::AcceptsSilently);
        let number = {
            let mut calls = self.calls.borrow_mut();
            calls.push(Call { id: text.id.clone(), attempt: text.attempt.id.clone(), accepted });
            calls.len()
        };
        match manner {
            Manner::Accepts => Outcome::Accepted { message_id: Self::message_id(number), request_id: None },
            Manner::AcceptsNameless => Outcome::Accepted { message_id: None, request_id: None },
            Manner::Throttles => refused(RefusalClass::Retryable, ProviderCode::Throttled),
            Manner::Rejects => refused(RefusalClass::Permanent, ProviderCode::OptedOut),
            Manner::AcceptsSilently | Manner::NeverSees => Outcome::Unknown(UnknownBasis::Timeout),
        }
    }

    /// The answer of a client that looks at its clock and does not call.
    #[must_use]
    pub fn too_late() -> Outcome {
        refused(RefusalClass::Retryable, ProviderCode::TooLate)
    }

    /// Calls `visit` with every call, in order.
    pub fn for_each_call(&self, visit: impl FnMut(&Call)) {
        self.calls.borrow().iter().for_each(visit);
    }
}

fn refused(class: RefusalClass, code: ProviderCode) -> Outcome {
    Outcome::Refused(Refusal { class, code })
}
