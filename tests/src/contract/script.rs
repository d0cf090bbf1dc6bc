//! What a case sees, in words that must be the same everywhere.

use core::cell::RefCell;
use core::fmt::Debug;

use sendonce::notification::{Held, Outcome, Transition};
use sendonce::ports::{Admission, HeldAdmission, WriteFault, Written};

/// Notes of one case on one backend.
#[derive(Debug, Default)]
pub struct Script(RefCell<Vec<String>>);

impl Script {
    /// Notes what was seen.
    pub fn note(&self, what: &str, seen: &impl Debug) {
        self.0.borrow_mut().push(format!("{what}: {seen:?}"));
    }

    /// Notes what was seen, which must be this.
    ///
    /// # Panics
    /// When it is not.
    pub fn expect<T: Debug + PartialEq>(&self, what: &str, seen: T, expected: T) {
        self.note(what, &seen);
        assert_eq!(seen, expected, "{what}");
    }

    /// All notes.
    pub fn into_notes(self) -> Vec<String> {
        self.0.into_inner()
    }
}

/// What an answer means for its caller: an own write that is met again is as durable as one that was just done, and
/// which of the two it is depends on how long DynamoDB remembers a request.
pub fn admitted(
    admission: &Admission,
    answer: Result<Written<HeldAdmission>, WriteFault>,
) -> Result<Option<HeldAdmission>, WriteFault> {
    answer.map(|written| match written {
        Written::Done => None,
        Written::Held(held) if held.guard.as_ref().is_some_and(|guard| guard.nonce == admission.guard.nonce) => None,
        Written::Held(held) => Some(held),
    })
}

/// As [`admitted`].
pub fn moved(transition: &Transition, answer: Result<Written<Held>, WriteFault>) -> Result<Option<Held>, WriteFault> {
    answer.map(|written| match written {
        Written::Done => None,
        Written::Held(held) if transition.is_own(&held) => None,
        Written::Held(held) => Some(held),
    })
}

/// An outcome without the names that a provider makes up.
pub fn nameless(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Accepted { message_id: Some(_), .. } => String::from("accepted, named"),
        Outcome::Accepted { message_id: None, .. } => String::from("accepted, nameless"),
        other => format!("{other:?}"),
    }
}
