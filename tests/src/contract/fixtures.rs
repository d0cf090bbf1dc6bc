//! Commands, records and steps for the cases. Everything is the same on each run and each backend.

use sendonce::idempotency::{Fingerprint, FingerprintKey, Guard, IdempotencyKey, Nonce, Scope, StoredAnswer};
use sendonce::notification::{
    Accepted, Actor, Attempt, AttemptId, Command, Event, EventId, EventType, Fact, Function, Kind, MessageText,
    NotificationId, Payload, PhoneNumber, Policy, Progress, Provider, ProviderCode, Record, Reference, RefusalClass,
    Row, Sealed, SenderId, Silence, StopReason, Transition, UnknownBasis,
};
use sendonce::ports::{Admission, Text};
use sendonce::tenant::TenantId;
use sendonce::time::{EpochMillis, Millis};

use crate::aws_seam::SeamClock;

/// When everything begins.
pub const NOW: EpochMillis = SeamClock::START;
/// How long a guard holds.
pub const WINDOW: Millis = Millis::from_secs(7_200);
/// Beyond the TTL of a settled record, well within that of its evidence.
pub const FORGOTTEN: Millis = Millis::from_secs(40 * 86_400);

/// What decisions depend on.
pub const POLICY: Policy = Policy {
    min_useful_life: Millis::from_secs(30),
    attempts_max: 5,
    doorbell_grace: Millis::from_secs(60),
    clock_skew: Millis::from_secs(5),
    backoff_base: Millis::from_secs(2),
    backoff_max: Millis::from_secs(60),
    index_lag: Millis::from_secs(60),
    silence: Silence::Stop,
};

/// `ms` after the beginning.
#[must_use]
pub const fn at(ms: i64) -> EpochMillis {
    NOW.plus(Millis::new(ms))
}

/// The tenant of most cases.
#[must_use]
pub fn tenant() -> TenantId {
    TenantId::derive(&["one"])
}

/// A command about an event.
#[must_use]
pub fn command(event: &str) -> Command {
    Command {
        event: Event {
            r#type: EventType::parse("password_reset.requested").expect("a valid type"),
            id: EventId::parse(event).expect("a valid id"),
        },
        to: PhoneNumber::parse("+15550100000").expect("a valid number"),
        message: MessageText::parse("Your code is 482913").expect("a valid text"),
        expires_at: at(600_000),
        sender_id: None,
        kind: Kind::Transactional,
    }
}

/// A command that uses everything there is.
#[must_use]
pub fn full_command(event: &str) -> Command {
    Command {
        message: MessageText::parse(&"Çok uzun bir ileti. ".repeat(8)).expect("a valid text"),
        sender_id: SenderId::parse("Example"),
        kind: Kind::Promotional,
        ..command(event)
    }
}

fn root() -> FingerprintKey {
    FingerprintKey::new([7; 32])
}

fn print(command: &Command) -> Fingerprint {
    root().derive("command").fingerprint(command)
}

/// Whoever writes in the cases.
#[must_use]
pub fn actor(function: Function) -> Actor {
    Actor { function, version: Reference::parse("$LATEST"), request_id: Reference::parse("request-1") }
}

/// A guard for this command under a key, taken at the beginning by a write of its own nonce.
#[must_use]
pub fn guard(tenant: &TenantId, command: &Command, key: &str, nonce: u128) -> Guard {
    let scope = Scope::Request { key: IdempotencyKey::parse(key).expect("a valid key") };
    let id = NotificationId::of(tenant, &command.event);
    Guard {
        id: scope.guard_id(tenant),
        fingerprint: print(command),
        answer: StoredAnswer { status: 202, body: format!("{{\"id\":\"{id}\",\"nonce\":{nonce}}}") },
        window_ends_at: NOW.plus(WINDOW),
        nonce: Nonce::new(nonce.to_be_bytes()),
    }
}

