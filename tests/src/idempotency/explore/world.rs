//! The world that callers share, and what strikes them in it.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use sendonce::idempotency::{
    Authority, Ending, Execution, ExecutionId, Executions, Leased, MemoryStore, Moment, Named, NotRun, Outcome, Owner,
    Permit, Phase, Ran, Resolution,
};
use sendonce::ports::{Clock, Unreadable, WriteFault, Written};
use sendonce::time::{EpochMillis, Millis};

use super::{Planted, Scene};
use crate::idempotency::{TIME_LEFT, charge, rules};

pub(super) struct World {
    pub(super) scene: Scene,
    pub(super) store: MemoryStore,
    pub(super) now: Cell<EpochMillis>,
    pub(super) draws: Cell<u64>,
    pub(super) faults_left: Cell<u32>,
    pub(super) jumps_left: Cell<u32>,
    pub(super) killed: Cell<bool>,
    /// Which command each effect was of.
    pub(super) effects: RefCell<Vec<u64>>,
    /// Writes that were given up on and are still on their way.
    pub(super) late: RefCell<Vec<Late>>,
    pub(super) path: RefCell<std::vec::IntoIter<(usize, usize)>>,
    pub(super) choices: RefCell<Vec<(usize, usize)>>,
    pub(super) broken: RefCell<Option<String>>,
    pub(super) told: bool,
    pub(super) story: RefCell<Vec<String>>,
}

pub(super) enum Late {
    Begin(Execution, Moment),
    Advance(Execution, Owner),
}

/// What strikes one port call.
#[derive(Clone, Copy, Debug)]
enum Strike {
    Refused,
    LostAnswer,
    NeverArrived,
    ArrivesLate,
    KilledBefore,
    KilledAfter,
}

const STRIKES: [Strike; 6] = [
    Strike::Refused,
    Strike::LostAnswer,
    Strike::NeverArrived,
    Strike::ArrivesLate,
    Strike::KilledBefore,
    Strike::KilledAfter,
];

impl World {
    pub(super) fn new(scene: Scene, path: Vec<(usize, usize)>, told: bool) -> Self {
        Self {
            scene,
            store: MemoryStore::new(),
            now: Cell::new(EpochMillis::new(1_796_069_400_123)),
            draws: Cell::default(),
            faults_left: Cell::new(scene.faults),
            jumps_left: Cell::new(1),
            killed: Cell::default(),
            effects: RefCell::default(),
            late: RefCell::default(),
            path: RefCell::new(path.into_iter()),
            choices: RefCell::default(),
            broken: RefCell::default(),
            told,
            story: RefCell::default(),
        }
    }

    /// One of so many options; where there is only one, nothing is chosen.
    pub(super) fn choose(&self, options: usize) -> usize {
        if options < 2 {
            return 0;
        }
        let chosen = self.path.borrow_mut().next().map_or(0, |(chosen, _)| chosen);
        self.choices.borrow_mut().push((chosen, options));
        chosen
    }

    /// Notes what happens, where somebody is going to read it.
    pub(super) fn tell(&self, line: impl FnOnce() -> String) {
        if self.told {
            self.story.borrow_mut().push(line());
        }
    }

    fn strike(&self) -> Option<Strike> {
        if self.faults_left.get() == 0 {
            return None;
        }
        let struck = *STRIKES.get(self.choose(STRIKES.len() + 1).checked_sub(1)?)?;
        self.faults_left.set(self.faults_left.get() - 1);
        self.tell(|| format!("struck: {struck:?}"));
        Some(struck)
    }

    fn breaks(&self, promise: impl Into<String>) {
        self.broken.borrow_mut().get_or_insert(promise.into());
    }

