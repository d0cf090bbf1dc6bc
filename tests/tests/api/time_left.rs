//! Time: what is left of an invocation, and what is left of a message.

use sendonce::time::Millis;
use tests::aws_seam::{EVIDENCE, Fault, NOTIFICATIONS};
use tokio::time::{Instant, timeout};

use crate::harness::{
    Answer, Ask, DATA_KEY, DECRYPT, DISPATCH_TIMEOUT, EXPIRES_AT_MS, GET, HTTP_TIMEOUT, PUBLISH,
    RECONCILIATION_TIMEOUT, RING, Service, TRANSACT, doorbells, reset,
};

/// The write before a provider call, the call and the write after it, as configured: what must fit before an attempt.
const NEEDED: Millis = Millis::new(16_500);
/// What of that is the first write's.
const RECORD: Millis = Millis::new(500);

#[tokio::test(start_paused = true)]
async fn s8_with_too_little_time_left_no_attempt_starts_and_nothing_is_locked() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    let event = doorbells(&service.seam.receive(1));
    let before = (service.seam.items(NOTIFICATIONS), service.seam.items(EVIDENCE));
    for left in [Millis::ZERO, Millis::new(1), Millis::from_secs(1), NEEDED.plus(Millis::new(-1))] {
        service.seam.forget_requests();
        let failed = service.batch_to(&service.dispatch, &event, left).await.expect("the batch is answered");
        assert_eq!(failed.len(), 1, "{left:?} left: nothing was attempted, so it must come again");
        let counts = service.seam.counts();
        assert!(counts.keys().eq(["dynamodb:GetItem"]), "{left:?} left: one read and nothing else, {counts:?}");
    }
    assert!(before == (service.seam.items(NOTIFICATIONS), service.seam.items(EVIDENCE)), "nothing is locked");
    // The deadline has passed already: clocks differ, and sandboxes freeze.
    let late = service.batch_to(&service.dispatch, &event, Millis::from_secs(-3_600)).await;
    assert_eq!(late.map(|failed| failed.len()), Ok(1));
    assert_eq!(service.batch_to(&service.dispatch, &event, NEEDED).await, Ok(vec![]));
    assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_has_the_time_to_start_is_made_although_recording_it_takes_some_of_that() {
    for (taken, facts) in [
        (Millis::new(1), vec!["accepted", "attempt_started", "attempt_accepted"]),
        (RECORD, vec!["accepted", "attempt_started", "attempt_accepted"]),
        (RECORD.plus(Millis::new(1)), vec!["accepted", "attempt_started", "attempt_refused:too_late"]),
    ] {
        let service = Service::flowing().await;
        let id = service.admit("evt-1").await;
        let event = doorbells(&service.seam.receive(1));
        service.seam.fail_next(TRANSACT, Fault::Late(taken.to_std()));
        assert_eq!(service.batch_to(&service.dispatch, &event, NEEDED).await, Ok(vec![]), "{taken:?} to record it");
        assert_eq!(service.facts(&id), facts, "{taken:?} to record it");
        assert_eq!(service.seam.count(PUBLISH), usize::from(taken <= RECORD));
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn s9_a_token_that_expired_in_the_queue_is_stopped_and_not_even_opened() {
    for instant in [EXPIRES_AT_MS - 30_000, EXPIRES_AT_MS - 1, EXPIRES_AT_MS, EXPIRES_AT_MS + 86_400_000] {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.clock.set(sendonce::time::EpochMillis::new(instant));
        assert!(service.deliver().await.is_empty());
        assert_eq!(service.facts(&id), ["accepted", "stopped:expired_before_attempt"], "at {instant}");
        assert_eq!((service.seam.count(PUBLISH), service.seam.count(DECRYPT)), (0, 0));
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn invariant_3_the_last_useful_millisecond_is_used_and_the_next_is_not() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.clock.set(sendonce::time::EpochMillis::new(EXPIRES_AT_MS - 30_001));
    assert!(service.deliver().await.is_empty());
    assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1));
}

#[tokio::test(start_paused = true)]
async fn s9_a_redrive_a_day_later_is_harmless() {
    let service = Service::start().await;
    let (sent, expired) = (service.admit("evt-1").await, service.admit("evt-2").await);
    let messages = service.seam.receive(10);
    assert!(service.batch(&messages[..1]).await.is_empty());
    service.clock.advance(Millis::from_secs(86_400));
    for _ in 0..3 {
        assert!(service.batch(&messages).await.is_empty());
    }
    assert_eq!(
        (service.state(&sent), service.state(&expired)),
        ("sent".into(), "stopped:expired_before_attempt".into())
    );
    assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (1, 1));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_is_the_invocations_own_deadline() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::SilentAfter);
    let event = doorbells(&service.seam.receive(1));
    let left = Millis::from_secs(21);
    let running = service.batch_to(&service.dispatch, &event, left);
    assert!(timeout(std::time::Duration::from_secs(1), running).await.is_err(), "killed");
    let until = service.rows(&id)[1]["lease_until"].as_i64().expect("a time");
    assert_eq!(until, tests::aws_seam::SeamClock::START.plus(left).get());
    assert_eq!(service.record(&id)["due_at"]["N"], (until + 5_000).to_string(), "looked at after the skew");
    assert!(left < DISPATCH_TIMEOUT);
    assert_eq!(service.seam.count(TRANSACT), 2);
}

