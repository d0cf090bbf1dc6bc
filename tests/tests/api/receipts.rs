//! What providers report, pushed or queued: known to the notification it is about, whatever order it comes in.

use std::time::Duration;

use data_encoding::BASE64;
use sendonce::ports::Clock;
use sendonce::time::Millis;
use serde_json::{Value, json};
use tests::aws_seam::Fault;
use tracing::Level;

use crate::harness::{
    GET, Lines, LogRow, NUMBER, PUBLISH, Service, TOKEN, TRANSACT, eum_event, pushed, queued, traces,
};

const MINUTE: Millis = Millis::from_secs(60);

/// A text that the provider took and answered for; its notification, and its message's name.
async fn sent(service: &Service) -> (String, String) {
    let id = service.admit("evt-1").await;
    service.deliver().await;
    assert_eq!(service.state(&id), "sent");
    let text = service.seam.texts().pop().expect("a text");
    (id, text.message_id)
}

fn attempt(service: &Service, id: &str) -> String {
    service.record(id)["att"]["S"].as_str().expect("an attempt").to_owned()
}

async fn push(service: &Service, rows: &[LogRow]) -> Result<Value, String> {
    service.reconcile(&pushed(&rows.iter().map(LogRow::text).collect::<Vec<_>>())).await
}

/// Hands bodies to reconciliation as one batch; the messages that must come again.
async fn queue(service: &Service, bodies: &[String]) -> Vec<Value> {
    let answer = service.reconcile(&queued(bodies)).await.expect("a batch is answered");
    let failures = answer["batchItemFailures"].as_array().cloned().expect("failures");
    failures.into_iter().map(|failure| failure["itemIdentifier"].clone()).collect()
}

fn counts(merged: u32, for_nobody: u32, malformed: u32) -> Value {
    json!({"merged": merged, "for_nobody": for_nobody, "held": 0, "malformed": malformed})
}

