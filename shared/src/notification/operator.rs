//! What a named person may decide about an attempt that nobody knows the outcome of.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::{FieldHash, base32};
use crate::time::EpochMillis;

use super::decide::{Policy, last_useful_instant};
use super::fact::Fact;
use super::record::{Record, State};

/// Who decided: `prn_` and 128 bits of a hash over what the authoriser established, the session included.
///
/// A hash, because session names and subjects are often e-mail addresses. Whoever knows the principal can compute it.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PrincipalId(String);

impl PrincipalId {
    /// The principal named by these parts, in this order.
    #[must_use]
    pub fn derive(parts: &[&str]) -> Self {
        let hash = parts.iter().fold(FieldHash::new("sendonce.principal.v1"), |hash, part| hash.field(part));
        let digest = hash.finish();
        let (half, _) = digest.split_at(16);
        Self(format!("prn_{}", base32(half)))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PrincipalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<PrincipalId> for String {
    fn from(principal: PrincipalId) -> Self {
        principal.0
    }
}

impl TryFrom<String> for PrincipalId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let body = text.strip_prefix("prn_").ok_or("not a principal id")?;
        let is_base32 = body.len() == 26 && body.bytes().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7'));
        if is_base32 { Ok(Self(text)) } else { Err("not a principal id") }
    }
}

/// Why another attempt may follow an unknown one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResendBasis {
    /// The provider's support says that it did not take the text.
    NotAcceptedPerProvider,
    /// The recipient says that nothing came.
    NotReceivedPerRecipient,
    /// A second text is the lesser evil.
    RiskAccepted,
    /// The deployment's policy takes a provider's silence for a no. Silence proves nothing: this is a risk.
    Silence,
}

/// Why an unknown ends here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CloseBasis {
    /// The provider's support says that it took the text.
    AcceptedPerProvider,
    /// The recipient has it.
    ReceivedPerRecipient,
    /// Nobody needs it any more.
    NoLongerNeeded,
}

/// What an operator decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Another attempt may follow.
    Resend(ResendBasis),
    /// No attempt follows.
    Close(CloseBasis),
}

/// Why a decision cannot be taken now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDecidable {
    /// Its outcome is known, or will be without anyone's decision.
    #[error("the notification is not in dispatch_unknown")]
    NotUnknown,
    /// No further send can follow.
    #[error("the notification has settled")]
    Settled,
    /// Too little useful life is left for another attempt.
    #[error("too little of its life is left for another attempt")]
    Expired,
    /// As many attempts were made as are allowed.
    #[error("no attempt is left")]
    AttemptsUsedUp,
    /// The unknown attempt's worker may still be running.
    #[error("the unknown attempt may still be running")]
    MayBeRunning {
        /// From when on it cannot be.
        until: EpochMillis,
    },
}

/// The fact that a decision leads to.
///
/// # Errors
/// [`NotDecidable`].
pub fn decide_by_operator(
    record: &Record,
    decision: Decision,
    principal: &PrincipalId,
    now: EpochMillis,
    policy: &Policy,
) -> Result<Fact, NotDecidable> {
    match record.state() {
        State::DispatchUnknown => {}
        State::Accepted | State::Sending => return Err(NotDecidable::NotUnknown),
        State::Sent | State::Delivered | State::Undelivered | State::Failed | State::Stopped(_) => {
            return Err(NotDecidable::Settled);
        }
    }
    match decision {
        Decision::Close(basis) => Ok(Fact::Closed { basis, principal: principal.clone() }),
        Decision::Resend(basis) => authorise_resend(record, basis, Some(principal.clone()), now, policy),
    }
}

