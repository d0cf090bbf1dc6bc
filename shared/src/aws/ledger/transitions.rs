//! One step of a record, with its evidence.

use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{AttributeValue, CancellationReason, TransactWriteItem};

use super::admissions::unreadable;
use super::faults::{is_held, write_fault};
use super::{Ledger, put, step, token};
use crate::aws::codec::{decode_record, decode_row, encode_record, encode_row};
use crate::aws::tries::Tries;
use crate::notification::{Held, Transition};
use crate::ports::{Transitions, WriteFault, Written};

const RECORD_IS_WHERE_IT_WAS: &str = "rev = :expected";
const ROW_IS_NEW: &str = "attribute_not_exists(notification_id)";

impl Transitions for Ledger {
    async fn commit(&self, transition: &Transition) -> Result<Written<Held>, WriteFault> {
        let steps = self.transition_steps(transition).ok_or(WriteFault::Refused)?;
        let tries = Tries::default();
        let token = token(&[&transition.row.hash()]);
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
            return held(transition, reasons).map(Written::Held).ok_or_else(|| unreadable("TransactWriteItems"));
        }
        Err(write_fault("dynamodb:TransactWriteItems", &error, &tries, reasons))
    }
}

impl Ledger {
    /// Record, row: in this order the reasons of a cancelled transaction come back.
    fn transition_steps(&self, transition: &Transition) -> Option<Vec<TransactWriteItem>> {
        let expected = AttributeValue::N(transition.expected_rev.to_string());
        let record = put(&self.notifications, encode_record(&transition.record)?, RECORD_IS_WHERE_IT_WAS)
            .expression_attribute_values(":expected", expected);
        let row = put(&self.evidence, encode_row(&transition.row)?, ROW_IS_NEW);
        [record, row].into_iter().map(step).collect::<Result<_, BuildError>>().ok()
    }
}

/// What stood in the way; `None` when a part that did cannot be read. A record that is gone fails its condition too,
/// and leaves nothing to show.
fn held(transition: &Transition, reasons: &[CancellationReason]) -> Option<Held> {
    let [record, row] = reasons else { return None };
    let id = &transition.record.id;
    let mut held = Held::default();
    if let Some(item) = record.item().filter(|_| is_held(record)) {
        held.record = Some(decode_record(item.clone(), id)?);
    }
    if is_held(row) {
        held.row = Some(decode_row(row.item()?.clone(), id)?);
    }
    Some(held)
}
