//! The run in progress: its time, its tasks' whereabouts, and the gate that every port call passes.

use core::cell::{Cell, RefCell};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use sendonce::idempotency::Guard;
use sendonce::notification::{NotificationId, Transition};
use sendonce::ports::{Admission, Text};
use sendonce::time::{EpochMillis, Millis};

use super::agenda::{Agenda, Event};
use super::choice::Chooser;
use super::fault::{Fault, Op};
use super::history::History;
use super::reports::Reported;
use super::setup::Setup;
use crate::world::{CarrierModel, Flaw, QueueModel, SealModel};

/// What a task is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errand {
    /// A client's command, by the number of its session.
    Admission(usize),
    /// A doorbell, by the number of its message; a copy is nobody's to acknowledge.
    Dispatch(usize, bool),
    /// A tick of one reconciler.
    Tick(usize),
    /// A client's other wishes, by the number of its session.
    Visit(usize),
    /// A request done after it was given up on.
    Ghost,
    /// A report of the provider, by its number.
    Report(usize),
}

/// The whereabouts of one task.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// What it is about.
    pub errand: Errand,
    /// How far its clock is off.
    pub offset: i64,
    /// Whether it waits at a point, rather than inside a port.
    pub waiting: bool,
    /// Whether it was frozen: the platform's deadline passed it by.
    pub frozen: bool,
    /// When it began.
    pub began: i64,
    /// When the platform ends it.
    pub deadline: i64,
    /// How many steps had been written by then.
    pub steps_before: u32,
    /// Whether anything struck that its flow cannot get over.
    pub struck: bool,
    /// How often something struck that it can.
    pub retried: u32,
    /// Whether anything struck since it recorded its attempt.
    pub blurred: bool,
    /// What the provider told it: that the text was taken, or that it was not.
    pub heard: Option<bool>,
}

impl Slot {
    /// A task about to begin.
    #[must_use]
    pub const fn new(errand: Errand, offset: i64, began: i64, steps_before: u32) -> Self {
        // What a ghost does is doubtful from the beginning.
        let doubtful = matches!(errand, Errand::Ghost);
        Self {
            errand,
            offset,
            waiting: false,
            frozen: false,
            began,
            deadline: i64::MAX,
            steps_before,
            struck: doubtful,
            retried: 0,
            blurred: doubtful,
            heard: None,
        }
    }

    /// Takes note of what strikes, its answer coming at `answered_at`. A write is tried four times while there is time
    /// for another try, and no flow fails for a doorbell.
    fn note(&mut self, op: Op, fault: Fault, answered_at: i64) {
        // The longest pause before it, a write at its slowest, and after an admission a doorbell.
        let needs = 160
            + match op {
                Op::Admit => 7_400,
                _ => 5_000,
            };
        let has_time = answered_at + self.offset + needs <= self.deadline;
        let retried = has_time && fault.is_retried() && matches!(op, Op::Admit | Op::Bind | Op::Commit);
        let harmless = fault == Fault::None || (op == Op::Ring && !fault.is_deadly());
        self.retried += u32::from(retried);
        self.struck |= !harmless && (!retried || self.retried >= 4);
    }
}

/// A request that its caller has given up on, still under way.
#[derive(Clone, Debug)]
pub enum Ghost {
    /// Of an admission.
    Admit(Box<Admission>, EpochMillis),
    /// Of a guard.
    Bind(Box<Guard>, EpochMillis),
    /// Of a step.
    Commit(Box<Transition>),
    /// Of a doorbell.
    Ring(NotificationId, Millis),
    /// Of a text.
    Send(Box<Text>),
}

/// Everything of a run but the store.
#[derive(Clone, Debug)]
pub struct Sim {
    /// The true time.
    pub now: Cell<i64>,
    /// The numbers of this run.
    pub setup: Setup,
    /// What happens when.
    pub agenda: RefCell<Agenda>,
    /// Who decides.
    pub chooser: RefCell<Chooser>,
    /// What has happened.
    pub history: RefCell<History>,
    /// Doorbells.
    pub queue: QueueModel,
    /// The provider.
    pub carrier: CarrierModel,
    /// Envelopes.
    pub seal: SealModel,
    /// All tasks, finished ones too.
    pub slots: RefCell<Vec<Slot>>,
    /// Requests still under way.
    pub ghosts: RefCell<Vec<Ghost>>,
    /// What the provider reports.
    pub reports: RefCell<Vec<Reported>>,
    /// Which task is being polled.
    pub current: Cell<usize>,
    /// What wakes the part of each task that waits, where a flow does several things side by side.
    wakers: RefCell<Vec<Option<Waker>>>,
    randoms: Cell<u64>,
    /// Readable lines, when asked for.
    pub trace: Option<RefCell<Vec<String>>>,
}

impl Sim {
    /// A run about to begin.
    #[must_use]
    pub fn new(setup: Setup, chooser: Chooser, traced: bool) -> Self {
        Self {
            now: Cell::new(setup.starts_at),
            queue: QueueModel::new(setup.visibility, setup.receives_max),
            agenda: RefCell::default(),
            chooser: RefCell::new(chooser),
            history: RefCell::default(),
            carrier: CarrierModel::default(),
            seal: SealModel,
            slots: RefCell::default(),
            ghosts: RefCell::default(),
            reports: RefCell::default(),
            current: Cell::new(0),
            wakers: RefCell::default(),
            randoms: Cell::new(0),
            trace: traced.then(RefCell::default),
            setup,
        }
    }

