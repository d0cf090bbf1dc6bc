//! Reading records and evidence.

use sendonce::notification::{Row, verify_chain};
use sendonce::ports::{Admissions, EvidenceLog, Records, Transitions, Unreadable, Written};

use super::cases;
use crate::contract::backend::{Backend, Cannot, How, Port};
use crate::contract::fixtures::{FORGOTTEN, NOW, admission, cancelled, refused, started};
use crate::contract::script::Script;

cases![
    a_record_that_never_was_is_none,
    an_unreadable_record_is_no_record_that_is_not_there,
    there_are_no_rows_of_what_never_was,
    rows_come_in_order_and_verify,
    rows_are_those_of_one_notification,
    rows_outlive_their_record,
    unreadable_rows_are_not_no_rows,
];

type Played = Result<(), Cannot>;

async fn a_record_that_never_was_is_none<B: Backend>(on: &B, script: &Script) -> Played {
    script.expect("record", on.ledger().record(&admission("evt-1", "k-1", 1).record.id).await, Ok(None));
    Ok(())
}

async fn an_unreadable_record_is_no_record_that_is_not_there<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    script.expect("admit", on.ledger().admit(&first, NOW).await, Ok(Written::Done));
    on.fail_next(Port::Record, How::Refused)?;
    script.expect("record", on.ledger().record(&first.record.id).await, Err(Unreadable));
    script.expect("again", on.ledger().record(&first.record.id).await, Ok(Some(first.record)));
    Ok(())
}

async fn there_are_no_rows_of_what_never_was<B: Backend>(on: &B, script: &Script) -> Played {
    script.expect("rows", on.ledger().rows(&admission("evt-1", "k-1", 1).record.id).await, Ok(Vec::new()));
    Ok(())
}

async fn rows_come_in_order_and_verify<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    script.expect("admit", on.ledger().admit(&first, NOW).await, Ok(Written::Done));
    let mut record = first.record;
    // More than ten, whose numbers would stand in another order as text.
    for byte in 1..7 {
        for step in [|record: &_, byte| started(record, byte), |record: &_, byte| refused(record, byte, NOW)] {
            let step = step(&record, byte);
            script.expect("step", on.ledger().commit(&step).await, Ok(Written::Done));
            record = step.record;
        }
    }
    let rows = on.ledger().rows(&record.id).await.expect("readable");
    script.expect("numbers", rows.iter().map(Row::seq).collect::<Vec<_>>(), (0..13).collect());
    script.expect("chain", verify_chain(&record.id, &rows, Some(&record)), Ok(record.progress.clone()));
    Ok(())
}

async fn rows_are_those_of_one_notification<B: Backend>(on: &B, script: &Script) -> Played {
    for (event, key, nonce) in [("evt-1", "k-1", 1), ("evt-2", "k-2", 2)] {
        script.expect("admit", on.ledger().admit(&admission(event, key, nonce), NOW).await, Ok(Written::Done));
    }
    let one = admission("evt-1", "k-1", 1);
    script.expect("rows", on.ledger().rows(&one.record.id).await, Ok(vec![one.row]));
    Ok(())
}

async fn rows_outlive_their_record<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    script.expect("admit", on.ledger().admit(&first, NOW).await, Ok(Written::Done));
    let end = cancelled(&first.record);
    script.expect("end", on.ledger().commit(&end).await, Ok(Written::Done));
    on.forget(NOW.plus(FORGOTTEN)).await;
    script.expect("record", on.ledger().record(&first.record.id).await, Ok(None));
    script.expect("rows", on.ledger().rows(&first.record.id).await, Ok(vec![first.row, end.row]));
    Ok(())
}

async fn unreadable_rows_are_not_no_rows<B: Backend>(on: &B, script: &Script) -> Played {
    let first = admission("evt-1", "k-1", 1);
    script.expect("admit", on.ledger().admit(&first, NOW).await, Ok(Written::Done));
    on.fail_next(Port::Rows, How::Refused)?;
    script.expect("rows", on.ledger().rows(&first.record.id).await, Err(Unreadable));
    script.expect("again", on.ledger().rows(&first.record.id).await, Ok(vec![first.row]));
    Ok(())
}
