//! SNS's delivery log, where CloudWatch Logs keeps it.

use aws_sdk_cloudwatchlogs::Client;

use super::failure::{Failure, log};
use super::receipts::read_sns_row;
use crate::idempotency::FingerprintKey;
use crate::ports::{DeliveryLog, LogCursor, LogPage, Unreadable};
use crate::time::{EpochMillis, Millis};

/// The two groups that SNS writes about texts to numbers: successes, and failures.
#[derive(Clone, Debug)]
pub struct SnsDeliveryLog {
    client: Client,
    groups: [String; 2],
    destination: FingerprintKey,
}

impl SnsDeliveryLog {
    /// The log whose group of successes is called `group`. Numbers are known by their MAC under `destination`.
    pub fn new(client: Client, group: &str, destination: FingerprintKey) -> Self {
        Self { client, groups: groups(group), destination }
    }

    /// The key under which numbers are known.
    #[must_use]
    pub const fn destination(&self) -> &FingerprintKey {
        &self.destination
    }
}

/// The names of both groups.
pub(super) fn groups(group: &str) -> [String; 2] {
    [group.to_owned(), format!("{group}/Failure")]
}

impl DeliveryLog for SnsDeliveryLog {
    async fn log_page(&self, from: EpochMillis, until: EpochMillis, cursor: &LogCursor) -> Result<LogPage, Unreadable> {
        let Some(group) = self.groups.get(cursor.group) else { return Ok(LogPage::default()) };
        // No end: a row is written up to three days after what it is about, and says itself when that was.
        let request = self
            .client
            .filter_log_events()
            .log_group_name(group)
            .start_time(from.get())
            .set_filter_pattern(published_between(from, until))
            .set_next_token(cursor.token.clone());
        let following = cursor.group.saturating_add(1);
        let other_group = (following < self.groups.len()).then_some(LogCursor { group: following, token: None });
        let answer = match request.send().await {
            Ok(answer) => answer,
            // SNS makes a group with its first row.
            Err(error) if is_missing(&error) => return Ok(LogPage { rows: Vec::new(), next: other_group }),
            Err(error) => {
                log("logs:FilterLogEvents", &Failure::of(&error), "unreadable");
                return Err(Unreadable);
            }
        };
        let next = match answer.next_token() {
            Some(token) => Some(LogCursor { group: cursor.group, token: Some(token.to_owned()) }),
            None => other_group,
        };
        let texts = answer.events().iter().filter_map(|event| event.message());
        Ok(LogPage { rows: texts.filter_map(|text| read_sns_row(text, &self.destination)).collect(), next })
    }
}

type FilterError =
    aws_sdk_cloudwatchlogs::error::SdkError<aws_sdk_cloudwatchlogs::operation::filter_log_events::FilterLogEventsError>;

fn is_missing(error: &FilterError) -> bool {
    error.as_service_error().is_some_and(|error| error.is_resource_not_found_exception())
}

/// Lengths of a row's instant, `2026-11-30 20:10:02.517`, up to its minute, ten minutes, hour and day.
const UNITS: [(usize, Millis); 4] = [
    (16, Millis::from_secs(60)),
    (15, Millis::from_secs(600)),
    (13, Millis::from_secs(3_600)),
    (10, Millis::from_secs(86_400)),
];

/// How many beginnings fit into a pattern, which CloudWatch Logs takes up to 1,024 characters long.
const BEGINNINGS_MAX: usize = 16;

/// A pattern for all rows about texts that were taken between two instants, and few others: by the beginning of their
/// instant, as fine as fits. `None` where only all rows would do.
fn published_between(from: EpochMillis, until: EpochMillis) -> Option<String> {
    let beginnings = UNITS.into_iter().find_map(|(length, unit)| beginnings(from, until, length, unit))?;
    let terms: Vec<String> =
        beginnings.iter().map(|beginning| format!("($.notification.timestamp = \"{beginning}*\")")).collect();
    Some(format!("{{ {} }}", terms.join(" || ")))
}

fn beginnings(from: EpochMillis, until: EpochMillis, length: usize, unit: Millis) -> Option<Vec<String>> {
    let whole = |at: EpochMillis| at.get().div_euclid(unit.get());
    let (first, last) = (whole(from), whole(until));
    let count = usize::try_from(last.saturating_sub(first)).ok().filter(|count| *count < BEGINNINGS_MAX)?;
    let beginning = |n: i64| {
        let text = EpochMillis::new(n.saturating_mul(unit.get())).rfc3339().replacen('T', " ", 1);
        text.get(..length).map(ToOwned::to_owned)
    };
    let all: Option<Vec<String>> = (first..=last).map(beginning).collect();
    all.filter(|all| all.len() == count.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(from: &str, until: &str) -> Option<String> {
        let at = |text: &str| EpochMillis::parse_rfc3339(text).unwrap();
        published_between(at(from), at(until))
    }

    fn terms(pattern: &str) -> Vec<&str> {
        pattern.split('"').skip(1).step_by(2).collect()
    }

    #[test]
    fn a_short_span_is_its_minutes() {
        assert_eq!(
            pattern("2026-11-30T23:59:59.999Z", "2026-12-01T00:00:00.000Z").unwrap(),
            "{ ($.notification.timestamp = \"2026-11-30 23:59*\") || ($.notification.timestamp = \"2026-12-01 00:00*\") }"
        );
        assert_eq!(terms(&pattern("2026-11-30T20:10:00Z", "2026-11-30T20:10:00Z").unwrap()), ["2026-11-30 20:10*"]);
    }

    #[test]
    fn a_longer_span_is_told_more_coarsely_and_fits_into_a_pattern() {
        let sixteen = pattern("2026-11-30T20:10:00Z", "2026-11-30T20:25:59Z").unwrap();
        assert_eq!((terms(&sixteen).len(), terms(&sixteen)[15]), (16, "2026-11-30 20:25*"));
        assert!(sixteen.len() <= 1_024, "{}", sixteen.len());
        assert_eq!(
            terms(&pattern("2026-11-30T20:10:00Z", "2026-11-30T20:26:00Z").unwrap()),
            ["2026-11-30 20:1*", "2026-11-30 20:2*"]
        );
        assert_eq!(terms(&pattern("2026-11-30T00:00:00Z", "2026-11-30T03:00:00Z").unwrap()).len(), 4);
        assert_eq!(
            terms(&pattern("2026-11-30T00:00:00Z", "2026-12-01T00:00:00Z").unwrap()),
            ["2026-11-30*", "2026-12-01*"]
        );
    }

    #[test]
    fn what_no_pattern_can_tell_is_asked_for_without_one() {
        assert_eq!(pattern("2026-01-01T00:00:00Z", "2026-12-01T00:00:00Z"), None);
    }
}
