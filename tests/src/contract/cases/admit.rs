//! Taking commands into the store.

use sendonce::ports::{Admission, Admissions, EvidenceLog, HeldAdmission, Records, Transitions, WriteFault, Written};
use sendonce::tenant::TenantId;
use sendonce::time::Millis;

use super::cases;
use crate::contract::backend::{Backend, Cannot, How, Port};
use crate::contract::fixtures::{
    FORGOTTEN, NOW, WINDOW, admission, admission_of, at, cancelled, command, full_command,
};
use crate::contract::fixtures::{started, tenant};
use crate::contract::script::{Script, admitted, moved};

cases![
    makes_all_three_parts_durable,
    keeps_every_member_of_a_record,
    meets_itself_when_it_is_written_again,
    is_held_by_all_parts_of_the_same_command,
    is_held_by_the_guard_alone_under_the_key_of_another_event,
    is_held_by_the_event_alone_under_another_key,
    is_held_by_the_command_that_was_first,
    does_not_meet_another_tenant,
    is_held_to_the_last_millisecond_of_a_window,
    replaces_a_guard_at_the_very_end_of_its_window,
    leaves_an_ended_guard_alone_when_the_event_is_known,
    is_held_by_row_0_when_all_else_is_forgotten,
    is_held_by_a_record_as_it_stands_now,
    writes_nothing_in_a_conflict,
    writes_nothing_when_refused,
    writes_nothing_when_it_never_arrived_and_may_be_tried_again,
    is_durable_when_only_its_answer_was_lost,
    is_done_once_when_the_client_library_repeats_it,
];

type Played = Result<(), Cannot>;

/// What there is of an admission's parts.
async fn parts<B: Backend>(on: &B, of: &Admission) -> [bool; 3] {
    let ledger = on.ledger();
    [
        ledger.guard(&of.guard.id).await.expect("readable").as_ref() == Some(&of.guard),
        ledger.record(&of.record.id).await.expect("readable").as_ref() == Some(&of.record),
        ledger.rows(&of.record.id).await.expect("readable").contains(&of.row),
    ]
}

async fn makes_all_three_parts_durable<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    script.expect("before", parts(on, &first).await, [false; 3]);
    script.expect("answer", on.ledger().admit(&first, NOW).await, Ok(Written::Done));
    script.expect("after", parts(on, &first).await, [true; 3]);
    Ok(())
}

async fn keeps_every_member_of_a_record<B: Backend>(on: &B, script: &Script) -> Played {
    let full = admission_of(&tenant(), &full_command("evt-1"), "k-1", 1);
    script.expect("answer", on.ledger().admit(&full, NOW).await, Ok(Written::Done));
    script.note("guard", &on.ledger().guard(&full.guard.id).await);
    script.note("record", &on.ledger().record(&full.record.id).await);
    script.note("rows", &on.ledger().rows(&full.record.id).await);
    script.expect("after", parts(on, &full).await, [true; 3]);
    Ok(())
}

async fn meets_itself_when_it_is_written_again<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    script.expect("answer", on.ledger().admit(&first, NOW).await, Ok(Written::Done));
    // A later instant makes it another request, which DynamoDB does not remember.
    script.expect("again", on.ledger().admit(&first, at(1)).await, Ok(Written::Held(all_of(&first))));
    Ok(())
}

fn all_of(one: &Admission) -> HeldAdmission {
    HeldAdmission { guard: Some(one.guard.clone()), record: Some(one.record.clone()), row: Some(one.row.clone()) }
}

/// Admits the first, then the second.
async fn one_after_the_other<B: Backend>(
    on: &B,
    script: &Script,
    [first, second]: [&Admission; 2],
    after: Millis,
) -> Result<Written<HeldAdmission>, WriteFault> {
    script.expect("first", on.ledger().admit(first, NOW).await, Ok(Written::Done));
    let answer = on.ledger().admit(second, NOW.plus(after)).await;
    script.note("second", &answer);
    script.note("parts of the first", &parts(on, first).await);
    script.note("parts of the second", &parts(on, second).await);
    answer
}

async fn is_held_by_all_parts_of_the_same_command<B: Backend>(on: &B, script: &Script) -> Played {
    let (first, second) = (admission("evt-1", "k-1", 1), admission("evt-1", "k-1", 2));
    let answer = one_after_the_other(on, script, [&first, &second], Millis::new(1)).await;
    assert_eq!(answer, Ok(Written::Held(all_of(&first))));
    Ok(())
}

async fn is_held_by_the_guard_alone_under_the_key_of_another_event<B: Backend>(on: &B, script: &Script) -> Played {
    let (first, second) = (admission("evt-1", "k-1", 1), admission("evt-2", "k-1", 2));
    let answer = one_after_the_other(on, script, [&first, &second], Millis::new(1)).await;
    assert_eq!(answer, Ok(Written::Held(HeldAdmission { guard: Some(first.guard.clone()), ..Default::default() })));
    script.expect("of the second", parts(on, &second).await, [false; 3]);
    Ok(())
}

async fn is_held_by_the_event_alone_under_another_key<B: Backend>(on: &B, script: &Script) -> Played {
    let (first, second) = (admission("evt-1", "k-1", 1), admission("evt-1", "k-2", 2));
    let answer = one_after_the_other(on, script, [&first, &second], Millis::new(1)).await;
    assert_eq!(answer, Ok(Written::Held(HeldAdmission { guard: None, ..all_of(&first) })));
    script.expect("second guard", on.ledger().guard(&second.guard.id).await, Ok(None));
    Ok(())
}

