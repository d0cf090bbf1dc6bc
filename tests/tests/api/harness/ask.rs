//! What API Gateway and SQS hand to a function: the example events of each function, changed where a test needs it.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use tests::aws_seam::Message;

const CREATE: &str = include_str!("../../../../functions/admission/events/create.json");
const CANCEL: &str = include_str!("../../../../functions/admission/events/cancel.json");
const RESOLUTION: &str = include_str!("../../../../functions/admission/events/resolution.json");
const STATUS: &str = include_str!("../../../../functions/status/events/status.json");
const DOORBELL: &str = include_str!("../../../../functions/dispatch/events/doorbell.json");

/// Nobody's number, and a token: what must be found nowhere.
pub const NUMBER: &str = "+15550142973";
pub const TOKEN: &str = "482913";

/// Ten minutes, less a little, after the seam's clock starts.
pub const EXPIRES_AT: &str = "2026-11-30T20:20:00Z";
pub const EXPIRES_AT_MS: i64 = 1_796_070_000_000;

/// The body of an ordinary command.
pub fn reset(event_id: &str) -> Value {
    json!({
        "event": {"type": "password_reset.requested", "id": event_id},
        "to": NUMBER,
        "message": format!("Your code is {TOKEN}. It works for ten minutes."),
        "expires_at": EXPIRES_AT,
    })
}

/// An HTTP API event.
#[derive(Clone)]
pub struct Ask(pub Value);

impl Ask {
    pub fn create(key: &str, body: &Value) -> Self {
        Self::create_raw(key, &body.to_string())
    }

    pub fn create_raw(key: &str, body: &str) -> Self {
        Self::parse(CREATE).header("idempotency-key", key).body(body)
    }

    pub fn cancel(id: &str) -> Self {
        Self::parse(CANCEL).path(&format!("/v1/notifications/{id}/cancel"))
    }

    /// An operator's decision about the revision that `tag` names.
    pub fn resolution(id: &str, tag: &str, body: &Value) -> Self {
        let ask = Self::parse(RESOLUTION).path(&format!("/v1/notifications/{id}/resolution"));
        ask.header("if-match", tag).body(&body.to_string())
    }

    pub fn status(id: &str) -> Self {
        Self::parse(STATUS).path(&format!("/v1/notifications/{id}"))
    }

    pub fn evidence(id: &str) -> Self {
        let path = format!("/v1/notifications/{id}/evidence");
        Self::parse(STATUS).path(&path).route("GET /v1/notifications/{id}/evidence")
    }

    fn parse(event: &str) -> Self {
        Self(serde_json::from_str(event).expect("an example event"))
    }

    pub fn body(mut self, body: &str) -> Self {
        self.0["headers"]["content-length"] = json!(body.len().to_string());
        self.0["body"] = json!(body);
        self
    }

    pub fn path(mut self, path: &str) -> Self {
        self.0["rawPath"] = json!(path);
        self.0["requestContext"]["http"]["path"] = json!(path);
        self
    }

    /// Let through by this route of the gateway.
    pub fn route(mut self, key: &str) -> Self {
        self.0["routeKey"] = json!(key);
        self.0["requestContext"]["routeKey"] = json!(key);
        self
    }

    pub fn method(mut self, method: &str) -> Self {
        self.0["requestContext"]["http"]["method"] = json!(method);
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.0["headers"][name] = json!(value);
        self
    }

    pub fn without_header(mut self, name: &str) -> Self {
        self.0["headers"].as_object_mut().expect("headers").remove(name);
        self
    }

    /// Called by this IAM principal.
    pub fn by(mut self, arn: &str) -> Self {
        self.0["requestContext"]["authorizer"]["iam"]["userArn"] = json!(arn);
        self
    }

    /// Called with a JWT of these claims, which the gateway has checked.
    pub fn with_claims(self, claims: Value) -> Self {
        self.authorizer(json!({"jwt": {"claims": claims, "scopes": null}}))
    }

    pub fn authorizer(mut self, authorizer: Value) -> Self {
        self.0["requestContext"]["authorizer"] = authorizer;
        self
    }

    pub fn payload(&self) -> Box<RawValue> {
        raw(&self.0)
    }
}

pub fn raw(event: &Value) -> Box<RawValue> {
    RawValue::from_string(event.to_string()).expect("JSON")
}

/// One message as SQS puts it into an event.
pub fn message(id: &str, body: &str, receives: u32) -> Value {
    let example: Value = serde_json::from_str(DOORBELL).expect("an example event");
    let mut message = example["Records"][0].clone();
    message["messageId"] = json!(id);
    message["body"] = json!(body);
    message["attributes"]["ApproximateReceiveCount"] = json!(receives.to_string());
    message
}

/// One batch of received messages.
pub fn doorbells(messages: &[Message]) -> Value {
    let records = messages.iter().map(|one| message(&one.id, &one.body, one.receives));
    json!({"Records": records.collect::<Vec<_>>()})
}
