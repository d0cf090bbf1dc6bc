//! What happens when.

use core::cmp::Ordering;
use std::collections::BinaryHeap;

/// One thing to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A task goes on.
    Resume(usize),
    /// A task dies.
    Kill(usize),
    /// The platform ends a task that is still awake.
    Deadline(usize),
    /// The queue shows a message.
    Deliver(usize),
    /// The queue shows a copy of a message, whatever became of it.
    DeliverCopy(usize),
    /// Somebody puts a dead letter back.
    Redrive(usize),
    /// The schedule of one reconciler fires.
    Tick(usize),
    /// It fires once more, out of turn.
    ExtraTick(usize),
    /// A client acts.
    Act(usize),
    /// A request that was given up on is done after all.
    Ghost(usize),
    /// The provider's report, by its number, is delivered.
    Report(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    at: i64,
    seq: u32,
    event: Event,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.seq).cmp(&(self.at, self.seq))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Events in the order of their time, and of their entry where times are equal.
#[derive(Clone, Debug, Default)]
pub struct Agenda {
    heap: BinaryHeap<Entry>,
    seq: u32,
}

impl Agenda {
    /// Enters an event.
    pub fn push(&mut self, at: i64, event: Event) {
        self.seq += 1;
        self.heap.push(Entry { at, seq: self.seq, event });
    }

    /// The next event.
    pub fn pop(&mut self) -> Option<(i64, Event)> {
        self.heap.pop().map(|entry| (entry.at, entry.event))
    }
}