#[tokio::test(start_paused = true)]
async fn r1_accepted_and_then_no_quota_left_is_undelivered_for_a_reason_and_nothing_is_sent_again() {
    let service = Service::start().await;
    let (id, message) = sent(&service).await;
    let row = LogRow::failed(&message, service.clock.now(), "No quota left for account");
    assert_eq!(push(&service, std::slice::from_ref(&row)).await, Ok(counts(1, 0, 0)));
    assert_eq!(service.state(&id), "undelivered");
    assert_eq!(service.facts(&id)[3], "undelivered:quota_exhausted:sns_log");
    assert_eq!(service.rows(&id)[3]["strength"], "exact");
    // The same again adds nothing, and no sweep makes another text of it.
    assert_eq!(push(&service, &[row.clone(), row]).await, Ok(counts(2, 0, 0)));
    for _ in 0..20 {
        service.clock.advance(MINUTE);
        service.tick().await;
        service.deliver().await;
    }
    assert_eq!((service.rows(&id).len(), service.seam.count(PUBLISH)), (4, 1));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn r2_what_no_receipt_tells_of_stays_sent() {
    let service = Service::start().await;
    let (id, message) = sent(&service).await;
    // The carrier has it: that is no more than acceptance.
    let row = LogRow::taken(&message, service.clock.now());
    assert_eq!(push(&service, &[row]).await, Ok(counts(1, 0, 0)));
    for _ in 0..96 {
        service.clock.advance(Millis::from_secs(3_600));
        service.tick().await;
    }
    assert_eq!((service.state(&id), service.rows(&id).len()), ("sent".into(), 3));
}

#[tokio::test(start_paused = true)]
async fn only_the_phones_own_answer_makes_it_delivered() {
    let service = Service::start().await;
    let (id, message) = sent(&service).await;
    let response = String::from("Message has been accepted by phone");
    let row = LogRow { response, ..LogRow::taken(&message, service.clock.now()) };
    assert_eq!(push(&service, &[row]).await, Ok(counts(1, 0, 0)));
    assert_eq!((service.state(&id), service.facts(&id)[3].as_str()), ("delivered".into(), "delivered:sns_log"));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn r3_a_receipt_for_nobody_comes_again_for_five_minutes_and_is_then_dropped_and_counted() {
    let service = Service::start().await;
    let (id, _) = sent(&service).await;
    let stranger = format!("ntf_{}", "a".repeat(32));
    let old = service.clock.now().minus(Millis::from_secs(360));
    let unknown = |id: &str, at| eum_event("TEXT_DELIVERED", id, &format!("att_{}", "a".repeat(26)), at).to_string();
    let (lines, caught) = Lines::catch(Level::WARN);
    // One notification is unknown, one is known and never made that attempt.
    assert!(queue(&service, &[unknown(&stranger, old), unknown(&id, old)]).await.is_empty());
    assert!(lines.text().contains(r#""for_nobody":2"#), "counted");
    drop(caught);
    let fresh = [unknown(&stranger, service.clock.now())];
    for minutes in 0..5 {
        assert_eq!(queue(&service, &fresh).await, ["m-0"], "after {minutes} minutes");
        service.clock.advance(MINUTE);
    }
    assert!(queue(&service, &fresh).await.is_empty());
    assert_eq!(service.rows(&id).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn r3_a_log_row_about_somebody_elses_text_is_dropped_and_counted() {
    let service = Service::start().await;
    let row = LogRow::taken("00000000-0000-4000-8000-0000000000ff", service.clock.now());
    assert_eq!(push(&service, &[row]).await, Ok(counts(0, 1, 0)));
}

#[tokio::test(start_paused = true)]
async fn a_log_row_is_about_the_message_it_names_and_no_other_to_that_number() {
    let service = Service::start().await;
    let first = service.admit("evt-1").await;
    service.deliver().await;
    let second = service.admit("evt-2").await;
    service.deliver().await;
    let names: Vec<_> = service.seam.texts().into_iter().map(|text| text.message_id).collect();
    let row = LogRow::failed(&names[1], service.clock.now(), "Phone number is opted out");
    assert_eq!(push(&service, std::slice::from_ref(&row)).await, Ok(counts(1, 0, 0)));
    assert_eq!((service.state(&first), service.state(&second)), ("sent".into(), "undelivered".into()));
    // A row that names no message tells nothing of one whose name is known.
    assert_eq!(push(&service, &[LogRow { message_id: None, ..row }]).await, Ok(counts(0, 1, 0)));
    assert_eq!(service.rows(&first).len(), 3);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_log_row_to_a_number_to_which_nothing_was_sent_yet_is_for_nobody_at_once() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    let row = LogRow::taken("00000000-0000-4000-8000-0000000000ff", service.clock.now());
    assert_eq!(push(&service, &[row]).await, Ok(counts(0, 1, 0)));
    assert_eq!(service.state(&id), "accepted");
}

#[tokio::test(start_paused = true)]
async fn a_receipt_costs_one_read_and_one_transaction_and_a_repeated_one_only_the_read() {
    let service = Service::start().await;
    let (id, _) = sent(&service).await;
    let unknown = service.admit("evt-2").await;
    service.seam.fail_next(PUBLISH, Fault::SilentAfter);
    service.deliver().await;
    let event = |kind: &str, id: &str| eum_event(kind, id, &attempt(&service, id), service.clock.now()).to_string();
    let (delivered, settling) = (event("TEXT_DELIVERED", &id), event("TEXT_SENT", &unknown));
    for (event, expected, said) in [
        (&delivered, vec![(GET, 1), (TRANSACT, 1)], "first"),
        (&delivered, vec![(GET, 1)], "again"),
        (&settling, vec![(GET, 1), (TRANSACT, 1)], "of an unknown"),
    ] {
        service.seam.forget_requests();
        assert!(queue(&service, std::slice::from_ref(event)).await.is_empty());
        let counted = service.seam.counts();
        assert_eq!(counted.iter().map(|(name, n)| (name.as_str(), *n)).collect::<Vec<_>>(), expected, "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn r5_a_carrier_that_cannot_be_reached_is_no_licence_to_send() {
    let service = Service::start().await;
    let (id, _) = sent(&service).await;
    let mut event = eum_event("TEXT_CARRIER_UNREACHABLE", &id, &attempt(&service, &id), service.clock.now());
    assert!(queue(&service, &[event.to_string()]).await.is_empty());
    assert_eq!(service.state(&id), "sent", "not for good yet");
    event["isFinal"] = json!(true);
    assert!(queue(&service, &[event.to_string()]).await.is_empty());
    assert_eq!(service.facts(&id)[3], "undelivered:carrier_unreachable:eum_event");
    for _ in 0..12 {
        service.clock.advance(MINUTE);
        service.tick().await;
        service.deliver().await;
    }
    assert_eq!((service.state(&id), service.seam.count(PUBLISH)), ("undelivered".into(), 1));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn r7_a_receipt_and_the_answer_itself_end_alike_in_either_order() {
    for is_first in [true, false] {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.seam.fail_next(PUBLISH, Fault::Late(Duration::from_secs(4)));
        let receipt = async {
            tokio::time::sleep(Duration::from_secs(if is_first { 2 } else { 6 })).await;
            let state = if is_first { "sending" } else { "sent" };
            assert_eq!(service.state(&id), state);
            let event = eum_event("TEXT_DELIVERED", &id, &attempt(&service, &id), service.clock.now());
            assert!(queue(&service, &[event.to_string()]).await.is_empty());
        };
        let (failed, ()) = tokio::join!(service.deliver(), receipt);
        assert!(failed.is_empty());
        assert_eq!((service.state(&id), service.seam.texts().len()), ("delivered".into(), 1), "first: {is_first}");
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn r7_a_receipt_ends_what_a_killed_dispatcher_left_behind() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::SilentAfter);
    let message = service.seam.receive(1);
    assert!(tokio::time::timeout(Duration::from_secs(1), service.batch(&message)).await.is_err(), "killed");
    let event = eum_event("TEXT_SENT", &id, &attempt(&service, &id), service.clock.now());
    assert!(queue(&service, &[event.to_string()]).await.is_empty());
    assert_eq!(service.facts(&id)[2], "reconciled_accepted:eum_event");
    assert_eq!(service.rows(&id)[2]["strength"], "exact");
    service.clock.advance(Millis::from_secs(600));
    service.tick().await;
    assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn r8_a_reason_never_seen_before_is_other_and_its_text_is_nowhere() {
    let (lines, _caught) = Lines::catch(Level::TRACE);
    let service = Service::start().await;
    let (id, message) = sent(&service).await;
    let row = LogRow::failed(&message, service.clock.now(), &format!("Handset {NUMBER} rejected {TOKEN}"));
    assert_eq!(push(&service, &[row]).await, Ok(counts(1, 0, 0)));
    assert_eq!(service.facts(&id)[3], "undelivered:other:sns_log");
    for (place, text) in service.written_down(&lines) {
        assert_eq!((traces(&text), text.contains("Handset")), (0, false), "{place}");
    }
}

#[tokio::test(start_paused = true)]
async fn with_or_without_sns_around_it_an_event_is_taken_in() {
    let service = Service::start().await;
    let (id, _) = sent(&service).await;
    let event = eum_event("TEXT_DELIVERED", &id, &attempt(&service, &id), service.clock.now()).to_string();
    let enveloped = json!({"Type": "Notification", "TopicArn": "arn", "Message": event}).to_string();
    assert!(queue(&service, &[enveloped]).await.is_empty());
    assert_eq!(service.state(&id), "delivered");
    assert!(queue(&service, &[event]).await.is_empty(), "the same once more");
    assert_eq!(service.rows(&id).len(), 4);
}

#[tokio::test(start_paused = true)]
async fn of_a_batch_only_what_could_not_be_taken_in_comes_again() {
    let (lines, _caught) = Lines::catch(Level::WARN);
    let service = Service::start().await;
    let (id, _) = sent(&service).await;
    let ours = eum_event("TEXT_DELIVERED", &id, &attempt(&service, &id), service.clock.now()).to_string();
    let mut foreign = eum_event("TEXT_DELIVERED", &id, "", service.clock.now());
    foreign["context"] = json!({"campaign": "x"});
    let bodies = [format!("{NUMBER} {TOKEN}"), foreign.to_string(), ours];
    service.seam.fail_next(GET, Fault::CodeBefore(400, "AccessDeniedException"));
    assert_eq!(queue(&service, &bodies).await, ["m-2"]);
    assert!(lines.text().contains(r#""merged":0,"for_nobody":1,"held":1,"malformed":1"#), "one line of counts");
    assert!(queue(&service, &bodies).await.is_empty());
    assert_eq!(service.state(&id), "delivered");
    for event in [json!({"Records": 7}), json!({"Records": [{"body": "x"}]})] {
        assert!(service.reconcile(&event).await.is_err(), "no item to fail, so all of it fails");
    }
}

#[tokio::test(start_paused = true)]
async fn a_push_that_could_not_be_taken_in_whole_comes_again() {
    let service = Service::start().await;
    let (id, message) = sent(&service).await;
    let row = LogRow::failed(&message, service.clock.now(), "Phone number is opted out");
    service.seam.fail_next("dynamodb:Query", Fault::CodeBefore(400, "AccessDeniedException"));
    let refused = push(&service, &[row.clone(), row.clone()]).await;
    assert!(refused.is_err_and(|error| error.contains("1 pushed rows must come again")));
    assert_eq!(push(&service, &[row.clone(), row]).await, Ok(counts(2, 0, 0)));
    assert_eq!(service.facts(&id)[3..], ["undelivered:opted_out:sns_log"]);
}

#[tokio::test(start_paused = true)]
async fn a_push_that_comes_with_no_time_left_comes_again() {
    let service = Service::start().await;
    let (_, message) = sent(&service).await;
    let event = pushed(&[LogRow::taken(&message, service.clock.now()).text()]);
    service.seam.forget_requests();
    let answer = service.reconciliation_on(&service.reconciliation, &event, Millis::from_secs(1)).await;
    assert!(answer.is_err() && service.seam.counts().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_is_pushed_and_cannot_be_read_is_counted_and_does_not_come_again() {
    let service = Service::start().await;
    let one = || Ok(counts(0, 0, 1));
    for awslogs in [json!(7), json!({}), json!({"data": "!"}), json!({"data": BASE64.encode(b"plain")})] {
        assert_eq!(service.reconcile(&json!({"awslogs": awslogs})).await, one());
    }
    assert_eq!(service.reconcile(&pushed(&[format!("{NUMBER} {TOKEN}")])).await, one());
}
