//! An event of AWS End User Messaging, as it comes through an SNS topic and an SQS queue.

use serde::Deserialize;

use crate::notification::{
    AttemptId, DeliveryCode, NotificationId, Receipt, ReceiptSource, ReceiptStatus, Reference, Strength,
};
use crate::receive::Report;
use crate::time::EpochMillis;

/// What a message of the receipts queue is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EumEvent {
    /// A report about an attempt of ours.
    Ours(Report),
    /// An event about a text that names no attempt of ours: somebody else sends with the same configuration set.
    Foreign,
    /// No event.
    Malformed,
}

/// What SNS puts around a message, unless it delivers raw.
#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "Message")]
    message: String,
}

/// It holds the number, in a member that is not read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    event_type: String,
    event_timestamp: i64,
    #[serde(default)]
    is_final: bool,
    message_id: Option<String>,
    context: Option<Context>,
}

#[derive(Deserialize)]
struct Context {
    notification_id: Option<String>,
    attempt_id: Option<String>,
}

/// Reads the body of a message.
#[must_use]
pub fn read_eum_event(body: &str) -> EumEvent {
    let enveloped = serde_json::from_str::<Envelope>(body).map(|envelope| envelope.message);
    let event = serde_json::from_str::<Event>(enveloped.as_deref().unwrap_or(body));
    let Ok(event) = event else { return EumEvent::Malformed };
    event.report().map_or(EumEvent::Foreign, EumEvent::Ours)
}

impl Event {
    fn report(self) -> Option<Report> {
        let (status, code) = verdict(&self.event_type, self.is_final);
        let context = self.context?;
        let receipt = Receipt {
            attempt: AttemptId::parse(&context.attempt_id?)?,
            source: ReceiptSource::EumEvent,
            strength: Strength::Exact,
            message_id: self.message_id.as_deref().and_then(Reference::parse),
            status,
            code,
        };
        let at = EpochMillis::new(self.event_timestamp);
        Some(Report::Named { id: NotificationId::parse(&context.notification_id?)?, receipt, at })
    }
}

