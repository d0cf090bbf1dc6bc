//! `Records`, `DueWork`, `Destinations`, `EvidenceLog`.

use sendonce::idempotency::{FingerprintKey, Nonce};
use sendonce::notification::{Fact, Function, NotificationId, PhoneNumber, Row, StopReason};
use sendonce::ports::{
    Admissions, Destinations, DueWork, EvidenceLog, Records, SentTo, Transitions, Unreadable, Written,
};
use sendonce::time::{EpochMillis, Millis};
use serde_json::json;
use tests::aws_seam::{EVIDENCE, Fault, NOTIFICATIONS, Seam};

use crate::fixtures::{NOW, actor, admission, step};

const QUERY: &str = "dynamodb:Query";

#[tokio::test(start_paused = true)]
async fn record_reads_what_is_there_in_one_consistent_request() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    assert_eq!(ledger.record(&first.record.id).await, Ok(None));
    assert_eq!(seam.counts(), [("dynamodb:GetItem".into(), 1)].into());
    assert_eq!(seam.requests()[0].json()["ConsistentRead"], true);
    seam.fail_times("dynamodb:GetItem", 3, Fault::SilentBefore);
    assert_eq!(ledger.record(&first.record.id).await, Err(Unreadable));
}

#[tokio::test(start_paused = true)]
async fn a_record_with_anything_missing_odd_or_added_is_unreadable() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    let intact = seam.item(&format!("ntf#{}", first.record.id)).unwrap();
    for (name, value) in [
        ("tn", json!(null)),
        ("tn", json!({"S": "someone"})),
        ("rev", json!({"S": "0"})),
        ("rev", json!({"N": "-1"})),
        ("rev", json!({"N": "0.5"})),
        ("st", json!({"S": "stopped"})),
        ("st", json!({"S": "paused"})),
        ("why", json!({"S": "cancelled"})),
        ("att", json!({"S": "att_aaaaaaaaaaaaaaaaaaaaaaaaaa"})),
        ("head", json!({"B": "AAAA"})),
        ("due_at", json!(null)),
        ("due_shard", json!({"N": "16"})),
        ("seal", json!({"S": "text"})),
        ("later_version", json!({"S": "x"})),
    ] {
        let mut item = intact.clone();
        match &value {
            serde_json::Value::Null => drop(item.as_object_mut().unwrap().remove(name)),
            value => item[name] = value.clone(),
        }
        seam.plant(NOTIFICATIONS, &item);
        assert_eq!(ledger.record(&first.record.id).await, Err(Unreadable), "{name} {value}");
    }
    seam.plant(NOTIFICATIONS, &intact);
    assert_eq!(ledger.record(&first.record.id).await, Ok(Some(first.record)));
}

/// Open work of one shard, due one after the other.
async fn open(seam: &Seam, count: usize) -> (u8, Vec<NotificationId>) {
    let ledger = seam.adapters().await.ledger;
    let mut ids = Vec::new();
    let shard = admission("e-0", "k-0", 1).record.id.due_shard();
    for n in 0.. {
        let mut one = admission(&format!("e-{n}"), &format!("k-{n}"), 1);
        one.guard.nonce = Nonce::new(u128::to_be_bytes(n));
        if one.record.id.due_shard() != shard {
            continue;
        }
        one.record.due_at = Some(NOW.plus(Millis::new(i64::try_from(ids.len()).unwrap())));
        assert_eq!(ledger.admit(&one, NOW).await, Ok(Written::Done));
        ids.push(one.record.id);
        if ids.len() == count {
            break;
        }
    }
    seam.forget_requests();
    (shard, ids)
}

#[tokio::test(start_paused = true)]
async fn due_brings_open_work_page_by_page_in_order() {
    let seam = Seam::new();
    let (shard, ids) = open(&seam, 250).await;
    let ledger = seam.adapters().await.ledger;
    let late = NOW.plus(Millis::from_secs(1));
    let (mut found, mut from, mut pages) = (Vec::new(), None, 0);
    loop {
        let page = ledger.due(shard, late, from.as_ref()).await.unwrap();
        found.extend(page.ids);
        pages += 1;
        from = page.next;
        if from.is_none() {
            break;
        }
    }
    assert_eq!(found, ids);
    assert_eq!((pages, seam.count(QUERY)), (3, 3));

    let early = ledger.due(shard, NOW.plus(Millis::new(9)), None).await.unwrap();
    assert_eq!(early.ids, ids[..10], "the instant itself is due, a millisecond later is not");
    let other = ledger.due((shard + 1) % NotificationId::DUE_SHARDS, late, None).await.unwrap();
    assert_eq!((other.ids, other.next), (Vec::new(), None));
    seam.fail_times(QUERY, 3, Fault::CodeBefore(400, "ThrottlingException"));
    assert_eq!(ledger.due(shard, late, None).await, Err(Unreadable));
}

#[tokio::test(start_paused = true)]
async fn settled_work_is_not_due() {
    let seam = Seam::new();
    let (shard, ids) = open(&seam, 2).await;
    let ledger = seam.adapters().await.ledger;
    let record = ledger.record(&ids[0]).await.unwrap().unwrap();
    ledger.commit(&step(&record, Fact::Stopped { reason: StopReason::Cancelled })).await.unwrap();
    assert_eq!(ledger.due(shard, EpochMillis::new(i64::MAX), None).await.unwrap().ids, ids[1..]);
}

