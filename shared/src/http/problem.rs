//! Errors as RFC 9457 problem details, each with a stable `code`.

use serde::Serialize;

use crate::admit::NotAdmitted;
use crate::cancel::NotCancelled;
use crate::idempotency::{KeyFault, NotRun};
use crate::notification::NotDecidable;
use crate::ports::Unreadable;
use crate::resolve::NotResolved;
use crate::time::EpochMillis;

use super::{BodyFault, FieldFault, Response, RouteFault};

/// An error as a client sees it. Its texts are fixed: nothing of a request or of the inside gets into them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    status: u16,
    code: &'static str,
    detail: String,
    fields: Vec<FieldFault>,
    retry_after_secs: Option<u32>,
    allow: Option<&'static str>,
}

/// How long a client waits before it asks again with the same key.
const RETRY_AFTER_SECS: u32 = 1;

impl Problem {
    fn new(status: u16, code: &'static str, detail: impl ToString) -> Self {
        Self { status, code, detail: detail.to_string(), fields: Vec::new(), retry_after_secs: None, allow: None }
    }

    fn unavailable(detail: impl ToString) -> Self {
        Self { retry_after_secs: Some(RETRY_AFTER_SECS), ..Self::new(503, "unavailable", detail) }
    }

    /// The gateway's event is not one this function can read.
    #[must_use]
    pub fn unreadable_event() -> Self {
        Self::new(400, "event_unreadable", "the request did not come as an HTTP API event of payload version 2.0")
    }

    /// The gateway did not say who calls.
    #[must_use]
    pub fn unauthenticated() -> Self {
        Self::new(401, "caller_unknown", "the gateway named no caller")
    }

    /// The body is not declared as JSON.
    #[must_use]
    pub fn not_json_type() -> Self {
        Self::new(415, "media_type_unsupported", "send the body as application/json")
    }

    /// There is nothing here, or nothing of this tenant: the same bytes for both.
    #[must_use]
    pub fn not_found() -> Self {
        Self::new(404, "not_found", "there is no such notification")
    }

    /// `If-Match` does not hold.
    #[must_use]
    pub fn changed() -> Self {
        Self::new(412, "precondition_failed", "the notification has changed since the revision named in If-Match")
    }

    /// `If-Match` is missing, or names no revision, where a decision rests on what was seen.
    #[must_use]
    pub fn precondition_required() -> Self {
        let detail = "send If-Match with the ETag of the revision that the decision is about";
        Self::new(428, "precondition_required", detail)
    }

    /// A decision that changed nothing, at `now`.
    #[must_use]
    pub fn not_resolved(fault: NotResolved, now: EpochMillis) -> Self {
        match fault {
            NotResolved::NotFound => Self::not_found(),
            NotResolved::Changed => Self::changed(),
            NotResolved::NotDecidable(fault) => Self::not_decidable(fault, now),
            NotResolved::Unavailable => Self::unavailable("look at the notification, then decide again"),
        }
    }

    fn not_decidable(fault: NotDecidable, now: EpochMillis) -> Self {
        match fault {
            NotDecidable::NotUnknown => Self::new(409, "not_unknown", fault),
            NotDecidable::Settled => Self::new(409, "already_settled", fault),
            NotDecidable::Expired => Self::new(409, "expired", fault),
            NotDecidable::AttemptsUsedUp => Self::new(409, "attempts_used_up", fault),
            NotDecidable::MayBeRunning { until } => {
                let secs = u32::try_from(until.since(now).secs_ceil()).unwrap_or(RETRY_AFTER_SECS).max(1);
                Self { retry_after_secs: Some(secs), ..Self::new(409, "attempt_may_be_running", fault) }
            }
        }
    }

    /// The command is over, and its answer was longer than what is kept.
    #[must_use]
    pub fn answer_not_kept() -> Self {
        Self::new(409, "answer_not_kept", "the command was carried out; its answer was too long to be given twice")
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.code
    }

