//! Reconcilers. A tick looks at what the index names; here that is the one notification, whenever it is due.

use sendonce::notification::Next;

use super::Step;
use crate::model::decisions::{Write, next};
use crate::model::flaw::Flaw;
use crate::model::numbers::{Instant, SKEW, ring_gap};
use crate::model::slim::{Slim, SlimFact, Who};
use crate::model::world::{Bell, Landed, Reconciler, Skewed, World};

/// What reconciler `number` may do. A tick that finds nothing due changes nothing, and is left out.
pub fn steps(world: &World, number: usize, flaw: Option<Flaw>, steps: &mut Vec<Step>) {
    match &world.reconcilers[number] {
        Reconciler::No => {
            if world.record.is_some_and(|record| due(&record, clock(world, number), flaw).is_some()) {
                steps.push(Step::Begin);
            }
        }
        Reconciler::Writing(write) if world.would_land(write, flaw) => {
            steps.extend([Step::Go, Step::AnswerLost, Step::Crash]);
        }
        Reconciler::Writing(_) => steps.extend([Step::Go, Step::Crash]),
        Reconciler::Ringing => steps.extend([Step::Go, Step::Vanished, Step::Crash]),
    }
}

/// Does one of them.
pub fn take(world: &mut World, number: usize, step: Step, flaw: Option<Flaw>) {
    let one = world.reconcilers[number];
    world.reconcilers[number] = match (one, step) {
        (_, Step::Crash) => Reconciler::No,
        (Reconciler::No, _) => world.record.map_or(Reconciler::No, |record| look(world, number, &record, flaw)),
        (Reconciler::Writing(write), step) => match world.commit(&write, flaw, step == Step::AnswerLost) {
            _ if step == Step::AnswerLost => one,
            Landed::Done(_) if matches!(write.fact, SlimFact::Rung { .. }) => Reconciler::Ringing,
            Landed::Done(_) => Reconciler::No,
            Landed::Lost(record) => look(world, number, &record, flaw),
        },
        (Reconciler::Ringing, step) => {
            if step == Step::Go {
                world.bells.add(Bell { visible_at: Instant::MIN, receives: 0 });
            }
            Reconciler::No
        }
    };
}

/// A reconciler's clock.
fn clock(world: &World, number: usize) -> Instant {
    let ahead = world.skewed == Skewed::ReconcilerAhead && number == 1;
    if ahead { world.now + SKEW } else { world.now }
}

fn look(world: &World, number: usize, record: &Slim, flaw: Option<Flaw>) -> Reconciler {
    let now = clock(world, number);
    let by = Who::Reconciler(u8::from(number > 0));
    match due(record, now, flaw) {
        Some(fact) => Reconciler::Writing(Write { seen: *record, fact, by }),
        None => Reconciler::No,
    }
}

/// The one step that is due for a record.
fn due(record: &Slim, now: Instant, flaw: Option<Flaw>) -> Option<SlimFact> {
    let attempt = record.attempt.map_or(0, |attempt| attempt.id);
    let presumed_refused = Some(SlimFact::Refused { attempt, next_at: Some(now) });
    let decided = next(record, now);
    if decided == Next::Running && flaw == Some(Flaw::SendingResent) {
        return presumed_refused;
    }
    record.due_at.filter(|due| *due <= now)?;
    match decided {
        Next::Start => {
            let rings = record.rings + 1;
            Some(SlimFact::Rung { rings, next_at: now + ring_gap(rings) })
        }
        Next::LeaseEnded if flaw == Some(Flaw::LeaseEndResends) => presumed_refused,
        Next::LeaseEnded => Some(SlimFact::Unknown { attempt, lease_ended: true }),
        Next::Stop(_) if flaw == Some(Flaw::ExpiryForgotten) => None,
        Next::Stop(reason) => Some(SlimFact::Stopped(reason)),
        Next::Wait(_) | Next::Running | Next::Unknown | Next::Seek | Next::ResendOnSilence | Next::Settled => None,
    }
}
