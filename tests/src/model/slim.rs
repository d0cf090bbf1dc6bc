//! Records and rows without what never changes in a run: a few bytes that hash fast, and back.

use std::sync::LazyLock;

use sendonce::idempotency::{Fingerprint, FingerprintKey};
use sendonce::notification::{
    Actor, Attempt, AttemptId, Command, Event, EventId, EventType, Fact, Function, Kind, MessageText, Outcome,
    PhoneNumber, Progress, Provider, ProviderCode, ReceiptSource, Record, Reference, Refusal, RefusalClass, State,
    StopReason, Strength, UnknownBasis,
};
use sendonce::time::EpochMillis;

use super::numbers::{EXPIRES_AT, Instant};

/// Who acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// One of two clients.
    Client(u8),
    /// One of two dispatchers.
    Dispatcher(u8),
    /// One of two reconcilers.
    Reconciler(u8),
    /// Whoever takes the notification back.
    Canceller,
}

/// The latest attempt of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlimAttempt {
    /// Its name.
    pub id: u8,
    /// Which one it is.
    pub number: u8,
    /// Until when it may still be running.
    pub lease_until: Instant,
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slim {
    /// How many rows follow row 0.
    pub rev: u8,
    /// Where it stands.
    pub state: State,
    /// How many attempts were started.
    pub attempts: u8,
    /// The latest of them.
    pub attempt: Option<SlimAttempt>,
    /// Before when no attempt may start.
    pub not_before: Option<Instant>,
    /// How often the reconciler rang.
    pub rings: u8,
    /// Before when it does not ring.
    pub ring_at: Option<Instant>,
    /// The attempt that is known to have been accepted.
    pub taken: Option<u8>,
    /// When it was accepted.
    pub accepted_at: Instant,
    /// When the reconciler must look at it.
    pub due_at: Option<Instant>,
    /// Whether number and body are still there.
    pub sealed: bool,
    /// Whether the table may ever forget it.
    pub forgettable: bool,
    /// Which of the commands it came from.
    pub print: u8,
}

/// What a row states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the fields are those of the facts")]
pub enum SlimFact {
    /// As [`Fact::DoorbellRung`].
    Rung { rings: u8, next_at: Instant },
    /// As [`Fact::AttemptStarted`].
    Started { attempt: u8, number: u8, lease_until: Instant },
    /// As [`Fact::AttemptAccepted`].
    Taken { attempt: u8 },
    /// As [`Fact::AttemptRefused`]; for good when there is no next time.
    Refused { attempt: u8, next_at: Option<Instant> },
    /// As [`Fact::AttemptUnknown`].
    Unknown { attempt: u8, lease_ended: bool },
    /// As [`Fact::ReconciledAccepted`].
    Reconciled { attempt: u8 },
    /// As [`Fact::LateAnswer`].
    Late { attempt: u8, accepted: bool },
    /// As [`Fact::Stopped`].
    Stopped(StopReason),
}

/// What a dispatcher heard of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Heard {
    /// It was taken.
    Taken,
    /// It was refused for now.
    Refused,
    /// It was refused for good.
    RefusedForGood,
    /// Nothing that proves anything.
    Doubt,
}

/// The names and numbers that all runs share.
struct Base {
    attempts: Vec<AttemptId>,
    commands: [Command; 2],
    prints: [Fingerprint; 2],
}

/// More names than the rows of one run have room for.
const ATTEMPT_IDS: u8 = 64;

static BASE: LazyLock<Base> = LazyLock::new(|| {
    // As admission derives it.
    let key = FingerprintKey::new([7; 32]).derive("command");
    let commands = ["Your code is 482913", "Your code is 775201"].map(command);
    Base {
        attempts: (0..ATTEMPT_IDS).map(|id| AttemptId::new([id; 16])).collect(),
        prints: [key.fingerprint(&commands[0]), key.fingerprint(&commands[1])],
        commands,
    }
});

