//! What clients are shown of a notification.

use serde::Serialize;

use crate::admit::Admitted;
use crate::answer::{Links, location};
use crate::digest::base64url;
use crate::notification::{Fact, Mask, Provider, Record, Row, State};
use crate::read::Evidence;

use super::{Response, etag};

/// How long a client waits before it looks again at what has not settled.
const RETRY_AFTER: &str = "2";

/// The answer to an accepted command, first or repeated: status and body as stored, byte for byte.
#[must_use]
pub fn accepted(admitted: &Admitted) -> Response {
    let answer = &admitted.answer;
    let response = Response::json(answer.status, answer.body.clone()).with("location", location(&admitted.id));
    if admitted.replayed { response.with("idempotency-replayed", "true") } else { response }
}

#[derive(Serialize)]
struct Status<'a> {
    id: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    settled: bool,
    event: &'a crate::notification::Event,
    kind: &'static str,
    to: &'a Mask,
    #[serde(skip_serializing_if = "Option::is_none")]
    sender_id: Option<&'a str>,
    accepted_at: String,
    expires_at: String,
    updated_at: String,
    attempts: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_attempt: Option<LastAttempt<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<&'a str>,
    links: Links,
}

#[derive(Serialize)]
struct LastAttempt<'a> {
    id: &'a str,
    number: u32,
    provider: Provider,
    lease_until: String,
}

/// The state of a notification.
#[must_use]
pub fn status(record: &Record) -> Response {
    let state = record.state();
    let progress = &record.progress;
    let body = Status {
        id: record.id.as_str(),
        status: state.as_str(),
        reason: match state {
            State::Stopped(reason) => Some(reason.as_str()),
            State::Accepted | State::Sending | State::Sent | State::Delivered | State::Undelivered => None,
            State::Failed | State::DispatchUnknown => None,
        },
        settled: state.is_settled(),
        event: &record.event,
        kind: record.kind.as_str(),
        to: &record.mask,
        sender_id: record.sender_id.as_ref().map(crate::notification::SenderId::as_str),
        accepted_at: record.accepted_at.rfc3339(),
        expires_at: record.expires_at.rfc3339(),
        updated_at: record.updated_at.rfc3339(),
        attempts: progress.attempts,
        last_attempt: progress.attempt.as_ref().map(|attempt| LastAttempt {
            id: attempt.id.as_str(),
            number: attempt.number,
            provider: attempt.provider,
            lease_until: attempt.lease_until.rfc3339(),
        }),
        message_id: progress.message_id.as_ref().map(crate::notification::Reference::as_str),
        links: Links::to(&record.id),
    };
    // Strings and numbers only: serialising cannot fail.
    let response = Response::json(200, serde_json::to_string(&body).unwrap_or_default()).with("etag", etag(record.rev));
    if state.is_settled() { response } else { response.with("retry-after", RETRY_AFTER) }
}

#[derive(Serialize)]
struct Chain<'a> {
    id: &'a str,
    verified: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    rows: Vec<ShownRow<'a>>,
}

/// A row twice: its parts to read, and the exact text whose SHA-256 the next row holds.
#[derive(Serialize)]
struct ShownRow<'a> {
    seq: u32,
    at: String,
    actor: String,
    #[serde(flatten)]
    fact: &'a Fact,
    hash: String,
    hashed: String,
}

/// The evidence about a notification.
#[must_use]
pub fn evidence(id: &crate::notification::NotificationId, evidence: &Evidence) -> Response {
    let shown = |row| shown_row(row);
    let body = Chain {
        id: id.as_str(),
        verified: evidence.fault.is_none(),
        fault: evidence.fault.map(|fault| fault.to_string()),
        rows: evidence.rows.iter().map(shown).collect(),
    };
    Response::json(200, serde_json::to_string(&body).unwrap_or_default())
}

fn shown_row(row: &Row) -> ShownRow<'_> {
    ShownRow {
        seq: row.seq(),
        at: row.at().rfc3339(),
        actor: row.actor().to_string(),
        fact: row.fact(),
        hash: base64url(&row.hash()),
        hashed: row.body_json(),
    }
}
