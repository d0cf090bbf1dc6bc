//! Unknowns looked up in SNS's delivery log: exact by a message's name, probable by number and time, or not at all.

use sendonce::time::{EpochMillis, Millis};
use serde_json::{Value, json};
use tests::aws_seam::{Fault, SNS_LOG_GROUP};

use crate::harness::{EXPIRES_AT_MS, LogRow, PUBLISH, Service, pushed};

const FILTER: &str = "logs:FilterLogEvents";

/// From when on an attempt that began now can be paired: its lease, the clocks, and the index.
const PAIRABLE: Millis = Millis::from_secs(100);

/// A text that the provider took without answering; its notification, and its message's name.
async fn unknown(service: &Service, event_id: &str) -> (String, String) {
    let id = service.admit(event_id).await;
    service.seam.fail_next(PUBLISH, Fault::SilentAfter);
    service.deliver().await;
    assert_eq!(service.state(&id), "dispatch_unknown");
    let text = service.seam.texts().pop().expect("a text");
    (id, text.message_id)
}

fn write(service: &Service, row: &LogRow) {
    service.seam.write_log(&row.group(), service.seam_now(), &row.text());
}

impl Service {
    fn seam_now(&self) -> EpochMillis {
        sendonce::ports::Clock::now(&self.clock)
    }
}