    /// The HTTP answer.
    #[must_use]
    pub fn response(&self) -> Response {
        #[derive(Serialize)]
        struct Field<'a> {
            pointer: &'a str,
            detail: &'a str,
        }
        #[derive(Serialize)]
        struct Body<'a> {
            r#type: &'static str,
            title: &'static str,
            status: u16,
            code: &'static str,
            detail: &'a str,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            errors: Vec<Field<'a>>,
        }
        let body = Body {
            r#type: "about:blank",
            title: title(self.status),
            status: self.status,
            code: self.code,
            detail: &self.detail,
            errors: self.fields.iter().map(|f| Field { pointer: &f.pointer, detail: f.rule }).collect(),
        };
        // Strings and numbers only: serialising cannot fail.
        let body = serde_json::to_string(&body).unwrap_or_default();
        let response = Response { status: self.status, headers: Vec::new(), body }
            .with("content-type", "application/problem+json")
            .with("cache-control", "no-store");
        let response = match self.retry_after_secs {
            Some(secs) => response.with("retry-after", secs.to_string()),
            None => response,
        };
        match self.allow {
            Some(allow) => response.with("allow", allow),
            None => response,
        }
    }
}

/// The standard phrase of a status code.
const fn title(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        401 => "Unauthorized",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        428 => "Precondition Required",
        503 => "Service Unavailable",
        _ => "Error",
    }
}

impl From<KeyFault> for Problem {
    fn from(fault: KeyFault) -> Self {
        match fault {
            KeyFault::Missing => Self::new(400, "idempotency_key_missing", fault),
            KeyFault::Invalid => Self::new(400, "idempotency_key_invalid", fault),
        }
    }
}

/// A run may last as long as its lease, but most end long before: the client looks again within seconds.
const LOOK_AGAIN_MAX_SECS: u32 = 5;

impl From<NotRun> for Problem {
    fn from(fault: NotRun) -> Self {
        match &fault {
            NotRun::Reused => Self::new(409, "idempotency_key_reused", fault),
            NotRun::InFlight { left } => {
                let secs = u32::try_from(left.secs_ceil()).unwrap_or(LOOK_AGAIN_MAX_SECS).clamp(1, LOOK_AGAIN_MAX_SECS);
                Self { retry_after_secs: Some(secs), ..Self::new(409, "in_flight", fault) }
            }
            NotRun::OutcomeUnknown(_) => {
                Self::new(409, "outcome_unknown", "the command may have been carried out; a new key is not safe either")
            }
            NotRun::NoTimeLeft(_) | NotRun::Unavailable => {
                Self::unavailable("send the same request with the same key again")
            }
        }
    }
}

impl From<BodyFault> for Problem {
    fn from(fault: BodyFault) -> Self {
        match fault {
            BodyFault::TooLarge => Self::new(413, "body_too_large", "the body is longer than any command can be"),
            BodyFault::NotJson => {
                Self::new(400, "body_not_json", "the body is not one JSON value of unique members and modest depth")
            }
            BodyFault::Fields(fields) => {
                Self { fields, ..Self::new(400, "body_invalid", "members of the body do not hold what they must") }
            }
        }
    }
}

impl From<RouteFault> for Problem {
    fn from(fault: RouteFault) -> Self {
        match fault {
            RouteFault::NotFound => Self::not_found(),
            RouteFault::MethodNotAllowed { allow } => Self {
                allow: Some(allow),
                ..Self::new(405, "method_not_allowed", "this path takes the method named in Allow")
            },
        }
    }
}

impl From<NotAdmitted> for Problem {
    fn from(fault: NotAdmitted) -> Self {
        let lifetime = |rule| Self {
            fields: vec![FieldFault { pointer: String::from("/expires_at"), rule }],
            ..Self::new(400, "body_invalid", "members of the body do not hold what they must")
        };
        match fault {
            NotAdmitted::Expired => lifetime("must be in the future"),
            NotAdmitted::TooLongLived => lifetime("must not be further away than the longest lifetime allowed"),
            NotAdmitted::KeyReused => Self::new(409, "idempotency_key_reused", fault),
            NotAdmitted::EventAlreadyAccepted => Self::new(409, "event_already_accepted", fault),
            NotAdmitted::Unavailable => {
                Self::unavailable("nothing is lost: send the same request with the same key again")
            }
        }
    }
}

impl From<NotCancelled> for Problem {
    fn from(fault: NotCancelled) -> Self {
        match fault {
            NotCancelled::NotFound => Self::not_found(),
            NotCancelled::Changed => Self::changed(),
            NotCancelled::AttemptRunning => Self {
                retry_after_secs: Some(RETRY_AFTER_SECS),
                ..Self::new(409, "attempt_running", "an attempt is running and cannot be called back; ask again")
            },
            NotCancelled::Settled => Self::new(409, "already_settled", fault),
            NotCancelled::Unavailable => Self::unavailable("cancelling again is safe"),
        }
    }
}

impl From<Unreadable> for Problem {
    fn from(fault: Unreadable) -> Self {
        Self::unavailable(fault)
    }
}
