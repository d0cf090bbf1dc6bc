//! What an SDK error shows, without its text.

use core::error::Error;

use aws_sdk_sns::config::http::HttpResponse;
use aws_sdk_sns::error::{ProvideErrorMetadata, SdkError};

use crate::ports::WriteFault;

/// How far a request got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// It was never built, let alone sent.
    NotBuilt,
    /// No connection was made that could have carried it.
    NeverConnected,
    /// No answer in time.
    TimedOut,
    /// The connection ended without an answer.
    ConnectionLost,
    /// An answer began with this status and could not be read.
    Unreadable(u16),
    /// An error was answered with this status.
    Answered(u16),
}

/// An SDK error, by what it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure<'a> {
    /// How far the request got.
    pub kind: FailureKind,
    /// The service's code for the error; empty when there is none.
    pub code: &'a str,
}

impl<'a> Failure<'a> {
    /// What this error shows.
    pub fn of<E>(error: &'a SdkError<E, HttpResponse>) -> Self
    where
        E: Error + ProvideErrorMetadata + 'static,
    {
        let kind = match error {
            SdkError::ConstructionFailure(_) => FailureKind::NotBuilt,
            SdkError::TimeoutError(_) => FailureKind::TimedOut,
            SdkError::DispatchFailure(_) if never_connected(error) => FailureKind::NeverConnected,
            SdkError::DispatchFailure(lost) if lost.is_timeout() => FailureKind::TimedOut,
            SdkError::ResponseError(answer) => FailureKind::Unreadable(answer.raw().status().as_u16()),
            SdkError::ServiceError(answer) => FailureKind::Answered(answer.raw().status().as_u16()),
            // Includes kinds of error that the SDK does not have yet: nothing is proven by them.
            SdkError::DispatchFailure(_) | _ => FailureKind::ConnectionLost,
        };
        Self { kind, code: error.code().filter(|code| is_code(code)).unwrap_or_default() }
    }

    /// A word for logs: the code, or how far it got.
    pub(super) const fn word(&self) -> &'a str {
        match self.kind {
            _ if !self.code.is_empty() => self.code,
            FailureKind::NotBuilt => "not_built",
            FailureKind::NeverConnected => "never_connected",
            FailureKind::TimedOut => "timed_out",
            FailureKind::ConnectionLost => "connection_lost",
            FailureKind::Unreadable(_) => "unreadable_answer",
            FailureKind::Answered(_) => "no_code",
        }
    }
}

/// A code is an identifier; anything else in its place could be prose.
fn is_code(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphabetic() || b == b'.' || b == b'_')
}

/// Whether this error says that no connection came about. The HTTP client marks exactly those errors which arose
/// while connecting (look-up, refusal, TLS, its timeout); its own type must be found for that, so a build with two
/// versions of it proves nothing here and errs on the side of doubt.
pub(super) fn never_connected(error: &(dyn Error + 'static)) -> bool {
    core::iter::successors(Some(error), |&error| error.source())
        .filter_map(|error| error.downcast_ref::<hyper_util::client::legacy::Error>())
        .any(hyper_util::client::legacy::Error::is_connect)
}

/// The word for a write's fault.
pub(super) const fn class_of(fault: WriteFault) -> &'static str {
    match fault {
        WriteFault::Conflict => "conflict",
        WriteFault::Refused => "refused",
        WriteFault::Unknown => "unknown",
    }
}

/// Logs a failed request, once, by names of bounded form.
pub(super) fn log(operation: &'static str, failure: &Failure<'_>, class: &'static str) {
    tracing::warn!("aws.operation" = operation, "aws.code" = failure.word(), class, "an AWS request did not succeed");
}
