//! The first answer to a command. It is stored and given again byte for byte; what builds it must never change its
//! form for ids that exist.

use serde::Serialize;

use crate::idempotency::StoredAnswer;
use crate::notification::NotificationId;
use crate::time::EpochMillis;

/// Where a notification can be reached.
#[derive(Debug, Serialize)]
pub(crate) struct Links {
    #[serde(rename = "self")]
    this: String,
    evidence: String,
    cancel: String,
}

impl Links {
    pub(crate) fn to(id: &NotificationId) -> Self {
        let this = location(id);
        Self { evidence: format!("{this}/evidence"), cancel: format!("{this}/cancel"), this }
    }
}

/// The path of a notification.
#[must_use]
pub(crate) fn location(id: &NotificationId) -> String {
    format!("/v1/notifications/{id}")
}

/// 202, and what was accepted.
pub(crate) fn accepted_answer(id: &NotificationId, accepted_at: EpochMillis, expires_at: EpochMillis) -> StoredAnswer {
    #[derive(Serialize)]
    struct Body<'a> {
        id: &'a str,
        status: &'static str,
        accepted_at: String,
        expires_at: String,
        links: Links,
    }
    let body = Body {
        id: id.as_str(),
        status: "accepted",
        accepted_at: accepted_at.rfc3339(),
        expires_at: expires_at.rfc3339(),
        links: Links::to(id),
    };
    // Strings only: serialising cannot fail.
    StoredAnswer { status: 202, body: serde_json::to_string(&body).unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_the_first_answer_is_pinned() {
        let id = NotificationId::parse(&format!("ntf_{}", "a".repeat(32))).unwrap();
        let answer = accepted_answer(&id, EpochMillis::new(0), EpochMillis::new(600_000));
        let path = format!("/v1/notifications/{id}");
        assert_eq!(answer.status, 202);
        assert_eq!(
            answer.body,
            format!(
                "{{\"id\":\"{id}\",\"status\":\"accepted\",\"accepted_at\":\"1970-01-01T00:00:00.000Z\",\
                 \"expires_at\":\"1970-01-01T00:10:00.000Z\",\"links\":{{\"self\":\"{path}\",\
                 \"evidence\":\"{path}/evidence\",\"cancel\":\"{path}/cancel\"}}}}"
            )
        );
    }
}
