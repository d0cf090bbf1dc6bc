//! Cases from public reports, for the leased mode. Those that begin at an HTTP request are in the tests of the adapter.

use std::cell::Cell;

use sendonce::idempotency::{
    Ending, Execution, ExecutionId, Executions, Leased, MemoryStore, Moment, NoTimeLeft, NotRun, Outcome, Owner, Part,
    Period, Ran, Scope, Zone,
};
use sendonce::ports::{Clock, Unreadable, WriteFault, Written};
use sendonce::tenant::TenantId;
use sendonce::time::{EpochMillis, Millis};
use tests::aws_seam::{Fault, NOTIFICATIONS, Seam, SeamClock};
use tests::idempotency::{TIME_LEFT, charge, deadline, layer, rules, tenant};

fn paid() -> Outcome<Vec<u8>> {
    Outcome::Succeeded(b"ch-1".to_vec())
}

fn replay() -> Result<Ran<Vec<u8>>, NotRun> {
    Ok(Ran::Replayed { ending: Ending::Succeeded, answer: Some(b"ch-1".to_vec()) })
}

#[tokio::test(start_paused = true)]
async fn a1_two_at_once_run_once_and_the_third_has_the_answer() {
    let (seam, named, runs) = (Seam::new(), charge("k-1", 100), Cell::new(0));
    let leased = layer(&seam).await;
    let call = || {
        leased.run(&named, deadline(&seam.clock()), async |_| {
            runs.set(runs.get() + 1);
            for _ in 0..50 {
                tokio::task::yield_now().await;
            }
            paid()
        })
    };
    let (one, other) = tokio::join!(call(), call());
    let (first, second) = if one.is_ok() { (one, other) } else { (other, one) };
    assert_eq!(first, Ok(Ran::First(paid())));
    assert!(matches!(second, Err(NotRun::InFlight { .. })), "{second:?}");
    assert_eq!(call().await, replay());
    assert_eq!(runs.get(), 1);
    assert_eq!(seam.items(NOTIFICATIONS).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a1_two_hundred_at_once_run_once() {
    let (seam, named, runs) = (Seam::new(), charge("k-1", 100), Cell::new(0));
    let leased = layer(&seam).await;
    let calls = (0..200).map(|_| {
        leased.run(&named, deadline(&seam.clock()), async |_| {
            runs.set(runs.get() + 1);
            tokio::task::yield_now().await;
            paid()
        })
    });
    let told = futures_util::future::join_all(calls).await;
    assert_eq!(runs.get(), 1);
    assert_eq!(told.iter().filter(|told| **told == Ok(Ran::First(paid()))).count(), 1);
    assert!(told.iter().all(|told| matches!(told, Ok(_) | Err(NotRun::InFlight { .. }))));
}

/// A store that takes its time to answer a step.
struct Slow(MemoryStore, SeamClock);

impl Executions for Slow {
    async fn begin(&self, execution: &Execution, at: Moment) -> Result<Written<Execution>, WriteFault> {
        self.0.begin(execution, at).await
    }

    async fn advance(&self, next: &Execution, held_by: Owner) -> Result<Written<Option<Execution>>, WriteFault> {
        let written = self.0.advance(next, held_by).await;
        self.1.advance(TIME_LEFT);
        written
    }

    async fn execution(&self, id: &ExecutionId) -> Result<Option<Execution>, Unreadable> {
        self.0.execution(id).await
    }
}

#[tokio::test(start_paused = true)]
async fn s8_an_effect_whose_mark_took_until_the_leases_end_does_not_begin_and_locks_nothing() {
    let (seam, named, store) = (Seam::new(), charge("k-1", 100), MemoryStore::new());
    let slow = Leased::new(Slow(store.clone(), seam.clock()), seam.clock(), rules());
    let effect = async |(), _| -> Outcome<Vec<u8>> { panic!("its lease is over") };
    let late = slow.prepare_and_run(&named, deadline(&seam.clock()), async || Ok(()), effect).await;
    assert_eq!(late, Err(NotRun::NoTimeLeft(NoTimeLeft)));
    let quick = Leased::new(store, seam.clock(), rules());
    assert_eq!(quick.run(&named, deadline(&seam.clock()), async |_| paid()).await, Ok(Ran::First(paid())));
}

#[tokio::test(start_paused = true)]
async fn a3_another_command_is_told_so_at_once_and_not_that_the_first_is_running() {
    let seam = Seam::new();
    let leased = layer(&seam).await;
    let _running = leased.begin(&charge("k-1", 100), deadline(&seam.clock())).await.unwrap();
    let other = leased.run(&charge("k-1", 999), deadline(&seam.clock()), async |_| paid()).await;
    assert_eq!(other, Err(NotRun::Reused));
}

#[tokio::test(start_paused = true)]
async fn a4_another_command_is_refused_warm_and_cold_and_later() {
    let seam = Seam::new();
    let warm = layer(&seam).await;
    warm.run(&charge("k-1", 100), deadline(&seam.clock()), async |_| paid()).await.unwrap();
    for _ in 0..2 {
        let cold = layer(&seam).await;
        for leased in [&warm, &cold] {
            let other = leased.run(&charge("k-1", 999), deadline(&seam.clock()), async |_| paid()).await;
            assert_eq!(other, Err(NotRun::Reused));
        }
        seam.clock().advance(Millis::from_secs(3_600));
    }
    assert_eq!(warm.run(&charge("k-1", 100), deadline(&seam.clock()), async |_| paid()).await, replay());
}

#[tokio::test(start_paused = true)]
async fn a8_every_lost_answer_along_the_way_is_one_effect_and_one_answer() {
    for (marked, lost_at) in [(false, 0), (false, 1), (true, 0), (true, 1), (true, 2)] {
        let (seam, named, runs) = (Seam::new(), charge("k-1", 100), Cell::new(0));
        let leased = layer(&seam).await;
        let lose = |step: usize| {
            if step == lost_at {
                seam.fail_next("dynamodb:PutItem", Fault::LostAfter);
            }
        };
        lose(0);
        let effect = async |_| {
            runs.set(runs.get() + 1);
            lose(if marked { 2 } else { 1 });
            paid()
        };
        let ran = if marked {
            let prepare = async || {
                lose(1);
                Ok(())
            };
            leased
                .prepare_and_run(&named, deadline(&seam.clock()), prepare, async |(), permit| effect(permit).await)
                .await
        } else {
            leased.run(&named, deadline(&seam.clock()), effect).await
        };
        assert_eq!(ran, Ok(Ran::First(paid())), "marked {marked}, lost at {lost_at}");
        assert_eq!(runs.get(), 1);
        assert_eq!(leased.run(&named, deadline(&seam.clock()), async |_| paid()).await, replay());
    }
}

#[tokio::test(start_paused = true)]
async fn a10_nothing_of_the_function_is_in_a_name() {
    // The name is made of tenant, scope and key alone; this one was written down before the function had a name.
    assert_eq!(charge("k-1", 100).id.as_str(), "run#6j4ol6gsxem2v6rgvk7kt6h3jdxn336ysakz4cksevpcg6d7d4ba");
}

#[tokio::test(start_paused = true)]
async fn s8_with_0_or_1_ms_left_nothing_starts_and_nothing_is_locked() {
    let (seam, named) = (Seam::new(), charge("k-1", 100));
    let leased = layer(&seam).await;
    for left in [0, 1] {
        let deadline = Some(seam.clock().now().plus(Millis::new(left)));
        let refused = leased.run(&named, deadline, async |_| paid()).await;
        assert_eq!(refused, Err(NotRun::NoTimeLeft(NoTimeLeft)));
    }
    assert!(seam.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn s8_a_lease_used_up_by_slow_tries_is_given_back_before_the_effect() {
    let (seam, named) = (Seam::new(), charge("k-1", 100));
    let leased = layer(&seam).await;
    // The store conflicts for as long as 100 ms would last: pauses move the clock.
    let close = Some(seam.clock().now().plus(rules().margin).plus(Millis::new(1)));
    seam.fail_times("dynamodb:PutItem", 3, Fault::CodeBefore(400, "TransactionConflictException"));
    let late = leased.run(&named, close, async |_| -> Outcome<Vec<u8>> { panic!("too late") }).await;
    assert_eq!(late, Err(NotRun::NoTimeLeft(NoTimeLeft)));
    assert_eq!(leased.run(&named, deadline(&seam.clock()), async |_| paid()).await, Ok(Ran::First(paid())));
}

#[tokio::test(start_paused = true)]
async fn once_a_day_is_once_a_day_of_its_zone() {
    let seam = Seam::new();
    let leased: Leased<_, _> = layer(&seam).await;
    let paris = Zone::named("Europe/Paris").unwrap();
    let check_in = |tenant: &TenantId, at: &str| {
        let period = Period::day(EpochMillis::parse_rfc3339(at).unwrap(), &paris).unwrap();
        let (subject, action) = (Part::new("user-7").unwrap(), Part::new("check_in").unwrap());
        let id = Scope::Periodic { subject, action, period }.execution_id(tenant);
        sendonce::idempotency::Named { id, fingerprint: charge("k", 1).fingerprint }
    };
    let runs = Cell::new(0);
    let effect = async |_| {
        runs.set(runs.get() + 1);
        paid()
    };
    // 23:30 in Paris, and half an hour past midnight there, are one day in UTC.
    for (at, expected) in [
        ("2026-10-24T21:30:00Z", 1),
        ("2026-10-24T22:30:00Z", 2),
        ("2026-10-25T22:59:59Z", 2),
        ("2026-10-25T23:00:00Z", 3),
    ] {
        leased.run(&check_in(&tenant(), at), deadline(&seam.clock()), effect).await.unwrap();
        assert_eq!(runs.get(), expected, "{at}");
    }
    let stranger = TenantId::derive(&["other"]);
    leased.run(&check_in(&stranger, "2026-10-25T23:00:00Z"), deadline(&seam.clock()), effect).await.unwrap();
    assert_eq!(runs.get(), 4, "another tenant's day is another day");
}
