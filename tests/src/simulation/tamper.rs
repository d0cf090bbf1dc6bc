//! Planted flaws that sit between a flow and its store. Without one, everything passes through untouched.

use sendonce::notification::{Fact, Held, Record, State, Transition};
use sendonce::ports::{DuePage, WriteFault, Written};
use sendonce::time::Millis;

use super::port::{Backend, Port};
use super::sim::{Errand, Sim};
use crate::world::Flaw;

/// A record on its way to a flow.
pub(super) fn read(sim: &Sim, found: Option<Record>) -> Option<Record> {
    let Some(flaw) = sim.setup.flaw else { return found };
    let mut record = found?;
    let errand = sim.slot(|slot| slot.errand);
    let state = record.progress.state;
    let lease_over = record.progress.attempt.as_ref().is_some_and(|attempt| attempt.lease_until < sim.at());
    let aged = record.updated_at.plus(Millis::from_secs(60)) < sim.at();
    let reopened = match flaw {
        Flaw::LeaseEndResends => {
            matches!(errand, Errand::Dispatch(..) | Errand::Tick(_)) && state == State::Sending && lease_over
        }
        Flaw::SendingRungAgain => matches!(errand, Errand::Tick(_)) && state == State::Sending,
        Flaw::UnknownRetriedByAge => state == State::DispatchUnknown && aged,
        _ => false,
    };
    if reopened {
        record.progress.state = State::Accepted;
    }
    Some(record)
}

/// What stood in the way of a step, on its way to a flow.
pub(super) fn held(
    sim: &Sim,
    step: &Transition,
    mut done: Result<Written<Held>, WriteFault>,
) -> Result<Written<Held>, WriteFault> {
    if sim.has(Flaw::OutcomeOfAnotherAttempt)
        && let Ok(Written::Held(Held { record: Some(found), .. })) = &mut done
        && let Fact::AttemptAccepted { attempt, .. }
        | Fact::AttemptRefused { attempt, .. }
        | Fact::AttemptUnknown { attempt, .. } = step.row.fact()
        && let Some(latest) = &mut found.progress.attempt
    {
        latest.id = attempt.clone();
        found.progress.state = State::Sending;
    }
    done
}

/// A page of open work on its way to the reconciler.
pub(super) async fn page<B: Backend>(port: &Port<'_, B>, mut page: DuePage) -> DuePage {
    if port.sim.has(Flaw::LostDoorbellsForgotten) {
        let mut kept = Vec::new();
        for id in page.ids {
            let waiting = matches!(port.store.record(&id).await, Ok(Some(record)) if record.state() == State::Accepted);
            if !waiting {
                kept.push(id);
            }
        }
        page.ids = kept;
    }
    page
}
