//! Records as items.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::{Item, from_item, to_item};
use crate::idempotency::Fingerprint;
use crate::notification::{
    Attempt, AttemptId, DestinationMac, Event, EventId, EventType, Kind, Mask, Noted, NotificationId, Progress,
    Provider, Record, Reference, Sealed, SenderId, State, StopReason,
};
use crate::tenant::TenantId;
use crate::time::{EpochMillis, EpochSeconds};

const PREFIX: &str = "ntf#";

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordItem {
    pk: String,
    tn: TenantId,
    et: EventType,
    ei: EventId,
    fp: Fingerprint,
    to: DestinationMac,
    mk: Mask,
    kd: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    sid: Option<SenderId>,
    acc: EpochMillis,
    exp: EpochMillis,
    upd: EpochMillis,
    rev: u32,
    st: StateWord,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<StopReason>,
    n: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    att: Option<AttemptId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<Provider>,
    #[serde(skip_serializing_if = "Option::is_none")]
    til: Option<EpochMillis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mid: Option<Reference>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nb: Option<EpochMillis>,
    rg: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ra: Option<EpochMillis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tk: Option<AttemptId>,
    #[serde(default, skip_serializing_if = "is_zero")]
    ck: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    ca: Option<EpochMillis>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    ros: bool,
    #[serde(default, skip_serializing_if = "Noted::is_empty")]
    rn: Noted,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_shard: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_at: Option<EpochMillis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seal: Option<ByteBuf>,
    head: ByteBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<EpochSeconds>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateWord {
    Accepted,
    Sending,
    Sent,
    Delivered,
    Undelivered,
    Failed,
    DispatchUnknown,
    Stopped,
}

/// A record's primary key.
pub(in crate::aws) fn record_key(id: &NotificationId) -> String {
    format!("{PREFIX}{id}")
}

/// The notification that a primary key names.
pub(in crate::aws) fn id_in_key(key: &str) -> Option<NotificationId> {
    key.strip_prefix(PREFIX).and_then(NotificationId::parse)
}

/// The record's item; `None` when it could not be read back.
pub(in crate::aws) fn encode_record(record: &Record) -> Option<Item> {
    let item = to_item(&RecordItem::of(record))?;
    (decode_record(item.clone(), &record.id)? == *record).then_some(item)
}

/// The record in an item that was found under `id`.
pub(in crate::aws) fn decode_record(item: Item, id: &NotificationId) -> Option<Record> {
    let record = from_item::<RecordItem>(item)?.into_record()?;
    (record.id == *id).then_some(record)
}

impl RecordItem {
    fn of(record: &Record) -> Self {
        let progress = &record.progress;
        let attempt = progress.attempt.as_ref();
        let (st, why) = to_words(progress.state);
        Self {
            pk: record_key(&record.id),
            tn: record.tenant.clone(),
            et: record.event.r#type.clone(),
            ei: record.event.id.clone(),
            fp: record.fingerprint,
            to: record.destination.clone(),
            mk: record.mask.clone(),
            kd: record.kind,
            sid: record.sender_id.clone(),
            acc: record.accepted_at,
            exp: record.expires_at,
            upd: record.updated_at,
            rev: record.rev,
            st,
            why,
            n: progress.attempts,
            att: attempt.map(|attempt| attempt.id.clone()),
            no: attempt.map(|attempt| attempt.number),
            by: attempt.map(|attempt| attempt.provider),
            til: attempt.map(|attempt| attempt.lease_until),
            mid: progress.message_id.clone(),
            nb: progress.not_before,
            rg: progress.rings,
            ra: progress.ring_at,
            tk: progress.taken.clone(),
            ck: progress.checks,
            ca: progress.check_at,
            ros: progress.resent_on_silence,
            rn: progress.noted,
            due_shard: record.due_at.map(|_| record.id.due_shard()),
            due_at: record.due_at,
            seal: record.sealed.as_ref().map(|sealed| ByteBuf::from(sealed.as_bytes())),
            head: ByteBuf::from(record.head),
            ttl: record.ttl,
        }
    }

    fn into_record(self) -> Option<Record> {
        let id = id_in_key(&self.pk)?;
        let place_is_right = self.due_shard == self.due_at.map(|_| id.due_shard());
        let progress = Progress {
            state: from_words(self.st, self.why)?,
            attempts: self.n,
            attempt: attempt(self.att, self.no, self.by, self.til)?,
            message_id: self.mid,
            not_before: self.nb,
            rings: self.rg,
            ring_at: self.ra,
            taken: self.tk,
            checks: self.ck,
            check_at: self.ca,
            resent_on_silence: self.ros,
            noted: self.rn,
        };
        place_is_right.then_some(Record {
            id,
            tenant: self.tn,
            event: Event { r#type: self.et, id: self.ei },
            fingerprint: self.fp,
            destination: self.to,
            mask: self.mk,
            kind: self.kd,
            sender_id: self.sid,
            accepted_at: self.acc,
            expires_at: self.exp,
            updated_at: self.upd,
            rev: self.rev,
            progress,
            due_at: self.due_at,
            sealed: self.seal.map(|bytes| Sealed::from_bytes(bytes.into_vec())),
            head: self.head.into_vec().try_into().ok()?,
            ttl: self.ttl,
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// All four parts of an attempt, or none of them.
fn attempt(
    id: Option<AttemptId>,
    number: Option<u32>,
    provider: Option<Provider>,
    lease_until: Option<EpochMillis>,
) -> Option<Option<Attempt>> {
    match (id, number, provider, lease_until) {
        (None, None, None, None) => Some(None),
        (id, number, provider, lease_until) => {
            Some(Some(Attempt { id: id?, number: number?, provider: provider?, lease_until: lease_until? }))
        }
    }
}

const fn to_words(state: State) -> (StateWord, Option<StopReason>) {
    match state {
        State::Accepted => (StateWord::Accepted, None),
        State::Sending => (StateWord::Sending, None),
        State::Sent => (StateWord::Sent, None),
        State::Delivered => (StateWord::Delivered, None),
        State::Undelivered => (StateWord::Undelivered, None),
        State::Failed => (StateWord::Failed, None),
        State::DispatchUnknown => (StateWord::DispatchUnknown, None),
        State::Stopped(reason) => (StateWord::Stopped, Some(reason)),
    }
}

const fn from_words(word: StateWord, reason: Option<StopReason>) -> Option<State> {
    match (word, reason) {
        (StateWord::Accepted, None) => Some(State::Accepted),
        (StateWord::Sending, None) => Some(State::Sending),
        (StateWord::Sent, None) => Some(State::Sent),
        (StateWord::Delivered, None) => Some(State::Delivered),
        (StateWord::Undelivered, None) => Some(State::Undelivered),
        (StateWord::Failed, None) => Some(State::Failed),
        (StateWord::DispatchUnknown, None) => Some(State::DispatchUnknown),
        (StateWord::Stopped, Some(reason)) => Some(State::Stopped(reason)),
        (_, _) => None,
    }
}
