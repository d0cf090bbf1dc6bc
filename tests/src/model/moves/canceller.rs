//! A client that takes the notification back, at any moment, once.

use sendonce::notification::StopReason;

use super::Step;
use crate::model::decisions::{Write, step as stepped};
use crate::model::flaw::Flaw;
use crate::model::slim::{Slim, SlimFact, Who};
use crate::model::world::{Canceller, Landed, World};

/// What the canceller may do. A cancel that comes too late or too early changes nothing, and is left out.
pub fn steps(world: &World, flaw: Option<Flaw>, steps: &mut Vec<Step>) {
    match &world.canceller {
        Canceller::NotYet => {
            if world.record.is_some_and(|record| cancel(&record).is_some()) {
                steps.push(Step::Begin);
            }
        }
        Canceller::Writing(write) if world.would_land(write, flaw) => {
            steps.extend([Step::Go, Step::AnswerLost, Step::Crash]);
        }
        Canceller::Writing(_) => steps.extend([Step::Go, Step::Crash]),
        Canceller::Over => {}
    }
}

/// Does one of them.
pub fn take(world: &mut World, step: Step, flaw: Option<Flaw>) {
    let one = world.canceller;
    world.canceller = match (one, step) {
        (_, Step::Crash) => Canceller::Over,
        (Canceller::NotYet, _) => next(world.record),
        (Canceller::Writing(write), step) => match world.commit(&write, flaw, step == Step::AnswerLost) {
            _ if step == Step::AnswerLost => one,
            Landed::Done(_) => Canceller::Over,
            Landed::Lost(record) => next(Some(record)),
        },
        (Canceller::Over, _) => Canceller::Over,
    };
}

fn next(record: Option<Slim>) -> Canceller {
    record.and_then(|record| cancel(&record)).map_or(Canceller::Over, Canceller::Writing)
}

fn cancel(record: &Slim) -> Option<Write> {
    let fact = SlimFact::Stopped(StopReason::Cancelled);
    let write = Write { seen: *record, fact, by: Who::Canceller };
    stepped(&write).map(|_| write)
}
