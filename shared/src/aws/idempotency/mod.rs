//! The idempotency layer on DynamoDB, for any table whose partition key is `pk`, a string.
//!
//! Switch TTL on for the attribute `ttl`; nothing rests on when, or whether, it deletes. [`Executions`] needs the right
//! to `dynamodb:PutItem`, and to `dynamodb:GetItem` where outcomes are resolved; the guard needs what the caller's own
//! transaction needs.
//!
//! | attribute | of an execution |
//! |---|---|
//! | `pk` | `run#` and a hash of tenant, scope and key: as many partitions as there are operations |
//! | `fp` | fingerprint |
//! | `own` | the token of whoever may write it |
//! | `st` | `open`, `begun`, `unknown`, `succeeded` or `failed` |
//! | `til` | when its lease ends, in epoch milliseconds, while it is not settled |
//! | `ans` | the answer's bytes, once it is settled |
//! | `window_ends_at` | when a settled answer ends, in epoch milliseconds |
//! | `ttl` | in epoch seconds, as DynamoDB wants it; absent while it is not known whether the effect happened |

mod guard;
mod item;
mod versions;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::put_item::builders::PutItemFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, ReturnValuesOnConditionCheckFailure};

use super::codec::Item;
use super::failure::{Failure, log};
use super::ledger::write_fault;
use super::tries::Tries;
use crate::idempotency::{Execution, ExecutionId, Executions, Moment, Owner};
use crate::ports::{Unreadable, WriteFault, Written};
use crate::time::EpochMillis;

pub(in crate::aws) use guard::GUARD_IS_FREE;
pub use guard::{GuardReason, guard_put, guard_reason, guard_token};
use item::{decode_execution, encode_execution};
pub use versions::DynamoVersions;

//  taken          lease_until     + skew                  window_ends_at            ttl, a day later
//    |-- open -------|--------------|== the same command ======|== any command ===========|· · · deleted, some day
//    |-- begun ------|--------------|  reads as unknown: no condition here lets anybody by, however late
//    |-- unknown -------------------------------------------------------------------------------------- as begun
//    |-- succeeded, failed -------------- its answer is given -|== any command ===========|· · · deleted, some day
//
// ":over" is now less the skew: a lease that ends there or before is over by every clock.
const GIVES_WAY: &str = "attribute_not_exists(pk) \
    OR (st IN (:succeeded, :failed) AND window_ends_at <= :now) \
    OR (st = :open AND til <= :over AND (fp = :fp OR window_ends_at <= :now))";

// Whoever was overtaken (taken over, or resolved) holds a token that no longer stands there; what is settled moves for
// nobody.
const IS_HELD: &str = "own = :own AND st IN (:open, :begun, :unknown)";

/// Executions in one DynamoDB table.
#[derive(Clone, Debug)]
pub struct DynamoExecutions {
    client: Client,
    table: String,
}

impl DynamoExecutions {
    /// The executions kept in this table.
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self { client, table: table.into() }
    }

    fn put(&self, item: Item, condition: &str) -> PutItemFluentBuilder {
        self.client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression(condition)
            // What stands in the way comes with the refusal, at no further cost.
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
    }
}

/// Sends a conditional put; `Held` brings the item that stood in the way.
async fn send(request: PutItemFluentBuilder) -> Result<Written<Option<Item>>, WriteFault> {
    let tries = Tries::default();
    let error = match request.customize().interceptor(tries.clone()).send().await {
        Ok(_) => return Ok(Written::Done),
        Err(error) => error,
    };
    if let Some(PutItemError::ConditionalCheckFailedException(failed)) = error.as_service_error() {
        return Ok(Written::Held(failed.item().cloned()));
    }
    Err(write_fault("dynamodb:PutItem", &error, &tries, &[]))
}

async fn get(client: &Client, table: &str, pk: String) -> Result<Option<Item>, Unreadable> {
    let request = client.get_item().table_name(table).key("pk", AttributeValue::S(pk)).consistent_read(true);
    match request.send().await {
        Ok(answer) => Ok(answer.item),
        Err(error) => {
            log("dynamodb:GetItem", &Failure::of(&error), "unreadable");
            Err(Unreadable)
        }
    }
}

impl Executions for DynamoExecutions {
    async fn begin(&self, execution: &Execution, at: Moment) -> Result<Written<Execution>, WriteFault> {
        let item = encode_execution(execution).ok_or(WriteFault::Refused)?;
        let request = self
            .put(item, GIVES_WAY)
            .expression_attribute_values(":succeeded", text("succeeded"))
            .expression_attribute_values(":failed", text("failed"))
            .expression_attribute_values(":open", text("open"))
            .expression_attribute_values(":fp", text(execution.fingerprint))
            .expression_attribute_values(":now", millis(at.now))
            .expression_attribute_values(":over", millis(at.leases_over()));
        match send(request).await? {
            Written::Done => Ok(Written::Done),
            Written::Held(found) => {
                let found = found.and_then(|item| decode_execution(item, &execution.id));
                found.map(Written::Held).ok_or_else(unreadable)
            }
        }
    }

    async fn advance(&self, next: &Execution, held_by: Owner) -> Result<Written<Option<Execution>>, WriteFault> {
        let item = encode_execution(next).ok_or(WriteFault::Refused)?;
        let request = self
            .put(item, IS_HELD)
            .expression_attribute_values(":own", text(held_by.to_hex()))
            .expression_attribute_values(":open", text("open"))
            .expression_attribute_values(":begun", text("begun"))
            .expression_attribute_values(":unknown", text("unknown"));
        match send(request).await? {
            Written::Done => Ok(Written::Done),
            Written::Held(None) => Ok(Written::Held(None)),
            Written::Held(Some(item)) => {
                let found = decode_execution(item, &next.id);
                found.map(|found| Written::Held(Some(found))).ok_or_else(unreadable)
            }
        }
    }

    async fn execution(&self, id: &ExecutionId) -> Result<Option<Execution>, Unreadable> {
        let item = get(&self.client, &self.table, id.as_str().to_owned()).await?;
        item.map(|item| decode_execution(item, id).ok_or(Unreadable)).transpose()
    }
}

/// Nothing of this try was written, but whether an earlier one was stands in an item that cannot be read.
fn unreadable() -> WriteFault {
    tracing::error!("aws.operation" = "dynamodb:PutItem", "what stands in the way of a write cannot be read");
    WriteFault::Unknown
}

fn text(value: impl ToString) -> AttributeValue {
    AttributeValue::S(value.to_string())
}

fn millis(instant: EpochMillis) -> AttributeValue {
    AttributeValue::N(instant.get().to_string())
}
