//! Batches: each message for itself, and only those that were not answered come again.

use std::time::Duration;

use sendonce::time::Millis;
use serde_json::{Value, json};
use tests::aws_seam::{Fault, NOTIFICATIONS};

use crate::harness::{
    Ask, DECRYPT, DISPATCH_TIMEOUT, GET, NUMBER, PUBLISH, Service, TOKEN, TRANSACT, doorbells, message, reset,
};

async fn admit(service: &Service, range: std::ops::Range<usize>) -> Vec<String> {
    let mut ids = Vec::new();
    for n in range {
        ids.push(service.admit(&format!("evt-{n}")).await);
    }
    ids
}

#[tokio::test(start_paused = true)]
async fn s12_a_batch_of_ten_whose_fourth_fails_and_that_comes_twice_more_is_ten_sends() {
    let service = Service::start().await;
    let ids = admit(&service, 0..10).await;
    let batch = service.seam.receive(10);
    service.seam.fail_times(GET, 3, Fault::Late(Duration::ZERO));
    service.seam.fail_next(GET, Fault::CodeBefore(400, "AccessDeniedException"));
    assert_eq!(service.batch(&batch).await, [batch[3].id.clone()], "only the fourth comes again");
    assert_eq!(service.seam.texts().len(), 9);

    assert!(service.batch(&batch).await.is_empty());
    assert!(service.cold().await.batch(&batch).await.is_empty());
    assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (10, 10));
    assert!(ids.iter().all(|id| service.state(id) == "sent"));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn s12_a_fourth_that_the_provider_never_answers_is_not_a_failure_of_its_batch() {
    let service = Service::start().await;
    let ids = admit(&service, 0..10).await;
    let batch = service.seam.receive(10);
    service.seam.fail_times(PUBLISH, 3, Fault::Late(Duration::ZERO));
    service.seam.fail_next(PUBLISH, Fault::SilentAfter);
    for _ in 0..3 {
        assert!(service.batch(&batch).await.is_empty(), "unknown is an outcome too, and durable");
    }
    assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (10, 10));
    let states: Vec<_> = ids.iter().map(|id| service.state(id)).collect();
    assert_eq!(states.iter().filter(|state| *state == "sent").count(), 9);
    assert_eq!(states.iter().filter(|state| *state == "dispatch_unknown").count(), 1);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_batch_of_ten_under_one_data_key_asks_kms_once_and_a_key_that_is_known_not_at_all() {
    let service = Service::start().await;
    admit(&service, 0..10).await;
    assert!(service.deliver().await.is_empty());
    assert_eq!((service.seam.count(DECRYPT), service.seam.texts().len()), (1, 10));
    admit(&service, 10..12).await;
    service.deliver().await;
    assert_eq!(service.seam.count(DECRYPT), 1);
    // The next data key is another.
    service.clock.advance(Millis::from_secs(301));
    let mut body = reset("evt-12");
    body["expires_at"] = json!("2026-11-30T20:25:00Z");
    service.post(&Ask::create("k-12", &body)).await.id();
    service.deliver().await;
    assert_eq!((service.seam.count(DECRYPT), service.seam.texts().len()), (2, 13));
}

#[tokio::test(start_paused = true)]
async fn malformed_messages_fail_one_by_one_and_the_others_are_sent() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    let good = service.seam.receive(1).remove(0);
    let bodies = [
        String::new(),
        String::from("null"),
        String::from("[]"),
        String::from("{"),
        format!("{NUMBER} {TOKEN}"),
        json!({"v": 2, "id": id}).to_string(),
        json!({"v": 1, "id": id, "to": NUMBER}).to_string(),
        json!({"v": 1, "id": id.to_uppercase()}).to_string(),
        json!({"v": 1, "id": format!("ntf#{id}")}).to_string(),
        json!({"v": 1}).to_string(),
        json!({"v": 1, "id": [id]}).to_string(),
        format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
    ];
    let mut records: Vec<Value> =
        bodies.iter().enumerate().map(|(n, body)| message(&format!("bad-{n}"), body, 1)).collect();
    let mut bodiless = message("bad-12", "", 1);
    bodiless.as_object_mut().expect("a message").remove("body");
    records.push(bodiless);
    records.insert(5, message(&good.id, &good.body, 1));
    let failed = service.batch_to(&service.dispatch, &json!({"Records": records}), DISPATCH_TIMEOUT).await;
    let expected: Vec<_> = (0..=12).map(|n| format!("bad-{n}")).collect();
    assert_eq!(failed, Ok(expected), "they end in the dead-letter queue");
    assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1));
}

