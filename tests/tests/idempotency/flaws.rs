//! The eighteen flaws of other layers, each by its number.

use std::cell::Cell;

use sendonce::idempotency::{
    Answer, AnswerBound, AsAnswer, DedupWindow, Ending, Fields, FingerprintKey, Json, Leased, Named, NoName,
    NoTimeLeft, NotRun, Outcome, Part, Ran, Scope, Taken, WindowTerms,
};
use sendonce::ports::Clock;
use sendonce::time::Millis;
use serde_json::{Value, json};
use tests::aws_seam::{Fault, NOTIFICATIONS, Seam};
use tests::idempotency::{SKEW, TIME_LEFT, charge, deadline, layer, rules, scope, tenant, window};

const PUT: &str = "dynamodb:PutItem";

/// Past every lease that could stand, by every clock.
const PAST_LEASES: Millis = Millis::new(TIME_LEFT.get() + SKEW.get());

fn paid(id: &str) -> Outcome<Json<Value>> {
    Outcome::Succeeded(Json(json!({"charge": id})))
}

fn replay(id: &str) -> Result<Ran<Json<Value>>, NotRun> {
    Ok(Ran::Replayed { ending: Ending::Succeeded, answer: Some(Json(json!({"charge": id}))) })
}

#[tokio::test(start_paused = true)]
async fn flaw_01_a_late_worker_overwrites_nothing_and_deletes_nothing() {
    let (seam, named) = (Seam::new(), charge("k-1", 100));
    let leased = layer(&seam).await;
    let Taken::Run(late) = leased.open(&named, deadline(&seam.clock())).await.unwrap() else { panic!() };
    seam.clock().advance(PAST_LEASES);
    let second = leased.run(&named, deadline(&seam.clock()), async |_| paid("ch-2")).await;
    assert_eq!(second, Ok(Ran::First(paid("ch-2"))));
    let before = seam.item(named.id.as_str());
    assert!(leased.release(late).await.is_err(), "a late failure gives nothing back");
    assert_eq!(seam.item(named.id.as_str()), before);
    let third = leased.run(&named, deadline(&seam.clock()), async |_| paid("ch-3")).await;
    assert_eq!(third, replay("ch-2"), "a third call does not run");
}

#[tokio::test(start_paused = true)]
async fn flaw_01_a_late_completion_loses_against_a_resolution() {
    let (seam, named) = (Seam::new(), charge("k-1", 100));
    let leased = layer(&seam).await;
    let Taken::Run(late) = leased.begin(&named, deadline(&seam.clock())).await.unwrap() else { panic!() };
    seam.clock().advance(PAST_LEASES);
    let happened = sendonce::idempotency::Resolution::Happened {
        ending: Ending::Succeeded,
        answer: serde_json::to_vec(&json!({"charge": "ch-1"})).unwrap(),
    };
    leased.resolve(&named.id, &happened).await.unwrap();
    assert!(leased.complete(late, &paid("another")).await.is_err());
    let again = leased.run(&named, deadline(&seam.clock()), async |_| paid("ch-3")).await;
    assert_eq!(again, replay("ch-1"));
}

#[tokio::test(start_paused = true)]
async fn flaw_02_an_ended_lease_is_taken_over_by_the_same_command_only() {
    let seam = Seam::new();
    let leased = layer(&seam).await;
    let Taken::Run(_) = leased.open(&charge("k-1", 100), deadline(&seam.clock())).await.unwrap() else { panic!() };
    seam.clock().advance(PAST_LEASES);
    let other = leased.run(&charge("k-1", 999), deadline(&seam.clock()), async |_| paid("other")).await;
    assert_eq!(other, Err(NotRun::Reused));
    let same = leased.run(&charge("k-1", 100), deadline(&seam.clock()), async |_| paid("ch-1")).await;
    assert_eq!(same, Ok(Ran::First(paid("ch-1"))));
}

