//! What clients are told, and the checks that can be made when they are.

use sendonce::admit::{Admitted, NotAdmitted};
use sendonce::cancel::NotCancelled;
use sendonce::notification::{NotificationId, Record, State, StopReason};
use sendonce::ports::Unreadable;
use sendonce::read::Evidence;

use super::actors::Ended;
use super::history::AnswerLog;
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
