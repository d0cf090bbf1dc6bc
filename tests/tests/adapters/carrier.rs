//! `Carrier`, as far as it takes no socket: what is sent, and what is not. Answers are in `provider_outcomes`.

use sendonce::aws::{CarrierTimeouts, EumCarrier, EumSettings, SnsCarrier, SnsSettings};
use sendonce::notification::{
    Attempt, Kind, NotificationId, Outcome, Provider, ProviderCode, Reference, Refusal, RefusalClass, SenderId,
};
use sendonce::ports::{Carrier, Text};
use sendonce::time::Millis;
use serde_json::json;
use tests::aws_seam::{Fault, REQUEST_ID, Seam};

use crate::fixtures::{LIFETIME, NOW, attempt, command, payload, tenant};

const SEND: &str = "sms-voice:SendTextMessage";
const LIMITS: CarrierTimeouts = CarrierTimeouts { connect: Millis::from_secs(2), operation: Millis::from_secs(10) };

fn text() -> Text {
    let command = command("e-1");
    let lease_until = NOW.plus(Millis::from_secs(20));
    Text {
        id: NotificationId::of(&tenant(), &command.event),
        attempt: Attempt { id: attempt(1), number: 1, provider: Provider::Sns, lease_until },
        payload: payload(&command),
        sender_id: None,
        kind: Kind::Transactional,
        not_after: lease_until,
        expires_at: command.expires_at,
        time_allowed: Millis::from_secs(10),
    }
}

#[tokio::test(start_paused = true)]
async fn one_text_is_one_publish_with_number_body_and_type() {
    let seam = Seam::new();
    let outcome = seam.adapters().await.carrier.send(&text()).await;
    let taken = seam.texts().remove(0);
    let (message_id, request_id) = (Reference::parse(&taken.message_id), Reference::parse(REQUEST_ID));
    assert_eq!(outcome, Outcome::Accepted { message_id, request_id });
    assert_eq!((taken.to.as_str(), taken.message.as_str()), ("+15550142973", "Your code is 482913"));
    assert_eq!(taken.attributes, [("AWS.SNS.SMS.SMSType".into(), "Transactional".into())].into());
    assert_eq!(seam.counts(), [("sns:Publish".into(), 1)].into());
}

#[tokio::test(start_paused = true)]
async fn sender_price_and_origin_go_along_when_they_are_set() {
    let seam = Seam::new();
    let settings = SnsSettings { max_price_usd: Some("0.50".into()), origination_number: Some("+15550199999".into()) };
    let carrier = SnsCarrier::new(seam.aws().await.sns(LIMITS), seam.clock(), settings);
    carrier.send(&Text { sender_id: SenderId::parse("ACME"), kind: Kind::Promotional, ..text() }).await;
    let expected = [
        ("AWS.SNS.SMS.SMSType", "Promotional"),
        ("AWS.SNS.SMS.SenderID", "ACME"),
        ("AWS.SNS.SMS.MaxPrice", "0.50"),
        ("AWS.MM.SMS.OriginationNumber", "+15550199999"),
    ];
    let expected = expected.map(|(name, value)| (String::from(name), String::from(value)));
    assert_eq!(seam.texts()[0].attributes, expected.into());
}

#[tokio::test(start_paused = true)]
async fn one_text_is_one_send_text_message_with_number_body_type_context_and_life() {
    let seam = Seam::new();
    let outcome = seam.adapters().await.eum.send(&text()).await;
    let taken = seam.texts().remove(0);
    let (message_id, request_id) = (Reference::parse(&taken.message_id), Reference::parse(REQUEST_ID));
    assert_eq!(outcome, Outcome::Accepted { message_id, request_id });
    assert_eq!(seam.counts(), [(SEND.into(), 1)].into());
    let expected = json!({
        "DestinationPhoneNumber": "+15550142973",
        "MessageBody": "Your code is 482913",
        "MessageType": "TRANSACTIONAL",
        "TimeToLive": 600,
        "Context": {"notification_id": text().id.as_str(), "attempt_id": attempt(1).as_str()},
    });
    assert!(seam.requests()[0].json() == expected, "exactly these members");
}

