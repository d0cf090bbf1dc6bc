//! The guard of the transactional mode, beside writes of the caller's own.

use aws_sdk_dynamodb::types::{
    AttributeValue, CancellationReason, Put, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
};

use crate::aws::codec::{decode_guard, encode_guard};
use crate::aws::ledger::{is_held, token};
use crate::idempotency::Guard;
use crate::time::EpochMillis;

// taken            window_ends_at           ttl, a day later       deleted, some day
//   |---- holds ----|-- holds no longer; may still be there --------|
// A guard is in the way while it holds, and only then; that the table still has it means nothing.
pub(in crate::aws) const GUARD_IS_FREE: &str = "attribute_not_exists(pk) OR window_ends_at <= :now";

/// The guard as one write of a transaction: put it beside your own, and either all of it happens or nothing.
///
/// `None` when it cannot be written as an item, which a guard built from values of this crate can.
///
/// ```no_run
/// use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
/// use aws_sdk_dynamodb::types::TransactWriteItem;
/// use sendonce::aws::idempotency::{GuardReason, guard_put, guard_reason, guard_token};
/// use sendonce::idempotency::{Guard, StoredAnswer, Verdict};
/// use sendonce::time::EpochMillis;
///
/// # async fn place(client: aws_sdk_dynamodb::Client, guard: Guard, order: TransactWriteItem, now: EpochMillis)
/// #     -> Result<StoredAnswer, &'static str> {
/// let request = client
///     .transact_write_items()
///     .transact_items(guard_put("orders", &guard, now).ok_or("not an item")?) // place 0
///     .transact_items(order)
///     .client_request_token(guard_token(&guard, now));
/// let Err(error) = request.send().await else { return Ok(guard.answer) };
/// let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) = error.as_service_error() else {
///     return Err("perhaps done: the same guard, sent again, finds out");
/// };
/// match guard_reason(cancelled.cancellation_reasons().first(), &guard) {
///     GuardReason::Held(found) => match found.judge(&guard.fingerprint, guard.nonce, now) {
///         Verdict::Own => Ok(guard.answer),                  // an earlier try of this very write was applied
///         Verdict::Replay(answer) => Ok(answer.clone()),     // the same command came before
///         Verdict::Reused => Err("409: another command came before under this key"),
///         Verdict::Ended => Err("503: ask again"),
///     },
///     GuardReason::NotInTheWay => Err("one of your own conditions did not hold, or the transaction met another"),
///     GuardReason::Unreadable => Err("503: what stands there was not written by this version"),
/// }
/// # }
/// ```
#[must_use]
pub fn guard_put(table: &str, guard: &Guard, now: EpochMillis) -> Option<TransactWriteItem> {
    let put = Put::builder()
        .table_name(table)
        .set_item(Some(encode_guard(guard)?))
        .condition_expression(GUARD_IS_FREE)
        .expression_attribute_values(":now", AttributeValue::N(now.get().to_string()))
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .build();
    Some(TransactWriteItem::builder().put(put.ok()?).build())
}

/// What a cancelled transaction says about its guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuardReason {
    /// Its condition held: something else cancelled the transaction.
    NotInTheWay,
    /// This guard stands under its key; [`Guard::judge`] it.
    Held(Guard),
    /// What stands under its key cannot be read.
    Unreadable,
}

/// Reads the cancellation reason at the guard's place among the transaction's writes.
#[must_use]
pub fn guard_reason(reason: Option<&CancellationReason>, guard: &Guard) -> GuardReason {
    match reason.filter(|reason| is_held(reason)) {
        None => GuardReason::NotInTheWay,
        Some(reason) => {
            let found = reason.item().and_then(|item| decode_guard(item.clone(), &guard.id));
            found.map_or(GuardReason::Unreadable, GuardReason::Held)
        }
    }
}

/// A `ClientRequestToken` for the transaction that holds this guard: the SDK's own retries are then one request to
/// DynamoDB. Everything else in the transaction must be the same whenever the guard is.
#[must_use]
pub fn guard_token(guard: &Guard, now: EpochMillis) -> String {
    token(&[guard.nonce.to_hex().as_bytes(), &now.get().to_be_bytes()])
}
