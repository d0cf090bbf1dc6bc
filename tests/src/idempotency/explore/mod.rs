//! Every schedule of two callers of one key, with every sequence of up to some number of faults, over the production
//! flow: [`Leased`] on its in-memory store, with a fault at any port call.
//!
//! A run makes choices: who goes on, what strikes, when time jumps. The first run takes the first option each time; each
//! next run changes the last choice that has an option left. When there is none, all runs have been made.

mod world;

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use sendonce::idempotency::{Leased, NotRun, Outcome, Ran};
use sendonce::time::Millis;

use super::{MARGIN, SKEW, TIME_LEFT, rules};
use world::{CENTS, OTHER, Told, View, World, call, finish, receipt};

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
