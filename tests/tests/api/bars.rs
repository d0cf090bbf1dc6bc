//! What it costs: AWS requests and stored bytes, counted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::future::join_all;
use sendonce::time::Millis;
use serde_json::{Value, json};
use tests::aws_seam::{EVIDENCE, Fault, NOTIFICATIONS, Seam, item_size};

use crate::harness::{Ask, DECRYPT, GET, PUBLISH, RING, Service, Setting, TRANSACT, Watch, reset};

/// What a step asks of AWS, in order.
fn asked(service: &Service) -> Vec<String> {
    let asked = service.seam.requests().into_iter().map(|request| request.operation).collect();
    service.seam.forget_requests();
    asked
}

#[tokio::test(start_paused = true)]
async fn admission_is_two_requests_a_duplicate_one_a_conflict_one_and_none_reads() {
    let service = Service::start().await;
    asked(&service);
    service.post(&Ask::create("k-1", &reset("evt-1"))).await.id();
    assert_eq!(asked(&service), [TRANSACT, RING], "first");
    assert!(service.post(&Ask::create("k-1", &reset("evt-1"))).await.is_replay());
    assert_eq!(asked(&service), [TRANSACT], "duplicate");
    assert_eq!(service.post(&Ask::create("k-1", &reset("evt-2"))).await.word(), "409 idempotency_key_reused");
    assert_eq!(asked(&service), [TRANSACT], "reuse");
    let mut other = reset("evt-1");
    other["kind"] = json!("promotional");
    assert_eq!(service.post(&Ask::create("k-2", &other)).await.word(), "409 event_already_accepted");
    assert_eq!(asked(&service), [TRANSACT], "the same event as another command");
    assert!(service.post(&Ask::create("k-3", &reset("evt-1"))).await.is_replay());
    assert_eq!(asked(&service), [TRANSACT, "dynamodb:PutItem"], "the same event under another key, which is bound");
}

#[tokio::test(start_paused = true)]
async fn dispatch_is_five_requests_with_a_new_data_key_and_four_with_a_known_one() {
    let service = Service::start().await;
    service.admit("evt-1").await;
    service.admit("evt-2").await;
    let messages = service.seam.receive(10);
    asked(&service);
    service.batch(&messages[..1]).await;
    assert_eq!(asked(&service), [GET, DECRYPT, TRANSACT, PUBLISH, TRANSACT]);
    service.batch(&messages[1..]).await;
    assert_eq!(asked(&service), [GET, TRANSACT, PUBLISH, TRANSACT]);
    service.batch(&messages).await;
    assert_eq!(asked(&service), [GET, GET], "a doorbell with nothing to do is one read");
}

#[tokio::test(start_paused = true)]
async fn status_is_one_request_and_evidence_two() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    asked(&service);
    service.get(&Ask::status(&id)).await;
    assert_eq!(asked(&service), [GET]);
    service.get(&Ask::status(&id).header("if-none-match", "\"r0\"")).await;
    assert_eq!(asked(&service), [GET], "304");
    service.get(&Ask::evidence(&id)).await;
    assert_eq!(asked(&service), [GET, "dynamodb:Query"]);
    service.post(&Ask::cancel(&id)).await;
    assert_eq!(asked(&service), [GET, TRANSACT], "cancel");
}

#[tokio::test(start_paused = true)]
async fn a_cold_start_is_at_most_two_kms_requests_and_one_read() {
    let seam = Seam::new();
    let (setting, watch) = (Setting::of(&seam, &[]).await, Watch::new(seam.clock()));
    let cold = || {
        let counts: Vec<_> = seam.counts().into_iter().collect();
        seam.forget_requests();
        counts
    };
    let once = |operation: &str| (String::from(operation), 1);
    setting.admission(watch.clone()).await.expect("started");
    assert_eq!(cold(), [once(GET), once("kms:GenerateDataKey"), once("kms:GenerateMac")]);
    setting.dispatch(watch.clone()).await;
    assert_eq!(cold(), [once(GET)]);
    setting.reconciliation(watch).await;
    assert_eq!(cold(), [once(GET), once("kms:GenerateMac")]);
    setting.status().await;
    assert_eq!(cold(), [once(GET)]);
}

#[tokio::test(start_paused = true)]
async fn a_tick_with_nothing_due_is_one_query_for_each_shard() {
    let service = Service::start().await;
    service.admit("evt-1").await;
    asked(&service);
    service.tick().await;
    assert_eq!(asked(&service), vec!["dynamodb:Query"; 16]);
    service.clock.advance(Millis::from_secs(60));
    service.tick().await;
    let due = asked(&service);
    assert_eq!(due.len(), 19, "a read, a write and a ring for what is due: {due:?}");
}

