//! Dispatchers: one doorbell at a time, at most one call for each.

use sendonce::notification::{Next, State, StopReason};

use super::{Manner, Step};
use crate::model::decisions::{Write, has_time, last_useful, merge, next, step as stepped};
use crate::model::flaw::Flaw;
use crate::model::numbers::{BACKOFF, EXPIRES_AT, INVOCATION, Instant, NEEDED, POLICY, SKEW};
use crate::model::slim::{Heard, Slim, SlimFact, Who};
use crate::model::world::{Bell, Breach, Dispatcher, Dispatching, Landed, Purpose, Skewed, World};

/// What dispatcher `number` may do.
pub fn steps(world: &World, number: usize, flaw: Option<Flaw>, steps: &mut Vec<Step>) {
    let dispatcher = &world.dispatchers[number];
    match &dispatcher.dispatching {
        Dispatching::No if world.bells.visible(world.now).is_some() => {
            steps.extend([Step::Begin, Step::BeginOnCopy]);
        }
        Dispatching::No => {}
        Dispatching::Reading => steps.extend([Step::Go, Step::Crash]),
        Dispatching::Writing(write, _) if world.would_land(write, flaw) => {
            steps.extend([Step::Go, Step::AnswerLost, Step::Crash]);
        }
        Dispatching::Writing(..) => steps.extend([Step::Go, Step::Crash]),
        Dispatching::Calling(_) if is_too_late(world, number) && flaw != Some(Flaw::LateCallsMade) => {
            steps.extend([Step::Go, Step::Crash]);
        }
        Dispatching::Calling(_) => {
            steps.extend(Manner::ALL.map(Step::Call));
            steps.push(Step::Crash);
        }
        Dispatching::Ringing(_) => steps.extend([Step::Go, Step::Vanished, Step::Crash]),
    }
}

/// Does one of them.
pub fn take(world: &mut World, number: usize, step: Step, flaw: Option<Flaw>) {
    let one = Acting { number, flaw, now: clock(world, number) };
    let dispatcher = world.dispatchers[number];
    match (dispatcher.dispatching, step) {
        (Dispatching::No, step) => one.receive(world, step == Step::BeginOnCopy),
        (_, Step::Crash) => one.put_back(world),
        (Dispatching::Reading, _) => match world.record {
            Some(record) => one.advance(world, &record),
            None => one.acknowledge(world),
        },
        (Dispatching::Writing(write, purpose), step) => one.write(world, write, purpose, step == Step::AnswerLost),
        (Dispatching::Calling(started), Step::Call(manner)) => {
            let heard = one.call(world, manner);
            one.conclude(world, &started, heard);
        }
        // Past its last instant the call is not made, which is as good as a refusal.
        (Dispatching::Calling(started), _) => one.conclude(world, &started, Heard::Refused),
        (Dispatching::Ringing(until), step) => {
            if step == Step::Go {
                world.bells.add(Bell { visible_at: until, receives: 0 });
            }
            one.acknowledge(world);
        }
    }
}

/// A dispatcher's clock.
fn clock(world: &World, number: usize) -> Instant {
    let behind = world.skewed == Skewed::DispatcherBehind && number == 1;
    if behind { world.now - SKEW } else { world.now }
}

/// Whether its clock is past the latest instant at which the call may begin.
fn is_too_late(world: &World, number: usize) -> bool {
    let not_after = (world.dispatchers[number].deadline - NEEDED).min(last_useful());
    clock(world, number) > not_after
}

/// Names an attempt by the place of its row and its maker, which no two attempts share.
const fn name(seq: u8, number: usize) -> u8 {
    if number == 0 { seq * 2 } else { seq * 2 + 1 }
}

/// One dispatcher's step.
#[derive(Clone, Copy)]
struct Acting {
    number: usize,
    flaw: Option<Flaw>,
    now: Instant,
}

