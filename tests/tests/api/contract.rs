//! The idempotency contract, row by row.

use sendonce::time::Millis;
use serde_json::json;
use tests::aws_seam::{EVIDENCE, NOTIFICATIONS, SeamClock};

use crate::harness::{Answer, Ask, EXPIRES_AT, NUMBER, Service, reset};

const DAY: Millis = Millis::from_secs(86_400);

fn at(length: Millis) -> sendonce::time::EpochMillis {
    SeamClock::START.plus(length)
}

/// A command for this event that is good at a later instant.
fn later(event_id: &str, now: Millis) -> serde_json::Value {
    let mut body = reset(event_id);
    body["expires_at"] = json!(at(now.plus(Millis::from_secs(300))).rfc3339());
    body
}

#[tokio::test(start_paused = true)]
async fn the_first_request_is_answered_202_with_its_place_and_its_times() {
    let service = Service::start().await;
    let answer = service.post(&Ask::create("\"k-1\"", &reset("evt-1"))).await;
    let id = answer.id();
    let place = format!("/v1/notifications/{id}");
    assert_eq!(
        answer.json(),
        json!({
            "id": id, "status": "accepted", "accepted_at": "2026-11-30T20:10:00.123Z",
            "expires_at": "2026-11-30T20:20:00.000Z",
            "links": {"self": place, "evidence": format!("{place}/evidence"), "cancel": format!("{place}/cancel")},
        })
    );
    assert_eq!(answer.header("location"), Some(place.as_str()));
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert!(!answer.is_replay());
    assert_eq!(service.state(&id), "accepted");
    assert_eq!(service.seam.waiting().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn same_key_same_command_is_the_first_answer_byte_for_byte_at_every_stage_of_the_notification() {
    let service = Service::start().await;
    let ask = Ask::create("k-1", &reset("evt-1"));
    let first = service.post(&ask).await;
    let check = async |stage: &str| {
        let again = service.post(&ask).await;
        assert!(again.is_replay() && again.says_the_same_as(&first), "{stage}");
    };
    check("accepted").await;
    service.deliver().await;
    check("sent").await;
    service.clock.set(at(Millis::from_secs(3_600)));
    check("expired").await;
    service.clock.set(at(DAY).minus(Millis::new(1)));
    check("the last instant of the window").await;
    assert_eq!(service.seam.texts().len(), 1);
    // The first request's bare key and its quoted form are one key.
    let quoted = service.post(&ask.clone().header("idempotency-key", "  \"k-1\" ")).await;
    assert!(quoted.says_the_same_as(&first));
    // At the window's end nothing is owed any more: the command is over.
    service.clock.set(at(DAY));
    let over = service.post(&ask).await;
    assert_eq!((over.word(), over.faults()), ("400 body_invalid".into(), vec!["/expires_at".into()]));
}

#[tokio::test(start_paused = true)]
async fn same_event_under_another_key_is_a_replay_and_that_key_is_bound_to_it() {
    let service = Service::start().await;
    let first = service.post(&Ask::create("from-the-app", &reset("evt-1"))).await;
    service.clock.advance(Millis::from_secs(5));
    let second = service.post(&Ask::create("from-the-job", &reset("evt-1"))).await;
    assert!(second.is_replay() && second.says_the_same_as(&first), "two paths converge");
    assert_eq!((service.ids().len(), service.guards()), (1, 2));
    for key in ["from-the-app", "from-the-job"] {
        let other = service.post(&Ask::create(key, &reset("evt-2"))).await;
        assert_eq!(other.word(), "409 idempotency_key_reused", "{key} is bound");
        assert!(service.post(&Ask::create(key, &reset("evt-1"))).await.says_the_same_as(&first));
    }
    service.deliver().await;
    assert_eq!(service.seam.texts().len(), 1);
    assert_eq!(service.facts(&first.id()), ["accepted", "attempt_started", "attempt_accepted"]);
}

#[tokio::test(start_paused = true)]
async fn two_keys_for_one_event_at_once_converge() {
    let service = Service::start().await;
    let asks = ["k-1", "k-2", "k-3"].map(|key| Ask::create(key, &reset("evt-1")));
    let (a, b, c) = tokio::join!(service.post(&asks[0]), service.post(&asks[1]), service.post(&asks[2]));
    assert!(a.says_the_same_as(&b) && b.says_the_same_as(&c), "three equal answers");
    assert_eq!((service.ids().len(), service.guards()), (1, 3));
    service.deliver().await;
    assert_eq!(service.seam.texts().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn same_key_other_command_is_409_and_nothing_of_it_is_applied() {
    let service = Service::start().await;
    service.post(&Ask::create("k-1", &reset("evt-1"))).await.id();
    let (before, rows) = (service.seam.items(NOTIFICATIONS), service.seam.items(EVIDENCE));
    let changes = [
        ("/event/id", json!("evt-2")),
        ("/event/type", json!("password_reset.completed")),
        ("/to", json!("+15550142974")),
        ("/message", json!("Something else")),
        ("/expires_at", json!("2026-11-30T20:19:59Z")),
    ];
    for (pointer, value) in changes {
        let mut body = reset("evt-1");
        *body.pointer_mut(pointer).expect("a member") = value;
        assert_eq!(service.post(&Ask::create("k-1", &body)).await.word(), "409 idempotency_key_reused", "{pointer}");
    }
    for (name, value) in [("sender_id", "ACME"), ("kind", "promotional")] {
        let mut body = reset("evt-1");
        body[name] = json!(value);
        assert_eq!(service.post(&Ask::create("k-1", &body)).await.word(), "409 idempotency_key_reused", "{name}");
    }
    assert!(before == service.seam.items(NOTIFICATIONS) && rows == service.seam.items(EVIDENCE), "nothing applied");
    assert_eq!(service.seam.waiting().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn same_event_other_command_is_409_and_the_new_key_stays_free() {
    let service = Service::start().await;
    let first = service.post(&Ask::create("k-1", &reset("evt-1"))).await;
    let mut other = reset("evt-1");
    other["to"] = json!("+15550142974");
    assert_eq!(service.post(&Ask::create("k-2", &other)).await.word(), "409 event_already_accepted");
    assert_eq!((service.ids(), service.guards()), (vec![first.id()], 1));
    // The key of a refused command names nothing yet.
    let second = service.post(&Ask::create("k-2", &reset("evt-2"))).await;
    assert!(!second.is_replay());
    assert_ne!(second.id(), first.id());
}

#[tokio::test(start_paused = true)]
async fn a2_a_key_that_is_missing_blank_malformed_or_repeated_is_400_for_each_tenant() {
    let service = Service::start().await;
    service.seam.forget_requests();
    let ask = Ask::create("unused", &reset("evt-1"));
    let long = "k".repeat(256);
    let cases = [
        (None, "400 idempotency_key_missing"),
        (Some(""), "400 idempotency_key_missing"),
        (Some(" "), "400 idempotency_key_missing"),
        (Some("\"\""), "400 idempotency_key_missing"),
        (Some("k-1,k-1"), "400 idempotency_key_invalid"), // two headers, as the gateway joins them
        (Some("k-1, k-2"), "400 idempotency_key_invalid"),
        (Some("\"k-1\",\"k-1\""), "400 idempotency_key_invalid"),
        (Some("k 1"), "400 idempotency_key_invalid"),
        (Some("\"k-1"), "400 idempotency_key_invalid"),
        (Some("k/1"), "400 idempotency_key_invalid"),
        (Some("\u{e9}"), "400 idempotency_key_invalid"),
        (Some(long.as_str()), "400 idempotency_key_invalid"),
    ];
    for arn in ["arn:aws:iam::123456789012:user/app", "arn:aws:iam::123456789012:user/job"] {
        for (n, (key, expected)) in cases.iter().enumerate() {
            let ask = ask.clone().by(arn).without_header("idempotency-key");
            let ask = match key {
                Some(key) => ask.header("idempotency-key", key),
                None => ask,
            };
            assert_eq!(&service.post(&ask).await.word(), expected, "case {n}");
        }
    }
    let in_body = json!({"idempotency_key": "k-1", "event": {"type": "t", "id": "e"}, "to": NUMBER, "message": "m",
        "expires_at": EXPIRES_AT});
    let ask = Ask::create("unused", &in_body).without_header("idempotency-key");
    assert_eq!(service.post(&ask).await.word(), "400 idempotency_key_missing", "it is never taken from the body");
    assert!(service.seam.counts().is_empty(), "no record, and nothing else asked for");
    assert_eq!(service.post(&Ask::create(&long[1..], &reset("evt-1"))).await.status, 202, "255 characters are a key");
}

#[tokio::test(start_paused = true)]
async fn after_the_window_a_key_is_free_for_another_event_and_only_for_that() {
    let service = Service::start().await;
    let first = service.post(&Ask::create("k-1", &reset("evt-1"))).await;
    service.deliver().await;

    service.clock.set(at(DAY).minus(Millis::new(1)));
    assert_eq!(service.post(&Ask::create("k-1", &later("evt-2", DAY))).await.word(), "409 idempotency_key_reused");
    // The item is still there when the window ends: TTL deletes days late.
    service.clock.set(at(DAY));
    assert_eq!(service.guards(), 1);
    assert_eq!(service.post(&Ask::create("k-1", &later("evt-1", DAY))).await.word(), "409 event_already_accepted");
    let second = service.post(&Ask::create("k-1", &later("evt-2", DAY))).await;
    assert!(!second.is_replay());
    assert_ne!(second.id(), first.id());
    assert_eq!(service.guards(), 1, "the old guard is replaced");
    assert!(service.post(&Ask::create("k-1", &later("evt-2", DAY))).await.says_the_same_as(&second));

    service.deliver().await;
    assert_eq!(service.seam.texts().len(), 2);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn when_record_and_guard_are_forgotten_row_0_still_refuses_and_still_answers() {
    let service = Service::start().await;
    let ask = Ask::create("k-1", &reset("evt-1"));
    let first = service.post(&ask).await;
    service.deliver().await;

    let much_later = Millis::from_secs(31 * 86_400);
    service.clock.set(at(much_later));
    service.seam.sweep_ttl();
    assert_eq!(service.seam.items(NOTIFICATIONS).len(), 0);
    let refused = service.post(&Ask::create("k-9", &later("evt-1", much_later))).await;
    assert_eq!(refused.word(), "409 event_already_accepted");

    // The very command, were it still alive by a clock that is wrong by a month, gets the answer it got.
    service.clock.set(at(Millis::from_secs(60)));
    for key in ["k-1", "k-2"] {
        let again = service.post(&Ask::create(key, &reset("evt-1"))).await;
        assert!(again.is_replay() && again.says_the_same_as(&first), "{key}");
    }
    assert_eq!((service.ids().len(), service.guards()), (0, 2));
    service.deliver().await;
    assert_eq!(service.seam.texts().len(), 1);

    // Thirteen months after acceptance nothing knows it any more.
    let forgotten = Millis::from_secs(404 * 86_400);
    service.clock.set(at(forgotten));
    service.seam.sweep_ttl();
    assert_eq!(service.seam.items(EVIDENCE).len(), 0);
    let anew: Answer = service.post(&Ask::create("k-1", &later("evt-1", forgotten))).await;
    assert!(!anew.is_replay());
    assert_eq!(anew.id(), first.id(), "one event is one notification");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_has_ended_or_lives_too_long_takes_no_key() {
    let service = Service::start().await;
    service.seam.forget_requests();
    for expires_at in
        ["2026-11-30T20:10:00.123Z", "2026-11-30T20:10:00Z", "2020-01-01T00:00:00Z", "2026-11-30T20:20:00.124Z"]
    {
        let mut body = reset("evt-1");
        body["expires_at"] = json!(expires_at);
        let answer = service.post(&Ask::create("k-1", &body)).await;
        assert_eq!((answer.word(), answer.faults()), ("400 body_invalid".into(), vec!["/expires_at".into()]));
    }
    assert_eq!(service.seam.items(NOTIFICATIONS).len() + service.seam.items(EVIDENCE).len(), 0);
    assert_eq!(service.seam.waiting().len(), 0);
    let mut longest = reset("evt-1");
    longest["expires_at"] = json!("2026-11-30T20:20:00.123Z");
    assert_eq!(service.post(&Ask::create("k-1", &longest)).await.status, 202, "the key is still free");
}