    pub(super) fn arrive(&self, write: &Late) -> Result<Written<Option<Execution>>, WriteFault> {
        let (next, before) = match write {
            Late::Begin(next, _) | Late::Advance(next, _) => (next, now_or_never(self.store.execution(&next.id))),
        };
        let before = before.ok().flatten();
        let written = match write {
            Late::Begin(next, at) => {
                self.plant_before_begin(next, *at, before.as_ref());
                match now_or_never(self.store.begin(next, *at)) {
                    Ok(Written::Done) => Ok(Written::Done),
                    Ok(Written::Held(found)) => Ok(Written::Held(Some(found))),
                    Err(fault) => Err(fault),
                }
            }
            Late::Advance(next, by) => {
                let by = match (self.scene.planted, &before) {
                    (Some(Planted::NoFence), Some(stored)) => stored.owner,
                    _ => *by,
                };
                now_or_never(self.store.advance(next, by))
            }
        };
        let after = now_or_never(self.store.execution(&next.id)).ok().flatten();
        if matches!(before, Some(Execution { phase: Phase::Settled { .. }, .. })) && before != after {
            self.breaks("what was settled has moved");
        }
        if before.as_ref().zip(after.as_ref()).is_some_and(|(before, after)| before.fingerprint != after.fingerprint) {
            self.breaks("the key went over to another command");
        }
        self.tell(|| format!("{} -> {written:?}", next.phase.as_str()));
        written
    }

    /// Turns what is stored into something that gives way, as a flawed condition would have it.
    fn plant_before_begin(&self, next: &Execution, at: Moment, before: Option<&Execution>) {
        let (Some(planted), Some(stored)) = (self.scene.planted, before) else { return };
        let (Phase::Open { lease_until } | Phase::Begun { lease_until } | Phase::Unknown { lease_until }) =
            stored.phase
        else {
            return;
        };
        let (over, open) = (at.is_past(lease_until), matches!(stored.phase, Phase::Open { .. }));
        let gives_way = match planted {
            Planted::TakesOverBegun => over && stored.fingerprint == next.fingerprint,
            Planted::TakesOverForOthers => over && open,
            Planted::NoLease => stored.fingerprint == next.fingerprint && stored.owner != next.owner,
            Planted::NoFence => false,
        };
        if gives_way {
            let phase = Phase::Open { lease_until: EpochMillis::new(0) };
            let weak = Execution { phase, fingerprint: next.fingerprint, ..stored.clone() };
            let _ = now_or_never(self.store.advance(&weak, stored.owner));
        }
    }
}

/// One caller's view of the world.
#[derive(Clone)]
pub(super) struct View {
    pub(super) world: Rc<World>,
    pub(super) offset: Millis,
    /// Whether faults may strike it.
    pub(super) exposed: bool,
}

impl View {
    async fn write(&self, write: Late) -> Result<Written<Option<Execution>>, WriteFault> {
        yield_once().await;
        let struck = if self.exposed { self.world.strike() } else { None };
        match struck {
            None => self.world.arrive(&write),
            Some(Strike::Refused) => Err(WriteFault::Refused),
            Some(Strike::LostAnswer) => {
                let _ = self.world.arrive(&write);
                Err(WriteFault::Unknown)
            }
            Some(Strike::NeverArrived) => Err(WriteFault::Unknown),
            Some(Strike::ArrivesLate) => {
                self.world.late.borrow_mut().push(write);
                Err(WriteFault::Unknown)
            }
            Some(Strike::KilledBefore) => self.die().await,
            Some(Strike::KilledAfter) => {
                let _ = self.world.arrive(&write);
                self.die().await
            }
        }
    }

    async fn die<T>(&self) -> T {
        self.world.killed.set(true);
        pending().await
    }

