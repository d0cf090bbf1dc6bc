//! Admission's writes.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    AttributeValue, CancellationReason, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
};

use super::faults::{is_held, write_fault};
use super::{Ledger, put, step};
use crate::aws::codec::{decode_guard, decode_record, decode_row, encode_guard, encode_record, encode_row};
use crate::aws::idempotency::{GUARD_IS_FREE, GuardReason, guard_put, guard_reason, guard_token};
use crate::aws::tries::Tries;
use crate::idempotency::{Guard, GuardId};
use crate::ports::{Admission, Admissions, HeldAdmission, Unreadable, WriteFault, Written};
use crate::time::EpochMillis;

const RECORD_IS_NEW: &str = "attribute_not_exists(pk)";
const ROW_IS_NEW: &str = "attribute_not_exists(notification_id)";

impl Admissions for Ledger {
    async fn admit(&self, admission: &Admission, now: EpochMillis) -> Result<Written<HeldAdmission>, WriteFault> {
        let steps = self.admission_steps(admission, now).ok_or(WriteFault::Refused)?;
        let tries = Tries::default();
        let token = guard_token(&admission.guard, now);
        let request = self.client.transact_write_items().set_transact_items(Some(steps)).client_request_token(token);
        let error = match request.customize().interceptor(tries.clone()).send().await {
            Ok(_) => return Ok(Written::Done),
            Err(error) => error,
        };
        let reasons = match error.as_service_error() {
            Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) => cancelled.cancellation_reasons(),
            _ => &[],
        };
        if reasons.iter().any(is_held) {
            return held(admission, reasons).map(Written::Held).ok_or_else(|| unreadable("TransactWriteItems"));
        }
        Err(write_fault("dynamodb:TransactWriteItems", &error, &tries, reasons))
    }

    async fn bind(&self, guard: &Guard, now: EpochMillis) -> Result<Written<Guard>, WriteFault> {
        let item = encode_guard(guard).ok_or(WriteFault::Refused)?;
        let tries = Tries::default();
        let request = self
            .client
            .put_item()
            .table_name(&self.notifications)
            .set_item(Some(item))
            .condition_expression(GUARD_IS_FREE)
            .expression_attribute_values(":now", millis(now))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
        let error = match request.customize().interceptor(tries.clone()).send().await {
            Ok(_) => return Ok(Written::Done),
            Err(error) => error,
        };
        if let Some(PutItemError::ConditionalCheckFailedException(failed)) = error.as_service_error() {
            let held = failed.item().and_then(|item| decode_guard(item.clone(), &guard.id));
            return held.map(Written::Held).ok_or_else(|| unreadable("PutItem"));
        }
        Err(write_fault("dynamodb:PutItem", &error, &tries, &[]))
    }

    async fn guard(&self, id: &GuardId) -> Result<Option<Guard>, Unreadable> {
        let item = self.item(id.as_str().to_owned()).await?;
        item.map(|item| decode_guard(item, id).ok_or(Unreadable)).transpose()
    }
}

impl Ledger {
    /// Guard, record, row 0: in this order the reasons of a cancelled transaction come back.
    fn admission_steps(&self, admission: &Admission, now: EpochMillis) -> Option<Vec<TransactWriteItem>> {
        let guard = guard_put(&self.notifications, &admission.guard, now)?;
        let record = put(&self.notifications, encode_record(&admission.record)?, RECORD_IS_NEW);
        let row = put(&self.evidence, encode_row(&admission.row)?, ROW_IS_NEW);
        let others = [record, row].into_iter().map(step);
        std::iter::once(Ok(guard)).chain(others).collect::<Result<_, BuildError>>().ok()
    }
}

/// What stood in the way; `None` when a part that did cannot be read.
fn held(admission: &Admission, reasons: &[CancellationReason]) -> Option<HeldAdmission> {
    let [guard, record, row] = reasons else { return None };
    let id = &admission.record.id;
    let mut held = HeldAdmission::default();
    match guard_reason(Some(guard), &admission.guard) {
        GuardReason::NotInTheWay => {}
        GuardReason::Held(found) => held.guard = Some(found),
        GuardReason::Unreadable => return None,
    }
    if is_held(record) {
        held.record = Some(decode_record(record.item()?.clone(), id)?);
    }
    if is_held(row) {
        held.row = Some(decode_row(row.item()?.clone(), id)?);
    }
    Some(held)
}

/// Nothing of this try was written, but whether an earlier one was stands in an item that cannot be read.
pub(super) fn unreadable(operation: &'static str) -> WriteFault {
    tracing::error!("aws.operation" = operation, "what stands in the way of a write cannot be read");
    WriteFault::Unknown
}

fn millis(instant: EpochMillis) -> AttributeValue {
    AttributeValue::N(instant.get().to_string())
}
