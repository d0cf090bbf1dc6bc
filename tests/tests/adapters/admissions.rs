//! `Admissions`: admit, bind, guard.

use std::time::Duration;

use sendonce::idempotency::Verdict;
use sendonce::ports::{Admissions, EvidenceLog, HeldAdmission, Records, Unreadable, WriteFault, Written};
use sendonce::time::Millis;
use serde_json::json;
use tests::aws_seam::{EVIDENCE, Fault, NOTIFICATIONS, Seam};

use crate::fixtures::{NOW, WINDOW, admission, command, guard, print};

const TRANSACT: &str = "dynamodb:TransactWriteItems";
const PUT: &str = "dynamodb:PutItem";

#[tokio::test(start_paused = true)]
async fn admit_writes_guard_record_and_row_in_one_request() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    assert_eq!(ledger.admit(&first, NOW).await, Ok(Written::Done));
    assert_eq!(seam.counts(), [(TRANSACT.into(), 1)].into());
    assert_eq!(ledger.guard(&first.guard.id).await, Ok(Some(first.guard.clone())));
    assert_eq!(ledger.record(&first.record.id).await, Ok(Some(first.record.clone())));
    assert_eq!(ledger.rows(&first.record.id).await, Ok(vec![first.row]));
}

#[tokio::test(start_paused = true)]
async fn admit_is_held_by_exactly_what_stands_in_its_way() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    seam.forget_requests();

    let same_key = HeldAdmission { guard: Some(first.guard.clone()), ..HeldAdmission::default() };
    assert_eq!(ledger.admit(&admission("e-2", "k-1", 2), NOW).await, Ok(Written::Held(same_key)));
    let same_event = HeldAdmission { guard: None, record: Some(first.record.clone()), row: Some(first.row.clone()) };
    assert_eq!(ledger.admit(&admission("e-1", "k-2", 2), NOW).await, Ok(Written::Held(same_event.clone())));
    let both = HeldAdmission { guard: Some(first.guard.clone()), ..same_event };
    assert_eq!(ledger.admit(&admission("e-1", "k-1", 2), NOW).await, Ok(Written::Held(both)));
    assert_eq!(seam.counts(), [(TRANSACT.into(), 3)].into());
    assert_eq!(seam.items(NOTIFICATIONS).len(), 2, "nothing of a held admission is written");
    assert_eq!(seam.items(EVIDENCE).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn row_0_alone_holds_when_record_and_guard_are_long_gone() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    for item in seam.items(EVIDENCE) {
        let later = Seam::new();
        later.plant(EVIDENCE, &item);
        let held = later.adapters().await.ledger.admit(&admission("e-1", "k-1", 2), NOW).await;
        let row = HeldAdmission { row: Some(first.row.clone()), ..HeldAdmission::default() };
        assert_eq!(held, Ok(Written::Held(row)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_guard_holds_up_to_the_instant_of_its_end_although_it_is_still_there() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    let end = NOW.plus(WINDOW);
    let second = admission("e-2", "k-1", 2);
    let held = ledger.admit(&second, end.minus(Millis::new(1))).await.unwrap();
    assert!(matches!(held, Written::Held(HeldAdmission { guard: Some(_), record: None, row: None })));
    assert_eq!(ledger.admit(&second, end).await, Ok(Written::Done));
    assert_eq!(ledger.guard(&first.guard.id).await, Ok(Some(second.guard)));
}

#[tokio::test(start_paused = true)]
async fn a8_an_applied_admission_whose_answer_was_lost_is_done_at_the_sdks_own_retry() {
    for fault in [Fault::LostAfter, Fault::SilentAfter, Fault::CodeAfter(500, "InternalServerError")] {
        let seam = Seam::new();
        let ledger = seam.adapters().await.ledger;
        seam.fail_next(TRANSACT, fault.clone());
        assert_eq!(ledger.admit(&admission("e-1", "k-1", 1), NOW).await, Ok(Written::Done), "{fault:?}");
        assert_eq!(seam.count(TRANSACT), 2);
        assert_eq!(seam.items(NOTIFICATIONS).len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a8_an_admission_that_stayed_unknown_is_recognised_by_its_nonce() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    seam.fail_times(TRANSACT, 3, Fault::LostAfter);
    assert_eq!(ledger.admit(&first, NOW).await, Err(WriteFault::Unknown));
    assert_eq!(seam.count(TRANSACT), 3);
    let later = NOW.plus(Millis::from_secs(2));
    let Written::Held(held) = ledger.admit(&first, later).await.unwrap() else { panic!("it was written before") };
    let stored = held.guard.expect("its own guard");
    assert_eq!(stored.judge(&print(&command("e-1")), first.guard.nonce, later), Verdict::Own);
}

#[tokio::test(start_paused = true)]
async fn only_proof_makes_a_failed_admission_refused() {
    use Fault::{CodeBefore, LostBefore, NeverConnected, SilentBefore};
    let throttled = CodeBefore(400, "ThrottlingException");
    let cases: [(&str, Vec<Fault>, WriteFault, usize); 12] = [
        ("never connected", vec![NeverConnected; 3], WriteFault::Refused, 0),
        ("throttled", vec![throttled.clone(); 3], WriteFault::Refused, 3),
        ("denied", vec![CodeBefore(400, "AccessDeniedException")], WriteFault::Refused, 1),
        ("malformed", vec![CodeBefore(400, "ValidationException")], WriteFault::Refused, 1),
        ("conflict", vec![Fault::cancelled(&["None", "TransactionConflict", "None"])], WriteFault::Conflict, 1),
        ("no capacity", vec![Fault::cancelled(&["ThrottlingError", "None", "None"]); 3], WriteFault::Refused, 1),
        ("lost", vec![LostBefore; 3], WriteFault::Unknown, 3),
        ("silent", vec![SilentBefore; 3], WriteFault::Unknown, 3),
        ("server error", vec![CodeBefore(500, "InternalServerError"); 3], WriteFault::Unknown, 3),
        ("token known", vec![CodeBefore(400, "IdempotentParameterMismatchException")], WriteFault::Unknown, 1),
        ("lost, then throttled", vec![LostBefore, throttled.clone(), throttled], WriteFault::Unknown, 3),
        ("garbage", vec![Fault::BodyBefore(400, "<html>".into())], WriteFault::Unknown, 1),
    ];
    for (name, faults, expected, requests) in cases {
        let seam = Seam::new();
        let ledger = seam.adapters().await.ledger;
        faults.into_iter().for_each(|fault| seam.fail_next(TRANSACT, fault));
        assert_eq!(ledger.admit(&admission("e-1", "k-1", 1), NOW).await, Err(expected), "{name}");
        assert_eq!(seam.count(TRANSACT), requests, "{name}");
        assert_eq!(seam.items(NOTIFICATIONS).len(), 0, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_answer_is_waited_for_and_all_tries_together_are_bounded() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    seam.fail_next(TRANSACT, Fault::Late(Duration::from_millis(1_500)));
    assert_eq!(ledger.admit(&admission("e-1", "k-1", 1), NOW).await, Ok(Written::Done));
    assert_eq!(seam.count(TRANSACT), 1);

    seam.fail_times(TRANSACT, 3, Fault::SilentBefore);
    let begun = tokio::time::Instant::now();
    assert_eq!(ledger.admit(&admission("e-2", "k-2", 1), NOW).await, Err(WriteFault::Unknown));
    assert!(begun.elapsed() <= Duration::from_millis(5_100), "{:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_stands_in_the_way_and_cannot_be_read_leaves_it_unknown() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    let mut item = seam.item(first.guard.id.as_str()).unwrap();
    item["later_version"] = json!({"S": "x"});
    seam.plant(NOTIFICATIONS, &item);
    assert_eq!(ledger.admit(&admission("e-2", "k-1", 2), NOW).await, Err(WriteFault::Unknown));
    assert_eq!(ledger.bind(&guard(&command("e-2"), "k-1", 2), NOW).await, Err(WriteFault::Unknown));
    assert_eq!(ledger.guard(&first.guard.id).await, Err(Unreadable));
}

#[tokio::test(start_paused = true)]
async fn bind_writes_a_guard_unless_one_holds() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let (first, second) = (guard(&command("e-1"), "k-1", 1), guard(&command("e-2"), "k-1", 2));
    assert_eq!(ledger.bind(&first, NOW).await, Ok(Written::Done));
    assert_eq!(ledger.bind(&second, NOW).await, Ok(Written::Held(first.clone())));
    assert_eq!(seam.counts(), [(PUT.into(), 2)].into());
    assert_eq!(ledger.bind(&second, NOW.plus(WINDOW)).await, Ok(Written::Done));
    assert_eq!(ledger.guard(&first.id).await, Ok(Some(second)));
}

#[tokio::test(start_paused = true)]
async fn a8_a_bind_whose_answer_was_lost_meets_itself() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = guard(&command("e-1"), "k-1", 1);
    seam.fail_next(PUT, Fault::LostAfter);
    assert_eq!(ledger.bind(&first, NOW).await, Ok(Written::Held(first.clone())));
    assert_eq!(first.judge(&first.fingerprint, first.nonce, NOW), Verdict::Own);
    for (faults, expected) in [
        (vec![Fault::LostBefore; 3], WriteFault::Unknown),
        (
            vec![Fault::LostAfter, Fault::CodeBefore(400, "ThrottlingException"), Fault::NeverConnected],
            WriteFault::Unknown,
        ),
        (vec![Fault::NeverConnected; 3], WriteFault::Refused),
        (vec![Fault::CodeBefore(400, "TransactionConflictException")], WriteFault::Conflict),
    ] {
        faults.into_iter().for_each(|fault| seam.fail_next(PUT, fault));
        assert_eq!(ledger.bind(&guard(&command("e-2"), "k-2", 2), NOW).await, Err(expected));
    }
}

#[tokio::test(start_paused = true)]
async fn guard_reads_what_is_there_in_one_request() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let one = guard(&command("e-1"), "k-1", 1);
    assert_eq!(ledger.guard(&one.id).await, Ok(None));
    assert_eq!(seam.counts(), [("dynamodb:GetItem".into(), 1)].into());
    assert_eq!(seam.requests()[0].json()["ConsistentRead"], true);
    seam.fail_times("dynamodb:GetItem", 3, Fault::CodeBefore(500, "InternalServerError"));
    assert_eq!(ledger.guard(&one.id).await, Err(Unreadable));
}