/// The admission of a command under a key, as at the beginning.
#[must_use]
pub fn admission_of(tenant: &TenantId, command: &Command, key: &str, nonce: u128) -> Admission {
    let id = NotificationId::of(tenant, &command.event);
    let destination = command.to.mac(&root().derive("destination"));
    let fact = Fact::Accepted(Accepted {
        tenant: tenant.clone(),
        event_type: command.event.r#type.clone(),
        fingerprint: print(command),
        destination: destination.clone(),
        sms: command.kind,
        expires_at: command.expires_at,
    });
    let row = Row::new(&id, NOW, 0, NOW, actor(Function::Admission), fact, Row::genesis(&id));
    let record = Record {
        id,
        tenant: tenant.clone(),
        event: command.event.clone(),
        fingerprint: print(command),
        destination,
        mask: command.to.mask(),
        kind: command.kind,
        sender_id: command.sender_id.clone(),
        accepted_at: NOW,
        expires_at: command.expires_at,
        updated_at: NOW,
        rev: 0,
        progress: Progress::start(),
        due_at: Some(at(60_000)),
        sealed: Some(Sealed::from_bytes(vec![1; 300])),
        head: row.hash(),
        ttl: None,
    };
    Admission { guard: guard(tenant, command, key, nonce), record, row }
}

/// The admission of an event under a key.
#[must_use]
pub fn admission(event: &str, key: &str, nonce: u128) -> Admission {
    admission_of(&tenant(), &command(event), key, nonce)
}

/// A step that a dispatcher makes a second after the record's last change.
///
/// # Panics
/// When the record does not know the fact.
#[must_use]
pub fn step(record: &Record, fact: Fact) -> Transition {
    let at = record.updated_at.plus(Millis::from_secs(1));
    record.step(fact, at, actor(Function::Dispatch), &POLICY).expect("a legal step")
}

/// An attempt's name.
#[must_use]
pub fn attempt_id(byte: u8) -> AttemptId {
    AttemptId::new([byte; 16])
}

/// An attempt begins.
#[must_use]
pub fn started(record: &Record, byte: u8) -> Transition {
    let fact = Fact::AttemptStarted {
        attempt: attempt_id(byte),
        number: record.progress.attempts + 1,
        provider: Provider::Sns,
        lease_until: at(30_000),
    };
    step(record, fact)
}

/// The provider took it.
#[must_use]
pub fn taken(record: &Record, byte: u8) -> Transition {
    let [message_id, request_id] = ["8d3b4d5e-0000-1111-2222-333344445555", "request-2"].map(Reference::parse);
    step(record, Fact::AttemptAccepted { attempt: attempt_id(byte), message_id, request_id })
}

/// The provider refused it for now.
#[must_use]
pub fn refused(record: &Record, byte: u8, next_at: EpochMillis) -> Transition {
    let (class, code) = (RefusalClass::Retryable, ProviderCode::Throttled);
    step(record, Fact::AttemptRefused { attempt: attempt_id(byte), class, code, next_at: Some(next_at) })
}

/// Nobody knows.
#[must_use]
pub fn unknown(record: &Record, byte: u8) -> Transition {
    step(record, Fact::AttemptUnknown { attempt: attempt_id(byte), basis: UnknownBasis::Timeout })
}

/// Its client took it back.
#[must_use]
pub fn cancelled(record: &Record) -> Transition {
    step(record, Fact::Stopped { reason: StopReason::Cancelled })
}

/// Number and body.
#[must_use]
pub fn payload() -> Payload {
    let Command { to, message, .. } = full_command("evt-1");
    Payload { to, message }
}

/// A text ready to go, to begin by `not_after`.
#[must_use]
pub fn text(not_after: EpochMillis) -> Text {
    let attempt = Attempt { id: attempt_id(1), number: 1, provider: Provider::Sns, lease_until: at(30_000) };
    Text {
        id: NotificationId::of(&tenant(), &command("evt-1").event),
        attempt,
        payload: payload(),
        sender_id: SenderId::parse("Example"),
        kind: Kind::Transactional,
        not_after,
        expires_at: at(600_000),
        time_allowed: Millis::from_secs(10),
    }
}