#[tokio::test(start_paused = true)]
async fn one_text_and_one_row_are_a_probable_pair_once_all_texts_to_the_number_can_be_seen() {
    let service = Service::start().await;
    let (id, message) = unknown(&service, "evt-1").await;
    write(&service, &LogRow::taken(&message, service.seam_now()));
    service.clock.advance(PAIRABLE.plus(Millis::new(-1)));
    assert_eq!(service.tick().await["examined"], 0, "too early to tell");
    service.clock.advance(Millis::new(1));
    assert_eq!(service.tick().await["reconciled"], 1);
    assert_eq!((service.state(&id), service.facts(&id)[3].as_str()), ("sent".into(), "reconciled_accepted:sns_log"));
    let row = &service.rows(&id)[3];
    assert_eq!((&row["strength"], &row["message_id"]), (&json!("probable"), &json!(message)));
    assert_eq!(service.seam.count(PUBLISH), 1);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_row_of_failure_settles_it_as_undelivered() {
    let service = Service::start().await;
    let (id, message) = unknown(&service, "evt-1").await;
    write(&service, &LogRow::failed(&message, service.seam_now(), "Phone carrier has blocked this message"));
    service.clock.advance(PAIRABLE);
    service.tick().await;
    assert_eq!(service.facts(&id)[3..], ["reconciled_accepted:sns_log", "undelivered:blocked_by_carrier:sns_log"]);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_row_that_names_another_texts_message_is_that_ones_and_the_rest_pair() {
    let service = Service::start().await;
    let sent = service.admit("evt-0").await;
    service.deliver().await;
    let taken = service.seam.texts().pop().expect("a text").message_id;
    let (id, message) = unknown(&service, "evt-1").await;
    write(&service, &LogRow::taken(&taken, service.seam_now()));
    service.clock.advance(PAIRABLE);
    assert_eq!(service.tick().await["sought"], 1, "the other one's row is not evidence of this one");
    assert_eq!(service.state(&id), "dispatch_unknown");
    write(&service, &LogRow::taken(&message, service.seam_now().minus(PAIRABLE)));
    service.clock.advance(Millis::from_secs(60));
    assert_eq!(service.tick().await["reconciled"], 1);
    assert_eq!((service.state(&id), service.state(&sent)), ("sent".into(), "sent".into()));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn two_unknowns_and_one_row_stay_two_unknowns() {
    let service = Service::start().await;
    let (one, message) = unknown(&service, "evt-1").await;
    let (two, _) = unknown(&service, "evt-2").await;
    write(&service, &LogRow::taken(&message, service.seam_now()));
    service.clock.advance(PAIRABLE);
    assert_eq!(service.tick().await["sought"], 2);
    for id in [&one, &two] {
        assert_eq!(service.rows(id)[3]["finding"], "ambiguous");
        assert_eq!(service.state(id), "dispatch_unknown");
    }
    service.clock.advance(Millis::from_secs(600));
    service.tick().await;
    assert_eq!(service.state(&one), "stopped:expired_unresolved");
    assert_eq!(service.seam.count(PUBLISH), 2);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn pages_are_followed_through_empty_ones_and_a_group_that_is_not_there() {
    let service = Service::start().await;
    let (id, message) = unknown(&service, "evt-1").await;
    let elsewhen = service.seam_now().minus(Millis::from_secs(86_400));
    for n in 0..7 {
        let other = LogRow::taken(&format!("00000000-0000-4000-8000-0000000001{n:02}"), elsewhen);
        service.seam.write_log(SNS_LOG_GROUP, service.seam_now(), &other.text());
    }
    write(&service, &LogRow::taken(&message, service.seam_now()));
    service.clock.advance(PAIRABLE);
    assert_eq!(service.tick().await["reconciled"], 1);
    assert_eq!(service.seam.count(FILTER), 4, "three pages of one group, and the other is not there");
    assert_eq!(service.state(&id), "sent");
    let asked = service.seam.requests().into_iter().find(|request| request.operation == FILTER).expect("asked");
    let asked: Value = asked.json();
    assert!(asked["filterPattern"].as_str().is_some_and(|pattern| pattern.contains("2026-11-30 20:10*")));
    assert!(asked["endTime"].is_null(), "rows are written days later");
}

#[tokio::test(start_paused = true)]
async fn a_row_that_is_written_late_is_found_while_the_unknown_lives() {
    let service = Service::start().await;
    let (id, message) = unknown(&service, "evt-1").await;
    let published = service.seam_now();
    service.clock.advance(Millis::from_secs(300));
    assert_eq!(service.tick().await["sought"], 1);
    write(&service, &LogRow::taken(&message, published));
    service.clock.advance(Millis::from_secs(60));
    assert_eq!(service.tick().await["reconciled"], 1);
    assert_eq!(service.state(&id), "sent");
}

#[tokio::test(start_paused = true)]
async fn a_log_that_cannot_be_read_decides_nothing_and_is_read_by_the_next_tick() {
    for fault in [
        Fault::CodeBefore(400, "AccessDeniedException"),
        Fault::CodeBefore(400, "ThrottlingException"),
        Fault::SilentBefore,
        Fault::BodyBefore(200, String::from("<html>")),
    ] {
        let service = Service::start().await;
        let (id, message) = unknown(&service, "evt-1").await;
        write(&service, &LogRow::taken(&message, service.seam_now()));
        service.clock.advance(PAIRABLE);
        service.seam.fail_times(FILTER, 2, fault.clone());
        let tally = service.tick().await;
        assert_eq!((&tally["failed"], service.rows(&id).len()), (&json!(1), 3), "{fault:?}");
        let next = [service.tick().await, service.tick().await];
        assert!(next.iter().any(|tally| tally["reconciled"] == 1), "{fault:?}");
        assert_eq!(service.state(&id), "sent");
    }
}

/// As [`unknown`], and nothing that would have been due before it expired was looked at.
async fn unknown_at_its_end(service: &Service) -> (String, String) {
    let (id, message) = unknown(service, "evt-1").await;
    write(service, &LogRow::taken(&message, service.seam_now()));
    service.clock.advance(EpochMillis::new(EXPIRES_AT_MS).since(service.seam_now()));
    (id, message)
}

#[tokio::test(start_paused = true)]
async fn at_its_end_an_unknown_is_looked_up_once_more_and_what_is_found_counts() {
    let service = Service::start().await;
    let (id, _) = unknown_at_its_end(&service).await;
    assert_eq!(service.tick().await["reconciled"], 1);
    assert_eq!(service.state(&id), "sent");
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn at_its_end_an_unknown_waits_three_minutes_for_a_log_that_cannot_be_read() {
    for is_read_in_time in [true, false] {
        let service = Service::start().await;
        let (id, _) = unknown_at_its_end(&service).await;
        service.seam.fail_times(FILTER, 2, Fault::CodeBefore(400, "AccessDeniedException"));
        for wait in [Millis::ZERO, Millis::new(179_999)] {
            service.clock.advance(wait);
            assert_eq!(service.tick().await["failed"], 1);
            assert_eq!(service.state(&id), "dispatch_unknown");
        }
        if !is_read_in_time {
            service.clock.advance(Millis::new(1));
            service.seam.fail_times(FILTER, 1, Fault::CodeBefore(400, "AccessDeniedException"));
        }
        service.tick().await;
        let end = if is_read_in_time { "sent" } else { "stopped:expired_unresolved" };
        assert_eq!(service.state(&id), end);
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_that_ends_before_it_can_be_told_from_others_is_not_looked_up() {
    for (left, looks) in [(PAIRABLE, true), (PAIRABLE.plus(Millis::new(-1)), false)] {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.clock.advance(EpochMillis::new(EXPIRES_AT_MS).minus(left).since(service.seam_now()));
        service.seam.fail_next(PUBLISH, Fault::SilentAfter);
        service.deliver().await;
        service.clock.advance(left);
        service.tick().await;
        assert_eq!(service.state(&id), "stopped:expired_unresolved");
        assert_eq!(service.seam.count(FILTER) > 0, looks, "with {left:?} left");
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_row_that_is_pushed_too_early_to_tell_comes_again_and_then_pairs() {
    let service = Service::start().await;
    let (id, message) = unknown(&service, "evt-1").await;
    let row = LogRow::taken(&message, service.seam_now());
    write(&service, &row);
    let push = pushed(&[row.text()]);
    assert!(service.reconcile(&push).await.is_err(), "held");
    assert_eq!(service.state(&id), "dispatch_unknown");
    service.clock.advance(Millis::from_secs(180));
    assert_eq!(service.reconcile(&push).await.expect("taken in")["merged"], 1);
    assert_eq!((service.state(&id), &service.rows(&id)[3]["strength"]), ("sent".into(), &json!("probable")));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_row_that_comes_after_the_end_is_noted_and_reopens_nothing() {
    let service = Service::start().await;
    let (id, message) = unknown(&service, "evt-1").await;
    let row = LogRow::taken(&message, service.seam_now());
    service.clock.advance(Millis::from_secs(600));
    service.tick().await;
    assert_eq!(service.state(&id), "stopped:expired_unresolved");
    service.clock.advance(Millis::from_secs(72 * 3_600));
    write(&service, &row);
    assert_eq!(service.reconcile(&pushed(&[row.text()])).await.expect("taken in")["merged"], 1);
    assert_eq!(service.state(&id), "stopped:expired_unresolved");
    assert!(service.facts(&id).iter().any(|fact| fact.starts_with("receipt_noted")));
    assert_eq!(service.seam.count(PUBLISH), 1);
    service.assert_sound().await;
}
