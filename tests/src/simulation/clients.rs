//! What clients are told, and the checks that can be made when they are.

use sendonce::admit::{Admitted, NotAdmitted};
use sendonce::cancel::NotCancelled;
use sendonce::dispatch::{Dispatched, NotDispatched};
use sendonce::notification::{Next, NotificationId, Record, State, StopReason, next};
use sendonce::ports::Unreadable;
use sendonce::read::Evidence;
use sendonce::receive::{NotReceived, Received, Report};
use sendonce::reconcile::Tally;
use sendonce::resolve::NotResolved;
use sendonce::time::{EpochMillis, Millis};

use super::actors::Ended;
use super::history::AnswerLog;
use super::reports::Reported;
use super::sim::Sim;

impl Sim {
    /// A session sends its command; `task` will run it.
    pub(super) fn asked(&self, session: usize, task: usize) {
        let now = self.now.get();
        self.history.borrow_mut().answers.push(AnswerLog {
            session,
            sent_at: now,
            answered_at: now,
            result: None,
            task,
        });
    }

    /// A command was answered; whether its client has what it needs.
    pub(super) fn answered(&self, task: usize, result: Result<Admitted, NotAdmitted>) -> Ended {
        self.say(|| match &result {
            Ok(admitted) => format!("  task {task}: 202, replayed: {}", admitted.replayed),
            Err(fault) => format!("  task {task}: {fault:?}"),
        });
        let mut history = self.history.borrow_mut();
        let unexplained = result == Err(NotAdmitted::Unavailable) && !self.slots.borrow()[task].struck;
        if unexplained {
            history.violated("503 only where a fault struck", format!("task {task}"));
        }
        let ended = if result == Err(NotAdmitted::Unavailable) { Ended::Badly } else { Ended::Well };
        if let Some(log) = history.answers.iter_mut().find(|log| log.task == task) {
            log.answered_at = self.now.get();
            log.result = Some(result);
        }
        ended
    }

    /// A doorbell was answered: what its task was told is written, if it is to be acknowledged.
    pub(super) fn dispatched(&self, task: usize, result: &Result<Dispatched, NotDispatched>) {
        let heard = self.slots.borrow()[task].heard;
        let mut history = self.history.borrow_mut();
        let written = history.attempts.iter().find(|log| log.task == task && log.calls > 0).map(|log| log.told);
        let told = written.is_none_or(|told| told == heard || heard.is_none());
        if matches!(result, Ok(Dispatched::Attempted(_))) && !told {
            history.violated("8 what was heard is written", format!("task {task} heard {heard:?}"));
        }
        let slot = self.slots.borrow()[task];
        let explained = match result {
            Ok(_) | Err(NotDispatched::NoTimeLeft) => true,
            // Others kept moving it only where others moved it.
            Err(NotDispatched::Contended) => history.steps > slot.steps_before,
            Err(_) => slot.struck,
        };
        if !explained {
            history.violated("a doorbell fails only where a fault struck", format!("task {task}: {result:?}"));
        }
    }

    /// A tick is over: nothing that was due when it began was left alone.
    pub(super) fn ticked(&self, task: usize, tally: &Tally) {
        self.say(|| format!("  task {task}: {tally:?}"));
        let slot = self.slots.borrow()[task];
        let whole = tally.complete && tally.failed == 0 && !slot.struck && slot.retried == 0;
        if !whole || self.setup.lag > Millis::ZERO {
            return;
        }
        let mut history = self.history.borrow_mut();
        let seen_at = EpochMillis::new(slot.began + slot.offset);
        let left = history.stories.iter().find(|story| {
            let is_due = story.record.due_at.is_some_and(|due_at| due_at <= seen_at);
            // What silence would have allowed may have become too late to try, even while the tick was at work.
            let step_at = |at| next(&story.record, at, &self.setup.policy);
            let over_at = self.at().plus(Millis::new(slot.offset));
            let has_step = ![step_at(seen_at), step_at(over_at)].contains(&Next::Unknown);
            story.moved_at < slot.began && is_due && has_step
        });
        if let Some(story) = left {
            let detail = format!("{:?} was due and left", story.id);
            history.violated("2 a tick looks at all that is due", detail);
        }
    }

