//! The end state against the ground truth.

use core::task::{Context, Poll, Waker};

use sendonce::notification::{Fact, NotificationId, ReceiptStatus, Record, Row, State, StopReason, verify_chain};
use sendonce::time::{EpochMillis, Millis};

use super::actors::Stage;
use super::choice::Pace;
use super::fault::{Fault, Op};
use super::history::{History, Story};
use super::port::Backend;
use super::seen::Seen;

/// Runs a future that waits for nothing but its own store.
pub(super) fn now_or_later<T>(future: impl Future<Output = T>) -> T {
    let mut future = core::pin::pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(done) => return done,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

/// Printing everything takes longer than the run; one in so many is enough.
const SECRETS_EVERY: u64 = 64;

impl<'w, B: Backend + 'w> Stage<'w, B> {
    /// Checks every notification, as it stands at the end.
    pub(super) fn judge(&self) {
        let mut history = self.sim.history.borrow_mut();
        let stories = core::mem::take(&mut history.stories);
        for story in &stories {
            let record = now_or_later(self.store.record(&story.id)).ok().flatten();
            let rows = now_or_later(self.store.rows(&story.id)).unwrap_or_default();
            evidence(&mut history, story, record.as_ref(), &rows);
            self.truth(&mut history, story, &rows);
            item(&mut history, story, record.as_ref());
            self.undisturbed(&mut history, story);
            if self.sim.chooser.borrow().hash().is_multiple_of(SECRETS_EVERY) {
                self.secrets(&mut history, &rows, record.as_ref());
            }
        }
        history.stories = stories;
        if history.any_open() {
            history.violated("2 nothing lost: settled in time", String::from("open at the end"));
        }
    }

    /// Where nothing is slow and nothing strikes, or one thing away from the provider call and its two writes, everything
    /// that nobody takes back is sent: at once, or when the reconciler has seen to it.
    fn undisturbed(&self, history: &mut History, story: &Story) {
        let chooser = self.sim.chooser.borrow();
        let quick = matches!(chooser.weather().pace, Pace::Even | Pace::Quick);
        let beside = |op: &Op| !matches!(op, Op::Send | Op::Commit);
        let waits = match (chooser.struck.as_slice(), chooser.struck_at.first()) {
            ([], _) => Millis::from_secs(1),
            ([strike], Some(op)) if strike.fault != Fault::Dropped && beside(op) => Millis::from_secs(200),
            _ => return,
        };
        let life = story.record.expires_at.since(EpochMillis::new(story.created_at));
        let lives = life > self.sim.setup.policy.min_useful_life.plus(self.sim.setup.skew).plus(waits);
        let calm = quick && lives;
        let state = story.record.state();
        let is_sent = matches!(state, State::Sent | State::Delivered | State::Undelivered);
        if calm && !is_sent && state != State::Stopped(StopReason::Cancelled) {
            history.violated("2 undisturbed, everything is sent", format!("{:?} is {state:?}", story.id));
        }
    }

    /// Neither number nor body is in any row, or in anything of the record that can be printed.
    fn secrets(&self, history: &mut History, rows: &[Row], record: Option<&Record>) {
        let mut shown: Vec<String> = rows.iter().map(Row::body_json).collect();
        shown.extend(record.map(|record| format!("{record:?}")));
        shown.extend(history.answers.iter().map(|log| format!("{:?}", log.result)));
        for command in &self.cast.commands {
            let token: String = command.message.expose().chars().filter(char::is_ascii_digit).collect();
            let told = shown.iter().any(|text| text.contains(command.to.expose()) || tells(text, &token));
            if told {
                history.violated("9 no secret leaks", token);
            }
        }
    }

    fn accepted_of(&self, id: &NotificationId) -> usize {
        let mut accepted = 0;
        self.sim.carrier.for_each_call(|call| accepted += usize::from(call.accepted && call.id == *id));
        accepted
    }

    /// State and rows against what the provider took.
    fn truth(&self, history: &mut History, story: &Story, rows: &[Row]) {
        let taken = self.accepted_of(&story.id);
        // Each risk that somebody took is one text more, and no other is.
        if taken > 1 + story.resends {
            history.violated("1 at most one acceptance", format!("{taken} of {:?}", story.id));
        }
        let fits = match story.record.state() {
            _ if story.resends > 0 => true,
            State::Sent | State::Delivered | State::Undelivered => taken == 1,
            State::Failed => taken == 0,
            State::Stopped(_) if story.ended_unsent => taken == 0,
            State::Stopped(StopReason::ExpiredBeforeAttempt | StopReason::AttemptsExhausted) => taken == 0,
            _ => true,
        };
        if !fits {
            let state = story.record.state();
            history.violated("1 the state tells the truth", format!("{state:?} of {:?}, {taken} accepted", story.id));
        }
        for row in rows {
            let heard = match row.fact() {
                Fact::Delivered { attempt, .. } => Some((attempt, ReceiptStatus::Delivered)),
                Fact::Undelivered { attempt, .. } => Some((attempt, ReceiptStatus::Undelivered)),
                Fact::ReceiptNoted { attempt, status, .. } => Some((attempt, *status)),
                _ => None,
            };
            if heard.is_some_and(|(attempt, status)| !self.sim.has_reported(attempt, status)) {
                let detail = format!("row {} of {:?}", row.seq(), story.id);
                history.violated("8 what became of a text was reported of it", detail);
            }
            let told = match row.fact() {
                Fact::AttemptAccepted { attempt, .. } | Fact::ReconciledAccepted { attempt, .. } => {
                    Some((attempt, true))
                }
                Fact::AttemptRefused { attempt, .. } => Some((attempt, false)),
                Fact::LateAnswer { attempt, accepted: Some(accepted) } => Some((attempt, *accepted)),
                Fact::Delivered { attempt, .. }
                | Fact::Undelivered { attempt, .. }
                | Fact::ReceiptNoted { attempt, .. } => Some((attempt, true)),
                _ => None,
            };
            let Some((attempt, said)) = told else { continue };
            let mut was = false;
            self.sim.carrier.for_each_call(|call| was |= call.accepted && call.attempt == *attempt);
            if was != said {
                history.violated("8 rows tell the truth", format!("row {} of {:?}", row.seq(), story.id));
            }
        }
    }
}

