//! One state of everything: the store, the queue, the provider, and where each actor stands.

use sendonce::notification::State;

use super::decisions::{SlimGuard, SlimRow, Write, follows, is_own, step};
use super::flaw::Flaw;
use super::numbers::{END, Instant, RECEIVES_MAX, VISIBILITY};
use super::slim::{Slim, SlimFact};

/// Everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// The true time.
    pub now: Instant,
    /// Which clocks are off.
    pub skewed: Skewed,
    /// How many more faults may strike.
    pub troubles: u8,
    /// Who is frozen, a bit each.
    pub frozen: u8,
    /// The record.
    pub record: Option<Slim>,
    /// Its rows from 1 on.
    pub rows: Rows,
    /// The guards of two keys.
    pub guards: [Option<SlimGuard>; 2],
    /// How many notifications there are of the other event.
    pub strangers: u8,
    /// The doorbells that are waiting.
    pub bells: Bells,
    /// What the provider has seen.
    pub carrier: Carrier,
    /// Those who want a text.
    pub clients: [Client; 2],
    /// Those who send it.
    pub dispatchers: [Dispatcher; 2],
    /// Those who close what is open.
    pub reconcilers: [Reconciler; 2],
    /// Whoever takes it back.
    pub canceller: Canceller,
    /// What should never have happened.
    pub breaches: Breaches,
}

/// Whose clock is off by as much as clocks may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Skewed {
    /// Nobody's.
    Nobody,
    /// One dispatcher is behind the others.
    DispatcherBehind,
    /// One reconciler is ahead of the others.
    ReconcilerAhead,
}

impl Skewed {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Nobody, Self::DispatcherBehind, Self::ReconcilerAhead];
}

/// The most rows that a run writes.
const ROWS_MAX: usize = 16;

/// Rows from 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Rows([Option<SlimRow>; ROWS_MAX]);

impl Rows {
    /// The row with this number.
    #[must_use]
    pub fn get(&self, seq: u8) -> Option<&SlimRow> {
        self.0.get(usize::from(seq).checked_sub(1)?)?.as_ref()
    }

    fn put(&mut self, seq: u8, row: SlimRow) {
        self.0[usize::from(seq) - 1] = Some(row);
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &SlimRow> {
        self.0.iter().flatten()
    }
}

/// A message in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bell {
    /// From when on it can be received.
    pub visible_at: Instant,
    /// How often it was.
    pub receives: u8,
}

/// The queue. It holds three messages; a further one is as good as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Bells([Option<Bell>; 3]);

impl Bells {
    /// The message to receive now, if any can be.
    #[must_use]
    pub fn visible(&self, now: Instant) -> Option<Bell> {
        self.0.iter().flatten().find(|bell| bell.visible_at <= now).copied()
    }

    /// Adds a message.
    pub fn add(&mut self, bell: Bell) {
        if let Some(place) = self.0.iter_mut().find(|place| place.is_none()) {
            *place = Some(bell);
        }
        self.0.sort_unstable_by_key(|bell| bell.map_or((1, None), |bell| (0, Some(bell))));
    }

    /// Takes a message out.
    pub fn remove(&mut self, bell: Bell) {
        if let Some(place) = self.0.iter_mut().find(|place| **place == Some(bell)) {
            *place = None;
        }
        self.0.sort_unstable_by_key(|bell| bell.map_or((1, None), |bell| (0, Some(bell))));
    }

    /// A message that was not acknowledged is seen again, or is given up on.
    pub fn come_back(&mut self, receives: u8, now: Instant) {
        if receives < RECEIVES_MAX {
            self.add(Bell { visible_at: now.saturating_add(VISIBILITY).min(END), receives });
        }
    }

    /// Holds back the message that could be received now.
    pub fn hold(&mut self, now: Instant) {
        if let Some(bell) = self.visible(now) {
            self.remove(bell);
            self.add(Bell { visible_at: now.saturating_add(VISIBILITY).min(END), ..bell });
        }
    }

    /// Forgets how long ago messages became visible.
    pub fn settle(&mut self, now: Instant) {
        for bell in self.0.iter_mut().flatten().filter(|bell| bell.visible_at <= now) {
            bell.visible_at = Instant::MIN;
        }
    }
}

/// The provider: by attempt, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Carrier {
    /// The attempts it was called for.
    pub called: u64,
    /// The attempts it took.
    pub taken: u64,
}

impl Carrier {
    /// How many texts it took.
    #[must_use]
    pub const fn texts(&self) -> u32 {
        self.taken.count_ones()
    }
}

/// What a client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    /// 202, with the time of its acceptance.
    Accepted(Instant),
    /// 409: the key was used for another command.
    KeyReused,
    /// 409: the event was accepted as another command.
    EventAlreadyAccepted,
    /// The command had ended before it came.
    Expired,
}

/// Where a client's request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asking {
    /// None is under way.
    No,
    /// Guard, record and row 0 are about to be written.
    Admitting(Instant),
    /// A guard alone is about to be written, with this answer.
    Binding(Instant, Instant),
    /// The doorbell is about to be rung.
    Ringing(Instant),
    /// The answer is on its way.
    Answering(Told),
}

/// Somebody who wants a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Client {
    /// Its key.
    pub key: u8,
    /// Which command.
    pub print: u8,
    /// Whether it names the other event.
    pub stranger: bool,
    /// How many more requests it makes; it stops when it has heard.
    pub requests: u8,
    /// Where the current one stands.
    pub asking: Asking,
    /// What it heard last.
    pub heard: Option<Told>,
}

