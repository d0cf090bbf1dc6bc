//! SNS and End User Messaging: each takes texts, and says so.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::connector::{Answer, Served};
use super::request::field;
use super::{Request, Seam, account, lock};

/// A text that the provider took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    pub to: String,
    pub message: String,
    /// By name: SNS's message attributes, or what else End User Messaging was told (`Context.attempt_id` for a pair).
    pub attributes: BTreeMap<String, String>,
    pub message_id: String,
}

/// Takes one more text; its name.
fn take(seam: &Seam, to: String, message: String, attributes: BTreeMap<String, String>) -> String {
    let mut taken = lock(&seam.0.taken);
    let message_id = format!("00000000-0000-4000-8000-{:012}", taken.len() + 1);
    taken.push(Taken { to, message, attributes, message_id: message_id.clone() });
    message_id
}

pub(super) fn serve_sns(seam: &Seam, request: &Request) -> Served {
    if request.name() != "Publish" {
        return account::serve(seam, request);
    }
    let to = field(&request.body, "PhoneNumber").ok_or((400, "InvalidParameter"))?;
    let message = field(&request.body, "Message").ok_or((400, "InvalidParameter"))?;
    let message_id = take(seam, to, message, attributes(&request.body));
    Ok(Answer::ok(format!(
        "<PublishResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><PublishResult><MessageId>{message_id}\
         </MessageId></PublishResult><ResponseMetadata><RequestId>{message_id}</RequestId></ResponseMetadata>\
         </PublishResponse>"
    )))
}

fn attributes(body: &str) -> BTreeMap<String, String> {
    let entry = |at: usize, part: &str| field(body, &format!("MessageAttributes.entry.{at}.{part}"));
    (1..).map_while(|at| Some((entry(at, "Name")?, entry(at, "Value.StringValue")?))).collect()
}

/// The real one's messages quote the number too, which is why nobody may print them.
pub(super) fn sns_error(request: &Request, status: u16, code: &str) -> Answer {
    let number = field(&request.body, "PhoneNumber").unwrap_or_default();
    let body = format!(
        "<ErrorResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><Error><Type>Sender</Type><Code>{code}\
         </Code><Message>Invalid parameter: PhoneNumber Reason: {number} is not valid to publish to</Message></Error>\
         <RequestId>00000000-0000-4000-8000-000000000000</RequestId></ErrorResponse>"
    );
    Answer { status, body }
}

pub(super) fn serve_eum(seam: &Seam, request: &Request) -> Served {
    if request.name() != "SendTextMessage" {
        return Err((400, "UnknownOperationException"));
    }
    let mut body = request.json();
    let mut fields = std::mem::take(body.as_object_mut().ok_or((400, "SerializationException"))?);
    let mut text = |name| match fields.remove(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        _ => Err((400, "ValidationException")),
    };
    let (to, message) = (text("DestinationPhoneNumber")?, text("MessageBody")?);
    if fields.get("TimeToLive").is_some_and(|seconds| !seconds.as_i64().is_some_and(|s| (5..=259_200).contains(&s))) {
        return Err((400, "ValidationException"));
    }
    let attributes = fields.iter().flat_map(|(name, value)| match value {
        Value::Object(pairs) => pairs.iter().map(|(key, value)| (format!("{name}.{key}"), word(value))).collect(),
        value => vec![(name.clone(), word(value))],
    });
    let message_id = take(seam, to, message, attributes.collect());
    Ok(Answer::ok(json!({"MessageId": message_id})))
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// Here too the message quotes the number, and more of it than one would think.
pub(super) fn eum_error(request: &Request, status: u16, code: &str) -> Answer {
    let body = json!({
        "__type": format!("com.amazonaws.pinpointsmsvoicev2#{code}"),
        "Message": format!("{} is not a valid destination", word(&request.json()["DestinationPhoneNumber"])),
    });
    Answer { status, body: body.to_string() }
}
