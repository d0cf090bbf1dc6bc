//! SQS: one queue that delivers at least once, to whoever asks for it.

use sendonce::ports::Clock;
use sendonce::time::{EpochMillis, Millis};
use serde_json::json;

use super::connector::{Answer, Served};
use super::{Request, Seam, lock};

pub const QUEUE_URL: &str = "https://sqs.eu-central-1.amazonaws.com/111122223333/doorbells";
/// As the template has it: six times the function's timeout.
const VISIBILITY: Millis = Millis::from_secs(180);

/// A message that was not deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub id: String,
    pub body: String,
    pub visible_at: EpochMillis,
    pub receives: u32,
}

#[derive(Debug, Default)]
pub(super) struct Queue {
    messages: Vec<Message>,
    sent: usize,
}

pub(super) fn serve(seam: &Seam, request: &Request) -> Served {
    let body = request.json();
    let delay = body["DelaySeconds"].as_i64().unwrap_or(0);
    let text = body["MessageBody"].as_str().filter(|text| !text.is_empty()).ok_or((400, "InvalidMessageContents"))?;
    if request.name() != "SendMessage" {
        return Err((400, "UnsupportedOperation"));
    }
    if body["QueueUrl"] != QUEUE_URL {
        return Err((400, "QueueDoesNotExist"));
    }
    if !(0..=900).contains(&delay) {
        return Err((400, "InvalidParameterValue"));
    }
    let visible_at = seam.0.clock.now().plus(Millis::from_secs(delay));
    let mut queue = lock(&seam.0.queue);
    queue.sent += 1;
    let id = format!("00000000-0000-4000-9000-{:012}", queue.sent);
    queue.messages.push(Message { id: id.clone(), body: text.into(), visible_at, receives: 0 });
    Ok(Answer::ok(json!({"MessageId": id, "MD5OfMessageBody": "d41d8cd98f00b204e9800998ecf8427e"})))
}

impl Seam {
    /// Everything in the queue, visible or not.
    pub fn waiting(&self) -> Vec<Message> {
        lock(&self.0.queue).messages.clone()
    }

    /// Up to `most` messages that are visible now. They come again after the visibility timeout, unless deleted.
    pub fn receive(&self, most: usize) -> Vec<Message> {
        let now = self.0.clock.now();
        let mut queue = lock(&self.0.queue);
        let visible = queue.messages.iter_mut().filter(|message| message.visible_at <= now).take(most);
        let received = visible.map(|message| {
            message.visible_at = now.plus(VISIBILITY);
            message.receives += 1;
            message.clone()
        });
        received.collect()
    }

    pub fn delete(&self, id: &str) {
        lock(&self.0.queue).messages.retain(|message| message.id != id);
    }

    /// Makes a message visible at once, whoever may be working on it.
    pub fn deliver_again(&self, id: &str) {
        let now = self.0.clock.now();
        lock(&self.0.queue)
            .messages
            .iter_mut()
            .filter(|message| message.id == id)
            .for_each(|message| message.visible_at = now);
    }
}
