//! Services that fail: the client is told to come again with the same key, and that is safe.

use std::time::Duration;

use sendonce::time::Millis;
use serde_json::{Value, json};
use tests::aws_seam::{EVIDENCE, Fault, NOTIFICATIONS, Seam};

use crate::harness::{
    Answer, Ask, DATA_KEY, DISPATCH_TIMEOUT, GET, PUBLISH, RING, Service, Setting, TRANSACT, Watch, doorbells, reset,
};

fn ask() -> Ask {
    Ask::create("k-1", &reset("evt-1"))
}

fn is_unavailable(answer: &Answer) -> bool {
    answer.word() == "503 unavailable" && answer.header("retry-after") == Some("1")
}

#[tokio::test(start_paused = true)]
async fn a8_a_put_that_was_applied_and_whose_answer_was_lost_is_202_through_the_sdks_retry() {
    for fault in [Fault::LostAfter, Fault::SilentAfter, Fault::CodeAfter(500, "InternalServerError")] {
        let service = Service::start().await;
        service.seam.forget_requests();
        service.seam.fail_next(TRANSACT, fault.clone());
        let answer = service.post(&ask()).await;
        assert_eq!((answer.status, answer.is_replay()), (202, false), "{fault:?}: it is the first answer, no 409");
        assert_eq!((service.seam.count(TRANSACT), service.ids().len()), (2, 1), "{fault:?}");
        assert!(service.post(&ask()).await.says_the_same_as(&answer));
        service.deliver().await;
        assert_eq!(service.seam.texts().len(), 1);
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn tries_of_one_write_are_apart_so_that_rivals_part() {
    let service = Service::flowing().await;
    let conflict = Fault::cancelled(&["TransactionConflict", "None", "None"]);
    service.seam.fail_times(TRANSACT, 2, conflict);
    let began = tokio::time::Instant::now();
    assert_eq!(service.post(&ask()).await.status, 202);
    let took = began.elapsed();
    assert!(took > Duration::ZERO && took < Duration::from_millis(40 + 80), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a8_and_through_the_flows_own_retry_when_the_sdk_has_given_up() {
    let service = Service::start().await;
    service.seam.fail_times(TRANSACT, 3, Fault::LostAfter);
    let answer = service.post(&ask()).await;
    assert_eq!((answer.status, answer.is_replay()), (202, false));
    assert_eq!((service.seam.count(TRANSACT), service.ids().len(), service.seam.waiting().len()), (4, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a8_an_own_write_is_recognised_by_its_nonce_when_the_stores_token_is_forgotten() {
    let service = Service::start().await;
    service.seam.fail_next(TRANSACT, Fault::SilentAfter);
    // The store no longer knows the request's token, and so its condition fails on the items of its own first try.
    let forgets = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let items = service.seam.items(NOTIFICATIONS);
        let of = |prefix: &str| {
            items.iter().find(|item| item["pk"]["S"].as_str().is_some_and(|pk| pk.starts_with(prefix))).cloned()
        };
        let row = service.seam.items(EVIDENCE).pop();
        let reason = |item: Option<Value>| json!({"Code": "ConditionalCheckFailed", "Item": item.expect("written")});
        let body = json!({
            "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException", "Message": "cancelled",
            "CancellationReasons": [reason(of("key#")), reason(of("ntf#")), reason(row)],
        });
        service.seam.fail_next(TRANSACT, Fault::BodyBefore(400, body.to_string()));
    };
    let ask = ask();
    let (answer, ()) = tokio::join!(service.post(&ask), forgets);
    assert_eq!((answer.status, answer.is_replay()), (202, false), "not 409, and not a replay");
    assert_eq!((service.seam.count(TRANSACT), service.seam.waiting().len()), (2, 1), "the doorbell is rung");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_unreachable_or_throttled_is_503_and_the_same_key_works_later() {
    let (applied, not) = (true, false);
    let conflict = || Fault::cancelled(&["TransactionConflict", "None", "None"]);
    let cases = [
        (Fault::NeverConnected, 3, not),
        (Fault::LostBefore, 12, not),
        (Fault::LostAfter, 12, applied),
        (Fault::SilentBefore, 12, not),
        (Fault::SilentAfter, 12, applied),
        (Fault::CodeBefore(500, "InternalServerError"), 12, not),
        (Fault::CodeAfter(503, "ServiceUnavailable"), 12, applied),
        (Fault::CodeBefore(400, "ThrottlingException"), 3, not),
        (Fault::CodeBefore(400, "ProvisionedThroughputExceededException"), 3, not),
        (Fault::CodeBefore(400, "AccessDeniedException"), 1, not),
        (Fault::CodeBefore(400, "ResourceNotFoundException"), 1, not),
        (conflict(), 4, not),
        (Fault::cancelled(&["ThrottlingError", "None", "None"]), 1, not),
        (Fault::BodyBefore(200, String::from("<html>")), 4, not),
    ];
    for (fault, times, applied) in cases {
        let service = Service::start().await;
        service.seam.fail_times(TRANSACT, times, fault.clone());
        let refused = service.post(&ask()).await;
        assert!(is_unavailable(&refused), "{fault:?}: {refused:?}");
        assert_eq!(service.ids().len(), usize::from(applied), "{fault:?}");
        assert!(service.seam.waiting().is_empty(), "{fault:?}: no doorbell for what may not be there");

        let answer = service.post(&ask()).await;
        assert_eq!((answer.status, answer.is_replay()), (202, applied), "{fault:?}");
        assert_eq!((service.ids().len(), service.guards()), (1, 1), "{fault:?}");
        // A doorbell that was never rung is reconciliation's to ring.
        service.clock.advance(Millis::from_secs(61));
        service.tick().await;
        service.deliver().await;
        assert_eq!((service.state(&answer.id()), service.seam.texts().len()), ("sent".into(), 1), "{fault:?}");
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn conflicts_with_others_are_retried_and_not_seen_by_the_client() {
    let service = Service::start().await;
    service.seam.fail_times(TRANSACT, 3, Fault::cancelled(&["None", "TransactionConflict", "None"]));
    assert_eq!(service.post(&ask()).await.status, 202);
    assert_eq!(service.seam.count(TRANSACT), 4);
}

#[tokio::test(start_paused = true)]
async fn without_a_data_key_nothing_is_written_and_the_same_key_works_later() {
    let faults = [
        (Fault::SilentBefore, 2),
        (Fault::NeverConnected, 2),
        (Fault::CodeBefore(400, "KMSInvalidStateException"), 1),
        (Fault::BodyBefore(200, String::from("{}")), 1),
    ];
    for (fault, times) in faults {
        let service = Service::start().await;
        service.clock.advance(Millis::from_secs(300)); // the data key of the cold start is too old now
        service.seam.fail_times(DATA_KEY, times, fault.clone());
        assert!(is_unavailable(&service.post(&ask()).await), "{fault:?}");
        assert_eq!((service.seam.items(NOTIFICATIONS).len(), service.seam.count(TRANSACT)), (0, 0), "{fault:?}");
        let answer = service.post(&ask()).await;
        assert_eq!((answer.status, answer.is_replay()), (202, false), "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cold_admission_that_is_given_no_mac_root_does_not_start() {
    let seam = Seam::new();
    let (setting, watch) = (Setting::of(&seam, &[]).await, Watch::new(seam.clock()));
    seam.fail_next("kms:GenerateMac", Fault::CodeBefore(400, "AccessDeniedException"));
    let error = setting.admission(watch.clone()).await.expect_err("no command could be told from another").to_string();
    assert!(error.contains("MAC_KEY_ID") && error.contains("kms:GenerateMac"), "{error}");
    // A data key and a read can wait.
    seam.fail_times(DATA_KEY, 2, Fault::SilentBefore);
    seam.fail_times(GET, 3, Fault::SilentBefore);
    assert!(setting.admission(watch).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_doorbell_that_does_not_ring_is_202_and_reconciliation_rings_it() {
    for (times, fault) in [
        (2, Fault::SilentBefore),
        (2, Fault::LostBefore),
        (2, Fault::NeverConnected),
        (1, Fault::CodeBefore(403, "AccessDenied")),
    ] {
        let service = Service::start().await;
        service.seam.fail_times(RING, times, fault.clone());
        let answer = service.post(&ask()).await;
        assert_eq!((answer.status, answer.is_replay()), (202, false), "{fault:?}");
        assert!(service.seam.waiting().is_empty(), "{fault:?}");
        service.clock.advance(Millis::from_secs(59));
        assert_eq!(service.tick().await["examined"], 0, "{fault:?}: not before its time");
        service.clock.advance(Millis::from_secs(1));
        assert_eq!(service.tick().await["rung"], 1, "{fault:?}");
        assert_eq!(service.facts(&answer.id()), ["accepted", "doorbell_rung"]);
        service.deliver().await;
        assert_eq!((service.state(&answer.id()), service.seam.texts().len()), ("sent".into(), 1), "{fault:?}");
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn dispatch_attempts_nothing_while_it_cannot_record_it() {
    let refusing = [
        (GET, 3, Fault::SilentBefore),
        (GET, 3, Fault::CodeBefore(400, "ThrottlingException")),
        (GET, 1, Fault::CodeBefore(400, "AccessDeniedException")),
        (TRANSACT, 1, Fault::CodeBefore(400, "AccessDeniedException")),
        (TRANSACT, 3, Fault::CodeBefore(400, "ThrottlingException")),
        (TRANSACT, 12, Fault::LostBefore),
        (TRANSACT, 4, Fault::cancelled(&["TransactionConflict", "None"])),
    ];
    for (operation, times, fault) in refusing {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.seam.fail_times(operation, times, fault.clone());
        let event = doorbells(&service.seam.receive(1));
        let failed = service.batch_to(&service.dispatch, &event, DISPATCH_TIMEOUT).await;
        assert_eq!(failed.map(|failed| failed.len()), Ok(1), "{operation} {fault:?}");
        assert_eq!((service.seam.count(PUBLISH), service.state(&id)), (0, "accepted".into()), "{operation} {fault:?}");
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_cannot_be_recorded_is_never_another_call() {
    for fault in [Fault::CodeBefore(400, "AccessDeniedException"), Fault::LostBefore, Fault::SilentBefore] {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.seam.fail_next(TRANSACT, Fault::Late(Duration::ZERO)); // the start is recorded
        service.seam.fail_times(TRANSACT, 12, fault.clone());
        let event = doorbells(&service.seam.receive(1));
        let failed = service.batch_to(&service.dispatch, &event, DISPATCH_TIMEOUT).await;
        assert_eq!(failed.map(|failed| failed.len()), Ok(1), "{fault:?}");
        assert_eq!((service.seam.count(PUBLISH), service.state(&id)), (1, "sending".into()), "{fault:?}");
        // Whatever is left of the plan is met now; redelivery looks, and calls nobody.
        for _ in 0..12 {
            assert_eq!(service.batch_to(&service.dispatch, &event, DISPATCH_TIMEOUT).await, Ok(vec![]), "{fault:?}");
        }
        service.clock.advance(Millis::from_secs(600));
        for _ in 0..14 {
            service.tick().await;
        }
        assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (1, 1), "{fault:?}");
        assert_eq!(service.state(&id), "stopped:expired_unresolved", "{fault:?}");
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_whose_answer_is_lost_is_recorded_once() {
    for fault in [Fault::LostAfter, Fault::SilentAfter, Fault::CodeAfter(500, "InternalServerError")] {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.seam.fail_times(TRANSACT, 2, fault.clone()); // of the start, and its retry
        assert!(service.deliver().await.is_empty(), "{fault:?}");
        assert_eq!(service.facts(&id), ["accepted", "attempt_started", "attempt_accepted"], "{fault:?}");
        assert_eq!(service.seam.count(PUBLISH), 1, "{fault:?}");
        service.assert_sound().await;
    }
}
