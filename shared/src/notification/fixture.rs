//! A record for the unit tests of this module.

use crate::idempotency::FingerprintKey;
use crate::tenant::TenantId;
use crate::time::{EpochMillis, Millis};

use super::*;

pub(super) const POLICY: Policy = Policy {
    min_useful_life: Millis::new(30_000),
    attempts_max: 3,
    doorbell_grace: Millis::new(60_000),
    clock_skew: Millis::new(5_000),
    backoff_base: Millis::new(2_000),
    backoff_max: Millis::new(60_000),
    index_lag: Millis::new(60_000),
    silence: Silence::Stop,
};

/// When the fixture's record was accepted and when it expires.
pub(super) const ACCEPTED_AT: EpochMillis = EpochMillis::new(1_000_000);
pub(super) const EXPIRES_AT: EpochMillis = EpochMillis::new(1_600_000);

pub(super) fn at(ms: i64) -> EpochMillis {
    ACCEPTED_AT.plus(Millis::new(ms))
}

pub(super) fn actor(function: Function) -> Actor {
    Actor { function, version: Reference::parse("$LATEST"), request_id: Reference::parse("req-1") }
}

pub(super) fn attempt(byte: u8) -> AttemptId {
    AttemptId::new([byte; 16])
}

pub(super) fn payload() -> Payload {
    Payload {
        to: PhoneNumber::parse("+15550142973").unwrap(),
        message: MessageText::parse("Your code is 482913").unwrap(),
    }
}

pub(super) fn accepted() -> (Record, Row) {
    let tenant = TenantId::derive(&["a"]);
    let event =
        Event { r#type: EventType::parse("password_reset.requested").unwrap(), id: EventId::parse("e").unwrap() };
    let id = NotificationId::of(&tenant, &event);
    let key = FingerprintKey::new([1; 32]);
    let Payload { to, message } = payload();
    let command =
        Command { event: event.clone(), to, message, expires_at: EXPIRES_AT, sender_id: None, kind: Kind::default() };
    let fact = Fact::Accepted(Accepted {
        tenant: tenant.clone(),
        event_type: event.r#type.clone(),
        fingerprint: key.fingerprint(&command),
        destination: command.to.mac(&key),
        sms: command.kind,
        expires_at: EXPIRES_AT,
    });
    let row = Row::new(&id, ACCEPTED_AT, 0, ACCEPTED_AT, actor(Function::Admission), fact, Row::genesis(&id));
    let record = Record {
        destination: command.to.mac(&key),
        mask: command.to.mask(),
        fingerprint: key.fingerprint(&command),
        id,
        tenant,
        event,
        kind: command.kind,
        sender_id: None,
        accepted_at: ACCEPTED_AT,
        expires_at: EXPIRES_AT,
        updated_at: ACCEPTED_AT,
        rev: 0,
        progress: Progress::start(),
        due_at: None,
        sealed: Some(Sealed::from_bytes(vec![1])),
        head: row.hash(),
        ttl: None,
    };
    (record, row)
}

/// Applies facts one after another, 1 ms apart, and gives all rows with the last record.
pub(super) fn story(facts: impl IntoIterator<Item = Fact>) -> (Record, Vec<Row>) {
    let (mut record, row) = accepted();
    let mut rows = vec![row];
    for (ms, fact) in (1..).zip(facts) {
        let step = record.step(fact, at(ms), actor(Function::Dispatch), &POLICY).unwrap();
        rows.push(step.row);
        record = step.record;
    }
    (record, rows)
}

pub(super) fn started(byte: u8, number: u32) -> Fact {
    Fact::AttemptStarted { attempt: attempt(byte), number, provider: Provider::Sns, lease_until: at(40_000) }
}

pub(super) fn taken(byte: u8) -> Fact {
    Fact::AttemptAccepted { attempt: attempt(byte), message_id: None, request_id: None }
}

pub(super) fn refused(byte: u8, class: RefusalClass) -> Fact {
    let next_at = class.is_retryable().then_some(at(50_000));
    Fact::AttemptRefused { attempt: attempt(byte), class, code: ProviderCode::Throttled, next_at }
}

pub(super) fn unknown(byte: u8) -> Fact {
    Fact::AttemptUnknown { attempt: attempt(byte), basis: UnknownBasis::Timeout }
}

pub(super) fn stopped(reason: StopReason) -> Fact {
    Fact::Stopped { reason }
}
