//! What providers report, as it comes to reconciliation.

use std::io::Write;

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use sendonce::time::EpochMillis;
use serde_json::{Value, json};
use tests::aws_seam::SNS_LOG_GROUP;

use super::{NUMBER, TOKEN};

const RECEIPTS: &str = include_str!("../../../../functions/reconciliation/events/receipts.json");

/// One row of SNS's delivery log.
#[derive(Clone, Debug)]
pub struct LogRow {
    pub message_id: Option<String>,
    pub published_at: EpochMillis,
    pub status: &'static str,
    pub response: String,
}

impl LogRow {
    /// A text that its carrier took.
    pub fn taken(message_id: &str, published_at: EpochMillis) -> Self {
        let response = String::from("Message has been accepted by phone carrier");
        Self { message_id: Some(message_id.into()), published_at, status: "SUCCESS", response }
    }

    /// A text that did not arrive.
    pub fn failed(message_id: &str, published_at: EpochMillis, response: &str) -> Self {
        Self { status: "FAILURE", response: response.into(), ..Self::taken(message_id, published_at) }
    }

    pub fn text(&self) -> String {
        let instant = self.published_at.rfc3339().replace('T', " ").replace('Z', "");
        let row = json!({
            "notification": {"messageId": self.message_id, "timestamp": instant},
            "delivery": {
                "phoneCarrier": "A carrier", "mnc": 270, "mcc": 310, "numberOfMessageParts": 1, "destination": NUMBER,
                "priceInUSD": 0.00645, "smsType": "Transactional", "providerResponse": self.response,
                "dwellTimeMs": 599, "dwellTimeMsUntilDeviceAck": 1344,
            },
            "status": self.status,
        });
        row.to_string()
    }

    pub fn group(&self) -> String {
        if self.status == "FAILURE" { format!("{SNS_LOG_GROUP}/Failure") } else { SNS_LOG_GROUP.into() }
    }
}

/// Texts as CloudWatch Logs pushes them.
pub fn pushed(texts: &[String]) -> Value {
    let events: Vec<_> = texts.iter().map(|text| json!({"id": "1", "timestamp": 1, "message": text})).collect();
    let push = json!({
        "messageType": "DATA_MESSAGE", "owner": "111122223333", "logGroup": SNS_LOG_GROUP, "logStream": "s",
        "subscriptionFilters": ["sendonce"], "logEvents": events,
    });
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(push.to_string().as_bytes()).expect("memory takes it");
    json!({"awslogs": {"data": BASE64.encode(&packed.finish().expect("memory takes it"))}})
}

/// An event of End User Messaging about an attempt. It holds the number, and here the token too.
pub fn eum_event(kind: &str, id: &str, attempt: &str, at: EpochMillis) -> Value {
    json!({
        "eventType": kind, "eventVersion": "1.0", "eventTimestamp": at.get(), "isFinal": false,
        "originationPhoneNumber": "+15550100001", "destinationPhoneNumber": NUMBER, "isoCountryCode": "US",
        "messageId": "862a8790-60c0-4430-9b2b-658bd0000000", "messageStatus": kind,
        "messageStatusDescription": format!("{NUMBER} was told {TOKEN}"),
        "context": {"notification_id": id, "attempt_id": attempt}, "totalMessageParts": 1, "totalMessagePrice": 0.09,
    })
}

/// Bodies as a batch of the receipts queue; messages are called `m-0`, `m-1` and so on.
pub fn queued(bodies: &[String]) -> Value {
    let example: Value = serde_json::from_str(RECEIPTS).expect("an example event");
    let records = bodies.iter().enumerate().map(|(n, body)| {
        let mut record = example["Records"][0].clone();
        record["messageId"] = json!(format!("m-{n}"));
        record["body"] = json!(body);
        record
    });
    json!({"Records": records.collect::<Vec<_>>()})
}