/// The fact that another attempt may follow an unknown one, where nothing but doubt stands against it.
pub(super) fn authorise_resend(
    record: &Record,
    basis: ResendBasis,
    principal: Option<PrincipalId>,
    now: EpochMillis,
    policy: &Policy,
) -> Result<Fact, NotDecidable> {
    let attempt = record.progress.attempt.as_ref().ok_or(NotDecidable::NotUnknown)?;
    if now >= last_useful_instant(record, policy) {
        return Err(NotDecidable::Expired);
    }
    if record.progress.attempts >= policy.attempts_max {
        return Err(NotDecidable::AttemptsUsedUp);
    }
    let over = attempt.lease_until.plus(policy.clock_skew.times(2));
    if now < over {
        return Err(NotDecidable::MayBeRunning { until: over });
    }
    Ok(Fact::ResendAuthorised { attempt: attempt.id.clone(), basis, principal })
}

#[cfg(test)]
mod tests {
    use super::super::StopReason;
    use super::super::fixture::*;
    use super::*;

    fn principal() -> PrincipalId {
        PrincipalId::derive(&["iam", "someone"])
    }

    fn decide(facts: impl IntoIterator<Item = Fact>, decision: Decision, ms: i64) -> Result<Fact, NotDecidable> {
        decide_by_operator(&story(facts).0, decision, &principal(), at(ms), &POLICY)
    }

    const RESEND: Decision = Decision::Resend(ResendBasis::RiskAccepted);
    const CLOSE: Decision = Decision::Close(CloseBasis::NoLongerNeeded);

    #[test]
    fn an_unknown_may_be_closed_at_any_time_and_resent_once_its_worker_is_surely_gone() {
        let unknown_one = || [started(1, 1), unknown(1)];
        let closed = Fact::Closed { basis: CloseBasis::NoLongerNeeded, principal: principal() };
        assert_eq!(decide(unknown_one(), CLOSE, 10), Ok(closed));
        let too_early = Err(NotDecidable::MayBeRunning { until: at(50_000) });
        assert_eq!(decide(unknown_one(), RESEND, 49_999), too_early);
        let resend = |principal| Fact::ResendAuthorised {
            attempt: attempt(1),
            basis: ResendBasis::RiskAccepted,
            principal: Some(principal),
        };
        assert_eq!(decide(unknown_one(), RESEND, 50_000), Ok(resend(principal())));
        assert_eq!(decide(unknown_one(), RESEND, 569_999), Ok(resend(principal())));
        assert_eq!(decide(unknown_one(), RESEND, 570_000), Err(NotDecidable::Expired));
    }

    #[test]
    fn what_is_not_unknown_is_nobodys_to_decide() {
        for decision in [RESEND, CLOSE] {
            assert_eq!(decide([], decision, 60_000), Err(NotDecidable::NotUnknown));
            assert_eq!(decide([started(1, 1)], decision, 60_000), Err(NotDecidable::NotUnknown));
            assert_eq!(decide([started(1, 1), taken(1)], decision, 60_000), Err(NotDecidable::Settled));
            assert_eq!(decide([stopped(StopReason::Cancelled)], decision, 60_000), Err(NotDecidable::Settled));
        }
    }

    #[test]
    fn attempts_that_are_used_up_are_not_given_back() {
        let resent = |byte| Fact::ResendAuthorised {
            attempt: attempt(byte),
            basis: ResendBasis::RiskAccepted,
            principal: Some(principal()),
        };
        let three =
            [started(1, 1), unknown(1), resent(1), started(2, 2), unknown(2), resent(2), started(3, 3), unknown(3)];
        assert_eq!(decide(three.clone(), RESEND, 60_000), Err(NotDecidable::AttemptsUsedUp));
        assert!(decide(three, CLOSE, 60_000).is_ok());
    }

    #[test]
    fn a_principal_is_a_hash_of_bounded_form() {
        let id = PrincipalId::derive(&["iam", "arn:aws:sts::1:assumed-role/ops/jo@example.com"]);
        assert!(!id.as_str().contains("example"));
        assert_eq!(format!("{id:?}"), id.as_str());
        assert_eq!(PrincipalId::try_from(id.as_str().to_owned()), Ok(id));
        for text in ["", "prn_", "jo@example.com", "tnt_aaaaaaaaaaaaaaaaaaaaaaaaaa"] {
            assert!(PrincipalId::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
