//! The production decisions, asked about records in their slim form.
//!
//! Nothing here decides. A run asks the same few thousand questions millions of times, so each thread remembers the
//! answers.

use core::cell::RefCell;
use core::hash::{BuildHasherDefault, Hash, Hasher};
use std::collections::HashMap;

use sendonce::idempotency::{Guard, Nonce, StoredAnswer, Verdict};
use sendonce::invocation::Invocation;
use sendonce::notification::{Held, Next, Progress, Record, Row, Transition, last_useful_instant, merge_outcome};
use sendonce::time::Millis;

use super::admission;
use super::numbers::{END, Instant, NEEDED, POLICY, WINDOW_END};
use super::slim::{Heard, Slim, SlimFact, Who, actor, attempt_id, fingerprint_of, instant, slim_instant};

/// A row: who wrote it, and what it states. When it was written is left out, here and in [`Write`]: no decision asks
/// for it, and two writes of one invocation at one place never differ in their time alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlimRow {
    /// Its writer.
    pub by: Who,
    /// What it states.
    pub fact: SlimFact,
}

/// A stored guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlimGuard {
    /// Which of the commands took the key.
    pub print: u8,
    /// The first answer; it differs only by when the command was accepted.
    pub answer: Instant,
    /// Of the write that made it.
    pub nonce: u8,
}

/// What a stored guard means for a command that met it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Judged {
    /// It is this very write.
    Own,
    /// The same command came before, and was given this answer.
    Replay(Instant),
    /// Another command came before.
    Reused,
    /// Its window is over.
    Ended,
}

/// A step about to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Write {
    /// The record it was made from.
    pub seen: Slim,
    /// What it states.
    pub fact: SlimFact,
    /// Who made it.
    pub by: Who,
}

#[derive(Default)]
struct Memo {
    next: Table<(Slim, Instant), Next>,
    step: Table<Write, Option<Slim>>,
    is_own: Table<(Write, Option<SlimRow>, Slim), bool>,
    merge: Table<(Slim, u8, Heard, Instant), Option<SlimFact>>,
    judge: Table<(SlimGuard, u8, u8, Instant), Judged>,
    follows: Table<(Slim, SlimFact, Slim), bool>,
}

type Table<K, V> = HashMap<K, V, BuildHasherDefault<Quick>>;

/// A hash for small keys that nobody chooses to make trouble with.
#[derive(Default)]
struct Quick(u64);

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(u64::from(number));
    }

    fn write_i8(&mut self, number: i8) {
        self.write_u64(u64::from(number.cast_unsigned()));
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number as u64);
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

thread_local! {
    static MEMO: RefCell<Memo> = RefCell::default();
}

fn remembered<K: Hash + Eq + Copy, V: Copy>(
    table: fn(&mut Memo) -> &mut Table<K, V>,
    key: K,
    ask: impl FnOnce() -> V,
) -> V {
    MEMO.with_borrow_mut(|memo| *table(memo).entry(key).or_insert_with(ask))
}

fn full(record: &Slim) -> Record {
    record.record(admission::some_record())
}

/// What may be done with a record.
#[must_use]
pub fn next(record: &Slim, now: Instant) -> Next {
    let ask = || sendonce::notification::next(&full(record), instant(now), &POLICY);
    remembered(|memo| &mut memo.next, (*record, now), ask)
}

/// The record after a step; none when its state does not know the fact.
#[must_use]
pub fn step(write: &Write) -> Option<Slim> {
    let ask = || {
        let after = |at| transition(write, at).map(|step| Slim::of(&step.record));
        let (early, late) = (after(0), after(END));
        assert_eq!(early, late, "when a step is made matters beyond its fact; the model leaves that out");
        early
    };
    remembered(|memo| &mut memo.step, *write, ask)
}

fn transition(write: &Write, at: Instant) -> Option<Transition> {
    full(&write.seen).step(write.fact.fact(), instant(at), actor(write.by), &POLICY).ok()
}