/// Notifications to one number, accepted a second apart.
async fn sent(seam: &Seam, count: usize) -> Vec<NotificationId> {
    let ledger = seam.adapters().await.ledger;
    let mut ids = Vec::new();
    for n in 0..count {
        let mut one = admission(&format!("e-{n}"), &format!("k-{n}"), 1);
        one.guard.nonce = Nonce::new(u128::to_be_bytes(u128::try_from(n).unwrap()));
        one.record.accepted_at = second(n);
        assert_eq!(ledger.admit(&one, NOW).await, Ok(Written::Done));
        ids.push(one.record.id);
    }
    seam.forget_requests();
    ids
}

fn newest_first(ids: &[NotificationId]) -> Vec<NotificationId> {
    ids.iter().rev().cloned().collect()
}

fn second(n: usize) -> EpochMillis {
    NOW.plus(Millis::from_secs(i64::try_from(n).unwrap()))
}

#[tokio::test(start_paused = true)]
async fn sent_to_brings_what_one_number_was_sent_in_a_span_in_one_request() {
    let seam = Seam::new();
    let ids = sent(&seam, 5).await;
    let ledger = seam.adapters().await.ledger;
    let to = admission("e-0", "k-0", 1).record.destination;
    let whole = |ids: &[NotificationId]| Ok(SentTo { ids: newest_first(ids), is_whole: true });
    assert_eq!(ledger.sent_to(&to, second(0), second(4)).await, whole(&ids));
    assert_eq!(seam.counts(), [(QUERY.into(), 1)].into());
    assert_eq!(ledger.sent_to(&to, second(1), second(3)).await, whole(&ids[1..4]), "both ends included");
    assert_eq!(ledger.sent_to(&to, second(1).plus(Millis::new(1)), second(2).minus(Millis::new(1))).await, whole(&[]));
    let other = PhoneNumber::parse("+15550142974").unwrap().mac(&FingerprintKey::new([4; 32]));
    assert_eq!(ledger.sent_to(&other, second(0), second(4)).await, whole(&[]));
    seam.fail_times(QUERY, 3, Fault::LostBefore);
    assert_eq!(ledger.sent_to(&to, second(0), second(4)).await, Err(Unreadable));
}

#[tokio::test(start_paused = true)]
async fn sent_to_tells_the_newest_and_says_when_there_are_more() {
    let seam = Seam::new();
    let ids = sent(&seam, 51).await;
    let ledger = seam.adapters().await.ledger;
    let to = admission("e-0", "k-0", 1).record.destination;
    let fifty = ledger.sent_to(&to, second(0), second(49)).await.unwrap();
    assert!(fifty.ids == newest_first(&ids[..50]) && fifty.is_whole);
    let more = ledger.sent_to(&to, second(0), second(50)).await.unwrap();
    assert!(more.ids == newest_first(&ids[1..]) && !more.is_whole);
    assert_eq!(seam.count(QUERY), 2);
}

#[tokio::test(start_paused = true)]
async fn sent_to_still_finds_what_has_settled() {
    let seam = Seam::new();
    let ids = sent(&seam, 1).await;
    let ledger = seam.adapters().await.ledger;
    let record = ledger.record(&ids[0]).await.unwrap().unwrap();
    ledger.commit(&step(&record, Fact::Stopped { reason: StopReason::Cancelled })).await.unwrap();
    assert_eq!(ledger.sent_to(&record.destination, second(0), second(0)).await.unwrap().ids, ids);
}

#[tokio::test(start_paused = true)]
async fn rows_pages_through_all_of_them() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    let (id, mut rows) = (first.record.id, vec![first.row]);
    for seq in 1..4_000 {
        let fact = Fact::DoorbellRung { rings: seq, next_at: NOW };
        let prev = rows.last().unwrap().hash();
        let row = Row::new(&id, NOW, seq, NOW, actor(Function::Reconciliation), fact, prev);
        seam.plant(EVIDENCE, &row_item(&row));
        rows.push(row);
    }
    seam.forget_requests();
    assert_eq!(ledger.rows(&id).await, Ok(rows));
    assert!(seam.count(QUERY) >= 2, "more than one page of 1 MB: {}", seam.count(QUERY));
    assert!(seam.requests().iter().all(|request| request.json()["ConsistentRead"] == true));
}

#[tokio::test(start_paused = true)]
async fn rows_leaves_out_what_is_not_intact_and_fails_as_a_whole() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    let mut item = row_item(&first.row);
    item["seq"] = json!({"N": "1"});
    seam.plant(EVIDENCE, &item);
    let mut item = row_item(&first.row);
    item["seq"] = json!({"N": "2"});
    item["body"] = json!({"S": "{}"});
    seam.plant(EVIDENCE, &item);
    let id = first.record.id;
    assert_eq!(ledger.rows(&id).await, Ok(vec![first.row]));
    seam.fail_times(QUERY, 3, Fault::LostBefore);
    assert_eq!(ledger.rows(&id).await, Err(Unreadable));
}

fn row_item(row: &Row) -> serde_json::Value {
    json!({
        "notification_id": {"S": row.notification().as_str()},
        "seq": {"N": row.seq().to_string()},
        "body": {"S": row.body_json()},
        "hash": {"B": data_encoding::BASE64.encode(&row.hash())},
        "ttl": {"N": row.ttl().get().to_string()},
    })
}