    /// Whether this flaw was planted.
    #[must_use]
    pub fn has(&self, flaw: Flaw) -> bool {
        self.setup.flaw == Some(flaw)
    }

    /// The true time.
    #[must_use]
    pub fn at(&self) -> EpochMillis {
        EpochMillis::new(self.now.get())
    }

    /// Enters an event.
    pub fn plan(&self, after: i64, event: Event) {
        self.agenda.borrow_mut().push(self.now.get() + after, event);
    }

    /// Decides at a point outside any task.
    pub fn choose(&self, op: Op) -> Fault {
        let (point, fault) = self.chooser.borrow_mut().choose(op, self.now.get());
        if fault.strikes() {
            self.say(|| format!("point {point}: {op:?} {}", fault.name()));
        }
        fault
    }

    /// Adds a line to the trace.
    pub fn say(&self, line: impl FnOnce() -> String) {
        if let Some(trace) = &self.trace {
            let at = self.now.get() - self.setup.starts_at;
            trace.borrow_mut().push(format!("{:>10.3} s  {}", at as f64 / 1_000.0, line()));
        }
    }

    /// 16 bytes of this run.
    pub fn random(&self) -> [u8; 16] {
        let place = self.randoms.get();
        self.randoms.set(place + 2);
        let chooser = self.chooser.borrow();
        let (high, low) = (chooser.number(place), chooser.number(place + 1));
        ((u128::from(high) << 64) | u128::from(low)).to_be_bytes()
    }

    /// The slot of the task being polled.
    pub fn slot<T>(&self, with: impl FnOnce(&mut Slot) -> T) -> T {
        with(&mut self.slots.borrow_mut()[self.current.get()])
    }

    /// Where every port call begins: the schedule decides when it goes on and what strikes it.
    pub fn gate(&self, op: Op) -> Gate<'_> {
        Gate { sim: self, op, decided: None }
    }

    fn suspend(&self, op: Op) -> Fault {
        let task = self.current.get();
        let (point, fault, delay) = {
            let mut chooser = self.chooser.borrow_mut();
            let (point, fault) = chooser.choose(op, self.now.get());
            let freeze = fault.frozen_before().map_or(0, |long| chooser.freeze(point, long));
            (point, fault, chooser.delay(point, task) + freeze)
        };
        self.slot(|slot| {
            slot.waiting = true;
            slot.note(op, fault, self.now.get() + delay);
            slot.blurred |= fault.blurs(op);
            slot.frozen |= fault.frozen_before().is_some();
        });
        self.say(|| {
            let errand = self.slots.borrow()[task].errand;
            let strike = if fault.strikes() { format!(": {}", fault.name()) } else { String::new() };
            format!("point {point}: task {task} {errand:?} {op:?}{strike}")
        });
        self.plan(delay, if fault == Fault::KilledBefore { Event::Kill(task) } else { Event::Resume(task) });
        fault
    }

    /// What a fault does once its request is done.
    pub async fn aftermath(&self, fault: Fault) {
        if fault == Fault::KilledAfter {
            self.plan(0, Event::Kill(self.current.get()));
            self.rest().await;
        } else if let Some(long) = fault.frozen_after() {
            let length = {
                let chooser = self.chooser.borrow();
                chooser.freeze(chooser.points(), long)
            };
            self.sleep(length, true).await;
        }
    }

    /// Lets time go by.
    pub async fn sleep(&self, length: i64, frozen: bool) {
        self.plan(length, Event::Resume(self.current.get()));
        self.slot(|slot| slot.frozen |= frozen);
        self.rest().await;
    }

    fn waits(&self, waker: &Waker) {
        let task = self.current.get();
        let mut wakers = self.wakers.borrow_mut();
        if wakers.len() <= task {
            wakers.resize(task + 1, None);
        }
        wakers[task] = Some(waker.clone());
    }

    /// Wakes what waits in a task that is about to go on.
    pub fn wake(&self, task: usize) {
        let waker = self.wakers.borrow_mut().get_mut(task).and_then(Option::take);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn rest(&self) -> Rest<'_> {
        Rest { sim: self, rested: false }
    }
}

/// Waits for the schedule's decision.
#[derive(Debug)]
pub struct Gate<'s> {
    sim: &'s Sim,
    op: Op,
    decided: Option<Fault>,
}

impl Future for Gate<'_> {
    type Output = Fault;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Fault> {
        if let Some(fault) = self.decided {
            return Poll::Ready(fault);
        }
        self.sim.waits(context.waker());
        self.decided = Some(self.sim.suspend(self.op));
        Poll::Pending
    }
}

/// Waits for an event that was entered before.
#[derive(Debug)]
struct Rest<'s> {
    sim: &'s Sim,
    rested: bool,
}

impl Future for Rest<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.rested {
            return Poll::Ready(());
        }
        self.sim.waits(context.waker());
        self.rested = true;
        self.sim.slot(|slot| slot.waiting = true);
        Poll::Pending
    }
}
