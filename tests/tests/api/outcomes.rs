//! What each answer of the provider makes of a notification, and when it is tried again.

use sendonce::ports::Clock;
use sendonce::time::Millis;
use tests::aws_seam::Fault;
use tracing::Level;

use crate::harness::{DISPATCH_TIMEOUT, Lines, PUBLISH, RING, SEND_TEXT, Service, THROUGH_EUM, doorbells};

/// A fault of the provider call, and the state and the fact that it leads to.
type Answer = (Fault, &'static str, &'static str);

#[tokio::test(start_paused = true)]
async fn s15_five_answers_are_five_documented_states() {
    let cases = [
        (Fault::CodeBefore(400, "InvalidParameter"), "failed", "attempt_refused:invalid_parameter"),
        (Fault::CodeBefore(403, "OptedOut"), "failed", "attempt_refused:opted_out"),
        (Fault::CodeBefore(429, "Throttled"), "accepted", "attempt_refused:throttled"),
        (Fault::CodeBefore(500, "InternalError"), "dispatch_unknown", "attempt_unknown:server_error"),
        (Fault::SilentBefore, "dispatch_unknown", "attempt_unknown:timeout"),
    ];
    five_states(&[], PUBLISH, cases).await;
}

#[tokio::test(start_paused = true)]
async fn s15_five_answers_of_end_user_messaging_are_five_documented_states() {
    let cases = [
        (Fault::eum("ValidationException", "PRICE_OVER_THRESHOLD"), "failed", "attempt_refused:price_over_threshold"),
        (Fault::eum("ConflictException", "DESTINATION_PHONE_NUMBER_OPTED_OUT"), "failed", "attempt_refused:opted_out"),
        (Fault::CodeBefore(400, "ThrottlingException"), "accepted", "attempt_refused:throttled"),
        (Fault::CodeBefore(500, "InternalServerException"), "dispatch_unknown", "attempt_unknown:server_error"),
        (Fault::SilentBefore, "dispatch_unknown", "attempt_unknown:timeout"),
    ];
    five_states(&[THROUGH_EUM], SEND_TEXT, cases).await;
}

