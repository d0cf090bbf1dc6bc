//! The design's table of states, written down a second time: the core's own must agree with it.

use sendonce::notification::{Fact, RefusalClass, State, StopReason};

/// Whether `fact` may lead from one state to another.
#[must_use]
pub fn is_legal(from: State, fact: &Fact, to: State) -> bool {
    use State::{Accepted, Delivered, DispatchUnknown, Failed, Sending, Sent, Stopped, Undelivered};
    match (from, fact, to) {
        (Accepted, Fact::DoorbellRung { .. }, Accepted) | (Accepted, Fact::AttemptStarted { .. }, Sending) => true,
        (Sending, Fact::AttemptAccepted { .. }, Sent) => true,
        // To `sent` where an earlier attempt is known to have been taken.
        (Sending, Fact::AttemptUnknown { .. }, DispatchUnknown | Sent) => true,
        (Sending, Fact::AttemptRefused { .. }, Sent) => true,
        (Sending | DispatchUnknown, Fact::AttemptRefused { class, .. }, to) => match class {
            RefusalClass::Retryable | RefusalClass::RetryableAlarm => to == Accepted,
            RefusalClass::Permanent | RefusalClass::PermanentAlarm => to == Failed,
        },
        (DispatchUnknown | Accepted | Sending, Fact::ReconciledAccepted { .. }, Sent) => true,
        (DispatchUnknown, Fact::EvidenceSought { .. }, DispatchUnknown) => true,
        (DispatchUnknown, Fact::ResendAuthorised { .. }, Accepted) => true,
        (DispatchUnknown, Fact::Closed { .. }, Stopped(StopReason::ClosedByOperator)) => true,
        (Sent, Fact::Delivered { .. }, Delivered) | (Sent, Fact::Undelivered { .. }, Undelivered) => true,
        (from, Fact::LateAnswer { accepted: Some(false), .. }, to) => from == to,
        (from, Fact::LateAnswer { .. } | Fact::ReceiptNoted { .. }, to) => from == to && from != Accepted,
        (from, Fact::Stopped { reason }, Stopped(stated)) if *reason == stated => match reason {
            StopReason::ExpiredBeforeAttempt | StopReason::AttemptsExhausted => from == Accepted,
            StopReason::ExpiredUnresolved => from == DispatchUnknown,
            StopReason::Cancelled => matches!(from, Accepted | DispatchUnknown),
            _ => false,
        },
        _ => false,
    }
}

/// A fact's name in traces.
#[must_use]
pub fn word(fact: &Fact) -> String {
    match fact {
        Fact::Accepted(_) => String::from("accepted"),
        Fact::DoorbellRung { rings, .. } => format!("doorbell rung ({rings})"),
        Fact::AttemptStarted { number, .. } => format!("attempt {number} started"),
        Fact::AttemptAccepted { .. } => String::from("attempt accepted"),
        Fact::AttemptRefused { code, .. } => format!("attempt refused: {code:?}"),
        Fact::AttemptUnknown { basis, .. } => format!("attempt unknown: {basis:?}"),
        Fact::ReconciledAccepted { .. } => String::from("reconciled: accepted"),
        Fact::LateAnswer { accepted, .. } => format!("late answer: accepted {accepted:?}"),
        Fact::EvidenceSought { finding, checks, .. } => format!("evidence sought ({checks}): {finding:?}"),
        Fact::ResendAuthorised { basis, .. } => format!("resend authorised: {basis:?}"),
        Fact::Closed { basis, .. } => format!("closed: {basis:?}"),
        Fact::Delivered { strength, .. } => format!("delivered, {strength:?}"),
        Fact::Undelivered { strength, .. } => format!("undelivered, {strength:?}"),
        Fact::ReceiptNoted { status, .. } => format!("receipt noted: {status:?}"),
        Fact::Stopped { reason } => format!("stopped: {}", reason.as_str()),
    }
}