/// What a type of event says. Whatever it says, the text was taken: the event carries our attempt's name.
fn verdict(event_type: &str, is_final: bool) -> (ReceiptStatus, Option<DeliveryCode>) {
    let code = match event_type {
        "TEXT_DELIVERED" => return (ReceiptStatus::Delivered, None),
        "TEXT_INVALID" => DeliveryCode::InvalidNumber,
        "TEXT_INVALID_MESSAGE" => DeliveryCode::InvalidMessage,
        "TEXT_UNREACHABLE" => DeliveryCode::PhoneUnreachable,
        "TEXT_BLOCKED" => DeliveryCode::BlockedByRecipient,
        "TEXT_CARRIER_BLOCKED" => DeliveryCode::BlockedByCarrier,
        "TEXT_SPAM" => DeliveryCode::BlockedAsSpam,
        "TEXT_TTL_EXPIRED" => DeliveryCode::LifeEnded,
        "TEXT_PROTECT_BLOCKED" => DeliveryCode::BlockedByProvider,
        // The provider goes on trying until it says that this was the last.
        "TEXT_CARRIER_UNREACHABLE" if is_final => DeliveryCode::CarrierUnreachable,
        _ => return (ReceiptStatus::Accepted, None),
    };
    (ReceiptStatus::Undelivered, Some(code))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(kind: &str, is_final: bool) -> Value {
        json!({
            "eventType": kind, "eventVersion": "1.0", "eventTimestamp": 1_796_069_400_123_i64, "isFinal": is_final,
            "originationPhoneNumber": "+15550100001", "destinationPhoneNumber": "+15550142973",
            "isoCountryCode": "US", "messageId": "862a8790-60c0-4430-9b2b-658bd0000000",
            "messageStatus": "SUCCESSFUL", "messageStatusDescription": "+15550142973 has it",
            "context": {
                "notification_id": "ntf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "attempt_id": "att_aaaaaaaaaaaaaaaaaaaaaaaaaa",
            },
            "totalMessageParts": 1, "totalMessagePrice": 0.09582, "totalCarrierFee": 0.0,
        })
    }

    fn enveloped(event: &Value) -> String {
        json!({"Type": "Notification", "MessageId": "1", "TopicArn": "arn", "Message": event.to_string()}).to_string()
    }

    fn receipt(body: &str) -> Receipt {
        let EumEvent::Ours(Report::Named { receipt, .. }) = read_eum_event(body) else { panic!("not ours") };
        receipt
    }

    #[test]
    fn each_type_of_event_says_one_thing() {
        use DeliveryCode as Code;
        use ReceiptStatus::{Accepted, Delivered, Undelivered};
        for (kind, is_final, status, code) in [
            ("TEXT_QUEUED", false, Accepted, None),
            ("TEXT_PENDING", false, Accepted, None),
            ("TEXT_SENT", false, Accepted, None),
            ("TEXT_SUCCESSFUL", true, Accepted, None),
            ("TEXT_DELIVERED", true, Delivered, None),
            ("TEXT_INVALID", true, Undelivered, Some(Code::InvalidNumber)),
            ("TEXT_INVALID_MESSAGE", true, Undelivered, Some(Code::InvalidMessage)),
            ("TEXT_UNREACHABLE", true, Undelivered, Some(Code::PhoneUnreachable)),
            ("TEXT_CARRIER_UNREACHABLE", false, Accepted, None),
            ("TEXT_CARRIER_UNREACHABLE", true, Undelivered, Some(Code::CarrierUnreachable)),
            ("TEXT_BLOCKED", true, Undelivered, Some(Code::BlockedByRecipient)),
            ("TEXT_CARRIER_BLOCKED", true, Undelivered, Some(Code::BlockedByCarrier)),
            ("TEXT_SPAM", true, Undelivered, Some(Code::BlockedAsSpam)),
            ("TEXT_UNKNOWN", true, Accepted, None),
            ("TEXT_TTL_EXPIRED", true, Undelivered, Some(Code::LifeEnded)),
            ("TEXT_PROTECT_BLOCKED", true, Undelivered, Some(Code::BlockedByProvider)),
            ("TEXT_OF_SOME_LATER_YEAR", true, Accepted, None),
        ] {
            let receipt = receipt(&event(kind, is_final).to_string());
            assert_eq!((receipt.status, receipt.code), (status, code), "{kind}");
        }
    }

    #[test]
    fn with_or_without_sns_around_it_an_event_is_the_same_exact_report() {
        let event = event("TEXT_DELIVERED", true);
        let read = read_eum_event(&event.to_string());
        assert_eq!(read_eum_event(&enveloped(&event)), read);
        let EumEvent::Ours(Report::Named { id, receipt, at }) = read else { panic!("not ours") };
        assert_eq!(id.as_str(), "ntf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        assert_eq!((at.get(), receipt.strength), (1_796_069_400_123, Strength::Exact));
        assert_eq!(receipt.message_id, Reference::parse("862a8790-60c0-4430-9b2b-658bd0000000"));
    }

    #[test]
    fn nothing_personal_is_kept() {
        let shown = format!("{:?}", read_eum_event(&event("TEXT_INVALID", true).to_string()));
        assert!(!shown.contains("5550"), "a number is shown");
    }

    #[test]
    fn an_event_that_names_nothing_of_ours_is_foreign() {
        for context in [
            json!(null),
            json!({}),
            json!({"account": "bar"}),
            json!({"notification_id": "ntf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}),
            json!({"notification_id": "ntf_1", "attempt_id": "att_aaaaaaaaaaaaaaaaaaaaaaaaaa"}),
            json!({"notification_id": "ntf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "attempt_id": "+15550142973"}),
        ] {
            let mut event = event("TEXT_DELIVERED", true);
            event["context"] = context;
            assert_eq!(read_eum_event(&event.to_string()), EumEvent::Foreign);
        }
    }

    #[test]
    fn what_is_no_event_is_malformed() {
        let mut untimed = event("TEXT_DELIVERED", true);
        untimed["eventTimestamp"] = json!("yesterday");
        let mut untyped = event("TEXT_DELIVERED", true);
        untyped["eventType"] = json!(7);
        let texts = [
            String::new(),
            String::from("null"),
            String::from("{}"),
            String::from("[]"),
            String::from("ntf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
            untimed.to_string(),
            untyped.to_string(),
            enveloped(&untimed),
            json!({"Message": "hello"}).to_string(),
            json!({"Message": {"eventType": "TEXT_DELIVERED"}}).to_string(),
        ];
        for (n, text) in texts.iter().enumerate() {
            assert_eq!(read_eum_event(text), EumEvent::Malformed, "case {n}");
        }
    }
}
