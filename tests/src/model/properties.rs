//! What must hold: in every state, in some state, and in the end.

use sendonce::notification::{State, StopReason};
use stateright::Property;

use super::cast::Cast;
use super::decisions::replay;
use super::numbers::{END, EXPIRES_AT};
use super::slim::SlimFact;
use super::world::{Asking, Breach, Client, Told, World};

type Ask = fn(&Cast, &World) -> bool;

/// All properties, by the invariants of the design.
#[must_use]
pub fn all() -> Vec<Property<Cast>> {
    let always = ALWAYS.iter().map(|(name, ask)| Property::always(name, *ask));
    let sometimes = SOMETIMES.iter().map(|(name, ask)| Property::sometimes(name, *ask));
    let settles: Ask = |_, world| has_settled(world) || cannot_begin(world);
    always.chain(sometimes).chain([Property::eventually(SETTLES, settles)]).collect()
}

/// Sound here although the checker looks neither at cycles nor at how a state was reached: no path of this model has a
/// cycle (a test sees to that), and what is asked for, once true, stays true, so that it depends on the state alone.
pub const SETTLES: &str = "2 whatever was accepted settles";

/// What must hold in every state.
pub const ALWAYS: [(&str, Ask); 14] = [
    ("1 at most one text", |_, world| world.carrier.texts() <= 1),
    ("1 one call for each attempt", |_, world| !world.breaches.has(Breach::CalledTwice)),
    // The same promise as SETTLES, in a form that needs no liveness check.
    ("2 nothing is open when all is over", |cast, world| {
        world.now < END || has_settled(world) || world.record.is_none() || !cast.is_over(world)
    }),
    ("3 no call too late for its reader", |_, world| !world.breaches.has(Breach::CalledStale)),
    ("3 no call after its lease", |_, world| !world.breaches.has(Breach::CalledAfterLease)),
    ("4 the record never says more than is known", |_, world| texts_fit(world)),
    ("5 same key, same answer", |_, world| !world.breaches.has(Breach::AnswersDiffer)),
    ("6 one key, one command", one_command),
    ("6 a guard that holds stays", |_, world| !world.breaches.has(Breach::GuardReplaced)),
    ("6 one event, one record", |_, world| !world.breaches.has(Breach::AdmittedTwice)),
    ("8 no call without its intent", |_, world| !world.breaches.has(Breach::NoIntent)),
    ("8 the rows add up to the record", |_, world| rows_add_up(world)),
    ("8 settled states absorb", |_, world| !world.breaches.has(Breach::SettledMoved)),
    ("9 the seal goes when it settles, and until then nothing is forgotten", |_, world| {
        world.record.is_none_or(|record| {
            record.state.is_settled() != record.sealed && record.state.is_settled() == record.forgettable
        })
    }),
];

