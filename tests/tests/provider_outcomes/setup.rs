//! The production carriers, pointed at an endpoint.

use std::time::Duration;

use sendonce::aws::{
    AnyCarrier, Aws, CarrierTimeouts, EumCarrier, EumSettings, Parts, SnsCarrier, SnsSettings, SystemClock,
};
use sendonce::notification::{
    Attempt, AttemptId, Event, EventId, EventType, Kind, MessageText, NotificationId, Outcome, Payload, PhoneNumber,
    Provider, Reference,
};
use sendonce::ports::{Carrier, Clock, Text};
use sendonce::tenant::TenantId;
use sendonce::time::Millis;
use tests::aws_seam::credentials;

use crate::endpoint::{Endpoint, Script};
use crate::wire::{MESSAGE_ID, REQUEST_ID, accept};

/// Limits that no answer of a local socket comes near, however busy the machine.
const CONNECT: Millis = Millis::from_secs(5);
const OPERATION: Millis = Millis::from_secs(10);
/// For those who wait for an answer that does not come.
pub const PATIENCE: Millis = Millis::new(400);

pub async fn carrier(provider: Provider, url: &str) -> AnyCarrier<SystemClock> {
    carrier_that_connects_within(CONNECT, provider, url).await
}

pub async fn carrier_that_connects_within(connect: Millis, provider: Provider, url: &str) -> AnyCarrier<SystemClock> {
    let parts = Parts {
        endpoint_url: Some(url.into()),
        region: Some(aws_sdk_sns::config::Region::new("eu-central-1")),
        credentials: Some(credentials()),
        ..Parts::default()
    };
    let (aws, limits) = (Aws::with(parts).await.unwrap(), CarrierTimeouts { connect, operation: OPERATION });
    match provider {
        Provider::Sns => AnyCarrier::Sns(SnsCarrier::new(aws.sns(limits), SystemClock, SnsSettings::default())),
        Provider::Eum => AnyCarrier::Eum(EumCarrier::new(aws.eum(limits), SystemClock, EumSettings::default())),
    }
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
        expires_at: later,
        time_allowed: OPERATION,
    }
}

pub fn impatient_text() -> Text {
    Text { time_allowed: PATIENCE, ..text() }
}

/// An endpoint, and a carrier that sends to it.
pub struct Bench {
    pub endpoint: Endpoint,
    pub carrier: AnyCarrier<SystemClock>,
    sent: usize,
}

impl Bench {
    pub async fn start(provider: Provider) -> Self {
        let endpoint = Endpoint::start(accept(provider)).await;
        let carrier = carrier(provider, &endpoint.url).await;
        Self { endpoint, carrier, sent: 0 }
    }

    /// One text to an endpoint with this script, which must get one request for it.
    pub async fn send(&mut self, script: Script) -> Outcome {
        let text = if matches!(script, Script::SayAndStay(_)) { impatient_text() } else { text() };
        self.endpoint.play(script.clone());
        let outcome = self.carrier.send(&text).await;
        self.sent += 1;
        assert_eq!(
            (self.endpoint.requests(), self.endpoint.connections()),
            (self.sent, self.sent),
            "{}",
            script.shown()
        );
        outcome
    }

    /// Looks once more. The SDK would repeat a request before it returns; nothing should come after that either.
    pub async fn assert_nothing_follows(self) {
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!((self.endpoint.requests(), self.endpoint.connections()), (self.sent, self.sent));
    }
}

pub fn accepted() -> Outcome {
    Outcome::Accepted { message_id: Reference::parse(MESSAGE_ID), request_id: Reference::parse(REQUEST_ID) }
}
