//! DynamoDB: records, guards and evidence.

mod admissions;
mod faults;
mod reads;
mod transitions;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::types::builders::PutBuilder;
use aws_sdk_dynamodb::types::{Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem};

use super::codec::Item;
use crate::digest::{base32, sha256};
pub(super) use faults::{is_held, write_fault};

/// Both tables.
#[derive(Clone, Debug)]
pub struct Ledger {
    client: Client,
    notifications: String,
    evidence: String,
}

impl Ledger {
    /// The ledger kept in these two tables.
    pub fn new(client: Client, notifications: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self { client, notifications: notifications.into(), evidence: evidence.into() }
    }
}

/// A put whose failed condition brings what stood in its way, at no further cost.
fn put(table: &str, item: Item, condition: &str) -> PutBuilder {
    Put::builder()
        .table_name(table)
        .set_item(Some(item))
        .condition_expression(condition)
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
}

fn step(put: PutBuilder) -> Result<TransactWriteItem, BuildError> {
    put.build().map(|put| TransactWriteItem::builder().put(put).build())
}

/// A `ClientRequestToken`, at most 36 characters: for ten minutes DynamoDB takes a request that names it for the one it
/// has already done, which makes the SDK's own retries harmless.
///
/// It must differ where the request differs in anything, or DynamoDB refuses it as a mismatch.
pub(super) fn token(parts: &[&[u8]]) -> String {
    let hash = sha256(parts);
    let (half, _) = hash.split_at(16);
    base32(half)
}
