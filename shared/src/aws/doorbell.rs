//! SQS: the doorbell. Its message is an id and nothing else.

use aws_sdk_sqs::Client;
use serde::{Deserialize, Serialize};

use super::failure::{Failure, class_of, log};
use super::tries::Tries;
use crate::notification::NotificationId;
use crate::ports::{Doorbell, WriteFault};
use crate::time::Millis;

/// Rings through an SQS queue.
#[derive(Clone, Debug)]
pub struct SqsDoorbell {
    client: Client,
    queue_url: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    v: u8,
    id: NotificationId,
}

const VERSION: u8 = 1;
/// SQS holds no message back for longer.
const DELAY_MAX_SECS: i64 = 900;

impl SqsDoorbell {
    /// The doorbell of this queue.
    pub fn new(client: Client, queue_url: impl Into<String>) -> Self {
        Self { client, queue_url: queue_url.into() }
    }
}

impl Doorbell for SqsDoorbell {
    async fn ring(&self, id: &NotificationId, delay: Millis) -> Result<(), WriteFault> {
        // An id and a number: serialising them cannot fail, and an empty body would wake nobody.
        let body = serde_json::to_string(&Body { v: VERSION, id: id.clone() }).unwrap_or_default();
        // Rounded up: a doorbell that comes early finds nothing to do. Longer waits end early and are rung again.
        let delay = i32::try_from(delay.secs_ceil().clamp(0, DELAY_MAX_SECS)).unwrap_or(0);
        let tries = Tries::default();
        let request = self.client.send_message().queue_url(&self.queue_url).message_body(body).delay_seconds(delay);
        let answer = request.customize().interceptor(tries.clone()).send().await;
        answer.map(drop).map_err(|error| {
            let failure = Failure::of(&error);
            let fault = if tries.all_refused() { WriteFault::Refused } else { WriteFault::Unknown };
            log("sqs:SendMessage", &failure, class_of(fault));
            fault
        })
    }
}

/// The notification that a message's body asks for; `None` when it is not a doorbell of this version.
#[must_use]
pub fn parse_doorbell(body: &str) -> Option<NotificationId> {
    let body: Body = serde_json::from_str(body).ok()?;
    (body.v == VERSION).then_some(body.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "ntf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

    #[test]
    fn only_a_doorbell_of_this_version_is_read() {
        assert_eq!(parse_doorbell(&format!(r#"{{"v":1,"id":"{ID}"}}"#)), NotificationId::parse(ID));
        for body in [
            String::new(),
            String::from("null"),
            String::from("[]"),
            format!("\"{ID}\""),
            format!(r#"{{"v":2,"id":"{ID}"}}"#),
            format!(r#"{{"v":"1","id":"{ID}"}}"#),
            format!(r#"{{"id":"{ID}"}}"#),
            format!(r#"{{"v":1,"id":"{ID}","x":0}}"#),
            format!(r#"{{"v":1,"id":"{ID}","id":"{ID}"}}"#),
            format!(r#"{{"v":1,"id":"{ID}"}}x"#),
            String::from(r#"{"v":1,"id":"ntf_short"}"#),
            "[".repeat(10_000),
        ] {
            assert_eq!(parse_doorbell(&body), None, "{body}");
        }
    }
}
