//! Every schedule of two callers of one key, with every sequence of up to some number of faults, over the production
//! flow: [`Leased`] on its in-memory store, with a fault at any port call.
//!
//! A run makes choices: who goes on, what strikes, when time jumps. The first run takes the first option each time; each
//! next run changes the last choice that has an option left. When there is none, all runs have been made.

use std::cell::{Cell, RefCell};
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use sendonce::idempotency::{
    Authority, Ending, Execution, ExecutionId, Executions, Leased, MemoryStore, Moment, Named, NotRun, Outcome, Owner,
    Phase, Ran, Resolution,
};
use sendonce::ports::{Clock, Unreadable, WriteFault, Written};
use sendonce::time::{EpochMillis, Millis};

use super::{MARGIN, SKEW, TIME_LEFT, charge, rules};

/// What the two callers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scene {
    /// Whether the second caller asks for something else under the same key.
    pub other_command: bool,
    /// Whether callers ask for the mark.
    pub marked: bool,
    /// The most faults in one run.
    pub faults: u32,
    /// What is wrong with the world's store; nothing in earnest.
    pub planted: Option<Planted>,
}

/// A flaw of the store, to see that the checks can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// An ended lease is taken over although the effect had begun.
    TakesOverBegun,
    /// An ended lease is taken over by any command.
    TakesOverForOthers,
    /// Writes of an owner are not fenced.
    NoFence,
    /// A lease counts as over at once.
    NoLease,
}

/// What all runs of a scene came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explored {
    pub runs: u64,
    /// Runs in which the effect took place before faults were over, in which it was resolved, was taken over, and so on.
    pub effects: u64,
    pub resolved: u64,
    pub replays: u64,
    pub in_flight: u64,
    pub reused: u64,
    pub kills: u64,
}

/// Makes every run of a scene.
///
/// # Errors
/// The first promise that a run broke, with the choices that lead there.
pub fn explore(scene: Scene) -> Result<Explored, String> {
    let (mut seen, mut path) = (Explored::default(), Vec::new());
    loop {
        let world = Rc::new(World::new(scene, path, false));
        if let Err(broken) = play(&world, &mut seen) {
            return Err(format!("{broken}\n  {scene:?}\n{}", story(scene, world.choices.take())));
        }
        seen.runs += 1;
        match next_path(world.choices.take()) {
            Some(next) => path = next,
            None => return Ok(seen),
        }
    }
}

/// The same run once more, told.
fn story(scene: Scene, path: Vec<(usize, usize)>) -> String {
    let world = Rc::new(World::new(scene, path, true));
    let _ = play(&world, &mut Explored::default());
    world.story.take().join("\n")
}

fn next_path(mut made: Vec<(usize, usize)>) -> Option<Vec<(usize, usize)>> {
    while let Some((chosen, options)) = made.pop() {
        if chosen + 1 < options {
            made.push((chosen + 1, options));
            return Some(made);
        }
    }
    None
}

struct World {
    scene: Scene,
    store: MemoryStore,
    now: Cell<EpochMillis>,
    draws: Cell<u64>,
    faults_left: Cell<u32>,
    jumps_left: Cell<u32>,
    killed: Cell<bool>,
    /// Which command each effect was of.
    effects: RefCell<Vec<u64>>,
    /// Writes that were given up on and are still on their way.
    late: RefCell<Vec<Late>>,
    path: RefCell<std::vec::IntoIter<(usize, usize)>>,
    choices: RefCell<Vec<(usize, usize)>>,
    broken: RefCell<Option<String>>,
    told: bool,
    story: RefCell<Vec<String>>,
}

