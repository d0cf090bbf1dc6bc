//! What can go wrong with one request.

use std::time::Duration;

/// One fault. `…Before`: the service did nothing of the request. `…After`: it did all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No connection; the request does not count as arrived.
    NeverConnected,
    /// The connection breaks.
    LostBefore,
    /// The connection breaks.
    LostAfter,
    /// Nothing is heard until somebody's time is up.
    SilentBefore,
    /// Nothing is heard until somebody's time is up.
    SilentAfter,
    /// Done and answered, but only after this long.
    Late(Duration),
    /// This status and error code.
    CodeBefore(u16, &'static str),
    /// This status and error code.
    CodeAfter(u16, &'static str),
    /// This status and exactly this body.
    BodyBefore(u16, String),
    /// This status and exactly this body.
    BodyAfter(u16, String),
}

impl Fault {
    /// A DynamoDB transaction cancelled for these reasons, one for each of its items (`None` where there is none).
    pub fn cancelled(reasons: &[&str]) -> Self {
        let reasons: Vec<_> = reasons.iter().map(|code| serde_json::json!({"Code": code})).collect();
        let body = serde_json::json!({
            "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
            "Message": "Transaction cancelled",
            "CancellationReasons": reasons,
        });
        Self::BodyBefore(400, body.to_string())
    }

    /// An exception of End User Messaging with its reason, in a message that quotes what it is about.
    pub fn eum(exception: &str, reason: &str) -> Self {
        let body = serde_json::json!({
            "__type": format!("com.amazonaws.pinpointsmsvoicev2#{exception}"),
            "Message": "+15550142973 cannot be sent to",
            "Reason": reason,
            "ResourceId": "+15550142973",
        });
        Self::BodyBefore(400, body.to_string())
    }
}