impl Acting {
    fn me<'w>(&self, world: &'w mut World) -> &'w mut Dispatcher {
        &mut world.dispatchers[self.number]
    }

    fn who(&self) -> Who {
        Who::Dispatcher(u8::from(self.number > 0))
    }

    fn receive(&self, world: &mut World, copy: bool) {
        let bell = world.bells.visible(world.now).expect("only asked for when there is one");
        if !copy {
            world.bells.remove(bell);
        }
        *self.me(world) = Dispatcher {
            dispatching: Dispatching::Reading,
            deadline: self.now + INVOCATION,
            attempt: 0,
            receives: (!copy).then_some(bell.receives + 1),
        };
    }

    fn acknowledge(&self, world: &mut World) {
        *self.me(world) = Dispatcher { dispatching: Dispatching::No, deadline: 0, attempt: 0, receives: None };
    }

    fn put_back(&self, world: &mut World) {
        if let Some(receives) = world.dispatchers[self.number].receives {
            world.bells.come_back(receives, world.now);
        }
        self.acknowledge(world);
    }

    /// The one thing that may be done with the record.
    fn advance(&self, world: &mut World, record: &Slim) {
        let latest = record.attempt.map_or(0, |attempt| attempt.id);
        let presumed_refused = SlimFact::Refused { attempt: latest, next_at: Some(self.now) };
        match next(record, self.now) {
            Next::Start => self.attempt(world, record),
            Next::Stop(_) if self.flaw == Some(Flaw::ExpiryForgotten) => self.acknowledge(world),
            // Left to the reconciler.
            Next::Stop(StopReason::ExpiredUnresolved) => self.acknowledge(world),
            Next::Stop(reason) => self.set_down(world, record, SlimFact::Stopped(reason), Purpose::Step),
            Next::LeaseEnded if self.flaw == Some(Flaw::LeaseEndResends) => {
                self.set_down(world, record, presumed_refused, Purpose::Outcome(Heard::Refused));
            }
            Next::LeaseEnded => {
                let fact = SlimFact::Unknown { attempt: latest, lease_ended: true };
                self.set_down(world, record, fact, Purpose::Step);
            }
            Next::Unknown if self.flaw == Some(Flaw::UnknownRetried) => {
                self.set_down(world, record, presumed_refused, Purpose::Outcome(Heard::Refused));
            }
            Next::Wait(_) | Next::Running | Next::Unknown | Next::Seek | Next::ResendOnSilence | Next::Settled => {
                self.acknowledge(world)
            }
        }
    }

    fn attempt(&self, world: &mut World, record: &Slim) {
        let deadline = world.dispatchers[self.number].deadline;
        if !has_time(self.now, deadline) {
            return self.put_back(world);
        }
        let (attempt, number) = (name(record.rev + 1, self.number), record.attempts + 1);
        self.me(world).attempt = attempt;
        let fact = SlimFact::Started { attempt, number, lease_until: deadline };
        if self.flaw == Some(Flaw::IntentNotWritten) {
            let write = Write { seen: *record, fact, by: self.who() };
            let started = stepped(&write).expect("the fact is known");
            self.me(world).dispatching = Dispatching::Calling(started);
            return;
        }
        self.set_down(world, record, fact, Purpose::Attempt);
    }

    /// Makes a step ready to be written; when its state does not know the fact, others have been faster.
    fn set_down(&self, world: &mut World, seen: &Slim, fact: SlimFact, purpose: Purpose) {
        let write = Write { seen: *seen, fact, by: self.who() };
        match stepped(&write) {
            Some(_) => self.me(world).dispatching = Dispatching::Writing(write, purpose),
            None => self.put_back(world),
        }
    }

    fn write(&self, world: &mut World, write: Write, purpose: Purpose, answer_lost: bool) {
        let landed = world.commit(&write, self.flaw, answer_lost);
        match (landed, purpose) {
            _ if answer_lost => {}
            (Landed::Done(started), Purpose::Attempt) => self.me(world).dispatching = Dispatching::Calling(started),
            (Landed::Done(_), Purpose::Step) => self.acknowledge(world),
            (Landed::Done(record), Purpose::Outcome(_)) => self.follow_up(world, &record),
            (Landed::Lost(record), Purpose::Attempt | Purpose::Step) => self.advance(world, &record),
            (Landed::Lost(record), Purpose::Outcome(heard)) => self.conclude(world, &record, heard),
            (_, Purpose::FollowUp) => self.acknowledge(world),
        }
    }

    /// The provider's part.
    fn call(&self, world: &mut World, manner: Manner) -> Heard {
        let Dispatcher { attempt, deadline, .. } = world.dispatchers[self.number];
        self.watch(world, attempt, deadline);
        if manner != Manner::NeverSees {
            world.carrier.called |= 1 << attempt;
        }
        if matches!(manner, Manner::Accepts | Manner::AcceptsSilently) {
            world.carrier.taken |= 1 << attempt;
        }
        match manner {
            Manner::Accepts => Heard::Taken,
            Manner::Throttles => Heard::Refused,
            Manner::Rejects => Heard::RefusedForGood,
            Manner::AcceptsSilently | Manner::NeverSees => Heard::Doubt,
        }
    }

    fn watch(&self, world: &mut World, attempt: u8, deadline: Instant) {
        let useful_until = EXPIRES_AT - Instant::try_from(POLICY.min_useful_life.get()).unwrap_or(0);
        let breaches = [
            (!world.has_intent(attempt), Breach::NoIntent),
            (world.carrier.called & (1 << attempt) != 0, Breach::CalledTwice),
            // By the true time, to which no clock is held closer than this.
            (world.now > useful_until + SKEW, Breach::CalledStale),
            (self.now > deadline, Breach::CalledAfterLease),
        ];
        breaches.into_iter().filter(|(is, _)| *is).for_each(|(_, breach)| world.breaches.add(breach));
    }

    /// Writes what became of the attempt, into whatever the record has become.
    fn conclude(&self, world: &mut World, record: &Slim, heard: Heard) {
        let mine = world.dispatchers[self.number].attempt;
        let latest = record.attempt.map_or(mine, |attempt| attempt.id);
        let attempt = if self.flaw == Some(Flaw::OutcomeUnchecked) { latest } else { mine };
        match merge(record, attempt, heard, self.now + BACKOFF) {
            Some(fact) => self.set_down(world, record, fact, Purpose::Outcome(heard)),
            None => self.acknowledge(world),
        }
    }

    /// After a refusal: asks for the next attempt, or ends it when there is none.
    fn follow_up(&self, world: &mut World, record: &Slim) {
        match next(record, self.now) {
            Next::Wait(until) if record.state == State::Accepted => {
                let until = Instant::try_from(until.get()).unwrap_or(Instant::MAX);
                self.me(world).dispatching = Dispatching::Ringing(until);
            }
            Next::Stop(reason) if self.flaw != Some(Flaw::ExpiryForgotten) => {
                self.set_down(world, record, SlimFact::Stopped(reason), Purpose::FollowUp);
            }
            _ => self.acknowledge(world),
        }
    }
}
