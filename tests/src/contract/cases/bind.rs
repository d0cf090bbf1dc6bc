//! Guards alone.

use sendonce::ports::{Admissions, Unreadable, WriteFault, Written};
use sendonce::time::Millis;

use super::cases;
use crate::contract::backend::{Backend, Cannot, How, Port};
use crate::contract::fixtures::{NOW, WINDOW, at, command, guard, tenant};
use crate::contract::script::Script;

cases![
    a_guard_that_was_never_taken_is_none,
    a_bound_guard_is_read_as_it_was_written,
    a_guard_that_holds_comes_back_as_it_stands,
    a_bind_meets_itself,
    a_guard_holds_to_the_last_millisecond,
    a_guard_is_replaced_at_the_very_end_of_its_window,
    an_ended_guard_can_still_be_read,
    a_conflict_binds_nothing,
    a_refusal_binds_nothing,
    a_bind_that_never_arrived_binds_nothing,
    a_bind_whose_answer_was_lost_is_there,
    a_bind_that_the_client_library_repeats_is_its_own,
    an_unreadable_guard_is_no_guard_that_is_not_there,
];

type Played = Result<(), Cannot>;

async fn a_guard_that_was_never_taken_is_none<B: Backend>(on: &B, script: &Script) -> Played {
    let one = guard(&tenant(), &command("evt-1"), "k-1", 1);
    script.expect("guard", on.ledger().guard(&one.id).await, Ok(None));
    Ok(())
}

async fn a_bound_guard_is_read_as_it_was_written<B: Backend>(on: &B, script: &Script) -> Played {
    let one = guard(&tenant(), &command("evt-1"), "k-1", 1);
    script.expect("answer", on.ledger().bind(&one, NOW).await, Ok(Written::Done));
    script.expect("guard", on.ledger().guard(&one.id).await, Ok(Some(one)));
    Ok(())
}

async fn a_guard_that_holds_comes_back_as_it_stands<B: Backend>(on: &B, script: &Script) -> Played {
    let (one, other) = (guard(&tenant(), &command("evt-1"), "k-1", 1), guard(&tenant(), &command("evt-2"), "k-1", 2));
    script.expect("first", on.ledger().bind(&one, NOW).await, Ok(Written::Done));
    script.expect("second", on.ledger().bind(&other, at(1)).await, Ok(Written::Held(one.clone())));
    script.expect("guard", on.ledger().guard(&one.id).await, Ok(Some(one)));
    Ok(())
}

async fn a_bind_meets_itself<B: Backend>(on: &B, script: &Script) -> Played {
    let one = guard(&tenant(), &command("evt-1"), "k-1", 1);
    script.expect("first", on.ledger().bind(&one, NOW).await, Ok(Written::Done));
    script.expect("again", on.ledger().bind(&one, NOW).await, Ok(Written::Held(one)));
    Ok(())
}

async fn a_guard_holds_to_the_last_millisecond<B: Backend>(on: &B, script: &Script) -> Played {
    let (one, other) = (guard(&tenant(), &command("evt-1"), "k-1", 1), guard(&tenant(), &command("evt-1"), "k-1", 2));
    script.expect("first", on.ledger().bind(&one, NOW).await, Ok(Written::Done));
    let last = NOW.plus(WINDOW).minus(Millis::new(1));
    script.expect("second", on.ledger().bind(&other, last).await, Ok(Written::Held(one)));
    Ok(())
}

async fn a_guard_is_replaced_at_the_very_end_of_its_window<B: Backend>(on: &B, script: &Script) -> Played {
    let (one, other) = (guard(&tenant(), &command("evt-1"), "k-1", 1), guard(&tenant(), &command("evt-2"), "k-1", 2));
    script.expect("first", on.ledger().bind(&one, NOW).await, Ok(Written::Done));
    script.expect("second", on.ledger().bind(&other, NOW.plus(WINDOW)).await, Ok(Written::Done));
    script.expect("guard", on.ledger().guard(&one.id).await, Ok(Some(other)));
    Ok(())
}

async fn an_ended_guard_can_still_be_read<B: Backend>(on: &B, script: &Script) -> Played {
    let one = guard(&tenant(), &command("evt-1"), "k-1", 1);
    script.expect("answer", on.ledger().bind(&one, NOW).await, Ok(Written::Done));
    on.pass(Millis::from_secs(2)).await;
    script.expect("guard", on.ledger().guard(&one.id).await, Ok(Some(one)));
    Ok(())
}

async fn nothing_is_bound<B: Backend>(on: &B, script: &Script, how: How, fault: WriteFault) -> Played {
    let one = guard(&tenant(), &command("evt-1"), "k-1", 1);
    on.fail_next(Port::Bind, how)?;
    script.expect("answer", on.ledger().bind(&one, NOW).await, Err(fault));
    script.expect("guard", on.ledger().guard(&one.id).await, Ok(None));
    script.expect("again", on.ledger().bind(&one, NOW).await, Ok(Written::Done));
    Ok(())
}

async fn a_conflict_binds_nothing<B: Backend>(on: &B, script: &Script) -> Played {
    nothing_is_bound(on, script, How::Conflict, WriteFault::Conflict).await
}

async fn a_refusal_binds_nothing<B: Backend>(on: &B, script: &Script) -> Played {
    nothing_is_bound(on, script, How::Refused, WriteFault::Refused).await
}

async fn a_bind_that_never_arrived_binds_nothing<B: Backend>(on: &B, script: &Script) -> Played {
    nothing_is_bound(on, script, How::NeverDone, WriteFault::Unknown).await
}

async fn a_bind_whose_answer_was_lost_is_there<B: Backend>(on: &B, script: &Script) -> Played {
    let one = guard(&tenant(), &command("evt-1"), "k-1", 1);
    on.fail_next(Port::Bind, How::AnswerLost)?;
    script.expect("answer", on.ledger().bind(&one, NOW).await, Err(WriteFault::Unknown));
    script.expect("guard", on.ledger().guard(&one.id).await, Ok(Some(one.clone())));
    script.expect("again", on.ledger().bind(&one, NOW).await, Ok(Written::Held(one)));
    Ok(())
}

async fn a_bind_that_the_client_library_repeats_is_its_own<B: Backend>(on: &B, script: &Script) -> Played {
    let one = guard(&tenant(), &command("evt-1"), "k-1", 1);
    on.fail_next(Port::Bind, How::Repeated)?;
    script.expect("answer", on.ledger().bind(&one, NOW).await, Ok(Written::Held(one)));
    Ok(())
}

async fn an_unreadable_guard_is_no_guard_that_is_not_there<B: Backend>(on: &B, script: &Script) -> Played {
    let one = guard(&tenant(), &command("evt-1"), "k-1", 1);
    script.expect("answer", on.ledger().bind(&one, NOW).await, Ok(Written::Done));
    on.fail_next(Port::Guard, How::Refused)?;
    script.expect("guard", on.ledger().guard(&one.id).await, Err(Unreadable));
    script.expect("again", on.ledger().guard(&one.id).await, Ok(Some(one)));
    Ok(())
}