/// What a dispatcher's write is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Recording an attempt before its call.
    Attempt,
    /// A step without a call.
    Step,
    /// The outcome of its attempt.
    Outcome(super::slim::Heard),
    /// Ending it after the last refusal.
    FollowUp,
}

/// Where a dispatcher stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dispatching {
    /// It waits for a message.
    No,
    /// The record is about to be read.
    Reading,
    /// A step is about to be written.
    Writing(Write, Purpose),
    /// The provider is about to be called, for the record as it was written.
    Calling(Slim),
    /// The next attempt is about to be asked for.
    Ringing(Instant),
}

/// Somebody who answers doorbells, one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dispatcher {
    /// Where it stands.
    pub dispatching: Dispatching,
    /// When its invocation ends.
    pub deadline: Instant,
    /// The attempt it made.
    pub attempt: u8,
    /// How often its message was received; none when it works on a copy.
    pub receives: Option<u8>,
}

/// Where a reconciler stands with the one notification there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reconciler {
    /// Between ticks.
    No,
    /// A step is about to be written.
    Writing(Write),
    /// The doorbell is about to be rung.
    Ringing,
}

/// Somebody who takes the notification back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Canceller {
    /// Perhaps later.
    NotYet,
    /// A step is about to be written.
    Writing(Write),
    /// It has, or it could not.
    Over,
}

/// What should never have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Breaches(u16);

/// One thing that should never have happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Breach {
    /// A settled record moved.
    SettledMoved,
    /// The rows do not add up to the record.
    EvidenceDiffers,
    /// A call without a durable intent of the same attempt.
    NoIntent,
    /// A second call of one attempt.
    CalledTwice,
    /// A call too late for its reader.
    CalledStale,
    /// A call after its own lease.
    CalledAfterLease,
    /// A guard that held was replaced.
    GuardReplaced,
    /// A second record of one event.
    AdmittedTwice,
    /// An accepting answer that is not the first one.
    AnswersDiffer,
}

impl Breaches {
    /// Adds one.
    pub fn add(&mut self, breach: Breach) {
        self.0 |= 1 << breach as u8;
    }

    /// Whether it has happened.
    #[must_use]
    pub const fn has(self, breach: Breach) -> bool {
        self.0 & (1 << breach as u8) != 0
    }
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Landed {
    /// It is durable: the record after it.
    Done(Slim),
    /// Another was first: the record as it stands.
    Lost(Slim),
}

impl World {
    /// Whether time may go by: it takes none to do things, unless whoever is at it is frozen, and no message waits for
    /// a dispatcher that is free, unless it is held back.
    #[must_use]
    pub fn may_age(&self, dispatchers: usize) -> bool {
        let free = self.dispatchers.iter().take(dispatchers).any(|one| one.dispatching == Dispatching::No);
        if free && self.bells.visible(self.now).is_some() {
            return false;
        }
        let [client_0, client_1] = self.clients.map(|client| client.asking != Asking::No);
        let [dispatcher_0, dispatcher_1] = self.dispatchers.map(|one| one.dispatching != Dispatching::No);
        let [reconciler_0, reconciler_1] = self.reconcilers.map(|one| one != Reconciler::No);
        let canceller = matches!(self.canceller, Canceller::Writing(_));
        let busy = [client_0, client_1, dispatcher_0, dispatcher_1, reconciler_0, reconciler_1, canceller];
        busy.into_iter().enumerate().all(|(number, busy)| !busy || self.frozen & (1 << number) != 0)
    }

    /// Whether the record stands there.
    #[must_use]
    pub fn is(&self, state: State) -> bool {
        self.record.is_some_and(|record| record.state == state)
    }

    /// Whether a step would be written, rather than meet what stands in its way.
    #[must_use]
    pub fn would_land(&self, write: &Write, flaw: Option<Flaw>) -> bool {
        let unfenced = flaw == Some(Flaw::StepUnfenced);
        let seq = write.seen.rev.saturating_add(1);
        let in_place = self.record.is_some_and(|record| record.rev == write.seen.rev);
        unfenced || (in_place && self.rows.get(seq).is_none())
    }

    /// The store's part in one step: record and row, or neither.
    pub fn commit(&mut self, write: &Write, flaw: Option<Flaw>, answer_lost: bool) -> Landed {
        let current = self.record.expect("steps are made from a record that was read");
        let seq = write.seen.rev.saturating_add(1);
        if !self.would_land(write, flaw) {
            let stored = self.rows.get(seq).filter(|_| flaw != Some(Flaw::OutcomeUnchecked));
            return match step(write) {
                Some(mine) if is_own(write, stored, &current) => Landed::Done(mine),
                _ => Landed::Lost(current),
            };
        }
        let after = step(write).expect("only known facts are written");
        if current.state.is_settled() && after.state != current.state {
            self.breaches.add(Breach::SettledMoved);
        }
        if !(answer_lost && flaw == Some(Flaw::RowOutside)) {
            self.rows.put(seq, SlimRow { by: write.by, fact: write.fact });
        }
        self.record = Some(after);
        let told = self.rows.get(seq).is_some_and(|row| follows(&current, row.fact, &after));
        if current.rev != write.seen.rev || !told {
            self.breaches.add(Breach::EvidenceDiffers);
        }
        Landed::Done(after)
    }

    /// Whether the attempt is recorded.
    #[must_use]
    pub fn has_intent(&self, attempt: u8) -> bool {
        let is_it = |row: &SlimRow| matches!(row.fact, SlimFact::Started { attempt: id, .. } if id == attempt);
        self.rows.iter().any(is_it)
    }
}
