//! The production carrier, pointed at an endpoint.

use std::time::Duration;

use sendonce::aws::{Aws, CarrierTimeouts, Parts, SnsCarrier, SnsSettings, SystemClock};
use sendonce::notification::{
    Attempt, AttemptId, Event, EventId, EventType, Kind, MessageText, NotificationId, Outcome, Payload, PhoneNumber,
    Provider, Reference,
};
use sendonce::ports::{Carrier, Clock, Text};
use sendonce::tenant::TenantId;
use sendonce::time::Millis;
use tests::aws_seam::credentials;

use crate::endpoint::{Endpoint, MESSAGE_ID, REQUEST_ID, Script};

pub const CONNECT: Millis = Millis::new(150);
pub const OPERATION: Millis = Millis::new(500);

pub async fn carrier(url: &str) -> SnsCarrier<SystemClock> {
    let parts = Parts {
        endpoint_url: Some(url.into()),
        region: Some(aws_sdk_sns::config::Region::new("eu-central-1")),
        credentials: Some(credentials()),
        ..Parts::default()
    };
    let limits = CarrierTimeouts { connect: CONNECT, operation: OPERATION };
    let client = Aws::with(parts).await.unwrap().sns(limits);
    SnsCarrier::new(client, SystemClock, SnsSettings::default())
}

pub fn text() -> Text {
    let event = Event { r#type: EventType::parse("reset").unwrap(), id: EventId::parse("e-1").unwrap() };
    let later = SystemClock.now().plus(Millis::from_secs(60));
    Text {
        id: NotificationId::of(&TenantId::derive(&["a"]), &event),
        attempt: Attempt { id: AttemptId::new([1; 16]), number: 1, provider: Provider::Sns, lease_until: later },
        payload: Payload {
            to: PhoneNumber::parse("+15550142973").unwrap(),
            message: MessageText::parse("Your code is 482913").unwrap(),
        },
        sender_id: None,
        kind: Kind::Transactional,
        not_after: later,
        time_allowed: OPERATION,
    }
}

/// One text to an endpoint with this script: what it came to, and what the endpoint saw, late repeats included.
pub async fn send(script: Script) -> (Outcome, Endpoint) {
    let endpoint = Endpoint::start(script).await;
    let outcome = carrier(&endpoint.url).await.send(&text()).await;
    tokio::time::sleep(Duration::from_millis(150)).await;
    (outcome, endpoint)
}

pub fn accepted() -> Outcome {
    Outcome::Accepted { message_id: Reference::parse(MESSAGE_ID), request_id: Reference::parse(REQUEST_ID) }
}