#[tokio::test(start_paused = true)]
async fn the_settings_of_a_deployment_go_along_with_each_send_text_message() {
    let settings = EumSettings {
        configuration_set: Some("receipts".into()),
        origination_identity: Some("pool-0123abcd".into()),
        protect_configuration_id: Some("protect-0123abcd".into()),
        max_price_usd: Some("0.50".into()),
    };
    let seam = Seam::new();
    let carrier = EumCarrier::new(seam.aws().await.eum(LIMITS), seam.clock(), settings);
    carrier.send(&Text { kind: Kind::Promotional, ..text() }).await;
    let mut told = seam.texts().remove(0).attributes;
    told.retain(|name, _| !name.starts_with("Context."));
    let expected = [
        ("MessageType", "PROMOTIONAL"),
        ("TimeToLive", "600"),
        ("ConfigurationSetName", "receipts"),
        ("OriginationIdentity", "pool-0123abcd"),
        ("ProtectConfigurationId", "protect-0123abcd"),
        ("MaxPrice", "0.50"),
    ];
    assert_eq!(told, expected.map(|(name, value)| (String::from(name), String::from(value))).into());

    carrier.send(&Text { sender_id: SenderId::parse("ACME"), ..text() }).await;
    assert_eq!(seam.texts()[1].attributes["OriginationIdentity"], "ACME", "the text's own sender comes first");
}

#[tokio::test(start_paused = true)]
async fn a_text_lives_as_long_as_it_is_worth_saying_when_the_call_begins() {
    let day = Millis::from_secs(86_400);
    for (expires_in, late, seconds) in [
        (LIFETIME, Millis::ZERO, "600"),
        (LIFETIME, Millis::new(1), "599"),
        (LIFETIME, Millis::from_secs(9), "591"),
        (Millis::new(6_999), Millis::ZERO, "6"),
        (Millis::new(4_999), Millis::ZERO, "5"),
        (Millis::ZERO, Millis::from_secs(1), "5"),
        (day.times(3), Millis::ZERO, "259200"),
        (day.times(30), Millis::ZERO, "259200"),
    ] {
        let seam = Seam::new();
        let text = Text { expires_at: NOW.plus(expires_in), ..text() };
        seam.clock().set(NOW.plus(late));
        seam.adapters().await.eum.send(&text).await;
        assert_eq!(seam.texts()[0].attributes["TimeToLive"], seconds, "{expires_in:?} less {late:?}");
    }
}

async fn wakes_too_late(seam: &Seam, carrier: impl Carrier) {
    seam.clock().set(text().not_after.plus(Millis::new(1)));
    let too_late = Refusal { class: RefusalClass::Retryable, code: ProviderCode::TooLate };
    assert_eq!(carrier.send(&text()).await, Outcome::Refused(too_late));
    assert!(seam.counts().is_empty());
    seam.clock().set(text().not_after);
    assert!(matches!(carrier.send(&text()).await, Outcome::Accepted { .. }), "the instant itself is in time");
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_wakes_too_late_calls_nobody() {
    for provider in [Provider::Sns, Provider::Eum] {
        let seam = Seam::new();
        let adapters = seam.adapters().await;
        match provider {
            Provider::Sns => wakes_too_late(&seam, adapters.carrier).await,
            Provider::Eum => wakes_too_late(&seam, adapters.eum).await,
        }
    }
}

async fn takes_no_longer(seam: &Seam, carrier: impl Carrier, operation: &str) {
    seam.fail_next(operation, Fault::SilentAfter);
    let begun = tokio::time::Instant::now();
    let outcome = carrier.send(&Text { time_allowed: Millis::from_secs(3), ..text() }).await;
    assert!(matches!(outcome, Outcome::Unknown(_)), "{operation}: {outcome:?}");
    assert!(begun.elapsed().as_millis() <= 3_000, "{operation}: {:?}", begun.elapsed());
    assert_eq!((seam.count(operation), seam.texts().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_takes_no_longer_than_its_text_allows() {
    let seam = Seam::new();
    takes_no_longer(&seam, seam.adapters().await.carrier, "sns:Publish").await;
    let seam = Seam::new();
    takes_no_longer(&seam, seam.adapters().await.eum, SEND).await;
}
