//! Clients and admission. Each client asks until it has heard, as often as it has requests.

use super::Step;
use crate::model::admission::accepted;
use crate::model::decisions::{Judged, SlimGuard, judge};
use crate::model::flaw::Flaw;
use crate::model::numbers::{EXPIRES_AT, Instant};
use crate::model::world::{Asking, Bell, Breach, Client, Told, World};

/// What client `number` may do.
pub fn steps(world: &World, number: usize, steps: &mut Vec<Step>) {
    let client = &world.clients[number];
    match client.asking {
        Asking::No if client.requests > 0 && client.heard.is_none() => steps.push(Step::Begin),
        Asking::No => {}
        Asking::Admitting(_) | Asking::Binding(..) => steps.extend([Step::Go, Step::AnswerLost, Step::Crash]),
        Asking::Ringing(_) => steps.extend([Step::Go, Step::Vanished, Step::Crash]),
        Asking::Answering(_) => steps.extend([Step::Go, Step::Vanished]),
    }
}

/// Does one of them.
pub fn take(world: &mut World, number: usize, step: Step, flaw: Option<Flaw>) {
    let client = world.clients[number];
    let asking = match (client.asking, step) {
        (Asking::No, _) => begin(world, number),
        (_, Step::Crash) => Asking::No,
        (Asking::Admitting(at), step) => admit(world, number, at, step == Step::AnswerLost, flaw),
        (Asking::Binding(at, answer), step) => bind(world, number, at, answer, step == Step::AnswerLost),
        (Asking::Ringing(answer), step) => {
            if step == Step::Go && !client.stranger {
                world.bells.add(Bell { visible_at: Instant::MIN, receives: 0 });
            }
            Asking::Answering(Told::Accepted(answer))
        }
        (Asking::Answering(told), Step::Go) => {
            hear(world, number, told);
            Asking::No
        }
        (Asking::Answering(_), _) => Asking::No,
    };
    world.clients[number].asking = asking;
}

fn begin(world: &mut World, number: usize) -> Asking {
    let client = &mut world.clients[number];
    client.requests -= 1;
    let (client, now) = (*client, world.now);
    if now < EXPIRES_AT {
        return Asking::Admitting(now);
    }
    // The command has ended, and is still owed the first answer.
    let guard = world.guards[usize::from(client.key)];
    Asking::Answering(match guard.map(|guard| judge(&guard, client.print, nonce(number, client), now)) {
        Some(Judged::Replay(answer)) => Told::Accepted(answer),
        Some(Judged::Reused) => Told::KeyReused,
        Some(Judged::Own | Judged::Ended) | None => Told::Expired,
    })
}

fn admit(world: &mut World, number: usize, at: Instant, answer_lost: bool, flaw: Option<Flaw>) -> Asking {
    let client = world.clients[number];
    let place = usize::from(client.key);
    let guard = world.guards[place].filter(|_| flaw != Some(Flaw::GuardIgnored));
    let known = if client.stranger { world.strangers > 0 } else { world.record.is_some() };
    if guard.is_none() && (!known || flaw == Some(Flaw::EventIgnored)) {
        accept(world, number, at);
        return if answer_lost { Asking::Admitting(at) } else { Asking::Ringing(at) };
    }
    match guard.map(|guard| judge(&guard, client.print, nonce(number, client), at)) {
        Some(Judged::Own) => return Asking::Ringing(at),
        Some(Judged::Replay(answer)) => return Asking::Answering(Told::Accepted(answer)),
        Some(Judged::Reused) => return Asking::Answering(Told::KeyReused),
        Some(Judged::Ended) | None => {}
    }
    // Only the event is known: by its record, which row 0 repeats.
    match world.record.filter(|_| !client.stranger) {
        Some(record) if record.print != client.print => Asking::Answering(Told::EventAlreadyAccepted),
        Some(record) => Asking::Binding(at, record.accepted_at),
        None => Asking::No,
    }
}

fn accept(world: &mut World, number: usize, at: Instant) {
    let client = world.clients[number];
    put_guard(world, number, at);
    if client.stranger {
        world.strangers += 1;
        return;
    }
    if world.record.is_some() {
        world.breaches.add(Breach::AdmittedTwice);
    }
    world.record = Some(accepted(client.print, at));
}

fn bind(world: &mut World, number: usize, at: Instant, answer: Instant, answer_lost: bool) -> Asking {
    let client = world.clients[number];
    let standing = world.guards[usize::from(client.key)];
    match standing.map(|guard| judge(&guard, client.print, nonce(number, client), at)) {
        None => {
            put_guard(world, number, answer);
            if answer_lost { Asking::Binding(at, answer) } else { Asking::Answering(Told::Accepted(answer)) }
        }
        Some(Judged::Own) => Asking::Answering(Told::Accepted(answer)),
        Some(Judged::Replay(first)) => Asking::Answering(Told::Accepted(first)),
        Some(Judged::Reused) => Asking::Answering(Told::KeyReused),
        Some(Judged::Ended) => Asking::No,
    }
}

fn put_guard(world: &mut World, number: usize, answer: Instant) {
    let client = world.clients[number];
    let place = &mut world.guards[usize::from(client.key)];
    if place.is_some() {
        world.breaches.add(Breach::GuardReplaced);
    }
    *place = Some(SlimGuard { print: client.print, answer, nonce: nonce(number, client) });
}

/// A nonce for each request.
fn nonce(number: usize, client: Client) -> u8 {
    let number = u8::from(number > 0);
    number * 16 + client.requests + 1
}

fn hear(world: &mut World, number: usize, told: Told) {
    let client = &mut world.clients[number];
    client.heard = Some(told);
    let first = world.record.filter(|_| !client.stranger).map(|record| Told::Accepted(record.accepted_at));
    if matches!(told, Told::Accepted(_)) && first.is_some_and(|first| first != told) {
        world.breaches.add(Breach::AnswersDiffer);
    }
}