async fn five_states(changes: &[(&str, &str)], call: &str, cases: [Answer; 5]) {
    let mut seen = std::collections::BTreeSet::new();
    for (fault, state, fact) in cases {
        let service = Service::with(changes).await;
        let id = service.admit("evt-1").await;
        service.seam.fail_next(call, fault);
        assert!(service.deliver().await.is_empty(), "a durable outcome is acknowledged: {fact}");
        assert_eq!((service.state(&id).as_str(), service.facts(&id)[2].as_str()), (state, fact));
        assert_eq!((service.seam.count(call), service.seam.texts().len()), (1, 0), "{fact}");
        seen.insert((state, fact));
        service.assert_sound().await;
    }
    assert_eq!(seen.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn what_the_provider_refuses_for_good_is_settled_and_never_tried_again() {
    for (status, code) in
        [(400, "InvalidParameter"), (400, "ParameterValueInvalid"), (403, "OptedOut"), (404, "NotFound")]
    {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.seam.fail_next(PUBLISH, Fault::CodeBefore(status, code));
        service.deliver().await;
        for _ in 0..12 {
            service.clock.advance(Millis::from_secs(60));
            service.deliver().await;
            assert_eq!(service.tick().await["examined"], 0, "{code}");
        }
        assert_eq!((service.state(&id), service.seam.count(PUBLISH)), ("failed".into(), 1), "{code}");
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_worth_retrying_rings_again_after_its_backoff_and_not_before() {
    for fault in [Fault::CodeBefore(400, "Throttling"), Fault::NeverConnected, Fault::CodeBefore(403, "ExpiredToken")] {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.seam.fail_next(PUBLISH, fault.clone());
        let early = service.seam.receive(1);
        assert!(service.batch(&early).await.is_empty());
        service.seam.delete(&early[0].id);
        assert_eq!(service.state(&id), "accepted");

        let next_at = service.rows(&id)[2]["next_at"].as_i64().expect("a refusal names the next attempt's time");
        let wait = next_at - service.clock.now().get();
        assert!((1..=2_000).contains(&wait), "{fault:?}: full jitter under the first backoff, {wait} ms");
        let waiting = service.seam.waiting();
        assert_eq!(waiting.len(), 1, "{fault:?}: the doorbell hangs");
        let delay = waiting[0].visible_at.get() - service.clock.now().get();
        assert!((wait..wait + 1_000).contains(&delay) && delay % 1_000 == 0, "whole seconds, never early: {delay} ms");

        // A doorbell that comes early, such as the old one redelivered, finds nothing to do.
        service.clock.advance(Millis::new(wait - 1));
        let calls = service.seam.count(PUBLISH);
        assert!(service.batch(&early).await.is_empty());
        assert_eq!((service.seam.count(PUBLISH), service.state(&id)), (calls, "accepted".into()), "{fault:?}");

        service.clock.advance(Millis::new(delay));
        assert!(service.deliver().await.is_empty());
        assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1), "{fault:?}");
        assert_eq!(service.record(&id)["n"]["N"], "2");
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_whose_fault_lies_in_the_account_alarms_and_no_other_does() {
    for (fault, alarms) in [
        (Fault::CodeBefore(403, "ExpiredToken"), true),
        (Fault::CodeBefore(404, "NotFound"), true),
        (Fault::CodeBefore(400, "Throttled"), false),
        (Fault::CodeBefore(400, "InvalidParameter"), false),
        (Fault::NeverConnected, false),
    ] {
        let (lines, _caught) = Lines::catch(Level::ERROR);
        let service = Service::start().await;
        service.admit("evt-1").await;
        service.seam.fail_next(PUBLISH, fault.clone());
        service.deliver().await;
        assert_eq!(lines.text().contains(r#""alarm":"provider""#), alarms, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_and_a_text_never_sent_alarm_once_each_at_any_log_level() {
    let (lines, _caught) = Lines::catch(Level::ERROR);
    let service = Service::with(&[("ATTEMPTS_MAX", "1")]).await;
    let alarms = |alarm: &str| lines.text().matches(&format!(r#""alarm":"{alarm}""#)).count();
    service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::SilentAfter);
    service.deliver().await;
    assert_eq!((alarms("unknown"), alarms("unsent")), (1, 0));
    service.admit("evt-2").await;
    service.seam.fail_next(PUBLISH, Fault::NeverConnected);
    service.deliver().await;
    assert_eq!((alarms("unknown"), alarms("unsent")), (1, 1), "attempts are used up");
    let late = service.admit("evt-3").await;
    let messages = service.seam.receive(10);
    messages.iter().for_each(|message| service.seam.delete(&message.id));
    // The unknown is looked up each minute, and that says nothing new.
    for _ in 0..11 {
        service.clock.advance(Millis::from_secs(60));
        service.seam.waiting().iter().for_each(|message| service.seam.delete(&message.id));
        service.tick().await;
    }
    assert_eq!(service.state(&late), "stopped:expired_before_attempt");
    assert_eq!((alarms("unknown"), alarms("unsent")), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_is_away_for_minutes_costs_no_text_that_is_still_useful() {
    for fault in [Fault::NeverConnected, Fault::CodeBefore(400, "Throttled")] {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.seam.fail_times(PUBLISH, 1_000, fault.clone());
        for _ in 0..240 {
            service.deliver().await;
            service.clock.advance(Millis::from_secs(1));
        }
        service.seam.fail_no_more();
        assert_eq!(service.state(&id), "accepted", "{fault:?}");
        for _ in 0..300 {
            service.clock.advance(Millis::from_secs(1));
            service.deliver().await;
        }
        assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1), "{fault:?}");
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_whose_backoff_is_over_before_it_is_written_rings_again_at_once() {
    let service = Service::with(&[("RETRY_BACKOFF_BASE_MS", "1"), ("RETRY_BACKOFF_MAX_MS", "1")]).await;
    let slow = service.setting.dispatch(service.watch().ticking(Millis::new(10))).await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::CodeBefore(400, "Throttled"));
    let first = service.seam.receive(1);
    assert_eq!(service.batch_to(&slow, &doorbells(&first), DISPATCH_TIMEOUT).await, Ok(vec![]));
    service.seam.delete(&first[0].id);
    assert_eq!(service.state(&id), "accepted");
    assert!(service.deliver().await.is_empty());
    assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn backoffs_grow_and_attempts_run_out() {
    let service = Service::with(&[("RETRY_BACKOFF_BASE_MS", "4000"), ("ATTEMPTS_MAX", "4")]).await;
    let id = service.admit("evt-1").await;
    service.seam.fail_times(PUBLISH, 20, Fault::CodeBefore(400, "Throttled"));
    for _ in 0..200 {
        service.clock.advance(Millis::from_secs(1));
        service.deliver().await;
    }
    assert_eq!((service.state(&id), service.seam.count(PUBLISH)), ("stopped:attempts_exhausted".into(), 4));
    let mut longest = 0;
    let refused: Vec<_> = service.rows(&id).into_iter().filter(|row| row["kind"] == "attempt_refused").collect();
    for (n, row) in refused.iter().enumerate() {
        let wait = row["next_at"].as_i64().expect("a time") - row["at"].as_i64().expect("a time");
        assert!((1..=4_000 << n).contains(&wait), "wait {n}: {wait} ms");
        longest = longest.max(wait);
    }
    assert!(longest > 100, "they are spread over all of it");
    assert_eq!(service.facts(&id).last().map(String::as_str), Some("stopped:attempts_exhausted"));
    assert_eq!(service.seam.texts().len(), 0);
    assert!(service.seam.waiting().is_empty(), "no doorbell is left hanging");
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_retry_whose_doorbell_fails_is_rung_by_reconciliation() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::CodeBefore(400, "Throttled"));
    service.seam.fail_times(RING, 2, Fault::LostBefore);
    assert!(service.deliver().await.is_empty(), "the outcome is durable all the same");
    assert!(service.seam.waiting().is_empty());
    service.clock.advance(Millis::from_secs(63));
    assert_eq!(service.tick().await["rung"], 1);
    service.deliver().await;
    assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_retry_that_would_come_too_late_is_not_made() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::NeverConnected);
    service.clock.advance(Millis::from_secs(569));
    service.deliver().await;
    assert_eq!(service.facts(&id)[1..3], ["attempt_started", "attempt_refused:not_connected"]);
    service.clock.advance(Millis::from_secs(3));
    service.deliver().await;
    service.tick().await;
    assert_eq!(service.state(&id), "stopped:expired_before_attempt");
    assert_eq!(service.rows(&id).iter().filter(|row| row["kind"] == "attempt_started").count(), 1);
    service.assert_sound().await;
}
