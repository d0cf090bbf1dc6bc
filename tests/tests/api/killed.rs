//! Functions that are killed: at each request in turn, before it is done and after.

use std::time::Duration;

use sendonce::time::Millis;
use serde_json::Value;
use tests::aws_seam::Fault;
use tokio::time::timeout;

use crate::harness::{Ask, DECRYPT, DISPATCH_TIMEOUT, GET, PUBLISH, RING, Service, TRANSACT, reset};

/// Runs until nothing more comes of it, then drops it where it stands, as the platform does.
async fn killed<T>(running: impl Future<Output = T>) {
    assert!(timeout(Duration::from_secs(1), running).await.is_err(), "it was to be killed in the middle");
}

#[tokio::test(start_paused = true)]
async fn s7_killed_after_the_publish_nothing_is_published_again() {
    for by_redelivery in [true, false] {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.seam.fail_next(PUBLISH, Fault::SilentAfter);
        let message = service.seam.receive(1);
        killed(service.batch(&message)).await;
        assert_eq!((service.state(&id), service.seam.texts().len()), ("sending".into(), 1));

        // Redelivered while its lease runs, up to the last instant of it and of the skew.
        let lease = DISPATCH_TIMEOUT.plus(Millis::from_secs(5));
        service.clock.advance(lease.plus(Millis::new(-1)));
        assert!(service.cold().await.batch(&message).await.is_empty());
        assert_eq!(service.tick().await["lease_ended"], 0);
        assert_eq!(service.state(&id), "sending");

        // Its end makes it unknown, whoever notices.
        service.clock.advance(Millis::new(1));
        if by_redelivery {
            assert!(service.batch(&message).await.is_empty());
        } else {
            assert_eq!(service.tick().await["lease_ended"], 1);
        }
        assert_eq!(service.facts(&id), ["accepted", "attempt_started", "attempt_unknown:lease_ended"]);

        service.clock.advance(Millis::from_secs(600));
        assert_eq!(service.tick().await["expired_unresolved"], 1);
        assert!(service.batch(&message).await.is_empty());
        assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (1, 1));
        assert_eq!(service.state(&id), "stopped:expired_unresolved");
        service.assert_sound().await;
    }
}

/// Every place in a dispatch at which it can be killed: the request, and how many of its kind come before it.
const DISPATCH_REQUESTS: [(&str, usize); 5] = [(GET, 0), (DECRYPT, 0), (TRANSACT, 0), (PUBLISH, 0), (TRANSACT, 1)];

#[tokio::test(start_paused = true)]
async fn dispatch_killed_at_any_request_is_one_text_at_most_and_settles() {
    for (operation, before) in DISPATCH_REQUESTS {
        for fault in [Fault::SilentBefore, Fault::SilentAfter] {
            let service = Service::start().await;
            let id = service.admit("evt-1").await;
            service.seam.fail_times(operation, before, Fault::Late(Duration::ZERO));
            service.seam.fail_next(operation, fault.clone());
            let message = service.seam.receive(1);
            killed(service.batch(&message)).await;

            let at = format!("killed at {operation} {before}, {fault:?}");
            let (published, facts) = (service.seam.count(PUBLISH), service.facts(&id));
            settle(&service, &id).await;
            assert!(service.seam.count(PUBLISH) <= 1, "{at}");
            match (facts.len(), published) {
                (1, 0) => assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1), "{at}"),
                (3, 1) => assert_eq!(service.state(&id), "sent", "{at}"),
                (2, 0 | 1) => assert_eq!(service.state(&id), "stopped:expired_unresolved", "{at}"),
                other => panic!("{at}: {other:?}"),
            }
            service.assert_sound().await;
        }
    }
}

/// Redelivers and ticks until long after its life.
async fn settle(service: &Service, id: &str) {
    for _ in 0..15 {
        service.clock.advance(Millis::from_secs(60));
        service.deliver().await;
        service.tick().await;
    }
    assert!(service.record(id).get("due_at").is_none(), "everything admitted settles");
    assert!(service.record(id).get("seal").is_none(), "and its seal is gone");
}

