//! Moving records.

use sendonce::notification::{Held, Record, Transition};
use sendonce::ports::{Admissions, EvidenceLog, Records, Transitions, WriteFault, Written};
use sendonce::time::Millis;

use super::cases;
use crate::contract::backend::{Backend, Cannot, How, Port};
use crate::contract::fixtures::{NOW, admission, at, cancelled, refused, started, taken, unknown};
use crate::contract::script::{Script, moved};

cases![
    makes_record_and_row_durable,
    keeps_a_record_as_it_was_through_a_whole_life,
    takes_the_seal_of_a_settled_record_away,
    is_held_by_a_record_that_has_moved,
    lets_one_of_two_rivals_win_and_shows_the_other_by_whom,
    meets_itself_when_it_is_written_again,
    knows_itself_by_its_row_when_the_record_has_moved_on,
    is_held_by_nothing_to_see_when_there_is_no_record,
    writes_nothing_in_a_conflict,
    writes_nothing_when_refused,
    writes_nothing_when_it_never_arrived_and_may_be_tried_again,
    is_durable_when_only_its_answer_was_lost,
    is_done_once_when_the_client_library_repeats_it,
];

type Played = Result<(), Cannot>;

/// Longer than DynamoDB remembers that it has done a request.
const UNREMEMBERED: Millis = Millis::from_secs(660);

/// A record that was just accepted.
async fn accepted<B: Backend>(on: &B) -> Record {
    let first = admission("evt-1", "k-1", 1);
    assert_eq!(on.ledger().admit(&first, NOW).await, Ok(Written::Done));
    first.record
}

/// Whether record and row are there.
async fn parts<B: Backend>(on: &B, of: &Transition) -> [bool; 2] {
    let ledger = on.ledger();
    [
        ledger.record(&of.record.id).await.expect("readable").as_ref() == Some(&of.record),
        ledger.rows(&of.record.id).await.expect("readable").contains(&of.row),
    ]
}

async fn makes_record_and_row_durable<B: Backend>(on: &B, script: &Script) -> Played {
    let step = started(&accepted(on).await, 1);
    script.expect("before", parts(on, &step).await, [false; 2]);
    script.expect("answer", on.ledger().commit(&step).await, Ok(Written::Done));
    script.expect("after", parts(on, &step).await, [true; 2]);
    Ok(())
}

async fn keeps_a_record_as_it_was_through_a_whole_life<B: Backend>(on: &B, script: &Script) -> Played {
    let mut record = accepted(on).await;
    let steps: [fn(&Record) -> Transition; 5] = [
        |record| started(record, 1),
        |record| unknown(record, 1),
        |record| refused(record, 1, at(50_000)),
        |record| started(record, 2),
        |record| taken(record, 2),
    ];
    for make in steps {
        let step = make(&record);
        script.expect("answer", on.ledger().commit(&step).await, Ok(Written::Done));
        script.note("record", &on.ledger().record(&record.id).await);
        script.expect("after", parts(on, &step).await, [true; 2]);
        record = step.record;
    }
    script.note("rows", &on.ledger().rows(&record.id).await);
    Ok(())
}

async fn takes_the_seal_of_a_settled_record_away<B: Backend>(on: &B, script: &Script) -> Played {
    let step = cancelled(&accepted(on).await);
    script.expect("answer", on.ledger().commit(&step).await, Ok(Written::Done));
    let found = on.ledger().record(&step.record.id).await.expect("readable").expect("there");
    script.expect("sealed, due", (found.sealed.is_some(), found.due_at), (false, None));
    Ok(())
}

async fn is_held_by_a_record_that_has_moved<B: Backend>(on: &B, script: &Script) -> Played {
    let record = accepted(on).await;
    let first = started(&record, 1);
    let second = unknown(&first.record, 1);
    script.expect("first", on.ledger().commit(&first).await, Ok(Written::Done));
    script.expect("second", on.ledger().commit(&second).await, Ok(Written::Done));
    let stale = cancelled(&record);
    let held = Held { record: Some(second.record.clone()), row: Some(first.row) };
    script.expect("stale", on.ledger().commit(&stale).await, Ok(Written::Held(held)));
    script.expect("after", (parts(on, &stale).await, parts(on, &second).await), ([false; 2], [true; 2]));
    Ok(())
}

async fn lets_one_of_two_rivals_win_and_shows_the_other_by_whom<B: Backend>(on: &B, script: &Script) -> Played {
    let record = accepted(on).await;
    let (first, second) = (started(&record, 1), started(&record, 2));
    script.expect("first", on.ledger().commit(&first).await, Ok(Written::Done));
    let held = Held { record: Some(first.record.clone()), row: Some(first.row.clone()) };
    script.expect("is its own", second.is_own(&held), false);
    script.expect("second", on.ledger().commit(&second).await, Ok(Written::Held(held)));
    script.expect("after", parts(on, &first).await, [true; 2]);
    Ok(())
}

async fn meets_itself_when_it_is_written_again<B: Backend>(on: &B, script: &Script) -> Played {
    let step = started(&accepted(on).await, 1);
    script.expect("answer", on.ledger().commit(&step).await, Ok(Written::Done));
    script.expect("again", moved(&step, on.ledger().commit(&step).await), Ok(None));
    script.expect("rows", on.ledger().rows(&step.record.id).await.map(|rows| rows.len()), Ok(2));
    Ok(())
}

async fn knows_itself_by_its_row_when_the_record_has_moved_on<B: Backend>(on: &B, script: &Script) -> Played {
    let first = started(&accepted(on).await, 1);
    let second = unknown(&first.record, 1);
    script.expect("first", on.ledger().commit(&first).await, Ok(Written::Done));
    script.expect("second", on.ledger().commit(&second).await, Ok(Written::Done));
    on.pass(UNREMEMBERED).await;
    script.expect("first again", moved(&first, on.ledger().commit(&first).await), Ok(None));
    script.expect("after", parts(on, &second).await, [true; 2]);
    Ok(())
}

async fn is_held_by_nothing_to_see_when_there_is_no_record<B: Backend>(on: &B, script: &Script) -> Played {
    let step = started(&admission("evt-1", "k-1", 1).record, 1);
    script.expect("answer", on.ledger().commit(&step).await, Ok(Written::Held(Held::default())));
    script.expect("after", parts(on, &step).await, [false; 2]);
    Ok(())
}

async fn nothing_is_written<B: Backend>(on: &B, script: &Script, how: How, fault: WriteFault) -> Played {
    let step = started(&accepted(on).await, 1);
    on.fail_next(Port::Commit, how)?;
    script.expect("answer", on.ledger().commit(&step).await, Err(fault));
    script.expect("after", parts(on, &step).await, [false; 2]);
    script.expect("again", on.ledger().commit(&step).await, Ok(Written::Done));
    script.expect("in the end", parts(on, &step).await, [true; 2]);
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
    let step = started(&accepted(on).await, 1);
    on.fail_next(Port::Commit, How::AnswerLost)?;
    script.expect("answer", on.ledger().commit(&step).await, Err(WriteFault::Unknown));
    script.expect("after", parts(on, &step).await, [true; 2]);
    script.expect("again", moved(&step, on.ledger().commit(&step).await), Ok(None));
    Ok(())
}

async fn is_done_once_when_the_client_library_repeats_it<B: Backend>(on: &B, script: &Script) -> Played {
    let step = started(&accepted(on).await, 1);
    on.fail_next(Port::Commit, How::Repeated)?;
    script.expect("answer", moved(&step, on.ledger().commit(&step).await), Ok(None));
    script.expect("after", parts(on, &step).await, [true; 2]);
    Ok(())
}