/// Whether a text holds a token, other than within an instant in milliseconds.
fn tells(text: &str, token: &str) -> bool {
    let is_instant = |digits: &str| digits.len() == 13 && digits.starts_with("18");
    text.contains(token)
        && text.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.contains(token) && !is_instant(digits))
}

/// The chain verifies, is what was written, and rebuilds the record.
fn evidence(history: &mut History, story: &Story, record: Option<&Record>, rows: &[Row]) {
    let id = &story.id;
    match verify_chain(id, rows, record) {
        Err(fault) => history.violated("8 the chain verifies", format!("{id:?}: {fault}")),
        Ok(progress) if progress != story.record.progress => {
            history.violated("8 evidence rebuilds the record", format!("{id:?}: {progress:?}"));
        }
        Ok(_) => {}
    }
    let hashes = rows.iter().map(|row| row.hash().first_chunk::<8>().map_or(0, |head| u64::from_be_bytes(*head)));
    if !hashes.eq(story.hashes.iter().copied()) {
        history.violated("8 rows are never changed", format!("{id:?}"));
    }
    if record.is_some_and(|record| *record != story.record) {
        history.violated("8 state and evidence change together", format!("{id:?}"));
    }
}

/// The stored item is in good order.
fn item(history: &mut History, story: &Story, record: Option<&Record>) {
    let Some(record) = record else {
        history.seen[Seen::RecordForgotten as usize] += 1;
        if story.settled_at.is_none() {
            history.violated("2 nothing lost: open records are kept", format!("{:?}", story.id));
        }
        return;
    };
    let settled = record.state().is_settled();
    let order = (record.sealed.is_none(), record.ttl.is_some(), record.due_at.is_none());
    if order != (settled, settled, settled) {
        history.violated("9 the seal goes when it settles", format!("{:?}: {order:?}", story.id));
    }
    let cancelled = history.cancelled.contains(&story.id);
    if cancelled && record.state() != State::Stopped(StopReason::Cancelled) {
        history.violated("states: settled states absorb", format!("{:?} was cancelled", story.id));
    }
    if record.progress.rings > 8 {
        history.violated("2 doorbells are bounded", format!("{} rings of {:?}", record.progress.rings, story.id));
    }
}