/// What an attempt's outcome adds to a record.
#[must_use]
pub fn merge(record: &Slim, attempt: u8, heard: Heard, retry_at: Instant) -> Option<SlimFact> {
    let ask = || {
        let fact = merge_outcome(&full(record), &attempt_id(attempt), &heard.outcome(), instant(retry_at));
        fact.as_ref().map(SlimFact::of)
    };
    remembered(|memo| &mut memo.merge, (*record, attempt, heard, retry_at), ask)
}

/// Whether what stood in the way of a step is this very step: the row in its place, or the record it made.
#[must_use]
pub fn is_own(write: &Write, stored: Option<&SlimRow>, current: &Slim) -> bool {
    remembered(|memo| &mut memo.is_own, (*write, stored.copied(), *current), || ask_own(write, stored, current))
}

fn ask_own(write: &Write, stored: Option<&SlimRow>, current: &Slim) -> bool {
    let Some(mine) = transition(write, 0) else { return false };
    let row = stored.map(|row| match *row == (SlimRow { by: write.by, fact: write.fact }) {
        true => mine.row.clone(),
        false => {
            let seen = full(&write.seen);
            let (seq, fact) = (mine.record.rev, row.fact.fact());
            Row::new(&seen.id, seen.accepted_at, seq, instant(-1), actor(row.by), fact, [1; 32])
        }
    });
    let mut record = full(current);
    // The row at the record's own revision is its head; elsewhere than at ours it cannot be our row.
    let is_head = current.rev == write.seen.rev.saturating_add(1);
    record.head = row.as_ref().filter(|_| is_head).map_or([2; 32], Row::hash);
    let record = (current.rev != write.seen.rev).then_some(record);
    mine.is_own(&Held { record, row })
}

/// What a stored guard means for a command.
#[must_use]
pub fn judge(guard: &SlimGuard, print: u8, nonce: u8, now: Instant) -> Judged {
    let ask = || {
        let (id, stored) = (admission::some_guard_id(), StoredAnswer { status: 202, body: guard.answer.to_string() });
        let guard = Guard {
            id,
            fingerprint: fingerprint_of(guard.print),
            answer: stored,
            window_ends_at: instant(WINDOW_END),
            nonce: Nonce::new([guard.nonce; 16]),
        };
        match guard.judge(&fingerprint_of(print), Nonce::new([nonce; 16]), instant(now)) {
            Verdict::Own => Judged::Own,
            Verdict::Replay(answer) => Judged::Replay(answer.body.parse().expect("the answer that was stored")),
            Verdict::Reused => Judged::Reused,
            Verdict::Ended => Judged::Ended,
        }
    };
    remembered(|memo| &mut memo.judge, (*guard, print, nonce, now), ask)
}

/// Whether `fact` leads from one record to the other, by evidence alone.
#[must_use]
pub fn follows(before: &Slim, fact: SlimFact, after: &Slim) -> bool {
    let ask = || before.progress().after(&fact.fact()) == Ok(after.progress());
    remembered(|memo| &mut memo.follows, (*before, fact, *after), ask)
}

/// What facts make of a notification that was just accepted; none when one of them is not known where it stands.
#[must_use]
pub fn replay(facts: impl IntoIterator<Item = SlimFact>) -> Option<Progress> {
    facts.into_iter().try_fold(Progress::start(), |progress, fact| progress.after(&fact.fact()).ok())
}

/// Whether a dispatcher with this deadline has time for an attempt.
#[must_use]
pub fn has_time(now: Instant, deadline: Instant) -> bool {
    let invocation = Invocation { actor: actor(Who::Dispatcher(0)), deadline: instant(deadline) };
    invocation.has_time(instant(now), Millis::new(i64::from(NEEDED)))
}

/// The first instant at which it is too late to start an attempt. All commands here end together.
#[must_use]
pub fn last_useful() -> Instant {
    slim_instant(last_useful_instant(admission::some_record(), &POLICY))
}