    /// The effect's service: it takes what comes in time, once or as often as it is asked.
    async fn effect(&self, cents: u64, not_after: EpochMillis) -> Outcome<Vec<u8>> {
        yield_once().await;
        let struck = if self.exposed { self.world.strike() } else { None };
        if matches!(struck, Some(Strike::KilledBefore)) {
            return self.die().await;
        }
        if self.now() >= not_after || matches!(struck, Some(Strike::Refused)) {
            return Outcome::Released(b"not sent".to_vec());
        }
        if matches!(struck, Some(Strike::NeverArrived | Strike::ArrivesLate)) {
            return Outcome::Unknown;
        }
        self.take_effect(cents);
        match struck {
            Some(Strike::KilledAfter) => self.die().await,
            Some(Strike::LostAnswer) => Outcome::Unknown,
            _ => Outcome::Succeeded(receipt(cents)),
        }
    }

    fn take_effect(&self, cents: u64) {
        let world = &self.world;
        world.tell(|| format!("EFFECT of {cents}"));
        let stored = now_or_never(world.store.execution(&named(cents).id)).ok().flatten();
        if !matches!(stored, Some(Execution { phase: Phase::Begun { .. }, .. })) {
            world.breaks("an effect that nothing durable announced");
        }
        world.effects.borrow_mut().push(cents);
        if world.effects.borrow().len() > 1 {
            world.breaks("the effect took place twice");
        }
    }
}

pub(super) fn receipt(cents: u64) -> Vec<u8> {
    format!("paid {cents}").into_bytes()
}

impl Executions for View {
    async fn begin(&self, execution: &Execution, at: Moment) -> Result<Written<Execution>, WriteFault> {
        match self.write(Late::Begin(execution.clone(), at)).await? {
            Written::Done => Ok(Written::Done),
            Written::Held(Some(found)) => Ok(Written::Held(found)),
            Written::Held(None) => Err(WriteFault::Unknown),
        }
    }

    async fn advance(&self, next: &Execution, held_by: Owner) -> Result<Written<Option<Execution>>, WriteFault> {
        self.write(Late::Advance(next.clone(), held_by)).await
    }

    async fn execution(&self, id: &ExecutionId) -> Result<Option<Execution>, Unreadable> {
        self.world.store.execution(id).await
    }
}

impl Clock for View {
    fn now(&self) -> EpochMillis {
        self.world.now.get().plus(self.offset)
    }

    fn random(&self) -> [u8; 16] {
        let draw = self.world.draws.get() + 1;
        self.world.draws.set(draw);
        u128::from(draw).to_be_bytes()
    }

    async fn pause(&self, _: Millis) {}
}

/// The service knows what it did.
impl Authority for View {
    async fn what_became_of(&self, _: &ExecutionId) -> Resolution {
        match self.world.effects.borrow().first() {
            Some(cents) => Resolution::Happened { ending: Ending::Succeeded, answer: receipt(*cents) },
            None => Resolution::DidNotHappen,
        }
    }
}
pub(super) type Told = Result<Ran<Vec<u8>>, NotRun>;

pub(super) async fn call(view: View, marked: bool, cents: u64) -> Told {
    let deadline = Some(view.now().plus(TIME_LEFT));
    let leased = Leased::new(view.clone(), view.clone(), rules());
    let named = named(cents);
    if marked {
        let effect = async |(), permit: Permit| view.effect(cents, permit.not_after).await;
        leased.prepare_and_run(&named, deadline, async || Ok(()), effect).await
    } else {
        leased.run(&named, deadline, async |permit| view.effect(cents, permit.not_after).await).await
    }
}

thread_local! {
    static NAMES: [Named; 2] = [charge("k", CENTS), charge("k", OTHER)];
}

fn named(cents: u64) -> Named {
    NAMES.with(|[one, other]| if cents == CENTS { one.clone() } else { other.clone() })
}

pub(super) const CENTS: u64 = 100;
pub(super) const OTHER: u64 = 999;
pub(super) fn finish<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
    }
}

/// The in-memory store never waits.
fn now_or_never<T>(future: impl Future<Output = T>) -> T {
    finish(future)
}

async fn yield_once() {
    let mut yielded = false;
    poll_fn(|_| if std::mem::replace(&mut yielded, true) { Poll::Ready(()) } else { Poll::Pending }).await;
}
