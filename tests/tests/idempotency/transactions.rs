//! The transactional mode beside writes of one's own.

use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{AttributeValue, Put, TransactWriteItem};
use sendonce::aws::idempotency::{GuardReason, guard_put, guard_reason, guard_token};
use sendonce::idempotency::{Guard, Nonce, StoredAnswer, Verdict};
use sendonce::time::{EpochMillis, Millis};
use tests::aws_seam::{Fault, NOTIFICATIONS, Seam, SeamClock};
use tests::idempotency::{charge, scope, tenant, window};

const NOW: EpochMillis = SeamClock::START;

fn guard(key: &str, cents: u64, nonce: u8) -> Guard {
    Guard {
        id: scope(key).guard_id(&tenant()),
        fingerprint: charge(key, cents).fingerprint,
        answer: StoredAnswer { status: 201, body: format!(r#"{{"order":"o-{nonce}"}}"#) },
        window_ends_at: window().ends_at(NOW),
        nonce: Nonce::new([nonce; 16]),
    }
}

fn order(id: &str) -> TransactWriteItem {
    let put = Put::builder().table_name(NOTIFICATIONS).item("pk", AttributeValue::S(id.into()));
    TransactWriteItem::builder().put(put.condition_expression("attribute_not_exists(pk)").build().unwrap()).build()
}

/// `None` when it was written.
async fn place(seam: &Seam, guard: &Guard, order_id: &str, now: EpochMillis) -> Option<GuardReason> {
    let request = seam.aws().await.dynamodb().transact_write_items();
    let request = request.transact_items(guard_put(NOTIFICATIONS, guard, now).unwrap()).transact_items(order(order_id));
    let error = request.client_request_token(guard_token(guard, now)).send().await.err()?;
    let Some(TransactWriteItemsError::TransactionCanceledException(cancelled)) = error.as_service_error() else {
        panic!("{error:?}")
    };
    Some(guard_reason(cancelled.cancellation_reasons().first(), guard))
}

#[tokio::test(start_paused = true)]
async fn guard_and_order_are_written_together_or_not_at_all() {
    let seam = Seam::new();
    let first = guard("k-1", 100, 1);
    assert_eq!(place(&seam, &first, "o-1", NOW).await, None);
    assert_eq!(seam.items(NOTIFICATIONS).len(), 2);

    let Some(GuardReason::Held(found)) = place(&seam, &guard("k-1", 100, 2), "o-2", NOW).await else { panic!() };
    let same = charge("k-1", 100).fingerprint;
    assert_eq!(found.judge(&same, Nonce::new([2; 16]), NOW), Verdict::Replay(&first.answer));
    let Some(GuardReason::Held(found)) = place(&seam, &guard("k-1", 999, 3), "o-3", NOW).await else { panic!() };
    assert_eq!(found.judge(&charge("k-1", 999).fingerprint, Nonce::new([3; 16]), NOW), Verdict::Reused);
    assert_eq!(seam.items(NOTIFICATIONS).len(), 2, "no second order");
}

#[tokio::test(start_paused = true)]
async fn a_condition_of_ones_own_is_not_taken_for_the_guard() {
    let seam = Seam::new();
    place(&seam, &guard("k-1", 100, 1), "o-1", NOW).await;
    assert_eq!(place(&seam, &guard("k-2", 100, 2), "o-1", NOW).await, Some(GuardReason::NotInTheWay));
    assert!(seam.item(guard("k-2", 100, 2).id.as_str()).is_none());
}

#[tokio::test(start_paused = true)]
async fn a8_an_applied_transaction_whose_answer_was_lost_is_known_by_its_nonce() {
    let seam = Seam::new();
    let first = guard("k-1", 100, 1);
    seam.fail_next("dynamodb:TransactWriteItems", Fault::LostAfter);
    assert_eq!(place(&seam, &first, "o-1", NOW).await, None, "the SDK's own retry is one request by its token");
    // A later try has another token, for another instant.
    let later = NOW.plus(Millis::from_secs(2));
    let Some(GuardReason::Held(found)) = place(&seam, &first, "o-1", later).await else { panic!() };
    assert_eq!(found.judge(&first.fingerprint, first.nonce, later), Verdict::Own);
}

#[tokio::test(start_paused = true)]
async fn a_guard_gives_way_at_the_instant_of_its_end() {
    let seam = Seam::new();
    place(&seam, &guard("k-1", 100, 1), "o-1", NOW).await;
    let end = window().ends_at(NOW);
    let held = place(&seam, &guard("k-1", 100, 2), "o-2", end.minus(Millis::new(1))).await;
    assert!(matches!(held, Some(GuardReason::Held(_))));
    assert_eq!(place(&seam, &guard("k-1", 100, 2), "o-2", end).await, None);
}

#[tokio::test(start_paused = true)]
async fn a_guard_and_an_execution_of_one_scope_do_not_meet() {
    let (guard, named) = (guard("k-1", 100, 1), charge("k-1", 100));
    assert_ne!(guard.id.as_str(), named.id.as_str());
    assert!(guard.id.as_str().starts_with("key#") && named.id.as_str().starts_with("run#"));
}