#[tokio::test(start_paused = true)]
async fn a_doorbell_for_nothing_is_answered() {
    let service = Service::start().await;
    let absent = format!(r#"{{"v":1,"id":"ntf_{}"}}"#, "a".repeat(32));
    let event = json!({"Records": [message("m-1", &absent, 1)]});
    assert_eq!(service.batch_to(&service.dispatch, &event, DISPATCH_TIMEOUT).await, Ok(vec![]));
    assert_eq!(service.seam.count(PUBLISH), 0);
}

#[tokio::test(start_paused = true)]
async fn events_that_are_no_batch_fail_whole_and_say_nothing_of_themselves() {
    let service = Service::start().await;
    service.seam.forget_requests();
    let mut nameless = message("m-1", "{}", 1);
    nameless.as_object_mut().expect("a message").remove("messageId");
    let events = [
        json!(null),
        json!([]),
        json!({}),
        json!("batch"),
        json!({"Records": null}),
        json!({"Records": {}}),
        json!({"Records": [7]}),
        json!({"Records": [format!("{NUMBER} {TOKEN}")]}),
        json!({"Records": [nameless]}),
        json!({"Records": [message("", "{}", 1)]}),
        json!({"Records": [{"messageId": "m-1", "body": {"to": NUMBER}}]}),
        Ask::create("k-1", &reset("evt-1")).0,
    ];
    for (n, event) in events.iter().enumerate() {
        let answer = service.batch_to(&service.dispatch, event, DISPATCH_TIMEOUT).await;
        let error = answer.expect_err("there is no item to fail");
        assert!(!error.contains(TOKEN) && !error.contains(&NUMBER[1..]), "event {n} is said back");
    }
    let empty = service.batch_to(&service.dispatch, &json!({"Records": []}), DISPATCH_TIMEOUT).await;
    assert_eq!(empty, Ok(vec![]));
    assert!(service.seam.counts().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_one_failed_item_and_the_others_are_sent() {
    let service = Service::start().await;
    let ids = admit(&service, 0..3).await;
    let clock = service.watch().panicking(1);
    let panicking = service.setting.dispatch(clock.clone()).await;
    let batch = service.seam.receive(10);
    let failed =
        service.batch_to(&panicking, &doorbells(&batch), DISPATCH_TIMEOUT).await.expect("the batch is answered");
    assert!(clock.has_panicked(), "it has panicked");
    assert_eq!((failed.len(), service.seam.texts().len()), (1, 2));

    assert!(service.batch(&batch).await.is_empty(), "the environment goes on");
    assert_eq!(service.seam.texts().len(), 3);
    assert!(ids.iter().all(|id| service.state(id) == "sent"));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_opened_is_never_attempted() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    let other = service.admit("evt-2").await;
    // The other notification's envelope, moved here.
    let mut moved = service.record(&id);
    moved["seal"] = service.record(&other)["seal"].clone();
    service.seam.plant(NOTIFICATIONS, &moved);
    for _ in 0..3 {
        let failed = service.deliver().await;
        assert_eq!(failed.len(), 1, "not answered: it ends in the dead-letter queue");
        service.clock.advance(Millis::from_secs(180));
    }
    assert_eq!((service.seam.count(PUBLISH), service.facts(&id)), (1, vec!["accepted".into()]));
    assert_eq!(service.state(&other), "sent");
    service.clock.advance(Millis::from_secs(60));
    service.tick().await;
    assert_eq!(service.state(&id), "stopped:expired_before_attempt", "and is settled all the same");
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn while_kms_gives_no_key_nothing_is_attempted_and_later_it_is_sent() {
    for fault in [
        Fault::SilentBefore,
        Fault::CodeBefore(400, "ThrottlingException"),
        Fault::CodeBefore(500, "KMSInternalException"),
    ] {
        let service = Service::start().await;
        let ids = admit(&service, 0..3).await;
        service.seam.fail_times(DECRYPT, 2, fault.clone());
        let batch = service.seam.receive(10);
        assert_eq!(service.batch(&batch).await.len(), 3, "{fault:?}");
        assert_eq!((service.seam.count(TRANSACT), service.seam.count(PUBLISH)), (3, 0), "{fault:?}: nothing recorded");
        assert!(service.batch(&batch).await.is_empty());
        assert!(ids.iter().all(|id| service.state(id) == "sent"));
        service.assert_sound().await;
    }
}
