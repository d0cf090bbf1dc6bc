//! What the items hold, and how large they are.

use sendonce::notification::{
    EventType, Fact, NotificationId, ProviderCode, Record, Reference, RefusalClass, Sealed, StopReason, Transition,
    UnknownBasis,
};
use sendonce::ports::{Admission, Admissions, Records, Sealer, Transitions, Written};
use sendonce::time::Millis;
use serde_json::Value;
use tests::aws_seam::{Adapters, EVIDENCE, NOTIFICATIONS, Seam, item_size};

use crate::fixtures::{
    LIFETIME, NOW, WINDOW, admission, attempt, guard, largest_command, payload, record, start, step, tenant,
};

const SECOND: i64 = 1_000;

async fn sealed(adapters: &Adapters) -> Sealed {
    let command = largest_command();
    let id = NotificationId::of(&tenant(), &command.event);
    adapters.sealer.seal(&payload(&command), &tenant(), &id).await.unwrap()
}

async fn largest(adapters: &Adapters) -> Admission {
    let command = largest_command();
    let (record, row) = record(&command, Some(sealed(adapters).await));
    Admission { guard: guard(&command, "k-1", 1), record, row }
}

/// Everything that can follow acceptance, the longest facts of each kind among them.
fn life(record: &Record) -> Vec<Transition> {
    let rung = step(record, Fact::DoorbellRung { rings: 1, next_at: NOW });
    let begun = start(&rung.record, 1);
    let refused = Fact::AttemptRefused {
        attempt: attempt(1),
        class: RefusalClass::RetryableAlarm,
        code: ProviderCode::InvalidParameter,
        next_at: Some(NOW.plus(Millis::from_secs(9))),
    };
    let refused = step(&begun.record, refused);
    let again = start(&refused.record, 2);
    let unknown =
        step(&again.record, Fact::AttemptUnknown { attempt: attempt(2), basis: UnknownBasis::UnreadableSuccess });
    let stopped = step(&unknown.record, Fact::Stopped { reason: StopReason::ExpiredUnresolved });
    vec![rung, begun, refused, again, unknown, stopped]
}

fn accepted(record: &Record) -> Transition {
    let fact = Fact::AttemptAccepted {
        attempt: attempt(1),
        message_id: Reference::parse("8d3b4d5e-0000-1111-2222-333344445555"),
        request_id: Reference::parse("8d3b4d5e-0000-1111-2222-333344445556"),
    };
    step(record, fact)
}

/// Row 0 names the event's type: one of up to 29 characters fits, the longest of 48 takes a little more than the rest.
const ROW_0_MAX: usize = 512 + 19;

#[tokio::test(start_paused = true)]
async fn row_0_stays_within_its_bound_for_event_types_of_29_characters() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let mut command = largest_command();
    command.event.r#type = EventType::parse(&"t".repeat(29)).unwrap();
    let (record, row) = record(&command, None);
    let first = Admission { guard: guard(&command, "k-1", 1), record, row };
    assert_eq!(adapters.ledger.admit(&first, NOW).await, Ok(Written::Done));
    assert_eq!(seam.items(EVIDENCE).iter().map(item_size).collect::<Vec<_>>(), [512]);
}

#[tokio::test(start_paused = true)]
async fn items_stay_within_their_bounds_at_their_largest() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let first = largest(&adapters).await;
    assert_eq!(adapters.ledger.admit(&first, NOW).await, Ok(Written::Done));
    let mut largest_record = 0;
    let mut measure = || {
        let size = item_size(&seam.item(&format!("ntf#{}", first.record.id)).unwrap());
        largest_record = largest_record.max(size);
    };
    measure();
    for transition in life(&first.record) {
        assert_eq!(adapters.ledger.commit(&transition).await, Ok(Written::Done));
        measure();
        let read = adapters.ledger.record(&first.record.id).await;
        assert_eq!(read, Ok(Some(transition.record)), "what is written is what is read");
    }
    let guard = item_size(&seam.item(first.guard.id.as_str()).unwrap());
    let rows: Vec<_> = seam.items(EVIDENCE).iter().map(item_size).collect();
    println!("largest record {largest_record}, guard {guard}, rows {rows:?} bytes");
    assert!(largest_record <= 1_024, "record: {largest_record}");
    assert!(guard <= 1_024, "guard: {guard}");
    assert!(rows[0] <= ROW_0_MAX && rows[1..].iter().all(|size| *size <= 512), "rows: {rows:?}");
}

