//! Rows of evidence as items. The body is stored as the exact text that is hashed.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::{Item, from_item, to_item};
use crate::notification::{NotificationId, Row};
use crate::time::EpochSeconds;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowItem {
    notification_id: NotificationId,
    seq: u32,
    body: String,
    hash: ByteBuf,
    ttl: EpochSeconds,
}

/// The row's item; `None` when it could not be read back.
pub(in crate::aws) fn encode_row(row: &Row) -> Option<Item> {
    let item = to_item(&RowItem {
        notification_id: row.notification().clone(),
        seq: row.seq(),
        body: row.body_json(),
        hash: ByteBuf::from(row.hash()),
        ttl: row.ttl(),
    })?;
    (decode_row(item.clone(), row.notification())? == *row).then_some(item)
}

/// The row in an item that was found under `id`; `None` when it is not intact.
pub(in crate::aws) fn decode_row(item: Item, id: &NotificationId) -> Option<Row> {
    let item: RowItem = from_item(item)?;
    let row = Row::from_stored(item.notification_id, item.seq, &item.body, &item.hash, item.ttl)?;
    (row.notification() == id).then_some(row)
}