    /// A cancel was answered.
    pub(super) fn cancelled(&self, owner: bool, id: &NotificationId, result: Result<Record, NotCancelled>) {
        self.say(|| format!("  cancel: {:?}", result.as_ref().map(|record| record.rev)));
        let mut history = self.history.borrow_mut();
        let stood = history.story(id).map(|at| history.stories[at].record.state());
        let fits = match &result {
            Ok(record) => owner && record.state() == State::Stopped(StopReason::Cancelled),
            Err(NotCancelled::NotFound) => !owner || stood.is_none_or(State::is_settled),
            Err(NotCancelled::Settled) => owner && stood.is_some_and(State::is_settled),
            Err(NotCancelled::AttemptRunning) => owner && stood.is_some(),
            Err(NotCancelled::Changed) => false,
            Err(NotCancelled::Unavailable) => true,
        };
        if !fits {
            let rule = if owner { "cancel tells the truth" } else { "7 tenants never meet" };
            history.violated(rule, format!("cancel of {id:?}: {:?} while {stood:?}", result.as_ref().err()));
        }
        if result.is_ok() {
            history.cancelled.push(id.clone());
        }
    }

    /// A report was taken in, or not.
    pub(super) fn received(&self, task: usize, reported: &Reported, result: &Result<Received, NotReceived>) {
        self.say(|| format!("  task {task}: {result:?}"));
        let mut history = self.history.borrow_mut();
        let slot = self.slots.borrow()[task];
        // A log is read while there is time for another page.
        let had_time = self.now.get() + slot.offset + 3_000 <= slot.deadline;
        let is_unexplained =
            *result == Err(NotReceived::Unavailable) && !slot.struck && had_time && history.steps == slot.steps_before;
        if is_unexplained {
            history.violated("a report fails only where a fault struck", format!("task {task}"));
        }
        if let Report::Named { id, receipt, .. } = &reported.report
            && *result == Ok(Received::ForNobody)
            && history.story(id).is_some_and(|at| history.stories[at].settled_at.is_none())
            && history.attempts.iter().any(|log| log.id == receipt.attempt)
        {
            history.violated("a receipt of a known attempt is taken in", format!("{:?}", receipt.attempt));
        }
    }

    /// An operator's decision was carried out, or not.
    pub(super) fn decided(&self, may: bool, id: &NotificationId, result: Option<Result<Record, NotResolved>>) {
        self.say(|| {
            format!("  decision: {:?}", result.as_ref().map(|result| result.as_ref().map(|record| record.rev)))
        });
        let fits = match &result {
            None | Some(Err(NotResolved::Unavailable | NotResolved::Changed)) => true,
            Some(Err(NotResolved::NotFound)) => true,
            Some(Ok(_) | Err(NotResolved::NotDecidable(_))) => may,
        };
        if !fits {
            self.history.borrow_mut().violated("7 tenants never meet", format!("a stranger decided on {id:?}"));
        }
    }

    /// Somebody looked at the evidence.
    pub(super) fn looked(&self, owner: bool, id: &NotificationId, found: Result<Option<Evidence>, Unreadable>) {
        let Ok(found) = found else { return };
        let mut history = self.history.borrow_mut();
        match found {
            Some(_) if !owner => history.violated("7 tenants never meet", format!("evidence of {id:?} shown")),
            Some(Evidence { fault: Some(fault), .. }) => {
                history.violated("8 the chain verifies at any moment", format!("{id:?}: {fault}"));
            }
            _ => {}
        }
    }

    /// Whether something is open that should have settled by now.
    pub(super) fn overdue(&self) -> bool {
        let mut history = self.history.borrow_mut();
        let calm = self.chooser.borrow().felt_until;
        let grace = self.setup.settle_ticks * super::setup::MINUTE;
        let late = history.stories.iter().find(|story| {
            story.settled_at.is_none() && self.now.get() > story.record.expires_at.get().max(calm) + grace
        });
        let Some(story) = late else { return false };
        let detail = format!("{:?} is still {}", story.id, story.record.state().as_str());
        history.violated("2 nothing lost: settled in time", detail);
        true
    }
}
