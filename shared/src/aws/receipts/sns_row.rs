//! A row of SNS's delivery log.

use serde::Deserialize;

use crate::idempotency::FingerprintKey;
use crate::notification::{DeliveryCode, LogRow, PhoneNumber, ReceiptStatus, Reference};
use crate::time::EpochMillis;

/// It holds the number, so it is printed nowhere.
#[derive(Deserialize)]
struct Row {
    notification: Notification,
    delivery: Delivery,
    status: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Notification {
    message_id: Option<String>,
    timestamp: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Delivery {
    destination: String,
    provider_response: Option<String>,
}

/// Only this says that the text arrived. "… by phone carrier", which most rows of success say, does not.
const BY_PHONE: &str = "message has been accepted by phone";

/// What the reasons that are known say, each by a piece of it that no other has.
const REASONS: [(&str, DeliveryCode); 14] = [
    ("no quota left", DeliveryCode::QuotaExhausted),
    ("blocked as spam", DeliveryCode::BlockedAsSpam),
    ("phone carrier has blocked", DeliveryCode::BlockedByCarrier),
    ("on a blocked list", DeliveryCode::BlockedByProvider),
    ("phone has blocked", DeliveryCode::BlockedByRecipient),
    ("invalid phone number", DeliveryCode::InvalidNumber),
    ("message body is invalid", DeliveryCode::InvalidMessage),
    ("opted out", DeliveryCode::OptedOut),
    ("exceed max price", DeliveryCode::OverMaxPrice),
    ("phone carrier is currently unreachable", DeliveryCode::CarrierUnreachable),
    ("phone is currently unreachable", DeliveryCode::PhoneUnreachable),
    ("attempting to reach phone", DeliveryCode::PhoneUnreachable),
    ("sandbox", DeliveryCode::Sandbox),
    ("additional review", DeliveryCode::ReviewRequired),
];

/// Reads one row. Its number becomes a MAC under `key`, a reason that is not known becomes [`DeliveryCode::Other`].
/// `None` for what is no such row.
#[must_use]
pub fn read_sns_row(text: &str, key: &FingerprintKey) -> Option<LogRow> {
    let row: Row = serde_json::from_str(text).ok()?;
    let reason = row.delivery.provider_response.unwrap_or_default().to_ascii_lowercase();
    let (status, code) = match row.status.as_str() {
        "SUCCESS" if reason.trim().trim_end_matches('.') == BY_PHONE => (ReceiptStatus::Delivered, None),
        "SUCCESS" => (ReceiptStatus::Accepted, None),
        "FAILURE" => (ReceiptStatus::Undelivered, Some(code_of(&reason))),
        _ => return None,
    };
    Some(LogRow {
        message_id: row.notification.message_id.as_deref().and_then(Reference::parse),
        destination: PhoneNumber::parse(&row.delivery.destination)?.mac(key),
        published_at: instant(&row.notification.timestamp)?,
        status,
        code,
    })
}

fn code_of(reason: &str) -> DeliveryCode {
    REASONS.iter().find(|(piece, _)| reason.contains(piece)).map_or(DeliveryCode::Other, |(_, code)| *code)
}

/// `YYYY-MM-DD HH:MM:SS.mmm`, in UTC without saying so.
fn instant(text: &str) -> Option<EpochMillis> {
    let (date, time) = text.split_once(' ')?;
    EpochMillis::parse_rfc3339(&format!("{date}T{time}Z"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NUMBER: &str = "+15550142973";

    fn key() -> FingerprintKey {
        FingerprintKey::new([9; 32])
    }

    fn row(status: &str, response: &str) -> Value {
        json!({
            "notification": {
                "messageId": "34d9b400-c6dd-5444-820d-fbeb0f1f54cf",
                "timestamp": "2026-11-30 20:10:02.517",
            },
            "delivery": {
                "phoneCarrier": "A carrier", "mnc": 270, "mcc": 310, "numberOfMessageParts": 1,
                "destination": NUMBER, "priceInUSD": 0.00645, "smsType": "Transactional",
                "providerResponse": response, "dwellTimeMs": 599, "dwellTimeMsUntilDeviceAck": 1344,
            },
            "status": status,
        })
    }

    fn read(row: &Value) -> Option<LogRow> {
        read_sns_row(&row.to_string(), &key())
    }

    fn says(status: &str, response: &str) -> (ReceiptStatus, Option<DeliveryCode>) {
        read(&row(status, response)).map(|row| (row.status, row.code)).unwrap()
    }

    #[test]
    fn a_row_names_message_number_and_instant() {
        let read = read(&row("SUCCESS", "Message has been accepted by phone carrier")).unwrap();
        assert_eq!(read.message_id, Reference::parse("34d9b400-c6dd-5444-820d-fbeb0f1f54cf"));
        assert_eq!(read.destination, PhoneNumber::parse(NUMBER).unwrap().mac(&key()));
        assert_eq!(read.published_at.rfc3339(), "2026-11-30T20:10:02.517Z");
    }

    #[test]
    fn only_the_phone_itself_proves_delivery() {
        for (response, status) in [
            ("Message has been accepted by phone", ReceiptStatus::Delivered),
            ("Message has been accepted by phone.", ReceiptStatus::Delivered),
            ("Message has been accepted by phone carrier", ReceiptStatus::Accepted),
            ("Message has been accepted by phone company", ReceiptStatus::Accepted),
            ("", ReceiptStatus::Accepted),
        ] {
            assert_eq!(says("SUCCESS", response), (status, None), "{response}");
        }
    }

    #[test]
    fn r1_each_known_reason_has_its_code() {
        for (response, code) in [
            ("No quota left for account", DeliveryCode::QuotaExhausted),
            ("Blocked as spam by phone carrier", DeliveryCode::BlockedAsSpam),
            ("Phone carrier has blocked this message", DeliveryCode::BlockedByCarrier),
            ("Destination is on a blocked list", DeliveryCode::BlockedByProvider),
            ("Phone is on a blocked list", DeliveryCode::BlockedByProvider),
            ("Phone has blocked SMS", DeliveryCode::BlockedByRecipient),
            ("Invalid phone number", DeliveryCode::InvalidNumber),
            ("Message body is invalid", DeliveryCode::InvalidMessage),
            ("Phone number is opted out", DeliveryCode::OptedOut),
            ("This delivery would exceed max price", DeliveryCode::OverMaxPrice),
            ("Phone carrier is currently unreachable/unavailable", DeliveryCode::CarrierUnreachable),
            ("Phone is currently unreachable/unavailable", DeliveryCode::PhoneUnreachable),
            ("Unknown error attempting to reach phone", DeliveryCode::PhoneUnreachable),
            ("Account is in the SMS sandbox", DeliveryCode::Sandbox),
            ("Additional review required", DeliveryCode::ReviewRequired),
        ] {
            assert_eq!(says("FAILURE", response), (ReceiptStatus::Undelivered, Some(code)), "{response}");
        }
    }

    #[test]
    fn r8_a_reason_never_seen_before_is_other_and_its_text_is_nowhere() {
        let read = read(&row("FAILURE", "Rejected: +15550142973 said 482913")).unwrap();
        assert_eq!(read.code, Some(DeliveryCode::Other));
        let shown = format!("{read:?}");
        assert!(["Rejected", "482913", "5550142"].iter().all(|piece| !shown.contains(piece)));
    }

    #[test]
    fn rows_without_carrier_price_reason_or_message_id_are_read() {
        let bare = json!({
            "notification": {"timestamp": "2026-11-30 20:10:02"},
            "delivery": {"destination": NUMBER},
            "status": "FAILURE",
        });
        let read = read(&bare).unwrap();
        assert_eq!((read.message_id, read.code), (None, Some(DeliveryCode::Other)));
        // What could be a number is not kept as a message's name.
        let mut odd = bare;
        odd["notification"]["messageId"] = json!("15550142973");
        assert_eq!(read_sns_row(&odd.to_string(), &key()).unwrap().message_id, None);
    }

    #[test]
    fn what_is_no_row_is_none() {
        let changed = |pointer: &str, value: Value| {
            let mut row = row("SUCCESS", "");
            *row.pointer_mut(pointer).unwrap() = value;
            row.to_string()
        };
        for text in [
            String::new(),
            String::from("{}"),
            String::from("[]"),
            String::from("null"),
            String::from("\u{0}"),
            changed("/status", json!("PENDING")),
            changed("/status", json!(1)),
            changed("/delivery/destination", json!("ACME")),
            changed("/delivery/destination", json!(15_550_142_973_u64)),
            changed("/notification/timestamp", json!("2026-11-30T20:10:02.517Z")),
            changed("/notification/timestamp", json!("30.11.2026 20:10")),
            changed("/notification/timestamp", json!("2026-13-30 20:10:02.517")),
            changed("/notification", json!(null)),
        ] {
            assert!(read_sns_row(&text, &key()).is_none(), "a text of {} bytes", text.len());
        }
    }
}
