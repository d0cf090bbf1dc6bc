//! One command, however often and however it comes, is one notification and one text.

use std::time::Duration;

use futures_util::future::join_all;
use sendonce::time::Millis;
use serde_json::json;
use tests::aws_seam::{EVIDENCE, Fault};
use tokio::time::sleep;

use crate::harness::{Ask, Service, TRANSACT, reset};

#[tokio::test(start_paused = true)]
async fn a1_two_at_once_and_a_third_later_are_one_notification_and_three_equal_answers() {
    let service = Service::start().await;
    let other = service.setting.admission(service.watch()).await.expect("started");
    let ask = Ask::create("k-1", &reset("evt-1"));

    let (first, second) = tokio::join!(service.post(&ask), service.post_to(&other, &ask));
    service.clock.advance(Millis::from_secs(90));
    let third = service.post(&ask).await;

    assert_eq!([&first, &second, &third].map(|answer| answer.status), [202; 3]);
    assert!(first.says_the_same_as(&second) && first.says_the_same_as(&third), "three equal answers");
    assert_eq!([&first, &second, &third].iter().filter(|answer| answer.is_replay()).count(), 2);
    assert_eq!((service.ids().len(), service.guards()), (1, 1));
    assert_eq!(service.facts(&first.id()), ["accepted"]);

    assert!(service.deliver().await.is_empty());
    assert_eq!(service.seam.texts().len(), 1);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a1_many_at_once_on_two_environments_lose_to_exactly_one() {
    let service = Service::start().await;
    let other = service.setting.admission(service.watch()).await.expect("started");
    let ask = Ask::create("k-1", &reset("evt-1"));
    let here = join_all((0..20).map(|_| service.post(&ask)));
    let there = join_all((0..20).map(|_| service.post_to(&other, &ask)));
    let (here, there) = tokio::join!(here, there);
    let answers = [here, there].concat();
    assert!(answers.iter().all(|answer| answer.says_the_same_as(&answers[0])), "all answers are equal");
    assert_eq!(answers.iter().filter(|answer| !answer.is_replay()).count(), 1);
    assert_eq!((service.ids().len(), service.seam.items(EVIDENCE).len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a12_the_same_request_twice_within_50_ms_is_one_send_and_two_equal_answers() {
    for first_is_slow in [true, false] {
        let service = Service::start().await;
        let ask = Ask::create("k-1", &reset("evt-1"));
        if first_is_slow {
            // The first is overtaken on its way to the store by the second.
            service.seam.fail_next(TRANSACT, Fault::Late(Duration::from_millis(120)));
        }
        let later = async {
            sleep(Duration::from_millis(50)).await;
            service.clock.advance(Millis::new(50));
            service.post(&ask).await
        };
        let (first, second) = tokio::join!(service.post(&ask), later);
        assert!(first.says_the_same_as(&second), "two equal answers");
        assert_eq!([first.is_replay(), second.is_replay()], [first_is_slow, !first_is_slow]);
        service.deliver().await;
        assert_eq!(service.seam.texts().len(), 1);
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a4_another_command_under_a_used_key_is_409_warm_cold_and_later() {
    let service = Service::start().await;
    let a = service.post(&Ask::create("k-1", &reset("evt-1"))).await;
    let mut other_text = reset("evt-1");
    other_text["message"] = json!("Another text.");
    for body in [reset("evt-2"), other_text] {
        let b = Ask::create("k-1", &body);
        let warm = service.post(&b).await;
        let cold = service.cold().await.post(&b).await;
        assert_eq!([warm.word(), cold.word()], ["409 idempotency_key_reused"; 2]);
        assert!(warm == cold, "the same bytes");
    }

    // Later: while A can still be sent, after it was sent, after both have expired, and at the end of the window.
    let b = Ask::create("k-1", &reset("evt-2"));
    for minutes in [2, 9, 60, 23 * 60] {
        service.clock.set(tests::aws_seam::SeamClock::START.plus(Millis::from_secs(minutes * 60)));
        service.deliver().await;
        assert_eq!(service.post(&b).await.word(), "409 idempotency_key_reused", "after {minutes} min");
        assert_eq!(service.cold().await.post(&b).await.word(), "409 idempotency_key_reused", "after {minutes} min");
    }
    assert_eq!(service.ids(), [a.id()]);
    assert_eq!(service.seam.texts().len(), 1);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a5_the_same_json_spelled_differently_is_a_replay() {
    let service = Service::start().await;
    let first = service.post(&Ask::create("k-1", &reset("evt-1"))).await;
    let message = reset("evt-1")["message"].as_str().expect("text").to_owned();
    let escaped: String = message.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let to = reset("evt-1")["to"].clone();
    let event = r#"{ "id" : "evt-1","type":"password_reset.requested" }"#;
    let spellings = [
        format!(r#"{{"message":"{message}","expires_at":"2026-11-30T20:20:00Z","to":{to},"event":{event}}}"#),
        format!(
            "\r\n\t{{ \"to\" : {to},\n \"event\":{event}, \"message\":\"{escaped}\",\n\"expires_at\":\"2026-11-30T20:20:00Z\" }} \n"
        ),
        format!(r#"{{"expires_at":"2026-11-30T21:20:00.000+01:00","to":{to},"event":{event},"message":"{message}"}}"#),
        format!(
            r#"{{"kind":"transactional","expires_at":"2026-11-30T20:20:00.0Z","to":{to},"event":{event},"message":"{message}"}}"#
        ),
    ];
    for (n, body) in spellings.iter().enumerate() {
        let ask = Ask::create_raw("\"k-1\"", body).header("accept-language", ["de-DE", "tr-TR"][n % 2]);
        let again = service.post(&ask).await;
        assert!(again.is_replay() && again.says_the_same_as(&first), "spelling {n}");
    }
    assert_eq!(service.ids().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a5_nothing_inside_the_text_is_normalised() {
    let service = Service::start().await;
    let mut body = reset("evt-1");
    body["message"] = json!("Caf\u{e9} ");
    service.post(&Ask::create("k-1", &body)).await.id();
    for other in ["Cafe\u{301} ", "Caf\u{e9}", "caf\u{e9} ", "Caf\u{e9}\u{a0}"] {
        body["message"] = json!(other);
        assert_eq!(service.post(&Ask::create("k-1", &body)).await.word(), "409 idempotency_key_reused");
    }
}

#[tokio::test(start_paused = true)]
async fn a6_ids_that_are_big_numbers_are_never_equal() {
    let service = Service::start().await;
    // As numbers they are refused: a parser may have rounded them already.
    for number in ["9007199254740993", "9007199254740992", "9007199254740993.0", "9.007199254740993e15", "1", "-0"] {
        let body = reset("ID").to_string().replace("\"ID\"", number);
        let answer = service.post(&Ask::create_raw("k-n", &body)).await;
        assert_eq!((answer.word(), answer.faults()), ("400 body_invalid".into(), vec!["/event/id".into()]), "{number}");
    }
    // As text they stay apart.
    let odd = service.post(&Ask::create("k-1", &reset("9007199254740993"))).await;
    let even = service.post(&Ask::create("k-2", &reset("9007199254740992"))).await;
    assert_ne!(odd.id(), even.id());
    let crossed = service.post(&Ask::create("k-1", &reset("9007199254740992"))).await;
    assert_eq!(crossed.word(), "409 idempotency_key_reused");
    assert_eq!(service.ids().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a9_ttl_is_an_integer_of_ten_digits_in_seconds_inside_the_expected_minute() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    assert_eq!(service.record(&id).get("ttl"), None, "nothing open is ever forgotten");
    service.deliver().await;

    let accepted = 1_796_069_400; // the seam's clock starts there, and stood still
    let (day, items) = (86_400, service.seam.items(tests::aws_seam::NOTIFICATIONS));
    let guard = items.iter().find(|item| item["pk"]["S"].as_str().is_some_and(|pk| pk.starts_with("key#")));
    let rows = service.seam.items(EVIDENCE);
    let expected = [(guard.expect("a guard"), accepted + 2 * day), (&service.record(&id), accepted + 30 * day)];
    for (item, at) in expected.into_iter().chain(rows.iter().map(|row| (row, accepted + 403 * day))) {
        let ttl = item["ttl"]["N"].as_str().expect("a number");
        assert!(ttl.len() == 10 && ttl.bytes().all(|byte| byte.is_ascii_digit()), "{ttl}");
        let seconds: i64 = ttl.parse().expect("an integer");
        assert!((at..at + 60).contains(&seconds), "{seconds} is not in the minute after {at}");
    }
}

#[tokio::test(start_paused = true)]
async fn a10_a_renamed_or_redeployed_function_still_knows_what_it_took() {
    let service = Service::start().await;
    let ask = Ask::create("k-1", &reset("evt-1"));
    let before = service.post(&ask).await;
    for (name, version) in [("renamed-admission", "$LATEST"), ("renamed-admission", "7"), ("blue", "live-8")] {
        let renamed = service.cold().await;
        renamed.rename(name, version);
        let after = renamed.post(&ask).await;
        assert!(after.is_replay() && after.says_the_same_as(&before), "{name} {version}");
        let reused = renamed.post(&Ask::create("k-1", &reset("evt-2"))).await;
        assert_eq!(reused.word(), "409 idempotency_key_reused", "{name} {version}");
    }
    assert_eq!(service.ids().len(), 1);

    // The version that wrote is in the evidence all the same.
    let renamed = service.cold().await;
    renamed.rename("blue", "9");
    renamed.deliver().await;
    let actor = renamed.rows(&before.id())[1]["actor"].as_str().expect("text").to_owned();
    assert!(actor.starts_with("dispatch/9/8d3b4d5e-"), "{actor}");
}
