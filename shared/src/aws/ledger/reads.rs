//! Reads. A failed one changes nothing and says nothing.

use core::error::Error;
use std::collections::HashMap;

use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::types::AttributeValue;

use super::Ledger;
use crate::aws::codec::{Item, decode_record, decode_row, id_in_key, record_key};
use crate::aws::failure::{Failure, log};
use crate::notification::{DestinationMac, NotificationId, Record, Row};
use crate::ports::{Destinations, DueCursor, DuePage, DueWork, EvidenceLog, Records, SentTo, Unreadable};
use crate::time::EpochMillis;

/// How much open work one request brings: enough to keep a tick busy, little enough to hold.
const DUE_PAGE: i32 = 100;
/// How many notifications to one number are told apart. More within one message's life is nobody waiting for a text.
const SENT_TO_MOST: usize = 50;
/// One more than are told, so that more of them are seen to be there.
const SENT_TO_PAGE: i32 = 51;

impl Records for Ledger {
    async fn record(&self, id: &NotificationId) -> Result<Option<Record>, Unreadable> {
        let item = self.item(record_key(id)).await?;
        let record = item.map(|item| decode_record(item, id).ok_or(Unreadable)).transpose();
        record.inspect_err(|_| tracing::error!("notification.id" = %id, "a record cannot be read"))
    }
}

impl DueWork for Ledger {
    async fn due(&self, shard: u8, now: EpochMillis, from: Option<&DueCursor>) -> Result<DuePage, Unreadable> {
        let request = self
            .client
            .query()
            .table_name(&self.notifications)
            .index_name("due")
            .key_condition_expression("due_shard = :shard AND due_at <= :now")
            .expression_attribute_values(":shard", number(shard))
            .expression_attribute_values(":now", number(now.get()))
            .set_exclusive_start_key(from.map(|cursor| start_key(shard, cursor)))
            .limit(DUE_PAGE);
        let page = request.send().await.map_err(|error| unreadable("dynamodb:Query", &error))?;
        let next = page.last_evaluated_key().map(|key| cursor(key).ok_or(Unreadable)).transpose()?;
        Ok(DuePage { ids: page.items().iter().filter_map(id_of).collect(), next })
    }
}

impl Destinations for Ledger {
    async fn sent_to(
        &self,
        destination: &DestinationMac,
        from: EpochMillis,
        until: EpochMillis,
    ) -> Result<SentTo, Unreadable> {
        let request = self
            .client
            .query()
            .table_name(&self.notifications)
            .index_name("by_destination")
            // "to" is a word of DynamoDB's own.
            .key_condition_expression("#to = :to AND acc BETWEEN :from AND :until")
            .expression_attribute_names("#to", "to")
            .expression_attribute_values(":to", AttributeValue::S(destination.as_str().to_owned()))
            .expression_attribute_values(":from", number(from.get()))
            .expression_attribute_values(":until", number(until.get()))
            .scan_index_forward(false) // of too many, the newest
            .limit(SENT_TO_PAGE);
        let page = request.send().await.map_err(|error| unreadable("dynamodb:Query", &error))?;
        let mut ids: Vec<_> = page.items().iter().filter_map(id_of).collect();
        let is_whole = page.last_evaluated_key().is_none() && ids.len() == page.items().len();
        ids.truncate(SENT_TO_MOST);
        Ok(SentTo { ids, is_whole })
    }
}

impl EvidenceLog for Ledger {
    async fn rows(&self, id: &NotificationId) -> Result<Vec<Row>, Unreadable> {
        let mut rows = Vec::new();
        let mut from = None;
        loop {
            let request = self
                .client
                .query()
                .table_name(&self.evidence)
                .key_condition_expression("notification_id = :id")
                .expression_attribute_values(":id", AttributeValue::S(id.as_str().to_owned()))
                .consistent_read(true)
                .set_exclusive_start_key(from);
            let page = request.send().await.map_err(|error| unreadable("dynamodb:Query", &error))?;
            rows.extend(page.items.unwrap_or_default().into_iter().filter_map(|item| decode_row(item, id)));
            from = page.last_evaluated_key;
            if from.is_none() {
                return Ok(rows);
            }
        }
    }
}

impl Ledger {
    /// One item of the notifications table, as the last answered write left it.
    pub(super) async fn item(&self, pk: String) -> Result<Option<Item>, Unreadable> {
        let request = self.client.get_item().table_name(&self.notifications).key("pk", AttributeValue::S(pk));
        let answer = request.consistent_read(true).send().await;
        answer.map(|answer| answer.item).map_err(|error| unreadable("dynamodb:GetItem", &error))
    }

    /// Reads an item that cannot exist: what a first request costs is then paid before the first event.
    pub(in crate::aws) async fn touch(&self) -> Result<(), Unreadable> {
        self.item(String::from("warm-up")).await.map(drop)
    }
}

fn unreadable<E>(operation: &'static str, error: &SdkError<E, HttpResponse>) -> Unreadable
where
    E: Error + ProvideErrorMetadata + 'static,
{
    log(operation, &Failure::of(error), "unreadable");
    Unreadable
}

fn id_of(item: &Item) -> Option<NotificationId> {
    item.get("pk").and_then(|pk| pk.as_s().ok()).and_then(|pk| id_in_key(pk))
}

fn cursor(key: &Item) -> Option<DueCursor> {
    let due_at = key.get("due_at")?.as_n().ok()?.parse().ok()?;
    Some(DueCursor { id: id_of(key)?, due_at: EpochMillis::new(due_at) })
}

fn start_key(shard: u8, cursor: &DueCursor) -> Item {
    HashMap::from([
        (String::from("pk"), AttributeValue::S(record_key(&cursor.id))),
        (String::from("due_shard"), number(shard)),
        (String::from("due_at"), number(cursor.due_at.get())),
    ])
}

fn number(value: impl Into<i64>) -> AttributeValue {
    AttributeValue::N(value.into().to_string())
}
