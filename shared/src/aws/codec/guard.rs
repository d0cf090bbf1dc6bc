//! Guards as items.

use serde::{Deserialize, Serialize};

use super::{Item, from_item, to_item};
use crate::idempotency::{Fingerprint, Guard, GuardId, Nonce, StoredAnswer};
use crate::time::{EpochMillis, EpochSeconds};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GuardItem {
    pk: GuardId,
    fp: Fingerprint,
    status: u16,
    body: String,
    window_ends_at: EpochMillis,
    nonce: String,
    ttl: EpochSeconds,
}

/// The guard's item; `None` when it could not be read back.
pub(in crate::aws) fn encode_guard(guard: &Guard) -> Option<Item> {
    let item = to_item(&GuardItem {
        pk: guard.id.clone(),
        fp: guard.fingerprint,
        status: guard.answer.status,
        body: guard.answer.body.clone(),
        window_ends_at: guard.window_ends_at,
        nonce: guard.nonce.to_hex(),
        ttl: guard.ttl(),
    })?;
    (decode_guard(item.clone(), &guard.id)? == *guard).then_some(item)
}

/// The guard in an item that was found under `id`.
pub(in crate::aws) fn decode_guard(item: Item, id: &GuardId) -> Option<Guard> {
    let item: GuardItem = from_item(item)?;
    let guard = Guard {
        id: item.pk,
        fingerprint: item.fp,
        answer: StoredAnswer { status: item.status, body: item.body },
        window_ends_at: item.window_ends_at,
        nonce: Nonce::from_hex(&item.nonce)?,
    };
    (guard.id == *id && guard.ttl() == item.ttl).then_some(guard)
}
