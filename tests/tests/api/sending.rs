//! What a doorbell leads to: one provider call ever, whatever becomes of it.

use std::time::Duration;

use sendonce::time::Millis;
use tests::aws_seam::Fault;
use tokio::time::sleep;

use crate::harness::{Ask, CALLS, DISPATCH_TIMEOUT, PUBLISH, SEND_TEXT, Service, THROUGH_EUM, TRANSACT, doorbells};

const UNKNOWN_THEN_OVER: &str = "stopped:expired_unresolved";

/// After an unknown outcome: no redelivery and no tick sends again, and expiry ends it.
async fn stays_unknown_until_it_expires(service: &Service, id: &str, basis: &str) {
    assert_eq!(service.state(id), "dispatch_unknown");
    let unknown = format!("attempt_unknown:{basis}");
    assert_eq!(service.facts(id), ["accepted", "attempt_started", unknown.as_str()]);
    let calls = || CALLS.map(|call| service.seam.count(call));
    let before = calls();
    let doorbell = format!(r#"{{"v":1,"id":"{id}"}}"#);
    for minute in 1..=9 {
        service.clock.advance(Millis::from_secs(60));
        let event = serde_json::json!({"Records": [crate::harness::message("redriven", &doorbell, minute)]});
        let failed = service.batch_to(&service.dispatch, &event, DISPATCH_TIMEOUT).await;
        assert_eq!(failed, Ok(vec![]), "the outcome is durable, so the message is acknowledged");
        service.tick().await;
        assert_eq!(service.state(id), "dispatch_unknown", "age alone changes nothing");
    }
    service.clock.advance(Millis::from_secs(60));
    assert_eq!(service.tick().await["expired_unresolved"], 1);
    assert_eq!(service.state(id), UNKNOWN_THEN_OVER);
    service.deliver().await;
    assert_eq!(calls(), before, "no further provider call, ever");
    service.assert_sound().await;
}

/// One text under one fault of the provider call, delivered once.
async fn attempt(fault: Fault) -> (Service, String) {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, fault);
    assert!(service.deliver().await.is_empty());
    (service, id)
}