enum Late {
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
    fn new(scene: Scene, path: Vec<(usize, usize)>, told: bool) -> Self {
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
    fn choose(&self, options: usize) -> usize {
        if options < 2 {
            return 0;
        }
        let chosen = self.path.borrow_mut().next().map_or(0, |(chosen, _)| chosen);
        self.choices.borrow_mut().push((chosen, options));
        chosen
    }

    /// Notes what happens, where somebody is going to read it.
    fn tell(&self, line: impl FnOnce() -> String) {
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

    fn arrive(&self, write: &Late) -> Result<Written<Option<Execution>>, WriteFault> {
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
struct View {
    world: Rc<World>,
    offset: Millis,
    /// Whether faults may strike it.
    exposed: bool,
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

fn receipt(cents: u64) -> Vec<u8> {
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

type Told = Result<Ran<Vec<u8>>, NotRun>;

async fn call(view: View, marked: bool, cents: u64) -> Told {
    let deadline = Some(view.now().plus(TIME_LEFT));
    let leased = Leased::new(view.clone(), view.clone(), rules());
    let named = named(cents);
    if marked {
        let effect = async |(), permit: sendonce::idempotency::Permit| view.effect(cents, permit.not_after).await;
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

const CENTS: u64 = 100;
const OTHER: u64 = 999;

fn play(world: &Rc<World>, seen: &mut Explored) -> Result<(), String> {
    let scene = world.scene;
    // As far apart as two clocks may be; which of them is ahead is a choice too.
    let ahead = [Millis::ZERO, SKEW];
    let swap = world.choose(2);
    let view = |n: usize| View { world: Rc::clone(world), offset: ahead[(n + swap) % 2], exposed: true };
    let second = if scene.other_command { OTHER } else { CENTS };
    let mut callers: [Option<Pin<Box<dyn Future<Output = Told>>>>; 2] =
        [Some(Box::pin(call(view(0), scene.marked, CENTS))), Some(Box::pin(call(view(1), scene.marked, second)))];
    let mut told = Vec::new();
    while callers.iter().any(Option::is_some) {
        step(world, &mut callers, &mut told, seen);
        check(world)?;
    }
    seen.effects += u64::from(!world.effects.borrow().is_empty());
    settle(world, told, seen)
}

/// One choice of what happens next: a caller goes on, a late write arrives, or time jumps past every lease.
fn step(
    world: &World,
    callers: &mut [Option<Pin<Box<dyn Future<Output = Told>>>>; 2],
    told: &mut Vec<Told>,
    seen: &mut Explored,
) {
    let live: Vec<usize> = (0..2).filter(|n| callers[*n].is_some()).collect();
    let (late, jump) = (usize::from(!world.late.borrow().is_empty()), usize::from(world.jumps_left.get() > 0));
    let chosen = world.choose(live.len() + late + jump);
    let Some(&n) = live.get(chosen) else {
        if late == 1 && chosen == live.len() {
            let write = world.late.borrow_mut().remove(0);
            world.tell(|| String::from("a late write arrives"));
            let _ = world.arrive(&write);
        } else {
            world.jumps_left.set(0);
            world.now.set(world.now.get().plus(TIME_LEFT).plus(SKEW));
            world.tell(|| String::from("time jumps"));
        }
        return;
    };
    let Some(caller) = callers[n].as_mut() else { return };
    if let Poll::Ready(answer) = caller.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        world.tell(|| format!("caller {n} is told {answer:?}"));
        told.push(answer);
        callers[n] = None;
    } else if world.killed.replace(false) {
        seen.kills += 1;
        callers[n] = None;
    }
}

/// Faults are over. Whoever asks now must get somewhere, and everybody must have been told one thing.
fn settle(world: &Rc<World>, mut told: Vec<Told>, seen: &mut Explored) -> Result<(), String> {
    for write in world.late.take() {
        let _ = world.arrive(&write);
    }
    check(world)?;
    world.now.set(world.now.get().plus(TIME_LEFT).plus(SKEW).plus(SKEW).plus(MARGIN));
    let view = View { world: Rc::clone(world), offset: Millis::ZERO, exposed: false };
    let ask = || finish(call(view.clone(), world.scene.marked, CENTS));
    let mut last = ask();
    if let Err(NotRun::OutcomeUnknown(id)) = &last {
        seen.resolved += 1;
        let leased = Leased::new(view.clone(), view.clone(), rules());
        finish(leased.resolve(id, &view)).map_err(|_| String::from("not resolved"))?;
        last = ask();
    }
    check(world)?;
    told.push(last.clone());
    tally(&told, seen);
    let effects = world.effects.borrow();
    let answers = told.iter().filter_map(answer_of);
    if let Some(wrong) =
        answers.into_iter().find(|answer| effects.first().map(|cents| receipt(*cents)) != Some(answer.clone()))
    {
        return Err(format!("somebody was told {wrong:?}, but the effects are {effects:?}"));
    }
    match (&last, world.scene.other_command) {
        (Ok(Ran::First(Outcome::Succeeded(_)) | Ran::Replayed { .. }), _) if *effects == [CENTS] => Ok(()),
        (Err(NotRun::Reused), true) if *effects != [CENTS] => Ok(()),
        _ => Err(format!("with faults over, the last caller is told {last:?}; the effects are {effects:?}")),
    }
}

fn answer_of(told: &Told) -> Option<Vec<u8>> {
    match told {
        Ok(Ran::First(Outcome::Succeeded(answer)) | Ran::Unrecorded(Outcome::Succeeded(answer))) => {
            Some(answer.clone())
        }
        Ok(Ran::Replayed { answer, .. }) => answer.clone(),
        _ => None,
    }
}

fn tally(told: &[Told], seen: &mut Explored) {
    let count = |is: fn(&Told) -> bool| u64::try_from(told.iter().filter(|told| is(told)).count()).unwrap_or(0);
    seen.replays += count(|told| matches!(told, Ok(Ran::Replayed { .. })));
    seen.in_flight += count(|told| matches!(told, Err(NotRun::InFlight { .. })));
    seen.reused += count(|told| matches!(told, Err(NotRun::Reused)));
}

fn check(world: &World) -> Result<(), String> {
    world.broken.borrow().clone().map_or(Ok(()), Err)
}

fn finish<T>(future: impl Future<Output = T>) -> T {
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