#[tokio::test(start_paused = true)]
async fn admission_killed_at_any_request_is_answered_by_the_clients_retry() {
    for (operation, stored) in [(TRANSACT, false), (TRANSACT, true), (RING, true)] {
        for fault in [Fault::SilentBefore, Fault::SilentAfter] {
            if operation == TRANSACT && stored == (fault == Fault::SilentBefore) {
                continue;
            }
            let service = Service::start().await;
            let ask = Ask::create("k-1", &reset("evt-1"));
            service.seam.fail_next(operation, fault.clone());
            killed(service.post(&ask)).await;
            assert_eq!(service.ids().len(), usize::from(stored));

            let at = format!("killed at {operation}, {fault:?}");
            let retried = service.cold().await.post(&ask).await;
            assert_eq!((retried.status, retried.is_replay()), (202, stored), "{at}");
            assert!(service.post(&ask).await.says_the_same_as(&retried), "{at}");
            settle(&service, &retried.id()).await;
            assert_eq!((service.state(&retried.id()), service.seam.texts().len()), ("sent".into(), 1), "{at}");
            service.assert_sound().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn reconciliation_killed_at_any_request_is_made_good_by_the_next_tick() {
    for operation in ["dynamodb:Query", GET, TRANSACT, RING] {
        for fault in [Fault::SilentBefore, Fault::SilentAfter] {
            let service = Service::start().await;
            let lost = service.admit("evt-1").await;
            service.seam.receive(1).iter().for_each(|message| service.seam.delete(&message.id));
            service.clock.advance(Millis::from_secs(61));
            service.seam.fail_next(operation, fault.clone());
            killed(service.tick()).await;
            settle(&service, &lost).await;
            let at = format!("killed at {operation}, {fault:?}");
            assert_eq!((service.state(&lost), service.seam.texts().len()), ("sent".into(), 1), "{at}");
            service.assert_sound().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_worker_frozen_between_recording_and_calling_does_not_call_late() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    // The attempt is recorded; the sandbox freezes before the answer is heard, and thaws after its time.
    service.seam.fail_next(TRANSACT, Fault::Late(Duration::from_secs(1)));
    let message = service.seam.receive(1);
    let frozen = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        service.clock.advance(DISPATCH_TIMEOUT);
    };
    let (failed, ()) = tokio::join!(service.batch(&message), frozen);
    assert!(failed.is_empty());
    assert_eq!(service.seam.count(PUBLISH), 0, "never sent");
    assert_eq!(service.facts(&id), ["accepted", "attempt_started", "attempt_refused:too_late"]);
    // Nothing was sent, surely; so another attempt may follow.
    settle(&service, &id).await;
    assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_worker_frozen_until_the_text_is_stale_does_not_call_at_all() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.clock.advance(Millis::from_secs(560));
    service.seam.fail_next(TRANSACT, Fault::Late(Duration::from_secs(1)));
    let message = service.seam.receive(1);
    // Life that is left: 40 s, of which 30 are the least that is useful. Time that is left: plenty.
    let frozen = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        service.clock.advance(Millis::from_secs(11));
    };
    let (failed, ()) = tokio::join!(service.batch(&message), frozen);
    assert!(failed.is_empty());
    assert_eq!(service.seam.count(PUBLISH), 0);
    assert_eq!(
        service.facts(&id),
        ["accepted", "attempt_started", "attempt_refused:too_late", "stopped:expired_before_attempt"]
    );
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_after_its_lease_settles_what_was_unknown() {
    let (service, id) = late_answer(None).await;
    assert_eq!(service.state(&id), "sent");
    assert_eq!(
        service.facts(&id),
        ["accepted", "attempt_started", "attempt_unknown:lease_ended", "reconciled_accepted:late_answer"]
    );
    assert_eq!(service.seam.texts().len(), 1);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_comes_after_its_lease_reopens_its_own_attempt_only() {
    let (service, id) = late_answer(Some((400, "Throttled"))).await;
    assert_eq!(service.facts(&id)[2..], ["attempt_unknown:lease_ended", "attempt_refused:throttled"]);
    settle(&service, &id).await;
    assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1));
    service.assert_sound().await;
}

/// An attempt whose answer is heard after the reconciler gave it up.
async fn late_answer(refusal: Option<(u16, &'static str)>) -> (Service, String) {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    // The answer, and so what follows from it, waits in the store's queue rather than at the provider: a call itself
    // cannot outlast its own limit.
    service.seam.fail_next(TRANSACT, Fault::Late(Duration::ZERO));
    service.seam.fail_next(TRANSACT, Fault::Late(Duration::from_millis(1_500)));
    if let Some((status, code)) = refusal {
        service.seam.fail_next(PUBLISH, Fault::CodeBefore(status, code));
    }
    let message = service.seam.receive(1);
    let reconciled = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        service.clock.advance(DISPATCH_TIMEOUT.plus(Millis::from_secs(5)));
        let tally: Value = service.tick().await;
        assert_eq!(tally["lease_ended"], 1);
    };
    let (failed, ()) = tokio::join!(service.batch(&message), reconciled);
    assert!(failed.is_empty());
    (service, id)
}