#[tokio::test(start_paused = true)]
async fn a_record_has_no_attribute_that_says_nothing() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let first = largest(&adapters).await;
    adapters.ledger.admit(&first, NOW).await.unwrap();
    let item = seam.item(&format!("ntf#{}", first.record.id)).unwrap();
    let names: Vec<_> = item.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "acc",
            "due_at",
            "due_shard",
            "ei",
            "et",
            "exp",
            "fp",
            "head",
            "kd",
            "mk",
            "n",
            "pk",
            "rev",
            "rg",
            "seal",
            "sid",
            "st",
            "tn",
            "to",
            "upd"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_accepted_attempt_is_read_as_it_was_written() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let first = largest(&adapters).await;
    adapters.ledger.admit(&first, NOW).await.unwrap();
    let begun = start(&first.record, 1);
    adapters.ledger.commit(&begun).await.unwrap();
    let sent = accepted(&begun.record);
    adapters.ledger.commit(&sent).await.unwrap();
    assert_eq!(adapters.ledger.record(&first.record.id).await, Ok(Some(sent.record)));
    let rows: Vec<_> = seam.items(EVIDENCE).iter().map(item_size).collect();
    assert!(rows[1..].iter().all(|size| *size <= 512), "rows: {rows:?}");
}

#[tokio::test(start_paused = true)]
async fn a9_ttl_is_ten_digits_of_seconds_and_absent_while_open() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    let pk = format!("ntf#{}", first.record.id);
    let ttl = |item: &Value| item["ttl"]["N"].as_str().map(str::to_owned);
    assert_eq!(ttl(&seam.item(&pk).unwrap()), None);
    let stopped = step(&first.record, Fact::Stopped { reason: StopReason::Cancelled });
    ledger.commit(&stopped).await.unwrap();

    let day = 86_400;
    let now = NOW.get() / SECOND;
    let expected = [
        (seam.item(first.guard.id.as_str()), now + WINDOW.get() / SECOND + day),
        (seam.item(&pk), now + 30 * day),
        (seam.items(EVIDENCE).pop(), now + 403 * day),
    ];
    for (item, expected) in expected {
        let ttl = ttl(&item.unwrap()).unwrap();
        assert!(ttl.len() == 10 && ttl.bytes().all(|b| b.is_ascii_digit()), "{ttl}");
        let ttl: i64 = ttl.parse().unwrap();
        assert!((expected..=expected + 60).contains(&ttl), "{ttl} is not within a minute of {expected}");
    }
}

#[tokio::test(start_paused = true)]
async fn ttl_takes_nothing_that_still_matters() {
    let seam = Seam::new();
    let ledger = seam.adapters().await.ledger;
    let first = admission("e-1", "k-1", 1);
    ledger.admit(&first, NOW).await.unwrap();
    seam.clock().advance(WINDOW);
    assert_eq!(seam.sweep_ttl(), 0, "the guard has a day in hand");
    seam.clock().advance(WINDOW.plus(Millis::from_secs(2)));
    assert_eq!(seam.sweep_ttl(), 1, "the guard, and not the record: it is open, however old");
    seam.clock().advance(LIFETIME.times(1_000));
    assert_eq!(seam.sweep_ttl(), 0);
    assert_eq!(seam.items(NOTIFICATIONS).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_item_shows_number_text_key_or_token() {
    let seam = Seam::new();
    let adapters = seam.adapters().await;
    let mut first = admission("e-1", "k-1", 1);
    let command = crate::fixtures::command("e-1");
    let id = &first.record.id;
    first.record.sealed = Some(adapters.sealer.seal(&payload(&command), &tenant(), id).await.unwrap());
    adapters.ledger.admit(&first, NOW).await.unwrap();
    let sent: String =
        seam.requests().iter().map(|request| format!("{}\n{}\n", request.headers, request.body)).collect();
    for secret in ["15550142973", "5550142", "482913", "Your code", "k-1"] {
        assert!(!sent.contains(secret), "{secret}");
    }
}