#[tokio::test(start_paused = true)]
async fn an_accepted_text_is_sent_with_what_was_asked_for() {
    let service = Service::with(&[("SMS_MAX_PRICE_USD", "0.25")]).await;
    let mut body = crate::harness::reset("evt-1");
    body["sender_id"] = serde_json::json!("ACME");
    let id = service.post(&Ask::create("k-1", &body)).await.id();
    assert!(service.deliver().await.is_empty());
    assert_eq!(service.state(&id), "sent");
    let texts = service.seam.texts();
    assert!(texts.len() == 1 && body["to"] == texts[0].to && body["message"] == texts[0].message, "as it was asked");
    let attribute = |name: &str| texts[0].attributes.get(name).cloned().unwrap_or_default();
    assert_eq!(attribute("AWS.SNS.SMS.SMSType"), "Transactional");
    assert_eq!(attribute("AWS.SNS.SMS.SenderID"), "ACME");
    assert_eq!(attribute("AWS.SNS.SMS.MaxPrice"), "0.25");
    assert_eq!(service.record(&id)["mid"]["S"], texts[0].message_id);
    assert_eq!(service.facts(&id), ["accepted", "attempt_started", "attempt_accepted"]);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn through_end_user_messaging_a_text_says_which_attempt_it_is_and_dies_with_its_message() {
    let service = Service::with(&[
        THROUGH_EUM,
        ("SMS_MAX_PRICE_USD", "0.25"),
        ("SMS_ORIGINATION_NUMBER", "+15550199999"),
        ("EUM_CONFIGURATION_SET", "receipts"),
        ("EUM_ORIGINATION_IDENTITY", "pool-0123abcd"),
        ("EUM_PROTECT_CONFIGURATION_ID", "protect-0123abcd"),
    ])
    .await;
    let body = crate::harness::reset("evt-1");
    let id = service.post(&Ask::create("k-1", &body)).await.id();
    service.clock.advance(Millis::from_secs(60));
    assert!(service.deliver().await.is_empty());
    assert_eq!(service.state(&id), "sent");
    assert_eq!((service.seam.count(SEND_TEXT), service.seam.count(PUBLISH)), (1, 0));
    let texts = service.seam.texts();
    assert!(texts.len() == 1 && body["to"] == texts[0].to && body["message"] == texts[0].message, "as it was asked");
    let attempt = service.rows(&id)[1].clone();
    let expected = [
        ("MessageType", "TRANSACTIONAL"),
        ("MaxPrice", "0.25"),
        ("OriginationIdentity", "pool-0123abcd"),
        ("ConfigurationSetName", "receipts"),
        ("ProtectConfigurationId", "protect-0123abcd"),
        ("Context.notification_id", id.as_str()),
        ("Context.attempt_id", attempt["attempt"].as_str().expect("an attempt's id")),
        // Accepted at 20:10:00.123 to expire at 20:20:00.000, and a minute later.
        ("TimeToLive", "539"),
    ];
    let expected = expected.map(|(name, value)| (String::from(name), String::from(value)));
    assert_eq!(texts[0].attributes, expected.into());
    assert_eq!(attempt["provider"], "eum", "evidence says through whom");
    assert_eq!(service.record(&id)["mid"]["S"], texts[0].message_id);
    assert_eq!(service.get(&Ask::status(&id)).await.json()["last_attempt"]["provider"], "eum");
    assert_eq!(service.facts(&id), ["accepted", "attempt_started", "attempt_accepted"]);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn through_end_user_messaging_a_texts_own_sender_comes_before_the_configured_one() {
    let service = Service::with(&[THROUGH_EUM, ("EUM_ORIGINATION_IDENTITY", "pool-0123abcd")]).await;
    let mut body = crate::harness::reset("evt-1");
    body["sender_id"] = serde_json::json!("ACME");
    service.post(&Ask::create("k-1", &body)).await;
    service.deliver().await;
    assert_eq!(service.seam.texts()[0].attributes["OriginationIdentity"], "ACME");
}

#[tokio::test(start_paused = true)]
async fn through_end_user_messaging_an_unknown_outcome_is_never_tried_again() {
    for (fault, taken, basis) in [
        (Fault::SilentAfter, 1, "timeout"),
        (Fault::LostAfter, 1, "connection_lost"),
        (Fault::CodeAfter(500, "InternalServerException"), 1, "server_error"),
        (Fault::CodeBefore(503, "ThrottlingException"), 0, "server_error"),
        (Fault::CodeBefore(400, "BrandNewException"), 0, "unlisted_error"),
    ] {
        let service = Service::with(&[THROUGH_EUM]).await;
        let id = service.admit("evt-1").await;
        service.seam.fail_next(SEND_TEXT, fault);
        assert!(service.deliver().await.is_empty());
        assert_eq!((service.seam.count(SEND_TEXT), service.seam.texts().len()), (1, taken), "{basis}");
        stays_unknown_until_it_expires(&service, &id, basis).await;
    }
}

#[tokio::test(start_paused = true)]
async fn s1_accepted_and_then_silence_is_one_request_ever_and_unknown() {
    let (service, id) = attempt(Fault::SilentAfter).await;
    assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (1, 1));
    stays_unknown_until_it_expires(&service, &id, "timeout").await;
}

#[tokio::test(start_paused = true)]
async fn s2_a_read_timeout_on_the_first_call_is_unknown_and_no_further_call_is_made() {
    let (service, id) = attempt(Fault::SilentBefore).await;
    assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (1, 0));
    stays_unknown_until_it_expires(&service, &id, "timeout").await;
}

#[tokio::test(start_paused = true)]
async fn s3_one_message_delivered_twice_at_once_is_one_publish() {
    for slow in [None, Some(PUBLISH), Some(TRANSACT)] {
        let service = Service::start().await;
        let other = service.setting.dispatch(service.watch()).await;
        let id = service.admit("evt-1").await;
        if let Some(operation) = slow {
            service.seam.fail_next(operation, Fault::Late(Duration::from_millis(1_500)));
        }
        let event = doorbells(&service.seam.receive(1));
        let (here, there) = tokio::join!(
            service.batch_to(&service.dispatch, &event, DISPATCH_TIMEOUT),
            service.batch_to(&other, &event, DISPATCH_TIMEOUT)
        );
        assert_eq!((here, there), (Ok(vec![]), Ok(vec![])));
        assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (1, 1), "{slow:?} slow");
        assert_eq!(service.facts(&id), ["accepted", "attempt_started", "attempt_accepted"]);
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn s3_two_doorbells_for_one_notification_in_one_batch_are_one_publish() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    let message = service.seam.receive(1).remove(0);
    let twin = tests::aws_seam::Message { id: String::from("twin"), ..message.clone() };
    assert!(service.batch(&[message, twin]).await.is_empty());
    assert_eq!((service.seam.count(PUBLISH), service.state(&id)), (1, "sent".into()));
}