/// As the platform would have it: what has no answer by then is not heard.
async fn in_time<T>(limit: Millis, answering: impl Future<Output = T>) -> T {
    timeout(limit.to_std(), answering).await.expect("answered before the platform ends it")
}

fn is_unavailable(answer: &Answer) -> bool {
    answer.word() == "503 unavailable" && answer.header("retry-after") == Some("1")
}

/// Asks until the answer is no longer 503; how often it was. Each answer comes in time and says so itself.
async fn times_unavailable(service: &Service, ask: &Ask, is_get: bool) -> usize {
    for asked in 0..20 {
        let answering = async { if is_get { service.get(ask).await } else { service.post(ask).await } };
        let answer = in_time(HTTP_TIMEOUT, answering).await;
        if [200, 202].contains(&answer.status) {
            return asked;
        }
        assert!(is_unavailable(&answer), "asked {asked} times: {answer:?}");
    }
    panic!("it never works again");
}

/// More than one request has time for, were its own time of no matter.
const HANGS: usize = 12;

#[tokio::test(start_paused = true)]
async fn while_the_store_hangs_admission_and_cancel_still_say_503_themselves() {
    let create = |_: &str| Ask::create("k-1", &reset("evt-1"));
    let cases: [(_, fn(&str) -> Ask, _); 4] = [
        (TRANSACT, create, Fault::SilentBefore),
        (TRANSACT, create, Fault::SilentAfter),
        (TRANSACT, Ask::cancel, Fault::SilentBefore),
        (GET, Ask::cancel, Fault::SilentBefore),
    ];
    for (n, (operation, ask, fault)) in cases.into_iter().enumerate() {
        let service = Service::flowing().await;
        let ask = ask(&service.admit("evt-0").await);
        service.seam.fail_times(operation, HANGS, fault);
        assert!(times_unavailable(&service, &ask, false).await > 1, "case {n}: no one request waits for all of it");
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn while_the_store_hangs_status_and_evidence_still_say_503_themselves() {
    let service = Service::flowing().await;
    let id = service.admit("evt-1").await;
    for (operation, ask) in [(GET, Ask::status(&id)), (GET, Ask::evidence(&id)), ("dynamodb:Query", Ask::evidence(&id))]
    {
        service.seam.fail_times(operation, HANGS, Fault::SilentBefore);
        assert!(times_unavailable(&service, &ask, true).await > 1, "{operation}");
    }
}

#[tokio::test(start_paused = true)]
async fn when_everything_is_as_slow_as_it_may_be_admission_still_answers_in_time() {
    let service = Service::flowing().await;
    service.clock.advance(Millis::from_secs(300));
    let ask = Ask::create("k-1", &reset("evt-1"));
    // A data key at the second try; then a store that answers at its last; then a queue that does not answer at all.
    service.seam.fail_next(DATA_KEY, Fault::SilentBefore);
    service.seam.fail_times(TRANSACT, 2, Fault::SilentAfter);
    service.seam.fail_times(RING, 2, Fault::SilentBefore);
    assert_eq!(in_time(HTTP_TIMEOUT, service.post(&ask)).await.status, 202);
}

#[tokio::test(start_paused = true)]
async fn while_anything_hangs_a_tick_ends_before_its_time_is_up_and_the_next_goes_on() {
    for operation in ["dynamodb:Query", GET, TRANSACT, RING] {
        let service = Service::flowing().await;
        for n in 0..30 {
            service.admit(&format!("evt-{n}")).await;
        }
        service.seam.waiting().iter().for_each(|message| service.seam.delete(&message.id));
        service.clock.advance(Millis::from_secs(60));
        service.seam.fail_times(operation, 500, Fault::SilentBefore);
        let started = Instant::now();
        let tally = in_time(RECONCILIATION_TIMEOUT, service.tick()).await;
        assert!(tally["failed"].as_u64() > Some(0) && tally["complete"] == false, "{operation}: {tally}");
        assert!(started.elapsed() >= Millis::from_secs(25).to_std(), "{operation}: its time is used");
    }
}

#[tokio::test(start_paused = true)]
async fn while_anything_hangs_dispatch_answers_before_its_lease_is_over() {
    for operation in [GET, DECRYPT, TRANSACT, PUBLISH, RING] {
        let service = Service::flowing().await;
        for n in 0..3 {
            service.admit(&format!("evt-{n}")).await;
        }
        service.seam.fail_times(operation, 500, Fault::SilentAfter);
        let event = doorbells(&service.seam.receive(10));
        let answer = in_time(DISPATCH_TIMEOUT, service.batch_to(&service.dispatch, &event, DISPATCH_TIMEOUT)).await;
        let is_made_good = [PUBLISH, RING].contains(&operation);
        assert_eq!(answer.map(|failed| failed.len()), Ok(if is_made_good { 0 } else { 3 }), "{operation}");
        assert!(service.seam.texts().len() <= 3);
        if operation != GET {
            service.assert_sound().await; // which reads
        }
    }
}
