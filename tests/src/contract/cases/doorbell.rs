//! Waking a dispatcher.

use sendonce::notification::NotificationId;
use sendonce::ports::{Doorbell, WriteFault};
use sendonce::time::Millis;

use super::cases;
use crate::contract::backend::{Backend, Cannot, How, Port};
use crate::contract::fixtures::admission;
use crate::contract::script::Script;

cases![
    a_ring_brings_the_id_to_whoever_asks,
    two_rings_are_two_messages,
    a_delayed_ring_waits_for_its_time,
    a_refused_ring_wakes_nobody,
    a_ring_that_never_arrived_wakes_nobody_and_is_unknown,
    a_ring_whose_answer_was_lost_wakes_somebody_and_is_unknown,
    a_ring_that_the_client_library_repeats_may_wake_twice,
];

type Played = Result<(), Cannot>;

fn id() -> NotificationId {
    admission("evt-1", "k-1", 1).record.id
}

async fn a_ring_brings_the_id_to_whoever_asks<B: Backend>(on: &B, script: &Script) -> Played {
    script.expect("before", on.rung().await, Vec::new());
    script.expect("answer", on.doorbell().ring(&id(), Millis::ZERO).await, Ok(()));
    script.expect("rung", on.rung().await, vec![id()]);
    Ok(())
}

async fn two_rings_are_two_messages<B: Backend>(on: &B, script: &Script) -> Played {
    for _ in 0..2 {
        script.expect("answer", on.doorbell().ring(&id(), Millis::ZERO).await, Ok(()));
    }
    script.expect("rung", on.rung().await, vec![id(); 2]);
    Ok(())
}

async fn a_delayed_ring_waits_for_its_time<B: Backend>(on: &B, script: &Script) -> Played {
    script.expect("answer", on.doorbell().ring(&id(), Millis::from_secs(2)).await, Ok(()));
    script.expect("at once", on.rung().await, Vec::new());
    on.pass(Millis::new(2_200)).await;
    script.expect("in time", on.rung().await, vec![id()]);
    Ok(())
}

async fn rings_with<B: Backend>(
    on: &B,
    script: &Script,
    how: How,
    answer: Result<(), WriteFault>,
    rung: usize,
) -> Played {
    on.fail_next(Port::Ring, how)?;
    script.expect("answer", on.doorbell().ring(&id(), Millis::ZERO).await, answer);
    script.expect("rung", on.rung().await, vec![id(); rung]);
    Ok(())
}

async fn a_refused_ring_wakes_nobody<B: Backend>(on: &B, script: &Script) -> Played {
    rings_with(on, script, How::Refused, Err(WriteFault::Refused), 0).await
}

async fn a_ring_that_never_arrived_wakes_nobody_and_is_unknown<B: Backend>(on: &B, script: &Script) -> Played {
    rings_with(on, script, How::NeverDone, Err(WriteFault::Unknown), 0).await
}

async fn a_ring_whose_answer_was_lost_wakes_somebody_and_is_unknown<B: Backend>(on: &B, script: &Script) -> Played {
    on.fail_next(Port::Ring, How::AnswerLost)?;
    script.expect("answer", on.doorbell().ring(&id(), Millis::ZERO).await, Err(WriteFault::Unknown));
    // How often depends on how often the client library tries.
    script.expect("rung at all", on.rung().await.contains(&id()), true);
    Ok(())
}

async fn a_ring_that_the_client_library_repeats_may_wake_twice<B: Backend>(on: &B, script: &Script) -> Played {
    rings_with(on, script, How::Repeated, Ok(()), 2).await
}
