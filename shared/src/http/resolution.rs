//! The body of `POST /v1/notifications/{id}/resolution`, read strictly and with all its faults at once.

use serde_json::Value;

use crate::notification::{CloseBasis, Decision, ResendBasis};

use super::body::{BodyFault, Faults, MAX_BYTES};
use super::strict_json;

const KNOWN: &str = "is not known here; known are decision, basis";
const DECISION: &str = "resend or close";
const RESEND: &str = "of resend: not_accepted_per_provider, not_received_per_recipient or risk_accepted";
const CLOSE: &str = "of close: accepted_per_provider, received_per_recipient or no_longer_needed";
const BASIS: &str = "a basis of resend or of close";

/// Reads a decision.
///
/// # Errors
/// [`BodyFault`], with every fault of every member.
pub fn read_resolution(body: &[u8]) -> Result<Decision, BodyFault> {
    if body.len() > MAX_BYTES {
        return Err(BodyFault::TooLarge);
    }
    let value = strict_json::parse(body).ok_or(BodyFault::NotJson)?;
    let mut faults = Faults::default();
    match faults.resolution(&value) {
        Some(decision) if faults.is_empty() => Ok(decision),
        _ => Err(faults.into_fault()),
    }
}

#[derive(Clone, Copy)]
enum Word {
    Resend,
    Close,
}

impl Faults {
    fn resolution(&mut self, value: &Value) -> Option<Decision> {
        let members = self.object("", value)?;
        self.no_others("", members, &["decision", "basis"], KNOWN);
        let decision = self.text(members, "", "decision", DECISION, |text| match text {
            "resend" => Some(Word::Resend),
            "close" => Some(Word::Close),
            _ => None,
        });
        let (rule, parse): (_, fn(&str) -> Option<Decision>) = match decision {
            Some(Word::Resend) => (RESEND, resend),
            Some(Word::Close) => (CLOSE, close),
            None => (BASIS, |text| resend(text).or_else(|| close(text))),
        };
        let basis = self.text(members, "", "basis", rule, parse);
        decision.and(basis)
    }
}

/// Silence is not among them: it is the deployment's to take for a no, and nobody's to state.
fn resend(basis: &str) -> Option<Decision> {
    let basis = match basis {
        "not_accepted_per_provider" => ResendBasis::NotAcceptedPerProvider,
        "not_received_per_recipient" => ResendBasis::NotReceivedPerRecipient,
        "risk_accepted" => ResendBasis::RiskAccepted,
        _ => return None,
    };
    Some(Decision::Resend(basis))
}

fn close(basis: &str) -> Option<Decision> {
    let basis = match basis {
        "accepted_per_provider" => CloseBasis::AcceptedPerProvider,
        "received_per_recipient" => CloseBasis::ReceivedPerRecipient,
        "no_longer_needed" => CloseBasis::NoLongerNeeded,
        _ => return None,
    };
    Some(Decision::Close(basis))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: &Value) -> Result<Decision, BodyFault> {
        read_resolution(body.to_string().as_bytes())
    }

    fn faults_of(body: &Value) -> Vec<String> {
        match read(body) {
            Err(BodyFault::Fields(faults)) => faults.into_iter().map(|fault| fault.pointer).collect(),
            Err(_) => vec![String::from("no fields")],
            Ok(_) => Vec::new(),
        }
    }

    #[test]
    fn each_decision_has_bases_of_its_own() {
        for (decision, basis, read_as) in [
            ("resend", "not_accepted_per_provider", Decision::Resend(ResendBasis::NotAcceptedPerProvider)),
            ("resend", "not_received_per_recipient", Decision::Resend(ResendBasis::NotReceivedPerRecipient)),
            ("resend", "risk_accepted", Decision::Resend(ResendBasis::RiskAccepted)),
            ("close", "accepted_per_provider", Decision::Close(CloseBasis::AcceptedPerProvider)),
            ("close", "received_per_recipient", Decision::Close(CloseBasis::ReceivedPerRecipient)),
            ("close", "no_longer_needed", Decision::Close(CloseBasis::NoLongerNeeded)),
        ] {
            assert_eq!(read(&json!({"decision": decision, "basis": basis})), Ok(read_as));
            let other = if decision == "resend" { "close" } else { "resend" };
            assert_eq!(faults_of(&json!({"decision": other, "basis": basis})), ["/basis"], "{other} {basis}");
        }
    }

    #[test]
    fn silence_is_no_operators_reason() {
        assert_eq!(faults_of(&json!({"decision": "resend", "basis": "silence"})), ["/basis"]);
    }

    #[test]
    fn all_faults_are_listed_at_once() {
        assert_eq!(faults_of(&json!({})), ["/decision", "/basis"]);
        assert_eq!(
            faults_of(&json!({"decision": "retry", "basis": 7, "note": "x", "+15550100000": 1})),
            ["/?", "/note", "/decision", "/basis"]
        );
        assert_eq!(faults_of(&json!([])), [""]);
        assert_eq!(read_resolution(b"{"), Err(BodyFault::NotJson));
        assert_eq!(read_resolution(b"{\"decision\":\"close\",\"decision\":\"close\"}"), Err(BodyFault::NotJson));
        assert_eq!(read_resolution(&vec![b' '; MAX_BYTES + 1]), Err(BodyFault::TooLarge));
    }
}