#[tokio::test(start_paused = true)]
async fn s4_redelivery_while_sending_publishes_nothing() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::Late(Duration::from_secs(8)));
    let message = service.seam.receive(1);
    let redelivered = async {
        for _ in 0..5 {
            sleep(Duration::from_secs(1)).await;
            service.clock.advance(Millis::from_secs(1));
            assert_eq!(service.state(&id), "sending");
            assert!(service.batch(&message).await.is_empty(), "nothing is to be done, and that is an answer");
            assert_eq!(service.tick().await["examined"], 0);
        }
    };
    let (failed, ()) = tokio::join!(service.batch(&message), redelivered);
    assert!(failed.is_empty());
    assert_eq!((service.seam.count(PUBLISH), service.state(&id)), (1, "sent".into()));
    assert_eq!(service.facts(&id), ["accepted", "attempt_started", "attempt_accepted"]);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn s5_a_504_from_the_provider_is_unknown() {
    for taken in [true, false] {
        let answer = (504, "GatewayTimeout");
        let fault = if taken { Fault::CodeAfter(answer.0, answer.1) } else { Fault::CodeBefore(answer.0, answer.1) };
        let (service, id) = attempt(fault).await;
        assert_eq!(service.seam.texts().len(), usize::from(taken));
        stays_unknown_until_it_expires(&service, &id, "server_error").await;
    }
}

#[tokio::test(start_paused = true)]
async fn s6_a_connection_closed_between_two_sends_is_once_or_unknown_and_never_twice() {
    let service = Service::start().await;
    let first = service.admit("evt-1").await;
    service.deliver().await;
    let second = service.admit("evt-2").await;
    service.seam.fail_next(PUBLISH, Fault::LostBefore);
    assert!(service.deliver().await.is_empty());
    assert_eq!(service.state(&first), "sent");
    assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (2, 1));
    stays_unknown_until_it_expires(&service, &second, "connection_lost").await;
}

#[tokio::test(start_paused = true)]
async fn s14_a_connection_that_goes_away_in_mid_request_is_unknown() {
    for (fault, taken) in [(Fault::LostAfter, 1), (Fault::LostBefore, 0)] {
        let (service, id) = attempt(fault).await;
        assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (1, taken));
        stays_unknown_until_it_expires(&service, &id, "connection_lost").await;
    }
}

#[tokio::test(start_paused = true)]
async fn s11_two_workers_whose_clocks_are_5_s_apart_send_once() {
    for ahead in [5_000, -5_000] {
        let service = Service::start().await;
        let watch = service.watch().ahead(Millis::new(ahead));
        let other = service.setting.dispatch(watch.clone()).await;
        let reconciler = service.setting.reconciliation(watch).await;
        let id = service.admit("evt-1").await;
        service.seam.fail_next(PUBLISH, Fault::Late(Duration::from_secs(9)));
        let event = doorbells(&service.seam.receive(1));
        // The first worker's call takes until just before its sandbox ends: the longest that a lease must cover.
        let skewed = async {
            sleep(Duration::from_secs(8)).await;
            service.clock.advance(DISPATCH_TIMEOUT.plus(Millis::new(-1)));
            assert_eq!(service.batch_to(&other, &event, DISPATCH_TIMEOUT).await, Ok(vec![]));
            assert_eq!(service.tick_on(&reconciler, Millis::from_secs(50)).await["lease_ended"], 0);
            assert_eq!(service.state(&id), "sending", "a clock {ahead} ms off does not end a lease early");
        };
        let (failed, ()) = tokio::join!(service.batch_to(&service.dispatch, &event, DISPATCH_TIMEOUT), skewed);
        assert_eq!(failed, Ok(vec![]));
        assert_eq!((service.seam.count(PUBLISH), service.state(&id)), (1, "sent".into()));
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn s11_both_at_once_with_clocks_apart_is_one_send() {
    for ahead in [5_000, -5_000] {
        let service = Service::start().await;
        let other = service.setting.dispatch(service.watch().ahead(Millis::new(ahead))).await;
        let id = service.admit("evt-1").await;
        let event = doorbells(&service.seam.receive(1));
        let both = tokio::join!(
            service.batch_to(&other, &event, DISPATCH_TIMEOUT),
            service.batch_to(&service.dispatch, &event, DISPATCH_TIMEOUT)
        );
        assert_eq!(both, (Ok(vec![]), Ok(vec![])));
        assert_eq!((service.seam.count(PUBLISH), service.state(&id)), (1, "sent".into()));
        service.assert_sound().await;
    }
}