async fn is_held_by_the_command_that_was_first<B: Backend>(on: &B, script: &Script) -> Played {
    let (first, other) = (admission("evt-1", "k-1", 1), full_command("evt-1"));
    let second = admission_of(&tenant(), &other, "k-1", 2);
    let answer = one_after_the_other(on, script, [&first, &second], Millis::new(1)).await;
    assert_eq!(answer, Ok(Written::Held(all_of(&first))));
    script.expect("of the first", parts(on, &first).await, [true; 3]);
    Ok(())
}

async fn does_not_meet_another_tenant<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    let second = admission_of(&TenantId::derive(&["two"]), &command("evt-1"), "k-1", 2);
    let answer = one_after_the_other(on, script, [&first, &second], Millis::new(1)).await;
    assert_eq!(answer, Ok(Written::Done));
    script.expect("of both", [parts(on, &first).await, parts(on, &second).await], [[true; 3]; 2]);
    Ok(())
}

async fn is_held_to_the_last_millisecond_of_a_window<B: Backend>(on: &B, script: &Script) -> Played {
    let (first, second) = (admission("evt-1", "k-1", 1), admission("evt-2", "k-1", 2));
    let last = Millis::new(WINDOW.get() - 1);
    let answer = one_after_the_other(on, script, [&first, &second], last).await;
    assert_eq!(answer, Ok(Written::Held(HeldAdmission { guard: Some(first.guard), ..Default::default() })));
    Ok(())
}

async fn replaces_a_guard_at_the_very_end_of_its_window<B: Backend>(on: &B, script: &Script) -> Played {
    let (first, second) = (admission("evt-1", "k-1", 1), admission("evt-2", "k-1", 2));
    let answer = one_after_the_other(on, script, [&first, &second], WINDOW).await;
    assert_eq!(answer, Ok(Written::Done));
    script.expect("of the first", parts(on, &first).await, [false, true, true]);
    script.expect("of the second", parts(on, &second).await, [true; 3]);
    Ok(())
}

async fn leaves_an_ended_guard_alone_when_the_event_is_known<B: Backend>(on: &B, script: &Script) -> Played {
    let (first, second) = (admission("evt-1", "k-1", 1), admission("evt-1", "k-1", 2));
    let answer = one_after_the_other(on, script, [&first, &second], WINDOW).await;
    assert_eq!(answer, Ok(Written::Held(HeldAdmission { guard: None, ..all_of(&first) })));
    script.expect("of the first", parts(on, &first).await, [true; 3]);
    Ok(())
}

async fn is_held_by_row_0_when_all_else_is_forgotten<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    script.expect("first", on.ledger().admit(&first, NOW).await, Ok(Written::Done));
    let end = cancelled(&first.record);
    script.expect("end", on.ledger().commit(&end).await, Ok(Written::Done));
    on.forget(NOW.plus(FORGOTTEN)).await;
    script.expect("what is left", parts(on, &first).await, [false, false, true]);
    let later = NOW.plus(FORGOTTEN);
    let answer = on.ledger().admit(&admission("evt-1", "k-1", 2), later).await;
    let held = HeldAdmission { row: Some(first.row.clone()), ..Default::default() };
    script.expect("much later", answer, Ok(Written::Held(held)));
    Ok(())
}

async fn is_held_by_a_record_as_it_stands_now<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    script.expect("first", on.ledger().admit(&first, NOW).await, Ok(Written::Done));
    let step = started(&first.record, 1);
    script.expect("step", moved(&step, on.ledger().commit(&step).await), Ok(None));
    let answer = on.ledger().admit(&admission("evt-1", "k-2", 2), at(1)).await;
    let held = HeldAdmission { guard: None, record: Some(step.record), row: Some(first.row) };
    script.expect("second", answer, Ok(Written::Held(held)));
    Ok(())
}

/// Meets a fault that does nothing, then tries the very same again.
async fn nothing_is_written<B: Backend>(on: &B, script: &Script, how: How, fault: WriteFault) -> Played {
    let first = admission("evt-1", "k-1", 1);
    on.fail_next(Port::Admit, how)?;
    script.expect("answer", on.ledger().admit(&first, NOW).await, Err(fault));
    script.expect("after", parts(on, &first).await, [false; 3]);
    script.expect("again", on.ledger().admit(&first, NOW).await, Ok(Written::Done));
    script.expect("in the end", parts(on, &first).await, [true; 3]);
    Ok(())
}

async fn writes_nothing_in_a_conflict<B: Backend>(on: &B, script: &Script) -> Played {
    nothing_is_written(on, script, How::Conflict, WriteFault::Conflict).await
}

async fn writes_nothing_when_refused<B: Backend>(on: &B, script: &Script) -> Played {
    nothing_is_written(on, script, How::Refused, WriteFault::Refused).await
}

async fn writes_nothing_when_it_never_arrived_and_may_be_tried_again<B: Backend>(on: &B, script: &Script) -> Played {
    nothing_is_written(on, script, How::NeverDone, WriteFault::Unknown).await
}

async fn is_durable_when_only_its_answer_was_lost<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    on.fail_next(Port::Admit, How::AnswerLost)?;
    script.expect("answer", on.ledger().admit(&first, NOW).await, Err(WriteFault::Unknown));
    script.expect("after", parts(on, &first).await, [true; 3]);
    script.expect("again", admitted(&first, on.ledger().admit(&first, NOW).await), Ok(None));
    Ok(())
}

async fn is_done_once_when_the_client_library_repeats_it<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    on.fail_next(Port::Admit, How::Repeated)?;
    script.expect("answer", admitted(&first, on.ledger().admit(&first, NOW).await), Ok(None));
    script.expect("after", parts(on, &first).await, [true; 3]);
    script.expect("rows", on.ledger().rows(&first.record.id).await.map(|rows| rows.len()), Ok(1));
    Ok(())
}