#[tokio::test(start_paused = true)]
async fn flaw_03_a_lease_that_ends_after_the_effect_began_becomes_unknown_and_never_runs_again() {
    let (seam, named) = (Seam::new(), charge("k-1", 100));
    let leased = layer(&seam).await;
    let Taken::Run(_killed) = leased.begin(&named, deadline(&seam.clock())).await.unwrap() else { panic!() };
    for later in [PAST_LEASES, window().length(), Millis::from_secs(365 * 86_400)] {
        seam.clock().advance(later);
        let again = leased.run(&named, deadline(&seam.clock()), async |_| paid("twice")).await;
        assert_eq!(again, Err(NotRun::OutcomeUnknown(named.id.clone())), "{later:?} later");
    }
    assert_eq!(
        seam.item(named.id.as_str()).unwrap()["st"],
        json!({"S": "begun"}),
        "it reads as unknown without a write"
    );
}

#[tokio::test(start_paused = true)]
async fn flaw_03_so_does_one_that_ends_after_the_mark() {
    let (seam, named) = (Seam::new(), charge("k-1", 100));
    let leased = layer(&seam).await;
    let Taken::Run(open) = leased.open(&named, deadline(&seam.clock())).await.unwrap() else { panic!() };
    let _killed = leased.mark(open).await.unwrap();
    seam.clock().advance(PAST_LEASES);
    let again = leased.run(&named, deadline(&seam.clock()), async |_| paid("twice")).await;
    assert_eq!(again, Err(NotRun::OutcomeUnknown(named.id)));
}

