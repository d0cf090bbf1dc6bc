//! What the chapters share: the stack, the notifications on their way, and how each must end.

use anyhow::Result;
use jiff::{SignedDuration, Timestamp};

use crate::api::{Api, Order};
use crate::aws::Answer;
use crate::say::Timeline;
use crate::stack::Stack;

use super::ending::Ending;

/// A notification on its way, and how it must end.
#[derive(Debug)]
pub(crate) struct Notification {
    pub(crate) id: String,
    pub(crate) number: String,
    pub(crate) expires_at: String,
    pub(crate) ending: Ending,
    /// Whether its evidence has been shown already.
    pub(crate) told: bool,
}

/// The stack, what was asked of it, and where it is told.
#[derive(Debug)]
pub(crate) struct Tale<'a> {
    pub(crate) stack: &'a Stack,
    pub(crate) timeline: &'a Timeline,
    pub(crate) api: Api,
    pub(crate) notifications: Vec<Notification>,
    pub(crate) texts: usize,
}

impl<'a> Tale<'a> {
    pub(crate) fn new(stack: &'a Stack, timeline: &'a Timeline) -> Result<Self> {
        Ok(Self { stack, timeline, api: stack.api()?, notifications: Vec::new(), texts: 0 })
    }

    /// An order for a new event, good for `seconds`.
    pub(crate) fn order(&self, event: &str, to: &str, seconds: i64) -> Order {
        let now = Timestamp::now();
        let expires_at = now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(now);
        let token = now.subsec_microsecond();
        Order {
            event: format!("{event}-{}", now.as_millisecond()),
            to: to.to_owned(),
            message: format!("Your code is {token:06}. It ends with this demonstration."),
            expires_at: expires_at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }

    pub(crate) fn follow(&self, id: String, order: &Order, ending: Ending) -> Notification {
        Notification { id, number: order.to.clone(), expires_at: order.expires_at.clone(), ending, told: false }
    }

    pub(crate) fn remember(&mut self, notification: Notification) {
        self.notifications.push(notification);
    }

    /// How many notifications there were, and how many texts.
    pub(crate) fn totals(&self) -> (usize, usize) {
        (self.notifications.len(), self.texts)
    }
}

/// Status and body. The service's own answers hold no number and no text.
pub(crate) fn seen(answer: &Answer) -> String {
    format!("{} {}", answer.status, answer.text())
}

/// The time of day in an RFC 3339 instant.
pub(crate) fn time_of(instant: &str) -> &str {
    instant.get(11..19).unwrap_or(instant)
}
