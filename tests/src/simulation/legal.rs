//! The design's table of states, written down a second time: the core's own must agree with it.

use sendonce::notification::{Fact, RefusalClass, State, StopReason};

/// Whether `fact` may lead from one state to another.
#[must_use]
pub fn is_legal(from: State, fact: &Fact, to: State) -> bool {
    use State::{Accepted, DispatchUnknown, Failed, Sending, Sent, Stopped};
    match (from, fact, to) {
        (Accepted, Fact::DoorbellRung { .. }, Accepted) | (Accepted, Fact::AttemptStarted { .. }, Sending) => true,
        (Sending, Fact::AttemptAccepted { .. }, Sent) | (Sending, Fact::AttemptUnknown { .. }, DispatchUnknown) => true,
        (Sending | DispatchUnknown, Fact::AttemptRefused { class, .. }, to) => match class {
            RefusalClass::Retryable | RefusalClass::RetryableAlarm => to == Accepted,
            RefusalClass::Permanent | RefusalClass::PermanentAlarm => to == Failed,
        },
        (DispatchUnknown, Fact::ReconciledAccepted { .. }, Sent) => true,
        (from, Fact::LateAnswer { .. }, to) => from == to && from != Accepted && from != Sent,
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
        Fact::Stopped { reason } => format!("stopped: {}", reason.as_str()),
    }
}
