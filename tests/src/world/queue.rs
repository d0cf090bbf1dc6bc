//! SQS: at least once, in any order; what is not acknowledged is seen again, and at last goes to the dead-letter queue.

use core::cell::RefCell;

use sendonce::notification::NotificationId;
use sendonce::time::{EpochMillis, Millis};

/// One doorbell in the queue.
#[derive(Clone, Debug)]
pub struct Message {
    /// What it asks to look at; it carries nothing else.
    pub id: NotificationId,
    /// When it can next be received.
    pub visible_at: EpochMillis,
    /// How often it was received.
    pub received: u32,
    /// Where it stands.
    pub place: Place,
}

/// Where a message stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the queue, seen or hidden.
    Queue,
    /// Given up on.
    DeadLetters,
    /// Acknowledged.
    Gone,
}

/// What a receive brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// A message, hidden now for the visibility timeout.
    Message(NotificationId),
    /// It was received as often as is allowed: it lies with the dead letters now.
    GivenUp,
    /// It is hidden, or gone.
    Nothing,
}

/// The queue and its dead letters.
#[derive(Clone, Debug)]
pub struct QueueModel {
    messages: RefCell<Vec<Message>>,
    visibility: Millis,
    max_receives: u32,
}

impl QueueModel {
    /// An empty queue.
    #[must_use]
    pub const fn new(visibility: Millis, max_receives: u32) -> Self {
        Self { messages: RefCell::new(Vec::new()), visibility, max_receives }
    }

    /// Empties it.
    pub fn reset(&self) {
        self.messages.borrow_mut().clear();
    }

    /// Takes a message in, to be seen from `visible_at` on; its number is its handle.
    pub fn send(&self, id: &NotificationId, visible_at: EpochMillis) -> usize {
        let mut messages = self.messages.borrow_mut();
        messages.push(Message { id: id.clone(), visible_at, received: 0, place: Place::Queue });
        messages.len() - 1
    }

    /// Receives one message, if it can be seen.
    pub fn receive(&self, handle: usize, now: EpochMillis) -> Delivery {
        let mut messages = self.messages.borrow_mut();
        let Some(message) = messages.get_mut(handle) else { return Delivery::Nothing };
        if message.place != Place::Queue || message.visible_at > now {
            return Delivery::Nothing;
        }
        if message.received >= self.max_receives {
            message.place = Place::DeadLetters;
            return Delivery::GivenUp;
        }
        message.received += 1;
        message.visible_at = now.plus(self.visibility);
        Delivery::Message(message.id.clone())
    }

    /// Delivers a copy that the queue still had, whatever became of the message.
    #[must_use]
    pub fn copy_of(&self, handle: usize) -> Option<NotificationId> {
        self.messages.borrow().get(handle).map(|message| message.id.clone())
    }

    /// Acknowledges it.
    pub fn delete(&self, handle: usize) {
        if let Some(message) = self.messages.borrow_mut().get_mut(handle) {
            message.place = Place::Gone;
        }
    }

    /// Gives up on it before its time: what a consumer that keeps failing comes to.
    pub fn give_up(&self, handle: usize) {
        if let Some(message) = self.messages.borrow_mut().get_mut(handle) {
            message.place = Place::DeadLetters;
        }
    }

    /// When it can be seen again.
    #[must_use]
    pub fn visible_at(&self, handle: usize) -> Option<EpochMillis> {
        self.messages.borrow().get(handle).filter(|message| message.place == Place::Queue).map(|m| m.visible_at)
    }

    /// Puts a dead letter back; whether it was one.
    pub fn redrive(&self, handle: usize, now: EpochMillis) -> bool {
        let mut messages = self.messages.borrow_mut();
        let dead = messages.get_mut(handle).filter(|message| message.place == Place::DeadLetters);
        let Some(message) = dead else { return false };
        *message = Message { id: message.id.clone(), visible_at: now, received: 0, place: Place::Queue };
        true
    }
}