/// What must hold in some state.
pub const SOMETIMES: [(&str, Ask); 19] = [
    ("accepted", |_, world| world.is(State::Accepted)),
    ("sending", |_, world| world.is(State::Sending)),
    ("sent", |_, world| world.is(State::Sent)),
    ("failed", |_, world| world.is(State::Failed)),
    ("dispatch_unknown", |_, world| world.is(State::DispatchUnknown)),
    ("stopped: expired_before_attempt", |_, world| world.is(State::Stopped(StopReason::ExpiredBeforeAttempt))),
    ("stopped: expired_unresolved", |_, world| world.is(State::Stopped(StopReason::ExpiredUnresolved))),
    ("stopped: cancelled", |_, world| world.is(State::Stopped(StopReason::Cancelled))),
    ("stopped: attempts_exhausted", |_, world| world.is(State::Stopped(StopReason::AttemptsExhausted))),
    ("sent at the second attempt", |_, world| {
        world.is(State::Sent) && world.record.is_some_and(|record| record.attempts == 2)
    }),
    ("sent, and nobody will ever know", |_, world| {
        world.is(State::Stopped(StopReason::ExpiredUnresolved)) && world.carrier.texts() == 1
    }),
    ("a late answer settles an unknown", |_, world| {
        has_fact(world, |fact| matches!(fact, SlimFact::Reconciled { .. }))
    }),
    ("a late answer is kept after the end", |_, world| {
        has_fact(world, |fact| matches!(fact, SlimFact::Late { accepted: true, .. }))
    }),
    ("a late refusal reopens an unknown", |_, world| {
        let mut unknown = false;
        world.rows.iter().any(|row| {
            let reopened = unknown && matches!(row.fact, SlimFact::Refused { next_at: Some(_), .. });
            unknown = matches!(row.fact, SlimFact::Unknown { .. });
            reopened
        })
    }),
    ("a lost doorbell is rung again", |_, world| {
        world.is(State::Sent) && has_fact(world, |fact| matches!(fact, SlimFact::Rung { .. }))
    }),
    ("two keys of one event, one answer", |_, world| {
        world.guards.iter().all(Option::is_some) && world.clients.iter().all(was_accepted)
    }),
    ("a key is refused to another command", |_, world| {
        world.clients.iter().any(|client| client.heard == Some(Told::KeyReused))
    }),
    ("an event is refused to another command", |_, world| {
        world.clients.iter().any(|client| client.heard == Some(Told::EventAlreadyAccepted))
    }),
    ("a retry after its end is given the first answer", |_, world| {
        let asked_late = |client: &Client| was_accepted(client) && client.requests == 0;
        world.now >= EXPIRES_AT && world.clients.iter().any(asked_late)
    }),
];

fn has_fact(world: &World, is: fn(&SlimFact) -> bool) -> bool {
    world.rows.iter().any(|row| is(&row.fact))
}

fn was_accepted(client: &Client) -> bool {
    matches!(client.heard, Some(Told::Accepted(_)))
}

fn has_settled(world: &World) -> bool {
    world.record.is_some_and(|record| record.state.is_settled())
}

/// Nothing was accepted, and nobody is left who could ask for it.
fn cannot_begin(world: &World) -> bool {
    let given_up = |client: &Client| client.asking == Asking::No && (client.requests == 0 || client.heard.is_some());
    world.record.is_none() && world.clients.iter().all(|client| client.stranger || given_up(client))
}

/// What the provider took fits what the record says of it.
fn texts_fit(world: &World) -> bool {
    let Some(record) = world.record else { return world.carrier.texts() == 0 };
    let texts = world.carrier.texts();
    match record.state {
        State::Sent | State::Delivered | State::Undelivered => texts == 1,
        State::Failed | State::Stopped(StopReason::ExpiredBeforeAttempt | StopReason::AttemptsExhausted) => texts == 0,
        State::Accepted => texts == 0,
        _ => texts <= 1,
    }
}

/// A client that was told 202 got its own command, and a key never serves two.
fn one_command(_: &Cast, world: &World) -> bool {
    let own = |client: &Client| match client.heard {
        Some(Told::Accepted(_)) if client.stranger => world.strangers == 1,
        Some(Told::Accepted(_)) => world.record.is_some_and(|record| record.print == client.print),
        _ => true,
    };
    let shares_a_key = world.clients[0].key == world.clients[1].key && world.clients[1].stranger;
    world.clients.iter().all(own) && !(shares_a_key && world.strangers > 0 && world.record.is_some())
}

fn rows_add_up(world: &World) -> bool {
    let Some(record) = world.record else { return true };
    !world.breaches.has(Breach::EvidenceDiffers) && world.rows.iter().count() == usize::from(record.rev)
}

/// Whether the rows, read from the first on, make the record: what a reader of the evidence would do.
#[must_use]
pub fn replays(world: &World) -> bool {
    world.record.is_none_or(|record| replay(world.rows.iter().map(|row| row.fact)) == Some(record.progress()))
}
