//! What has happened, and the checks that can be made the moment it happens.

use sendonce::admit::{Admitted, NotAdmitted};
use sendonce::notification::{AttemptId, Fact, NotificationId, Record, State, Transition};
use sendonce::ports::{Admission, Text};

use super::agenda::Event;
use super::choice::Pace;
use super::legal;
use super::seen::Seen;
use super::sim::{Errand, Sim};

/// A rule that did not hold.
#[derive(Clone, Debug)]
pub struct Violation {
    /// Which: the invariant's number in the design, and what of it.
    pub rule: &'static str,
    /// How it showed.
    pub detail: String,
}

/// One notification, as the store was made to hold it.
#[derive(Clone, Debug)]
pub struct Story {
    /// Which.
    pub id: NotificationId,
    /// Its latest record.
    pub record: Record,
    /// When it was taken in.
    pub created_at: i64,
    /// When it last changed.
    pub moved_at: i64,
    /// When it settled.
    pub settled_at: Option<i64>,
    /// The beginning of each row's hash.
    pub hashes: Vec<u64>,
    /// Whether it was ended while nothing had been sent for it, as far as its evidence goes.
    pub ended_unsent: bool,
    /// What was sealed for it.
    pub sealed: Vec<u8>,
    /// How often somebody took the risk of another text.
    pub resends: usize,
}

/// One attempt.
#[derive(Clone, Debug)]
pub struct AttemptLog {
    /// Which.
    pub id: AttemptId,
    /// By which task.
    pub task: usize,
    /// How often the provider was called for it.
    pub calls: u32,
    /// What its rows say: taken, or surely not.
    pub told: Option<bool>,
}

/// One request of a client, and what it was told.
#[derive(Clone, Debug)]
pub struct AnswerLog {
    /// By which session.
    pub session: usize,
    /// When it was sent.
    pub sent_at: i64,
    /// When it was answered.
    pub answered_at: i64,
    /// What the flow said; none while it runs, and when it died.
    pub result: Option<Result<Admitted, NotAdmitted>>,
    /// The task that ran it.
    pub task: usize,
}

/// Everything that happened.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// By notification, in order of arrival.
    pub stories: Vec<Story>,
    /// In order.
    pub attempts: Vec<AttemptLog>,
    /// In order of sending.
    pub answers: Vec<AnswerLog>,
    /// What did not hold.
    pub violations: Vec<Violation>,
    /// How often each transition was taken: from (8 is nowhere) to.
    pub transitions: [[u32; 8]; 9],
    /// Notifications whose clients were told that they are cancelled.
    pub cancelled: Vec<NotificationId>,
    /// How often what was met.
    pub seen: [u32; Seen::ALL.len()],
    /// Steps that were written.
    pub steps: u32,
    /// Dispatches that ran.
    pub dispatches: u32,
    /// Ticks that ran.
    pub ticks: u32,
    /// Ticks at which nothing could be found.
    pub idle_ticks: u32,
}

/// A state's place in tables.
#[must_use]
pub const fn place(state: State) -> usize {
    match state {
        State::Accepted => 0,
        State::Sending => 1,
        State::Sent => 2,
        State::Delivered => 3,
        State::Undelivered => 4,
        State::Failed => 5,
        State::DispatchUnknown => 6,
        State::Stopped(_) => 7,
    }
}

impl History {
    /// The story of a notification.
    #[must_use]
    pub fn story(&self, id: &NotificationId) -> Option<usize> {
        self.stories.iter().position(|story| story.id == *id)
    }

    /// Whether any notification is still open.
    #[must_use]
    pub fn any_open(&self) -> bool {
        self.stories.iter().any(|story| story.settled_at.is_none())
    }

    /// Notes that a rule did not hold.
    pub fn violated(&mut self, rule: &'static str, detail: String) {
        if self.violations.len() < 16 {
            self.violations.push(Violation { rule, detail });
        }
    }

    fn tell(&mut self, fact: &Fact, task: usize, struck: impl Fn(usize) -> bool) {
        let (id, told) = match fact {
            Fact::AttemptStarted { attempt, .. } => {
                let known = self.attempts.iter().any(|log| log.id == *attempt);
                if !known {
                    self.attempts.push(AttemptLog { id: attempt.clone(), task, calls: 0, told: None });
                }
                return;
            }
            Fact::AttemptAccepted { attempt, .. } | Fact::ReconciledAccepted { attempt, .. } => (attempt, Some(true)),
            Fact::AttemptRefused { attempt, .. } => (attempt, Some(false)),
            Fact::LateAnswer { attempt, accepted } => (attempt, *accepted),
            Fact::AttemptUnknown { attempt, .. } => {
                let clear = self.attempts.iter().find(|log| log.id == *attempt).is_none_or(|log| !struck(log.task));
                if clear {
                    self.violated("4 unknown only where a fault struck", format!("{attempt:?}"));
                }
                return;
            }
            Fact::Delivered { attempt, .. }
            | Fact::Undelivered { attempt, .. }
            | Fact::ReceiptNoted { attempt, .. } => (attempt, Some(true)),
            Fact::Accepted(_)
            | Fact::DoorbellRung { .. }
            | Fact::EvidenceSought { .. }
            | Fact::ResendAuthorised { .. }
            | Fact::Closed { .. }
            | Fact::Stopped { .. } => return,
        };
        match self.attempts.iter_mut().find(|log| log.id == *id) {
            Some(log) => log.told = told.or(log.told),
            None => self.violated("8 an outcome belongs to a recorded attempt", format!("{id:?}")),
        }
    }
}