#[tokio::test(start_paused = true)]
async fn two_hundred_at_once_under_one_key_are_one_record_one_text_and_200_equal_answers() {
    let service = Service::start().await;
    let ask = Ask::create("k-1", &reset("evt-1"));
    // Transactions that meet at one item are cancelled for that, as DynamoDB does; the clients do not hear of it.
    for n in 0..60 {
        let fault = if n % 3 == 0 {
            Fault::Late(Duration::ZERO)
        } else {
            Fault::cancelled(&["TransactionConflict", "None", "None"])
        };
        service.seam.fail_next(TRANSACT, fault);
    }
    let answers = join_all((0..200).map(|_| service.post(&ask))).await;
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<BTreeSet<_>>(), BTreeSet::from([202]));
    assert!(answers.iter().all(|answer| answer.says_the_same_as(&answers[0])), "equal answers");
    assert_eq!(answers.iter().filter(|answer| !answer.is_replay()).count(), 1);
    assert_eq!((service.ids().len(), service.guards(), service.seam.items(EVIDENCE).len()), (1, 1, 1));
    assert_eq!(service.seam.count(RING), 1);
    service.deliver().await;
    assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (1, 1));
    service.assert_sound().await;
}

/// Sizes of everything stored, by kind of item, the largest of each.
#[derive(Default)]
struct Sizes(BTreeMap<String, usize>);

impl Sizes {
    fn measure(&mut self, service: &Service) {
        for item in service.seam.items(NOTIFICATIONS) {
            let kind = if item.get("st").is_some() { format!("record {}", word(&item["st"])) } else { "guard".into() };
            self.note(kind, &item);
        }
        for item in service.seam.items(EVIDENCE) {
            let body: Value = serde_json::from_str(word(&item["body"])).expect("JSON");
            self.note(format!("row {}", body["kind"].as_str().expect("a kind")), &item);
        }
    }

    fn note(&mut self, kind: String, item: &Value) {
        let largest = self.0.entry(kind).or_default();
        *largest = item_size(item).max(*largest);
    }
}

fn word(value: &Value) -> &str {
    value["S"].as_str().expect("text")
}

/// An ordinary command of 160 characters, with everything in it that may be left out.
fn full() -> Value {
    let mut body = reset("0b7c1a52-93de-4a0f-9a1e-5a8f4be2c7d1");
    body["to"] = json!("+491555014297312");
    body["sender_id"] = json!("ACMESUPPORT");
    body["message"] = json!("Your code is 482913. ".repeat(8)[..160].to_owned());
    body
}

#[tokio::test(start_paused = true)]
async fn no_stored_item_of_a_160_character_text_is_over_1_kb_and_no_row_over_half_of_that() {
    let mut sizes = Sizes::default();

    // Rung twice, refused, tried again, unknown, expired.
    let service = Service::start().await;
    service.post(&Ask::create(&"k".repeat(255), &full())).await.id();
    sizes.measure(&service);
    service.seam.waiting().iter().for_each(|message| service.seam.delete(&message.id));
    for _ in 0..2 {
        service.clock.advance(Millis::from_secs(120));
        service.tick().await;
        sizes.measure(&service);
    }
    service.seam.fail_next(PUBLISH, Fault::CodeBefore(400, "InvalidSecurity"));
    service.seam.fail_next(PUBLISH, Fault::SilentAfter);
    service.deliver().await;
    sizes.measure(&service);
    service.clock.advance(Millis::from_secs(3));
    let message = service.seam.receive(1);
    let running = service.batch(&message);
    assert!(tokio::time::timeout(Duration::from_secs(1), running).await.is_err(), "killed while sending");
    sizes.measure(&service);
    service.clock.advance(Millis::from_secs(60));
    service.tick().await;
    sizes.measure(&service);
    service.clock.advance(Millis::from_secs(600));
    service.tick().await;
    sizes.measure(&service);

    // Sent; refused for good; an answer after the lease; an answer after the end.
    let service = Service::start().await;
    service.post(&Ask::create("k-1", &full())).await.id();
    service.deliver().await;
    sizes.measure(&service);
    let service = Service::start().await;
    service.post(&Ask::create("k-1", &full())).await.id();
    service.seam.fail_next(PUBLISH, Fault::CodeBefore(400, "KMSInvalidState"));
    service.deliver().await;
    sizes.measure(&service);
    for wait in [60, 900] {
        let service = Service::start().await;
        service.post(&Ask::create("k-1", &full())).await.id();
        service.seam.fail_next(TRANSACT, Fault::Late(Duration::ZERO));
        service.seam.fail_next(TRANSACT, Fault::Late(Duration::from_millis(1_500)));
        let message = service.seam.receive(1);
        let meanwhile = async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            service.clock.advance(Millis::from_secs(wait));
            service.tick().await;
            service.tick().await;
        };
        tokio::join!(service.batch(&message), meanwhile);
        sizes.measure(&service);
    }

    let kinds: Vec<_> = sizes.0.keys().map(String::as_str).collect();
    assert_eq!(
        kinds,
        [
            "guard",
            "record accepted",
            "record dispatch_unknown",
            "record failed",
            "record sending",
            "record sent",
            "record stopped",
            "row accepted",
            "row attempt_accepted",
            "row attempt_refused",
            "row attempt_started",
            "row attempt_unknown",
            "row doorbell_rung",
            "row late_answer",
            "row reconciled_accepted",
            "row stopped",
        ],
        "every kind of item was measured"
    );
    for (kind, size) in &sizes.0 {
        let most = if kind.starts_with("row ") { 512 } else { 1_024 };
        assert!(*size <= most, "{kind} takes {size} bytes of {most}");
    }
}
