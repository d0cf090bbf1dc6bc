//! CloudWatch Logs, as far as SNS writes into it and somebody reads that.

use std::collections::BTreeMap;

use sendonce::time::EpochMillis;
use serde_json::{Value, json};

use super::connector::{Answer, Served};
use super::{Request, Seam, lock};

/// The log group of successes; that of failures is named after it.
pub const SNS_LOG_GROUP: &str = "sns/eu-central-1/111122223333/DirectPublishToPhoneNumber";
/// How many events one request looks at, whether or not they match: so pages may be empty.
const PAGE: usize = 3;

/// All groups by name. One that nothing was written to is not there.
#[derive(Debug, Default)]
pub(super) struct Logs {
    groups: BTreeMap<String, Vec<(EpochMillis, String)>>,
    pushed_to: BTreeMap<String, Vec<String>>,
}

pub(super) fn serve(seam: &Seam, request: &Request) -> Served {
    let (body, logs) = (request.json(), lock(&seam.0.logs));
    let group = body["logGroupName"].as_str().unwrap_or_default();
    let events = logs.groups.get(group).ok_or((400, "ResourceNotFoundException"))?;
    match request.name() {
        "FilterLogEvents" => Ok(filter(events, &body)),
        "DescribeSubscriptionFilters" => {
            let arns = logs.pushed_to.get(group).into_iter().flatten();
            let filters = arns.map(|arn| json!({"filterName": "f", "logGroupName": group, "destinationArn": arn}));
            Ok(Answer::ok(json!({"subscriptionFilters": filters.collect::<Vec<_>>()})))
        }
        _ => Err((400, "UnknownOperationException")),
    }
}

fn filter(events: &[(EpochMillis, String)], body: &Value) -> Answer {
    let from = body["nextToken"].as_str().and_then(|token| token.parse().ok()).unwrap_or(0_usize);
    let start = body["startTime"].as_i64().unwrap_or(0);
    let end = body["endTime"].as_i64().unwrap_or(i64::MAX);
    let pattern = body["filterPattern"].as_str().unwrap_or_default();
    let page = events.iter().skip(from).take(PAGE);
    let found = page.filter(|(at, text)| (start..=end).contains(&at.get()) && matches(pattern, text));
    let found: Vec<Value> = found.map(|(at, text)| json!({"timestamp": at.get(), "message": text})).collect();
    let next = from + PAGE;
    Answer::ok(match next < events.len() {
        true => json!({"events": found, "nextToken": next.to_string()}),
        false => json!({"events": found}),
    })
}

/// A pattern made of `($.notification.timestamp = "…*")`, with `||` between.
fn matches(pattern: &str, text: &str) -> bool {
    let row: Value = serde_json::from_str(text).unwrap_or_default();
    let instant = row["notification"]["timestamp"].as_str().unwrap_or_default();
    let mut terms = pattern.trim_matches(['{', '}', ' ']).split(" || ");
    pattern.is_empty()
        || terms.any(|term| {
            let beginning = term.strip_prefix("($.notification.timestamp = \"").and_then(|it| it.strip_suffix("*\")"));
            beginning.is_some_and(|beginning| instant.starts_with(beginning))
        })
}

impl Seam {
    /// Writes one event into a log group at an instant.
    pub fn write_log(&self, group: &str, at: EpochMillis, text: &str) {
        lock(&self.0.logs).groups.entry(group.into()).or_default().push((at, text.into()));
    }

    /// Puts a subscription filter on a log group, which is there from now on.
    pub fn subscribe(&self, group: &str, arn: &str) {
        let mut logs = lock(&self.0.logs);
        logs.groups.entry(group.into()).or_default();
        logs.pushed_to.entry(group.into()).or_default().push(arn.into());
    }
}
