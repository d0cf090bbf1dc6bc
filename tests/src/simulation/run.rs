//! One run: a small executor that hands out time, lets tasks go on, and drops those that die.

use core::task::{Context, Poll, Waker};

use sendonce::time::Millis;

use super::actors::{Ended, Stage, Task};
use super::agenda::Event;
use super::fault::{Fault, Op};
use super::port::Backend;
use super::script::{Session, Wish};
use super::seen::Seen;
use super::setup::{DAY, MINUTE};
use super::sim::{Errand, Slot};
use crate::world::Delivery;

/// More events than any run has: one that goes on for ever is stopped and reported.
const EVENTS_MAX: u32 = 20_000;

/// The executor.
pub(super) struct Run<'w, B> {
    stage: Stage<'w, B>,
    sessions: &'w [Session],
    tries: Vec<u32>,
    tasks: Vec<Option<Task<'w>>>,
    alive: usize,
}

/// What a run holds besides its stage at a moment at which no task is alive.
#[derive(Clone, Debug)]
pub(super) struct AtRest {
    tries: Vec<u32>,
    tasks: usize,
}

impl<'w, B: Backend + 'w> Run<'w, B> {
    pub(super) fn new(stage: Stage<'w, B>, sessions: &'w [Session]) -> Self {
        for (number, session) in sessions.iter().enumerate() {
            stage.sim.plan(session.at, Event::Act(number));
        }
        Self { stage, sessions, tries: vec![0; sessions.len()], tasks: Vec::with_capacity(16), alive: 0 }
    }

    /// One that goes on from a moment of rest.
    pub(super) fn go_on(stage: Stage<'w, B>, sessions: &'w [Session], rest: &AtRest) -> Self {
        let tasks = core::iter::repeat_with(|| None).take(rest.tasks).collect();
        Self { stage, sessions, tries: rest.tries.clone(), tasks, alive: 0 }
    }

    /// Runs until nothing is left to happen; `rests` is told of each moment at which no task is alive.
    pub(super) fn play(&mut self, mut rests: impl FnMut(&Self)) {
        let sim = self.stage.sim;
        for _ in 0..EVENTS_MAX {
            if self.alive == 0 {
                rests(self);
            }
            let Some((at, event)) = sim.agenda.borrow_mut().pop() else { return };
            self.stage.set_now(at);
            self.happen(event);
        }
        sim.history.borrow_mut().violated("2 nothing lost", String::from("the run does not come to an end"));
    }

    /// What it holds, no task being alive.
    pub(super) fn at_rest(&self) -> AtRest {
        AtRest { tries: self.tries.clone(), tasks: self.tasks.len() }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Resume(task) => self.poll(task),
            Event::Kill(task) => self.kill(task),
            Event::Deadline(task) => self.deadline(task),
            Event::Deliver(message) => self.deliver(message),
            Event::DeliverCopy(message) => self.deliver_copy(message),
            Event::Redrive(message) => self.redrive(message),
            Event::Tick(reconciler) => self.tick(reconciler),
            Event::ExtraTick(reconciler) => self.sweep(reconciler, 1),
            Event::Act(session) => self.act(session),
            Event::Ghost(number) => {
                let ghost = self.stage.sim.ghosts.borrow()[number].clone();
                self.stage.sim.say(|| format!("ghost {number} is done after all"));
                self.spawn(Errand::Ghost, |stage, _| stage.ghost(ghost), None);
            }
            Event::Report(number) => {
                let timeout = Some(self.stage.sim.setup.tick_timeout);
                self.spawn(Errand::Report(number), |stage, task| stage.report(number, task), timeout);
            }
        }
    }

    fn spawn(&mut self, errand: Errand, make: impl FnOnce(Stage<'w, B>, usize) -> Task<'w>, timeout: Option<i64>) {
        let sim = self.stage.sim;
        let number = self.tasks.len();
        let half = sim.setup.skew.get() / 2;
        let draw = sim.chooser.borrow().number(1_000_000 + number as u64);
        // Half of all clocks are as wrong as they may be.
        let offset = match draw & 3 {
            _ if half == 0 => 0,
            0 => -half,
            1 => half,
            _ => (draw >> 8) as i64 % (half + 1),
        };
        let mut slot = Slot::new(errand, offset, sim.now.get(), sim.history.borrow().steps);
        slot.deadline = timeout.map_or(i64::MAX, |timeout| sim.now.get() + timeout);
        sim.slots.borrow_mut().push(slot);
        sim.say(|| format!("task {number} {errand:?} begins, its clock off by {offset} ms"));
        sim.current.set(number);
        let task = make(self.stage, number);
        self.tasks.push(Some(task));
        self.alive += 1;
        if let Some(timeout) = timeout {
            sim.plan(timeout, Event::Deadline(number));
        }
        self.poll(number);
    }

    fn poll(&mut self, number: usize) {
        let sim = self.stage.sim;
        let Some(task) = self.tasks[number].as_mut() else { return };
        sim.current.set(number);
        sim.wake(number);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            sim.slot(|slot| slot.waiting = false);
            match task.as_mut().poll(&mut context) {
                Poll::Ready(ended) => {
                    self.tasks[number] = None;
                    return self.over(number, Some(ended));
                }
                Poll::Pending if sim.slot(|slot| slot.waiting) => return,
                // A port of another kind is at work; nothing else runs meanwhile.
                Poll::Pending => std::thread::yield_now(),
            }
        }
    }

    fn kill(&mut self, number: usize) {
        if self.tasks[number].take().is_some() {
            self.stage.sim.say(|| format!("task {number} dies"));
            self.over(number, None);
        }
    }

    fn deadline(&mut self, number: usize) {
        let awake = !self.stage.sim.slots.borrow()[number].frozen;
        if awake && self.tasks[number].is_some() {
            let mut slots = self.stage.sim.slots.borrow_mut();
            slots[number].struck = true;
            slots[number].blurred = true;
            drop(slots);
            self.stage.sim.saw(Seen::EndedByDeadline);
            self.kill(number);
        }
    }

    /// A task came to its end, or died.
    fn over(&mut self, number: usize, ended: Option<Ended>) {
        let sim = self.stage.sim;
        self.alive -= 1;
        let errand = sim.slots.borrow()[number].errand;
        match (errand, ended) {
            (Errand::Dispatch(message, true), Some(Ended::Well)) => sim.queue.delete(message),
            (Errand::Admission(session) | Errand::Visit(session), ended) => self.hear(session, ended),
            (Errand::Report(_), Some(Ended::Well)) => {}
            (Errand::Report(report), _) => sim.report_again(report),
            _ => {}
        }
    }

    /// A session hears an answer, or nothing; then it may try again.
    fn hear(&mut self, number: usize, ended: Option<Ended>) {
        let sim = self.stage.sim;
        let session = self.sessions[number];
        let heard = ended == Some(Ended::Well) && sim.choose(Op::Answer) != Fault::Unheard;
        let again = !heard && matches!(session.wish, Wish::Send { .. }) && self.tries[number] < session.retries;
        if again {
            self.tries[number] += 1;
            sim.plan(session.gap, Event::Act(number));
        }
    }

    fn act(&mut self, number: usize) {
        let sim = self.stage.sim;
        let session = self.sessions[number];
        let timeout = Some(sim.setup.request_timeout);
        let fault = sim.choose(Op::Act);
        let times = match fault {
            Fault::Dropped => 0,
            Fault::Twice => 2,
            _ => 1,
        };
        for _ in 0..times {
            match session.wish {
                Wish::Send { .. } => {
                    sim.asked(number, self.tasks.len());
                    self.spawn(Errand::Admission(number), |stage, task| stage.admission(session, task), timeout);
                }
                _ => self.spawn(Errand::Visit(number), |stage, task| stage.visit(session, task), timeout),
            }
        }
    }

    fn deliver(&mut self, message: usize) {
        let sim = self.stage.sim;
        let id = match sim.queue.receive(message, sim.at()) {
            Delivery::Message(id) => id,
            Delivery::GivenUp => {
                sim.saw(Seen::DeadLetter);
                return sim.plan(DAY, Event::Redrive(message));
            }
            Delivery::Nothing => return,
        };
        let again = sim.queue.visible_at(message).map_or(0, |at| at.since(sim.at()).get());
        sim.plan(again, Event::Deliver(message));
        match sim.choose(Op::Deliver) {
            Fault::DayLate => {
                sim.queue.give_up(message);
                return sim.plan(DAY, Event::Redrive(message));
            }
            Fault::Duplicated => self.dispatch(message, id.clone(), false),
            Fault::Again => sim.plan(11, Event::DeliverCopy(message)),
            _ => {}
        }
        self.dispatch(message, id, true);
    }

    fn deliver_copy(&mut self, message: usize) {
        if let Some(id) = self.stage.sim.queue.copy_of(message) {
            self.dispatch(message, id, false);
        }
    }

    fn redrive(&mut self, message: usize) {
        let sim = self.stage.sim;
        if sim.queue.redrive(message, sim.at()) {
            sim.saw(Seen::PutBack);
            sim.say(|| format!("message {message} is put back"));
            self.deliver(message);
        }
    }

    fn dispatch(&mut self, message: usize, id: sendonce::notification::NotificationId, owned: bool) {
        let timeout = Some(self.stage.sim.setup.dispatch_timeout);
        self.spawn(Errand::Dispatch(message, owned), |stage, task| stage.dispatch(id, task), timeout);
    }

    fn tick(&mut self, reconciler: usize) {
        let sim = self.stage.sim;
        if !sim.history.borrow().any_open() {
            return sim.setup.parked[reconciler].set(true);
        }
        sim.plan(sim.setup.until_tick(reconciler, sim.now.get()), Event::Tick(reconciler));
        if sim.overdue() {
            return;
        }
        let due_by = sim.at().plus(sim.setup.skew);
        let lag = sim.setup.stale.plus(Millis::new(MINUTE));
        if !(0..16).any(|shard| self.stage.store.may_find(shard, due_by, lag)) {
            sim.history.borrow_mut().idle_ticks += 1;
            return;
        }
        let times = match sim.choose(Op::Tick) {
            Fault::Skipped => 0,
            Fault::Doubled => 2,
            _ => 1,
        };
        self.sweep(reconciler, times);
    }

    fn sweep(&mut self, reconciler: usize, times: u32) {
        let ticking = |slot: &Slot| matches!(slot.errand, Errand::Tick(_));
        let others =
            self.stage.sim.slots.borrow().iter().zip(&self.tasks).any(|(slot, task)| ticking(slot) && task.is_some());
        if others {
            self.stage.sim.saw(Seen::TicksOverlapped);
        }
        for _ in 0..times {
            let timeout = Some(self.stage.sim.setup.tick_timeout);
            self.spawn(Errand::Tick(reconciler), |stage, task| stage.tick(task), timeout);
        }
    }
}
