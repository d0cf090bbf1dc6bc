//! Items as they stand in the tables.
//!
//! `notifications`, key `pk`. Names are short because DynamoDB bills them with every item.
//!
//! | attribute | of a record | | attribute | of a record |
//! |---|---|---|---|---|
//! | `pk` | `ntf#` and the id | | `rev` | how many rows follow row 0 |
//! | `tn` | tenant | | `st`, `why` | state, and why it was stopped |
//! | `et`, `ei` | event type and id | | `n` | attempts started |
//! | `fp` | fingerprint | | `att`, `no`, `by`, `til` | latest attempt: id, number, provider, end of its lease |
//! | `to`, `mk` | number as MAC and mask | | `mid` | the provider's name for the message |
//! | `kd`, `sid` | kind, sender id | | `nb` | no attempt before |
//! | `acc`, `exp`, `upd` | accepted, expires, changed | | `rg`, `ra` | rings so far, none before |
//! | `due_shard`, `due_at` | place in the index of open work | | `seal`, `head`, `ttl` | envelope, chain head, TTL |
//!
//! Times are epoch milliseconds; `ttl` alone is in epoch seconds, for DynamoDB reads it. A guard's `pk` is its own id.
//! An item with anything missing, odd or added is unreadable: writing it back would lose what was not understood.

mod guard;
mod record;
mod row;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub(super) use guard::{decode_guard, encode_guard};
pub(super) use record::{decode_record, encode_record, id_in_key, record_key};
pub(super) use row::{decode_row, encode_row};

/// A DynamoDB item.
pub(super) type Item = HashMap<String, AttributeValue>;

pub(super) fn to_item<T: Serialize>(value: &T) -> Option<Item> {
    serde_dynamo::to_item(value).ok()
}

pub(super) fn from_item<T: DeserializeOwned>(item: Item) -> Option<T> {
    // The error's text would quote the item.
    serde_dynamo::from_item(item).ok()
}