fn beginning(hash: [u8; 32]) -> u64 {
    hash.first_chunk::<8>().map_or(0, |head| u64::from_be_bytes(*head))
}

impl Sim {
    /// An admission became durable.
    pub(super) fn admitted(&self, admission: &Admission) {
        let record = &admission.record;
        self.say(|| format!("  admitted {:?}", record.id));
        let mut history = self.history.borrow_mut();
        self.chooser.borrow_mut().note(beginning(record.head));
        history.transitions[8][place(record.state())] += 1;
        if history.story(&record.id).is_some() {
            history.violated("6 one event, one acceptance", format!("{:?} was accepted again", record.id));
            return;
        }
        history.stories.push(Story {
            id: record.id.clone(),
            record: record.clone(),
            created_at: self.now.get(),
            moved_at: self.now.get(),
            settled_at: None,
            hashes: vec![beginning(admission.row.hash())],
            ended_unsent: false,
            sealed: record.sealed.as_ref().map(|sealed| sealed.as_bytes().to_vec()).unwrap_or_default(),
            resends: 0,
        });
        drop(history);
        self.wake_tickers();
    }

    /// A step became durable.
    pub(super) fn moved(&self, step: &Transition) {
        let (record, fact) = (&step.record, step.row.fact());
        let task = self.current.get();
        let mut history = self.history.borrow_mut();
        self.chooser.borrow_mut().note(beginning(record.head));
        let Some(at) = history.story(&record.id) else {
            return history.violated("8 a step belongs to an accepted notification", format!("{:?}", record.id));
        };
        let from = history.stories[at].record.state();
        self.say(|| {
            format!("  {} -> {} rev {} {}", from.as_str(), record.state().as_str(), record.rev, legal::word(fact))
        });
        history.transitions[place(from)][place(record.state())] += 1;
        if !legal::is_legal(from, fact, record.state()) {
            history.violated("states: legal transitions only", format!("{from:?} -> {:?} by {fact:?}", record.state()));
        }
        if step.row.seq() as usize != history.stories[at].hashes.len() || record.rev != step.row.seq() {
            history.violated("8 rows follow one another", format!("row {} of {:?}", step.row.seq(), record.id));
        }
        history.tell(fact, task, |task| self.slots.borrow()[task].blurred);
        if let Fact::AttemptStarted { lease_until, .. } = fact {
            let (begun, timing) = (step.row.at(), self.setup.timing);
            if begun.plus(timing.call).plus(timing.write_back) > *lease_until {
                history.violated("no attempt without time for it", format!("{:?}", record.id));
            }
            if begun >= record.expires_at.minus(self.setup.policy.min_useful_life) {
                history.violated("3 nothing stale: rows", format!("{:?}", record.id));
            }
        }
        let now = self.now.get();
        history.steps += 1;
        let story = &mut history.stories[at];
        story.moved_at = now;
        story.hashes.push(beginning(step.row.hash()));
        story.resends += usize::from(matches!(fact, Fact::ResendAuthorised { .. }));
        story.ended_unsent |= from == State::Accepted && matches!(record.state(), State::Stopped(_));
        if record.state().is_settled() && story.settled_at.is_none() {
            story.settled_at = Some(now);
        }
        story.record.clone_from(record);
        drop(history);
        if let Fact::AttemptStarted { lease_until, .. } = fact {
            self.tempt(lease_until.get());
        }
    }

    /// Now and then the schedule fires, or a doorbell rings, just where a lease ends.
    fn tempt(&self, lease_until: i64) {
        let (draw, odds) = {
            let chooser = self.chooser.borrow();
            let odds = match chooser.weather().pace {
                Pace::Even => return,
                Pace::Sluggish => 2,
                Pace::Quick | Pace::Mixed => 8,
            };
            (chooser.number(lease_until as u64), odds)
        };
        let spread = (draw >> 8) as i64 % 10_000 - 5_000;
        let after = (lease_until + spread - self.now.get()).max(0);
        match self.slot(|slot| slot.errand) {
            _ if !draw.is_multiple_of(odds) => {}
            Errand::Dispatch(message, _) if draw.is_multiple_of(odds * 2) => {
                self.plan(after, Event::DeliverCopy(message))
            }
            _ => self.plan(after, Event::ExtraTick(0)),
        }
    }

    /// A provider call begins.
    pub(super) fn begins(&self, text: &Text) {
        self.say(|| format!("  provider called for attempt {}", text.attempt.number));
        let mut history = self.history.borrow_mut();
        let id = &text.attempt.id;
        let story = history.story(&text.id).map(|at| &history.stories[at].record);
        let sending = story.is_some_and(|record| record.state() == State::Sending && record.progress.is_latest(id));
        let useful = story.map(|record| record.expires_at.minus(self.setup.policy.min_useful_life));
        let stale = useful.is_some_and(|until| self.at() > until.plus(self.setup.skew));
        let number = text.attempt.number;
        if !sending {
            history.violated("8 no call without its intent", format!("attempt {number} of {:?}", text.id));
        }
        if stale {
            history.violated("3 nothing stale", format!("attempt {number} of {:?}", text.id));
        }
        if let Some(log) = history.attempts.iter_mut().find(|log| log.id == *id) {
            log.calls += 1;
            if log.calls > 1 {
                history.violated("1 one call an attempt", format!("attempt {number} of {:?}", text.id));
            }
        }
    }

    /// Starts the schedules that rest because nothing was open.
    pub(super) fn wake_tickers(&self) {
        for reconciler in 0..self.setup.reconcilers {
            if self.setup.parked[reconciler].replace(false) {
                self.plan(self.setup.until_tick(reconciler, self.now.get()), Event::Tick(reconciler));
            }
        }
    }
}
