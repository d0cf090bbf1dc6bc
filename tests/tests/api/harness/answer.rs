//! What the gateway is told.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// A function's answer to an HTTP API event, as it leaves the runtime.
#[derive(Clone, PartialEq, Eq)]
pub struct Answer {
    pub status: u64,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

/// Bodies are not printed: a test that fails must not be the leak.
impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word())
    }
}

impl Answer {
    pub fn read(reply: &impl Serialize) -> Self {
        let reply = serde_json::to_value(reply).expect("an answer is JSON");
        let headers = reply["headers"].as_object().into_iter().flatten();
        let text = |value: &Value| value.as_str().expect("a header is text").to_owned();
        assert_ne!(reply["isBase64Encoded"], true, "bodies are text");
        Self {
            status: reply["statusCode"].as_u64().expect("an answer has a status"),
            headers: headers.map(|(name, value)| (name.clone(), text(value))).collect(),
            body: reply["body"].as_str().unwrap_or_default().to_owned(),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).expect("the body is JSON")
    }

    /// The status, and the code of the problem if it is one: `409 idempotency_key_reused`.
    pub fn word(&self) -> String {
        match self.header("content-type") {
            Some("application/problem+json") => {
                format!("{} {}", self.status, self.json()["code"].as_str().expect("a problem has a code"))
            }
            _ => self.status.to_string(),
        }
    }

    /// The notification that was accepted.
    pub fn id(&self) -> String {
        assert_eq!(self.word(), "202");
        self.json()["id"].as_str().expect("an id").to_owned()
    }

    pub fn is_replay(&self) -> bool {
        self.header("idempotency-replayed") == Some("true")
    }

    /// All but the mark of a replay.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        let unmarked = |answer: &Self| {
            let mut answer = answer.clone();
            answer.headers.remove("idempotency-replayed");
            answer
        };
        unmarked(self) == unmarked(other)
    }

    /// The members that a `body_invalid` finds fault with, in order.
    pub fn faults(&self) -> Vec<String> {
        let errors = self.json()["errors"].as_array().cloned().unwrap_or_default();
        errors.iter().map(|error| error["pointer"].as_str().expect("a pointer").to_owned()).collect()
    }
}
