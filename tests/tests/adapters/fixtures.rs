//! One notification, at its most ordinary and at its largest.

use sendonce::idempotency::{Fingerprint, FingerprintKey, Guard, IdempotencyKey, Nonce, Scope, StoredAnswer};
use sendonce::notification::{
    Accepted, Actor, AttemptId, Command, Event, EventId, EventType, Fact, Function, Kind, MessageText, NotificationId,
    Payload, PhoneNumber, Policy, Progress, Provider, Record, Reference, Row, Sealed, SenderId, Silence, Transition,
};
use sendonce::ports::Admission;
use sendonce::tenant::TenantId;
use sendonce::time::{EpochMillis, Millis};
use tests::aws_seam::SeamClock;

pub const NOW: EpochMillis = SeamClock::START;
pub const LIFETIME: Millis = Millis::from_secs(600);
pub const WINDOW: Millis = Millis::from_secs(86_400);

pub fn tenant() -> TenantId {
    TenantId::derive(&["arn:aws:iam::111122223333:role/app"])
}

pub fn command(event_id: &str) -> Command {
    Command {
        event: Event {
            r#type: EventType::parse("password_reset.requested").unwrap(),
            id: EventId::parse(event_id).unwrap(),
        },
        to: PhoneNumber::parse("+15550142973").unwrap(),
        message: MessageText::parse("Your code is 482913").unwrap(),
        expires_at: NOW.plus(LIFETIME),
        sender_id: None,
        kind: Kind::Transactional,
    }
}

/// Every optional part present, every bounded part at its bound, 160 characters of text.
pub fn largest_command() -> Command {
    Command {
        event: Event {
            r#type: EventType::parse(&"t".repeat(48)).unwrap(),
            id: EventId::parse(&"e".repeat(128)).unwrap(),
        },
        to: PhoneNumber::parse("+123456789012345").unwrap(),
        message: MessageText::parse(&"m".repeat(160)).unwrap(),
        sender_id: SenderId::parse("ABCDEFGHIJK"),
        ..command("unused")
    }
}

pub fn payload(command: &Command) -> Payload {
    Payload { to: command.to.clone(), message: command.message.clone() }
}

pub fn actor(function: Function) -> Actor {
    let request_id = Reference::parse("8d3b4d5e-0000-1111-2222-333344445555");
    Actor { function, version: Reference::parse("$LATEST"), request_id }
}

pub fn print(command: &Command) -> Fingerprint {
    FingerprintKey::new([3; 32]).fingerprint(command)
}

pub fn record(command: &Command, sealed: Option<Sealed>) -> (Record, Row) {
    let (tenant, fingerprint) = (tenant(), print(command));
    let id = NotificationId::of(&tenant, &command.event);
    let destination = command.to.mac(&FingerprintKey::new([4; 32]));
    let fact = Fact::Accepted(Accepted {
        tenant: tenant.clone(),
        event_type: command.event.r#type.clone(),
        fingerprint,
        destination: destination.clone(),
        sms: command.kind,
        expires_at: command.expires_at,
    });
    let row = Row::new(&id, NOW, 0, NOW, actor(Function::Admission), fact, Row::genesis(&id));
    let record = Record {
        id,
        tenant,
        event: command.event.clone(),
        fingerprint,
        destination,
        mask: command.to.mask(),
        kind: command.kind,
        sender_id: command.sender_id.clone(),
        accepted_at: NOW,
        expires_at: command.expires_at,
        updated_at: NOW,
        rev: 0,
        progress: Progress::start(),
        due_at: Some(NOW.plus(Millis::from_secs(60))),
        sealed,
        head: row.hash(),
        ttl: None,
    };
    (record, row)
}

pub fn guard(command: &Command, key: &str, nonce: u8) -> Guard {
    let id = NotificationId::of(&tenant(), &command.event);
    let scope = Scope::Request { key: IdempotencyKey::parse(key).unwrap() };
    let links = format!(r#"{{"self":"/v1/notifications/{id}","evidence":"/v1/notifications/{id}/evidence"}}"#);
    let body = format!(
        r#"{{"id":"{id}","status":"accepted","accepted_at":"{}","expires_at":"{}","links":{links}}}"#,
        NOW.rfc3339(),
        command.expires_at.rfc3339()
    );
    Guard {
        id: scope.guard_id(&tenant()),
        fingerprint: print(command),
        answer: StoredAnswer { status: 202, body },
        window_ends_at: NOW.plus(WINDOW),
        nonce: Nonce::new([nonce; 16]),
    }
}

/// The admission of `event_id` under `key`, by the writer that `nonce` names.
pub fn admission(event_id: &str, key: &str, nonce: u8) -> Admission {
    let command = command(event_id);
    let (record, row) = record(&command, Some(Sealed::from_bytes(vec![7; 300])));
    Admission { guard: guard(&command, key, nonce), record, row }
}

pub fn policy() -> Policy {
    Policy {
        min_useful_life: Millis::from_secs(30),
        attempts_max: 5,
        doorbell_grace: Millis::from_secs(60),
        clock_skew: Millis::from_secs(5),
        backoff_base: Millis::from_secs(2),
        backoff_max: Millis::from_secs(60),
        index_lag: Millis::from_secs(60),
        silence: Silence::Stop,
    }
}

pub fn attempt(byte: u8) -> AttemptId {
    AttemptId::new([byte; 16])
}

/// The start of an attempt.
pub fn start(record: &Record, id: u8) -> Transition {
    let fact = Fact::AttemptStarted {
        attempt: attempt(id),
        number: record.progress.attempts + 1,
        provider: Provider::Sns,
        lease_until: NOW.plus(Millis::from_secs(30)),
    };
    step(record, fact)
}

pub fn step(record: &Record, fact: Fact) -> Transition {
    record.step(fact, NOW.plus(Millis::new(1)), actor(Function::Dispatch), &policy()).unwrap()
}
