//! Rows of SNS's delivery log as CloudWatch Logs pushes them: JSON, compressed, in base64, in JSON.

use std::io::Read;

use data_encoding::BASE64;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;

use super::read_sns_row;
use crate::idempotency::FingerprintKey;
use crate::notification::LogRow;

/// The most that is unpacked. A push is at most 256 KB, and text shrinks to a tenth; more is not a push.
const UNPACKED_MAX: u64 = 16 * 1_024 * 1_024;

/// What one push holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Its rows.
    pub rows: Vec<LogRow>,
    /// How many of its events are no rows.
    pub malformed: u32,
}

/// Not something that CloudWatch Logs pushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the event is not one that CloudWatch Logs pushes")]
pub struct NotPushed;

#[derive(Deserialize)]
struct Packed<'a> {
    #[serde(borrow)]
    data: &'a str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Push {
    message_type: String,
    #[serde(default)]
    log_events: Vec<LogEvent>,
}

/// It holds a number.
#[derive(Deserialize)]
struct LogEvent {
    message: String,
}

/// Reads what stands under `awslogs` in a pushed event.
///
/// # Errors
/// [`NotPushed`], whatever is wrong with it.
pub fn read_pushed(awslogs: &str, key: &FingerprintKey) -> Result<Pushed, NotPushed> {
    let Packed { data } = serde_json::from_str(awslogs).map_err(|_| NotPushed)?;
    let packed = BASE64.decode(data.as_bytes()).map_err(|_| NotPushed)?;
    let push: Push = serde_json::from_slice(&unpacked(&packed)?).map_err(|_| NotPushed)?;
    let mut pushed = Pushed::default();
    // Now and then it pushes nothing but a question whether somebody is there.
    let events = if push.message_type == "DATA_MESSAGE" { push.log_events } else { Vec::new() };
    for event in events {
        match read_sns_row(&event.message, key) {
            Some(row) => pushed.rows.push(row),
            None => pushed.malformed = pushed.malformed.saturating_add(1),
        }
    }
    Ok(pushed)
}

fn unpacked(packed: &[u8]) -> Result<Vec<u8>, NotPushed> {
    let mut text = Vec::new();
    // One byte more than may be, so that what is too long is seen to be.
    let read = MultiGzDecoder::new(packed).take(UNPACKED_MAX + 1).read_to_end(&mut text);
    match read {
        Ok(length) if u64::try_from(length).is_ok_and(|length| length <= UNPACKED_MAX) => Ok(text),
        Ok(_) | Err(_) => Err(NotPushed),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use serde_json::{Value, json};

    use super::*;

    fn key() -> FingerprintKey {
        FingerprintKey::new([9; 32])
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn packed(bytes: &[u8]) -> String {
        json!({"data": BASE64.encode(bytes)}).to_string()
    }

    fn push(kind: &str, messages: &[&str]) -> Value {
        let events: Vec<_> = messages
            .iter()
            .map(|text| json!({"id": "1", "timestamp": 1_796_069_400_123_i64, "message": text}))
            .collect();
        json!({
            "messageType": kind, "owner": "111122223333",
            "logGroup": "sns/eu-central-1/111122223333/DirectPublishToPhoneNumber", "logStream": "x",
            "subscriptionFilters": ["sendonce"], "logEvents": events,
        })
    }

    fn read(push: &Value) -> Result<Pushed, NotPushed> {
        read_pushed(&packed(&gzip(push.to_string().as_bytes())), &key())
    }

    const ROW: &str = r#"{"notification":{"timestamp":"2026-11-30 20:10:02.517"},
        "delivery":{"destination":"+15550142973"},"status":"SUCCESS"}"#;

    #[test]
    fn rows_are_read_and_what_is_none_is_counted() {
        let pushed = read(&push("DATA_MESSAGE", &[ROW, "{}", ROW, "START RequestId: 1"])).unwrap();
        assert_eq!((pushed.rows.len(), pushed.malformed), (2, 2));
        assert!(!format!("{pushed:?}").contains("5550142"));
    }

    #[test]
    fn a_question_whether_somebody_is_there_holds_no_rows() {
        assert_eq!(read(&push("CONTROL_MESSAGE", &["CWL CONTROL MESSAGE: Checking health"])), Ok(Pushed::default()));
    }

    #[test]
    fn what_is_not_pushed_is_refused() {
        let good = gzip(push("DATA_MESSAGE", &[ROW]).to_string().as_bytes());
        let cut = good.get(..good.len() / 2).unwrap();
        let texts = [
            String::from("null"),
            String::from("{}"),
            String::from(r#"{"data":7}"#),
            String::from(r#"{"data":"not base64"}"#),
            packed(b""),
            packed(b"plain"),
            packed(cut),
            packed(&gzip(b"")),
            packed(&gzip(b"[]")),
            packed(&gzip(b"\xff\xfe")),
        ];
        for (n, text) in texts.iter().enumerate() {
            assert_eq!(read_pushed(text, &key()), Err(NotPushed), "case {n}");
        }
    }

    #[test]
    fn a_little_that_unpacks_to_much_is_refused() {
        let bomb = gzip(&vec![b' '; 64 * 1_024 * 1_024]);
        assert!(bomb.len() < 256 * 1_024);
        assert_eq!(read_pushed(&packed(&bomb), &key()), Err(NotPushed));
    }
}
