//! A client of the service, as a caller would write one.

use anyhow::{Context, Result};
use http::Method;
use serde_json::{Value, json};

use crate::aws::{Answer, Aws, Request};

const NOTIFICATIONS: &str = "/v1/notifications";

/// What a caller asks for.
#[derive(Debug, Clone)]
pub struct Order {
    /// Names the event.
    pub event: String,
    /// Whom to text.
    pub to: String,
    /// What to text.
    pub message: String,
    /// Until when, RFC 3339.
    pub expires_at: String,
}

impl Order {
    /// The request body.
    pub fn body(&self) -> String {
        let Self { event, to, message, expires_at } = self;
        json!({ "event": { "type": "password_reset", "id": event }, "to": to, "message": message, "expires_at": expires_at }).to_string()
    }
}

/// The service behind API Gateway.
#[derive(Debug, Clone)]
pub struct Api {
    aws: Aws,
    host: String,
}

impl Api {
    /// The API `id` on MiniStack.
    pub fn new(aws: Aws, id: &str) -> Self {
        Self { aws, host: format!("{id}.execute-api.localhost") }
    }

    /// What MiniStack tells the APIs apart by.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Posts an order under a key.
    pub async fn post(&self, key: &str, order: &Order) -> Result<Answer> {
        self.aws.send(self.creation(key, order)).await
    }

    /// Posts an order without a signature.
    pub async fn post_unsigned(&self, key: &str, order: &Order) -> Result<Answer> {
        self.aws.send_unsigned(self.creation(key, order)).await
    }

    /// The status of a notification; with an ETag, only if it has changed.
    pub async fn status(&self, id: &str, known: Option<&str>) -> Result<Answer> {
        let mut request = self.request(Method::GET, "");
        let path = format!("{NOTIFICATIONS}/{id}");
        request.path = &path;
        request.headers.extend(known.map(|etag| ("if-none-match", etag.to_owned())));
        self.aws.send(request).await
    }

    /// The evidence about a notification.
    pub async fn evidence(&self, id: &str) -> Result<Value> {
        let path = format!("{NOTIFICATIONS}/{id}/evidence");
        let answer = self.aws.send(self.request(Method::GET, &path)).await?;
        serde_json::from_slice(&answer.body)
            .with_context(|| format!("evidence was answered {} and no JSON", answer.status))
    }

    /// Cancels a notification.
    pub async fn cancel(&self, id: &str) -> Result<Answer> {
        self.aws.send(self.request(Method::POST, &format!("{NOTIFICATIONS}/{id}/cancel"))).await
    }

    /// Closes a notification whose outcome is unknown, at the revision that `etag` names.
    pub async fn close(&self, id: &str, etag: &str) -> Result<Answer> {
        let path = format!("{NOTIFICATIONS}/{id}/resolution");
        let mut request = self.request(Method::POST, &path);
        request.headers.push(("content-type", "application/json".to_owned()));
        request.headers.push(("if-match", etag.to_owned()));
        request.body = json!({ "decision": "close", "basis": "received_per_recipient" }).to_string().into();
        self.aws.send(request).await
    }

    fn creation(&self, key: &str, order: &Order) -> Request<'static> {
        let mut request = self.request(Method::POST, NOTIFICATIONS);
        request.headers.push(("content-type", "application/json".to_owned()));
        request.headers.push(("idempotency-key", key.to_owned()));
        request.body = order.body().into();
        request
    }

    fn request<'a>(&self, method: Method, path: &'a str) -> Request<'a> {
        let headers = vec![("host", self.host.clone())];
        Request { service: "execute-api", method, path, headers, body: bytes::Bytes::new() }
    }
}

/// A member of a JSON answer, as text; empty if it is not there.
pub fn member(answer: &Answer, name: &str) -> String {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    body.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The kinds of the evidence rows, in order.
pub fn kinds(evidence: &Value) -> Vec<String> {
    let rows = evidence.get("rows").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    rows.iter().filter_map(|row| row.get("kind")?.as_str().map(str::to_owned)).collect()
}