fn command(message: &str) -> Command {
    let parts = EventType::parse("password_reset.requested").zip(EventId::parse("evt-1"));
    let (r#type, id) = parts.expect("a valid event");
    Command {
        event: Event { r#type, id },
        to: PhoneNumber::parse("+15550100000").expect("a valid number"),
        message: MessageText::parse(message).expect("a valid text"),
        expires_at: instant(EXPIRES_AT),
        sender_id: None,
        kind: Kind::Transactional,
    }
}

/// One of the two commands about one event.
#[must_use]
pub fn command_of(print: u8) -> &'static Command {
    &BASE.commands[usize::from(print)]
}

/// Its fingerprint.
#[must_use]
pub fn fingerprint_of(print: u8) -> Fingerprint {
    BASE.prints[usize::from(print)]
}

/// As the production code counts time.
#[must_use]
pub const fn instant(at: Instant) -> EpochMillis {
    EpochMillis::new(at as i64)
}

/// Back again.
#[must_use]
pub fn slim_instant(at: EpochMillis) -> Instant {
    Instant::try_from(at.get()).expect("an instant of the model")
}

/// An attempt's name.
#[must_use]
pub fn attempt_id(id: u8) -> AttemptId {
    BASE.attempts[usize::from(id)].clone()
}

fn slim_attempt_id(id: &AttemptId) -> u8 {
    let place = BASE.attempts.iter().position(|known| known == id).expect("an attempt of the model");
    small(place)
}

fn small(number: impl TryInto<u8>) -> u8 {
    number.try_into().ok().expect("a small number")
}

/// Whoever writes a row, as it stands there.
#[must_use]
pub fn actor(who: Who) -> Actor {
    let (function, request) = match who {
        Who::Client(0) => (Function::Admission, "client-0"),
        Who::Client(_) => (Function::Admission, "client-1"),
        Who::Canceller => (Function::Admission, "canceller"),
        Who::Dispatcher(0) => (Function::Dispatch, "dispatcher-0"),
        Who::Dispatcher(_) => (Function::Dispatch, "dispatcher-1"),
        Who::Reconciler(0) => (Function::Reconciliation, "reconciler-0"),
        Who::Reconciler(_) => (Function::Reconciliation, "reconciler-1"),
    };
    Actor { function, version: None, request_id: Reference::parse(request) }
}

impl Slim {
    /// Of a record.
    #[must_use]
    pub fn of(record: &Record) -> Self {
        let progress = &record.progress;
        Self {
            rev: small(record.rev),
            state: progress.state,
            attempts: small(progress.attempts),
            attempt: progress.attempt.as_ref().map(|attempt| SlimAttempt {
                id: slim_attempt_id(&attempt.id),
                number: small(attempt.number),
                lease_until: slim_instant(attempt.lease_until),
            }),
            not_before: progress.not_before.map(slim_instant),
            rings: small(progress.rings),
            ring_at: progress.ring_at.map(slim_instant),
            taken: progress.taken.as_ref().map(slim_attempt_id),
            accepted_at: slim_instant(record.accepted_at),
            due_at: record.due_at.map(slim_instant),
            sealed: record.sealed.is_some(),
            forgettable: record.ttl.is_some(),
            print: u8::from(record.fingerprint == BASE.prints[1]),
        }
    }

    /// The record, given any of the same notification.
    #[must_use]
    pub fn record(&self, like: &Record) -> Record {
        Record {
            fingerprint: BASE.prints[usize::from(self.print)],
            accepted_at: instant(self.accepted_at),
            updated_at: instant(self.accepted_at),
            rev: u32::from(self.rev),
            progress: self.progress(),
            due_at: self.due_at.map(instant),
            sealed: like.sealed.clone().filter(|_| self.sealed),
            ttl: self.forgettable.then(|| instant(self.accepted_at).secs_ceil()),
            ..like.clone()
        }
    }

    /// The part that facts move.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            state: self.state,
            attempts: u32::from(self.attempts),
            attempt: self.attempt.map(|attempt| Attempt {
                id: attempt_id(attempt.id),
                number: u32::from(attempt.number),
                provider: Provider::Sns,
                lease_until: instant(attempt.lease_until),
            }),
            message_id: None,
            not_before: self.not_before.map(instant),
            rings: u32::from(self.rings),
            ring_at: self.ring_at.map(instant),
            taken: self.taken.map(attempt_id),
            ..Progress::start()
        }
    }
}

impl SlimFact {
    /// The fact itself.
    #[must_use]
    pub fn fact(self) -> Fact {
        match self {
            Self::Rung { rings, next_at } => Fact::DoorbellRung { rings: u32::from(rings), next_at: instant(next_at) },
            Self::Started { attempt, number, lease_until } => Fact::AttemptStarted {
                attempt: attempt_id(attempt),
                number: u32::from(number),
                provider: Provider::Sns,
                lease_until: instant(lease_until),
            },
            Self::Taken { attempt } => {
                Fact::AttemptAccepted { attempt: attempt_id(attempt), message_id: None, request_id: None }
            }
            Self::Refused { attempt, next_at } => {
                let Refusal { class, code } = refusal(next_at.is_some());
                Fact::AttemptRefused { attempt: attempt_id(attempt), class, code, next_at: next_at.map(instant) }
            }
            Self::Unknown { attempt, lease_ended } => {
                let basis = if lease_ended { UnknownBasis::LeaseEnded } else { UnknownBasis::Timeout };
                Fact::AttemptUnknown { attempt: attempt_id(attempt), basis }
            }
            Self::Reconciled { attempt } => Fact::ReconciledAccepted {
                attempt: attempt_id(attempt),
                source: ReceiptSource::LateAnswer,
                strength: Strength::Exact,
                message_id: None,
            },
            Self::Late { attempt, accepted } => {
                Fact::LateAnswer { attempt: attempt_id(attempt), accepted: Some(accepted) }
            }
            Self::Stopped(reason) => Fact::Stopped { reason },
        }
    }

    /// Of a fact that an attempt's outcome led to.
    #[must_use]
    pub fn of(fact: &Fact) -> Self {
        match fact {
            Fact::AttemptAccepted { attempt, .. } => Self::Taken { attempt: slim_attempt_id(attempt) },
            Fact::AttemptRefused { attempt, next_at, .. } => {
                Self::Refused { attempt: slim_attempt_id(attempt), next_at: next_at.map(slim_instant) }
            }
            Fact::AttemptUnknown { attempt, basis } => {
                Self::Unknown { attempt: slim_attempt_id(attempt), lease_ended: *basis == UnknownBasis::LeaseEnded }
            }
            Fact::ReconciledAccepted { attempt, .. } => Self::Reconciled { attempt: slim_attempt_id(attempt) },
            Fact::LateAnswer { attempt, accepted } => {
                Self::Late { attempt: slim_attempt_id(attempt), accepted: *accepted == Some(true) }
            }
            other => panic!("no outcome leads to {other:?}"),
        }
    }
}

impl Heard {
    /// What the carrier's port answers.
    #[must_use]
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Taken => Outcome::Accepted { message_id: None, request_id: None },
            Self::Refused => Outcome::Refused(refusal(true)),
            Self::RefusedForGood => Outcome::Refused(refusal(false)),
            Self::Doubt => Outcome::Unknown(UnknownBasis::Timeout),
        }
    }
}

const fn refusal(retryable: bool) -> Refusal {
    match retryable {
        true => Refusal { class: RefusalClass::Retryable, code: ProviderCode::Throttled },
        false => Refusal { class: RefusalClass::Permanent, code: ProviderCode::OptedOut },
    }
}
