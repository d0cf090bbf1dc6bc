//! `Transitions`: commit.

use sendonce::notification::{Fact, Held, StopReason};
use sendonce::ports::{Admissions, EvidenceLog, Records, Transitions, WriteFault, Written};
use tests::aws_seam::{EVIDENCE, Fault, NOTIFICATIONS, Seam};

use crate::fixtures::{NOW, admission, start, step};

const TRANSACT: &str = "dynamodb:TransactWriteItems";

#[tokio::test(start_paused = true)]
async fn commit_moves_record_and_evidence_in_one_request() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    seam.forget_requests();
    let begun = start(&first.record, 1);
    assert_eq!(ledger.commit(&begun).await, Ok(Written::Done));
    assert_eq!(seam.counts(), [(TRANSACT.into(), 1)].into());
    assert_eq!(ledger.record(&first.record.id).await, Ok(Some(begun.record.clone())));
    assert_eq!(ledger.rows(&first.record.id).await, Ok(vec![first.row, begun.row]));
}

#[tokio::test(start_paused = true)]
async fn commit_is_held_by_a_record_that_moved_and_a_row_that_is_there() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    let (winner, loser) = (start(&first.record, 1), start(&first.record, 2));
    ledger.commit(&winner).await.unwrap();
    let Written::Held(held) = ledger.commit(&loser).await.unwrap() else { panic!("another was first") };
    assert_eq!(held, Held { record: Some(winner.record.clone()), row: Some(winner.row.clone()) });
    assert!(!loser.is_own(&held));
    assert!(winner.is_own(&held));
    assert_eq!(ledger.record(&first.record.id).await, Ok(Some(winner.record)));
}

#[tokio::test(start_paused = true)]
async fn commit_is_held_by_a_row_alone() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    let (one, other) = (start(&first.record, 1), start(&first.record, 2));
    ledger.commit(&one).await.unwrap();
    let evidence = seam.items(EVIDENCE);
    let elsewhere = Seam::new();
    let ledger = elsewhere.adapters().await.ledger;
    ledger.admit(&first, NOW).await.unwrap();
    evidence.iter().for_each(|item| elsewhere.plant(EVIDENCE, item));
    let held = Held { record: None, row: Some(one.row) };
    assert_eq!(ledger.commit(&other).await, Ok(Written::Held(held)));
}

#[tokio::test(start_paused = true)]
async fn commit_is_held_when_the_record_is_gone() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    assert_eq!(ledger.commit(&start(&first.record, 1)).await, Ok(Written::Held(Held::default())));
    assert_eq!(seam.items(NOTIFICATIONS).len() + seam.items(EVIDENCE).len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a8_a_commit_whose_answer_was_lost_is_done_when_tried_again() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    let begun = start(&first.record, 1);
    seam.fail_times(TRANSACT, 3, Fault::LostAfter);
    assert_eq!(ledger.commit(&begun).await, Err(WriteFault::Unknown));
    // Within ten minutes its token says so; later, the row in its place does.
    assert_eq!(ledger.commit(&begun).await, Ok(Written::Done));
    assert_eq!(ledger.rows(&first.record.id).await.unwrap().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn only_proof_makes_a_failed_commit_refused() {
    for (fault, times, expected) in [
        (Fault::NeverConnected, 3, WriteFault::Refused),
        (Fault::CodeBefore(400, "ProvisionedThroughputExceededException"), 3, WriteFault::Refused),
        (Fault::cancelled(&["TransactionConflict", "None"]), 1, WriteFault::Conflict),
        (Fault::CodeBefore(400, "TransactionInProgressException"), 3, WriteFault::Unknown),
        (Fault::CodeBefore(400, "NeverSeenBeforeException"), 1, WriteFault::Unknown),
        (Fault::SilentBefore, 3, WriteFault::Unknown),
        (Fault::CodeBefore(503, "ServiceUnavailable"), 3, WriteFault::Unknown),
    ] {
        let seam = Seam::new();
        let ledger = seam.adapters().await.ledger;
        let first = admission("e-1", "k-1", 1);
        ledger.admit(&first, NOW).await.unwrap();
        seam.fail_times(TRANSACT, times, fault.clone());
        assert_eq!(ledger.commit(&start(&first.record, 1)).await, Err(expected), "{fault:?}");
        assert_eq!(ledger.record(&first.record.id).await, Ok(Some(first.record)), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_settled_record_loses_its_seal_and_its_place_in_the_index() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    let stopped = step(&first.record, Fact::Stopped { reason: StopReason::Cancelled });
    ledger.commit(&stopped).await.unwrap();
    let item = seam.item(&format!("ntf#{}", first.record.id)).unwrap();
    for gone in ["seal", "due_shard", "due_at"] {
        assert!(item.get(gone).is_none(), "{gone}");
    }
    assert_eq!(ledger.record(&first.record.id).await, Ok(Some(stopped.record)));
}