#[tokio::test(start_paused = true)]
async fn flaw_04_a_put_whose_answer_was_lost_is_known_for_ones_own_and_runs_once() {
    for lost in 1..=8 {
        let (seam, named, runs) = (Seam::new(), charge("k-1", 100), Cell::new(0));
        let leased = layer(&seam).await;
        seam.fail_times(PUT, lost, Fault::LostAfter);
        let effect = async |_| {
            runs.set(runs.get() + 1);
            paid("ch-1")
        };
        assert_eq!(
            leased.run(&named, deadline(&seam.clock()), effect).await,
            Ok(Ran::First(paid("ch-1"))),
            "{lost} lost"
        );
        assert_eq!(runs.get(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn flaw_04_a_key_that_was_perhaps_taken_is_given_back() {
    let (seam, named) = (Seam::new(), charge("k-1", 100));
    let leased = layer(&seam).await;
    seam.fail_times(PUT, 12, Fault::LostAfter); // four tries of three requests each
    let never = async |_| -> Outcome<Json<Value>> { panic!("nothing says that the key is ours") };
    assert_eq!(leased.run(&named, deadline(&seam.clock()), never).await, Err(NotRun::Unavailable));
    let again = leased.run(&named, deadline(&seam.clock()), async |_| paid("ch-1")).await;
    assert_eq!(again, Ok(Ran::First(paid("ch-1"))), "zero executions lock no key");
}

#[tokio::test(start_paused = true)]
async fn flaw_05_an_unresolved_record_past_its_window_is_not_replaced_by_anyone() {
    let (seam, named) = (Seam::new(), charge("k-1", 100));
    let leased = layer(&seam).await;
    let unknown = leased.run(&named, deadline(&seam.clock()), async |_| Outcome::<()>::Unknown).await;
    assert_eq!(unknown, Ok(Ran::First(Outcome::Unknown)));
    seam.clock().advance(window().length().times(3));
    let again = leased.run(&named, deadline(&seam.clock()), async |_| paid("twice")).await;
    assert_eq!(again, Err(NotRun::OutcomeUnknown(named.id)));
    let other = leased.run(&charge("k-1", 999), deadline(&seam.clock()), async |_| paid("other")).await;
    assert_eq!(other, Err(NotRun::Reused));
}

#[tokio::test(start_paused = true)]
async fn flaw_06_ttl_never_deletes_what_is_unresolved() {
    let seam = Seam::new();
    let leased = layer(&seam).await;
    let (killed, unknown, open, done) = (charge("k-1", 1), charge("k-2", 1), charge("k-3", 1), charge("k-4", 1));
    let _ = leased.begin(&killed, deadline(&seam.clock())).await.unwrap();
    leased.run(&unknown, deadline(&seam.clock()), async |_| Outcome::<()>::Unknown).await.unwrap();
    let _ = leased.open(&open, deadline(&seam.clock())).await.unwrap();
    leased.run(&done, deadline(&seam.clock()), async |_| paid("ch-4")).await.unwrap();
    for (named, has_ttl) in [(&killed, false), (&unknown, false), (&open, true), (&done, true)] {
        assert_eq!(seam.item(named.id.as_str()).unwrap().get("ttl").is_some(), has_ttl);
    }
    seam.clock().advance(window().length().times(10));
    assert_eq!(seam.sweep_ttl(), 2);
    for named in [&killed, &unknown] {
        let again = leased.run(named, deadline(&seam.clock()), async |_| paid("twice")).await;
        assert_eq!(again, Err(NotRun::OutcomeUnknown(named.id.clone())));
    }
}

#[tokio::test(start_paused = true)]
async fn flaw_06_deleting_an_open_record_fences_its_owner_off() {
    let (seam, named) = (Seam::new(), charge("k-1", 1));
    let leased = layer(&seam).await;
    let Taken::Run(open) = leased.open(&named, deadline(&seam.clock())).await.unwrap() else { panic!() };
    let now = seam.clock().now();
    seam.clock().advance(window().length().times(10));
    assert_eq!(seam.sweep_ttl(), 1);
    seam.clock().set(now); // this owner's clock never moved: only the store tells it
    assert!(leased.mark(open).await.is_err(), "its effect must not begin");
}

#[tokio::test(start_paused = true)]
async fn flaw_07_without_a_deadline_or_with_none_left_nothing_is_begun_and_nothing_is_locked() {
    let (seam, named) = (Seam::new(), charge("k-1", 1));
    let leased = layer(&seam).await;
    let now = seam.clock().now();
    let far = now.plus(Millis::from_secs(86_400));
    let in_seconds = sendonce::time::EpochMillis::new(now.get() / 1_000);
    let in_time = now.plus(rules().margin);
    for deadline in [None, Some(now), Some(now.plus(Millis::new(1))), Some(in_time), Some(in_seconds), Some(far)] {
        let refused = leased.run(&named, deadline, async |_| paid("ch-1")).await;
        assert_eq!(refused, Err(NotRun::NoTimeLeft(NoTimeLeft)), "{deadline:?}");
    }
    assert!(seam.requests().is_empty(), "not one request");
    let just = Some(in_time.plus(Millis::new(1)));
    assert_eq!(leased.run(&named, just, async |_| paid("ch-1")).await, Ok(Ran::First(paid("ch-1"))));
}

#[tokio::test(start_paused = true)]
async fn flaw_08_milliseconds_are_compared_with_milliseconds() {
    let (seam, named) = (Seam::new(), charge("k-1", 1));
    let leased = layer(&seam).await;
    let Taken::Run(_) = leased.open(&named, deadline(&seam.clock())).await.unwrap() else { panic!() };
    let over = seam.clock().now().plus(TIME_LEFT).minus(rules().margin).plus(SKEW);
    // Each of these differs from the border in one part of the number alone.
    for early in [1, 123, 999, 1_000, 28_000] {
        seam.clock().set(over.minus(Millis::new(early)));
        let early_one = leased.open(&named, deadline(&seam.clock())).await;
        assert_eq!(early_one.err(), Some(NotRun::InFlight { left: Millis::new(early) }));
    }
    seam.clock().set(over);
    assert!(matches!(leased.open(&named, deadline(&seam.clock())).await, Ok(Taken::Run(_))));
}

#[tokio::test(start_paused = true)]
async fn flaw_09_a9_the_ttl_alone_is_in_seconds_and_no_number_has_a_fraction() {
    let (seam, named) = (Seam::new(), charge("k-1", 1));
    let leased = layer(&seam).await;
    leased.run(&named, deadline(&seam.clock()), async |_| paid("ch-1")).await.unwrap();
    let item = seam.item(named.id.as_str()).unwrap();
    let number = |name: &str| item[name]["N"].as_str().unwrap().parse::<i64>().unwrap();
    let (ttl, ends) = (number("ttl"), number("window_ends_at"));
    assert_eq!((ttl.to_string().len(), ends.to_string().len()), (10, 13));
    assert_eq!(ends, window().ends_at(seam.clock().now()).get());
    assert_eq!(ttl, (ends + 999) / 1_000 + 86_400);
}

#[tokio::test(start_paused = true)]
async fn flaw_10_a_clock_that_runs_ahead_takes_nothing_over_and_none_is_local() {
    let (seam, named) = (Seam::new(), charge("k-1", 1));
    let leased = layer(&seam).await;
    let Taken::Run(slow) = leased.open(&named, deadline(&seam.clock())).await.unwrap() else { panic!() };
    let started = seam.clock().now();
    // The other environment's clock is ahead by the skew; this one's lease has a moment left.
    let last_moment = started.plus(TIME_LEFT).minus(rules().margin).minus(Millis::new(1));
    seam.clock().set(last_moment.plus(SKEW));
    assert!(matches!(leased.open(&named, deadline(&seam.clock())).await, Err(NotRun::InFlight { .. })));
    seam.clock().set(last_moment);
    assert!(leased.mark(slow).await.is_ok(), "an owner within its lease is not disturbed");
}

#[tokio::test(start_paused = true)]
async fn flaw_11_an_answer_too_long_to_keep_settles_all_the_same() {
    let (seam, named) = (Seam::new(), charge("k-1", 1));
    let leased = layer(&seam).await;
    assert!(AnswerBound::new(400 * 1_024).is_err(), "what no item takes cannot be declared");
    let long = Outcome::Succeeded(Json("x".repeat(500_000)));
    let first = leased.run(&named, deadline(&seam.clock()), async |_| long.clone()).await;
    assert_eq!(first, Ok(Ran::First(long.clone())), "the first caller has it whole");
    seam.clock().advance(PAST_LEASES);
    let again = leased.run(&named, deadline(&seam.clock()), async |_| long.clone()).await;
    assert_eq!(again, Ok(Ran::Replayed { ending: Ending::Succeeded, answer: None }), "never run again, never stuck");
}

#[tokio::test(start_paused = true)]
async fn flaw_12_what_is_completed_is_what_was_begun_whatever_became_of_the_input() {
    let seam = Seam::new();
    let leased = layer(&seam).await;
    let mut order = json!({"key": "k-1", "cents": 100});
    let name = |order: &Value| charge(order["key"].as_str().unwrap(), order["cents"].as_u64().unwrap());
    let before = name(&order);
    let ran = leased
        .run(&before, deadline(&seam.clock()), async |_| {
            order["key"] = json!("k-2");
            order["cents"] = json!(0);
            paid("ch-1")
        })
        .await;
    assert_eq!(ran, Ok(Ran::First(paid("ch-1"))));
    assert_eq!(seam.items(NOTIFICATIONS).len(), 1);
    assert_eq!(leased.run(&before, deadline(&seam.clock()), async |_| paid("ch-2")).await, replay("ch-1"));
}

#[tokio::test(start_paused = true)]
async fn flaw_13_two_layers_on_one_table_keep_their_own_numbers_and_names() {
    let seam = Seam::new();
    let (one, mut short) = (layer(&seam).await, rules());
    let terms = WindowTerms { client_retry_window: Millis::from_secs(60), ..terms() };
    short.window = DedupWindow::shortest(terms);
    let other = Leased::new(one.store().clone(), seam.clock(), short);
    let operation = |name: &str| Scope::Operation { name: Part::new(name).unwrap(), id: Part::new("7").unwrap() };
    let named =
        |name: &str| Named { id: operation(name).execution_id(&tenant()), fingerprint: charge("k", 1).fingerprint };
    one.run(&named("refund"), deadline(&seam.clock()), async |_| paid("r-1")).await.unwrap();
    other.run(&named("charge"), deadline(&seam.clock()), async |_| paid("c-1")).await.unwrap();
    assert_eq!(seam.items(NOTIFICATIONS).len(), 2);
    seam.clock().advance(short.window.length());
    let run = other.run(&named("charge"), deadline(&seam.clock()), async |_| paid("c-2")).await;
    assert_eq!(run, Ok(Ran::First(paid("c-2"))), "the short window is over");
    assert_eq!(one.run(&named("refund"), deadline(&seam.clock()), async |_| paid("r-2")).await, replay("r-1"));
}

fn terms() -> WindowTerms {
    WindowTerms {
        message_lifetime: Millis::from_secs(600),
        client_retry_window: Millis::from_secs(86_400),
        visibility_timeout: Millis::from_secs(180),
        max_receive_count: 5,
        clock_skew: SKEW,
    }
}

#[tokio::test(start_paused = true)]
async fn flaw_14_every_operation_is_a_partition_of_its_own() {
    let ids: std::collections::BTreeSet<String> =
        (0..1_000).map(|n| charge(&format!("k-{n}"), 1).id.as_str()[..12].to_owned()).collect();
    assert_eq!(ids.len(), 1_000, "they differ within their first characters already");
}

#[tokio::test(start_paused = true)]
async fn flaw_15_falsy_answers_are_given_again_as_themselves() {
    for (n, value) in [json!(0), json!(""), json!([]), json!(null), json!(false), json!({})].into_iter().enumerate() {
        let (seam, named) = (Seam::new(), charge(&format!("k-{n}"), 1));
        let leased = layer(&seam).await;
        let first =
            leased.run(&named, deadline(&seam.clock()), async |_| Outcome::Succeeded(Json(value.clone()))).await;
        assert_eq!(first, Ok(Ran::First(Outcome::Succeeded(Json(value.clone())))));
        let again =
            leased.run(&named, deadline(&seam.clock()), async |_| Outcome::Succeeded(Json(json!("ran again")))).await;
        assert_eq!(again, Ok(Ran::Replayed { ending: Ending::Succeeded, answer: Some(Json(value)) }));
    }
    let (seam, named) = (Seam::new(), charge("k-unit", 1));
    let leased = layer(&seam).await;
    leased.run(&named, deadline(&seam.clock()), async |_| Outcome::Succeeded(())).await.unwrap();
    let again = leased.run(&named, deadline(&seam.clock()), async |_| Outcome::Failed(())).await;
    assert_eq!(again, Ok(Ran::Replayed { ending: Ending::Succeeded, answer: Some(()) }));
    assert_eq!(<()>::from_answer(b"0"), None, "what another version kept is not nothing");
    let (seam, named) = (Seam::new(), charge("k-none", 1));
    let leased = layer(&seam).await;
    leased.run(&named, deadline(&seam.clock()), async |_| Outcome::Failed(Vec::<u8>::new())).await.unwrap();
    let Ok(Taken::Replay { ending, answer }) = leased.begin(&named, deadline(&seam.clock())).await else { panic!() };
    assert_eq!((ending, answer), (Ending::Failed, Answer::Kept(Vec::new())), "no bytes at all, too");
}

#[tokio::test(start_paused = true)]
async fn flaw_16_the_instant_of_a_windows_end_is_outside_it_for_every_part() {
    let (seam, named) = (Seam::new(), charge("k-1", 1));
    let leased = layer(&seam).await;
    leased.run(&named, deadline(&seam.clock()), async |_| paid("ch-1")).await.unwrap();
    let end = window().ends_at(seam.clock().now());
    seam.clock().set(end.minus(Millis::new(1)));
    assert_eq!(leased.run(&named, deadline(&seam.clock()), async |_| paid("ch-2")).await, replay("ch-1"));
    seam.clock().set(end);
    assert_eq!(leased.run(&named, deadline(&seam.clock()), async |_| paid("ch-2")).await, Ok(Ran::First(paid("ch-2"))));
}

#[tokio::test(start_paused = true)]
async fn flaw_17_no_retry_is_around_the_effect() {
    for outcome in
        [paid("ch-1"), Outcome::Failed(Json(json!("no"))), Outcome::Released(Json(json!("busy"))), Outcome::Unknown]
    {
        let (seam, named, runs) = (Seam::new(), charge("k-1", 1), Cell::new(0));
        let leased = layer(&seam).await;
        let effect = async |_| {
            runs.set(runs.get() + 1);
            seam.fail_times(PUT, 40, Fault::CodeBefore(500, "InternalServerError")); // nor when completing fails
            outcome.clone()
        };
        let ran = leased.run(&named, deadline(&seam.clock()), effect).await;
        assert_eq!(ran, Ok(Ran::Unrecorded(outcome)));
        assert_eq!(runs.get(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn flaw_18_what_is_missing_names_nothing_and_strangers_share_nothing() {
    for part in [Part::new(""), Part::new(" \t"), Part::of(None), Part::of(Some(""))] {
        assert_eq!(part, Err(NoName));
    }
    struct Nothing;
    impl Fields for Nothing {
        fn fields(&self, _: &mut dyn FnMut(&[u8])) {}
    }
    let key = FingerprintKey::new([5; 32]);
    let strangers = ["a", "b"].map(|name| sendonce::tenant::TenantId::derive(&[name]));
    let [one, other] = strangers.map(|tenant| Named::new(&tenant, &scope("k-1"), &Nothing, &key));
    assert_ne!(one.id, other.id, "even the same key and nothing in it");
}
