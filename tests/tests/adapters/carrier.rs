//! `Carrier`, as far as it takes no socket: what is sent, and what is not. Answers are in `sns_outcomes`.

use sendonce::aws::{CarrierTimeouts, SnsCarrier, SnsSettings};
use sendonce::notification::{
    Attempt, Kind, NotificationId, Outcome, Provider, ProviderCode, Reference, Refusal, RefusalClass, SenderId,
};
use sendonce::ports::{Carrier, Text};
use sendonce::time::Millis;
use tests::aws_seam::{Fault, REQUEST_ID, Seam};

use crate::fixtures::{NOW, attempt, command, payload, tenant};

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
    let limits = CarrierTimeouts { connect: Millis::from_secs(2), operation: Millis::from_secs(10) };
    let settings = SnsSettings { max_price_usd: Some("0.50".into()), origination_number: Some("+15550199999".into()) };
    let carrier = SnsCarrier::new(seam.aws().await.sns(limits), seam.clock(), settings);
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
async fn a_worker_that_wakes_too_late_calls_nobody() {
    let seam = Seam::new();
    let carrier = seam.adapters().await.carrier;
    seam.clock().set(text().not_after.plus(Millis::new(1)));
    let too_late = Refusal { class: RefusalClass::Retryable, code: ProviderCode::TooLate };
    assert_eq!(carrier.send(&text()).await, Outcome::Refused(too_late));
    assert!(seam.counts().is_empty());
    seam.clock().set(text().not_after);
    assert!(matches!(carrier.send(&text()).await, Outcome::Accepted { .. }), "the instant itself is in time");
}

#[tokio::test(start_paused = true)]
async fn a_call_takes_no_longer_than_its_text_allows() {
    let seam = Seam::new();
    let carrier = seam.adapters().await.carrier;
    seam.fail_next("sns:Publish", Fault::SilentAfter);
    let begun = tokio::time::Instant::now();
    let outcome = carrier.send(&Text { time_allowed: Millis::from_secs(3), ..text() }).await;
    assert!(matches!(outcome, Outcome::Unknown(_)), "{outcome:?}");
    assert!(begun.elapsed().as_millis() <= 3_000, "{:?}", begun.elapsed());
    assert_eq!((seam.count("sns:Publish"), seam.texts().len()), (1, 1));
}
