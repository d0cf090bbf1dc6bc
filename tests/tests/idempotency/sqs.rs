//! The `OrderCreated` consumer of the examples, over the seam.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use examples::orders::{Handler, Shipments};
use lambda_runtime::Context;
use sendonce::aws::idempotency::DynamoExecutions;
use sendonce::idempotency::{FingerprintKey, Leased, Outcome};
use sendonce::ports::Clock;
use sendonce::time::Millis;
use serde_json::{Value, json};
use tests::aws_seam::{NOTIFICATIONS, Seam, SeamClock};

/// What was shipped, and how the next shipments of single orders go.
#[derive(Clone, Debug, Default)]
struct Dock {
    shipped: Rc<RefCell<Vec<String>>>,
    goes: Rc<RefCell<BTreeMap<String, Goes>>>,
}

#[derive(Clone, Copy, Debug)]
enum Goes {
    Busy,
    Lost,
    Panics,
}

impl Shipments for Dock {
    async fn ship(&self, _: &str, order: &str, _: u32) -> Outcome<()> {
        tokio::task::yield_now().await;
        let goes = self.goes.borrow_mut().remove(order);
        if matches!(goes, Some(Goes::Busy)) {
            return Outcome::Released(());
        }
        self.shipped.borrow_mut().push(order.to_owned());
        match goes {
            Some(Goes::Lost) => Outcome::Unknown,
            Some(Goes::Panics) => panic!("a bug after the shipment"),
            Some(Goes::Busy) | None => Outcome::Succeeded(()),
        }
    }
}

struct Place {
    seam: Seam,
    dock: Dock,
    handler: Handler<DynamoExecutions, SeamClock, Dock>,
}

async fn place() -> Place {
    let (seam, dock) = (Seam::new(), Dock::default());
    let store = DynamoExecutions::new(seam.aws().await.dynamodb(), NOTIFICATIONS);
    let leased = Leased::new(store, seam.clock(), examples::rules());
    let handler = Handler::new(leased, FingerprintKey::new([8; 32]), dock.clone());
    Place { seam, dock, handler }
}

impl Place {
    /// Delivers a batch; the ids of those that come again.
    async fn deliver(&self, records: &[(&str, String)]) -> Vec<String> {
        let records: Vec<Value> = records.iter().map(|(id, body)| json!({"messageId": id, "body": body})).collect();
        let event = serde_json::from_value(json!({"Records": records})).unwrap();
        let mut context = Context::default();
        context.deadline = self.seam.clock().now().plus(Millis::from_secs(30)).get().unsigned_abs();
        let answer = self.handler.handle(&event, &context).await.unwrap();
        answer.batch_item_failures.into_iter().map(|failure| failure.item_identifier).collect()
    }

    fn shipped(&self) -> usize {
        self.dock.shipped.borrow().len()
    }
}

fn order(order: &str) -> String {
    json!({"shop": "s", "order": order, "items": 1}).to_string()
}

#[tokio::test(start_paused = true)]
async fn s12_a_batch_whose_fourth_fails_and_that_comes_again_whole_ships_each_once() {
    let place = place().await;
    let ids: Vec<String> = (0..10).map(|n| format!("m-{n}")).collect();
    let batch: Vec<_> = ids.iter().map(|id| (id.as_str(), order(id))).collect();
    place.dock.goes.borrow_mut().insert("m-3".into(), Goes::Busy);
    assert_eq!(place.deliver(&batch).await, ["m-3"]);
    for _ in 0..2 {
        assert!(place.deliver(&batch).await.is_empty());
    }
    assert_eq!(place.shipped(), 10);
}

#[tokio::test(start_paused = true)]
async fn one_order_in_two_messages_is_one_shipment_in_one_batch_and_across_batches() {
    let place = place().await;
    assert_eq!(place.deliver(&[("m-1", order("o-1")), ("m-2", order("o-1"))]).await.len(), 1, "one meets the other");
    assert!(place.deliver(&[("m-2", order("o-1")), ("m-3", order("o-1"))]).await.is_empty());
    assert_eq!(place.shipped(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_lost_outcome_comes_again_until_somebody_decides_and_ships_nothing_meanwhile() {
    let place = place().await;
    place.dock.goes.borrow_mut().insert("o-1".into(), Goes::Lost);
    for _ in 0..5 {
        assert_eq!(place.deliver(&[("m-1", order("o-1"))]).await, ["m-1"]);
        place.seam.clock().advance(Millis::from_secs(180));
    }
    assert_eq!(place.shipped(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_one_failed_record_and_never_a_second_shipment() {
    let place = place().await;
    place.dock.goes.borrow_mut().insert("o-1".into(), Goes::Panics);
    assert_eq!(place.deliver(&[("m-1", order("o-1")), ("m-2", order("o-2"))]).await, ["m-1"]);
    place.seam.clock().advance(Millis::from_secs(180));
    assert_eq!(place.deliver(&[("m-1", order("o-1"))]).await, ["m-1"]);
    assert_eq!(place.shipped(), 2);
}

#[tokio::test(start_paused = true)]
async fn flaw_18_records_without_a_name_or_with_anothers_are_failed_items_and_share_nothing() {
    let place = place().await;
    let other = json!({"shop": "s", "order": "o-1", "items": 2}).to_string();
    place.deliver(&[("m-1", order("o-1"))]).await;
    let batch = [("m-2", order("")), ("m-3", order(" ")), ("m-4", "{}".into()), ("m-5", "x".into()), ("m-6", other)];
    assert_eq!(place.deliver(&batch).await, ["m-2", "m-3", "m-4", "m-5", "m-6"]);
    assert_eq!(place.shipped(), 1);
}

#[tokio::test(start_paused = true)]
async fn s8_a_batch_without_time_left_starts_nothing() {
    let place = place().await;
    let event = serde_json::from_value(json!({"Records": [{"messageId": "m-1", "body": order("o-1")}]})).unwrap();
    for left in [0, 1, 2_000] {
        let mut context = Context::default();
        context.deadline = place.seam.clock().now().plus(Millis::new(left)).get().unsigned_abs();
        let answer = place.handler.handle(&event, &context).await.unwrap();
        assert_eq!(answer.batch_item_failures.len(), 1);
    }
    assert!(place.seam.requests().is_empty());
    assert_eq!(place.shipped(), 0);
    let nameless = serde_json::from_value(json!({"Records": [{"body": order("o-1")}]})).unwrap();
    assert!(place.handler.handle(&nameless, &Context::default()).await.is_err());
}
