//! End User Messaging's `SendTextMessage`: JSON both ways. MiniStack does not know the service, so all of it is made up here,
//! and the one right that is not tried out on this machine is `sms-voice:SendTextMessage`.

use http::HeaderMap;
use serde_json::{Value, json};

use super::{Asked, Fate};
use crate::endpoint::Verdict;

const TARGET: &str = "PinpointSMSVoiceV2.SendTextMessage";
const JSON: &str = "application/x-amz-json-1.0";

/// What a request asks for, if it is a text.
pub(super) fn asked(headers: &HeaderMap, body: &[u8]) -> Option<Asked> {
    if headers.get("x-amz-target").is_none_or(|target| target != TARGET) {
        return None;
    }
    let request: Value = serde_json::from_slice(body).ok()?;
    let text = |name: &str| request.get(name).and_then(Value::as_str);
    // Only a configuration set has somebody to tell.
    let context = text("ConfigurationSetName").and_then(|_| request.get("Context").cloned());
    let message = text("MessageBody").unwrap_or_default().to_owned();
    Some(Asked { number: text("DestinationPhoneNumber")?.to_owned(), message, context })
}

/// The request's end.
pub(super) fn verdict(fate: Fate, message_id: &str) -> Verdict {
    match fate {
        Fate::Taken => Verdict::Answer(200, JSON, json!({ "MessageId": message_id }).to_string()),
        Fate::TakenInSilence => Verdict::Hang,
        Fate::TakenAndReset => Verdict::Reset,
        Fate::Failed => fault(500, "InternalServerException", &json!({})),
        Fate::Throttled => fault(400, "ThrottlingException", &json!({})),
        Fate::Rejected => fault(400, "ValidationException", &json!({ "Reason": "INVALID_PARAMETER" })),
    }
}

fn fault(status: u16, name: &str, members: &Value) -> Verdict {
    let mut body =
        json!({ "__type": format!("com.amazonaws.pinpointsmsvoicev2#{name}"), "Message": "as the script says" });
    if let (Some(body), Some(members)) = (body.as_object_mut(), members.as_object()) {
        body.extend(members.clone());
    }
    Verdict::Answer(status, JSON, body.to_string())
}
