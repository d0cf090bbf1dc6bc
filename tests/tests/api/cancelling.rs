//! Taking a notification back, while that is still possible.

use std::time::Duration;

use sendonce::time::Millis;
use tests::aws_seam::Fault;

use crate::harness::{Ask, GET, PUBLISH, Service, TRANSACT};

#[tokio::test(start_paused = true)]
async fn an_accepted_notification_is_cancelled_and_never_sent() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    let answer = service.post(&Ask::cancel(&id)).await;
    let shown = answer.json();
    assert_eq!((answer.status, answer.header("etag"), answer.header("retry-after")), (200, Some("\"r1\""), None));
    assert_eq!((&shown["status"], &shown["reason"]), (&"stopped".into(), &"cancelled".into()));
    assert!(service.get(&Ask::status(&id)).await.body == answer.body, "what status shows");

    assert!(service.deliver().await.is_empty());
    service.clock.advance(Millis::from_secs(600));
    service.tick().await;
    assert_eq!(
        (service.seam.count(PUBLISH), service.facts(&id)),
        (0, vec!["accepted".into(), "stopped:cancelled".into()])
    );
    assert!(service.record(&id).get("seal").is_none());
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn cancelling_again_shows_it_again_and_writes_nothing() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    let first = service.post(&Ask::cancel(&id)).await;
    service.clock.advance(Millis::from_secs(5));
    for tag in [None, Some("*"), Some("\"r0\""), Some("\"r1\"")] {
        let ask = tag.map_or_else(|| Ask::cancel(&id), |tag| Ask::cancel(&id).header("if-match", tag));
        assert!(service.post(&ask).await == first, "{tag:?}");
    }
    assert_eq!(service.rows(&id).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn if_match_holds_or_it_is_412_and_nothing_is_done() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::CodeBefore(400, "Throttled"));
    service.deliver().await;
    for tag in ["\"r0\"", "\"r1\"", "\"r3\"", "r2", "W/\"r2\"", "\"r2\", \"r3\"", "2", "", "\"r02\""] {
        let answer = service.post(&Ask::cancel(&id).header("if-match", tag)).await;
        assert_eq!(answer.word(), "412 precondition_failed", "{tag}");
    }
    assert_eq!((service.state(&id), service.rows(&id).len()), ("accepted".into(), 3));
    let tag = service.get(&Ask::status(&id)).await.header("etag").map(ToOwned::to_owned).expect("a tag");
    assert_eq!(service.post(&Ask::cancel(&id).header("if-match", &tag)).await.status, 200);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn what_has_settled_otherwise_is_409_already_settled() {
    for fault in [None, Some(Fault::CodeBefore(400, "OptedOut"))] {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        fault.into_iter().for_each(|fault| service.seam.fail_next(PUBLISH, fault));
        service.deliver().await;
        let rows = service.rows(&id).len();
        assert_eq!(service.post(&Ask::cancel(&id)).await.word(), "409 already_settled");
        assert_eq!(service.post(&Ask::cancel(&id).header("if-match", "\"r2\"")).await.word(), "409 already_settled");
        assert_eq!(
            service.post(&Ask::cancel(&id).header("if-match", "\"r1\"")).await.word(),
            "412 precondition_failed"
        );
        assert_eq!(service.rows(&id).len(), rows);
    }
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.clock.advance(Millis::from_secs(600));
    service.tick().await;
    assert_eq!(service.post(&Ask::cancel(&id)).await.word(), "409 already_settled");
}

#[tokio::test(start_paused = true)]
async fn a_running_attempt_cannot_be_called_back() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::Late(Duration::from_secs(3)));
    let cancelled = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        service.post(&Ask::cancel(&id)).await
    };
    let (failed, answer) = tokio::join!(service.deliver(), cancelled);
    assert!(failed.is_empty());
    assert_eq!((answer.word().as_str(), answer.header("retry-after")), ("409 attempt_running", Some("1")));
    assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_cancel_that_races_an_attempt_is_before_it_or_too_late() {
    let mut seen = [0, 0];
    for wait in 0..12 {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        let cancelled = async {
            for _ in 0..wait {
                tokio::task::yield_now().await;
            }
            service.post(&Ask::cancel(&id)).await
        };
        let (failed, answer) = tokio::join!(service.deliver(), cancelled);
        assert!(failed.is_empty());
        let texts = service.seam.texts().len();
        match answer.word().as_str() {
            "200" => assert_eq!((texts, service.state(&id)), (0, "stopped:cancelled".into())),
            "409 attempt_running" | "409 already_settled" => {
                assert_eq!((texts, service.state(&id)), (1, "sent".into()))
            }
            other => panic!("{other}"),
        }
        seen[texts] += 1;
        service.assert_sound().await;
    }
    assert!(seen.iter().all(|times| *times > 0), "both ends of the race were seen: {seen:?}");
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_can_be_given_up_and_is_never_sent_again() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::SilentBefore);
    service.deliver().await;
    assert_eq!(service.post(&Ask::cancel(&id)).await.status, 200);
    service.clock.advance(Millis::from_secs(600));
    service.tick().await;
    assert_eq!((service.seam.count(PUBLISH), service.state(&id)), (1, "stopped:cancelled".into()));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_no_second_cancel_and_a_store_that_is_down_is_503() {
    for fault in [Fault::LostAfter, Fault::SilentAfter] {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.seam.fail_next(TRANSACT, fault.clone());
        assert_eq!(service.post(&Ask::cancel(&id)).await.status, 200, "{fault:?}");
        assert_eq!(service.rows(&id).len(), 2, "{fault:?}");
        service.assert_sound().await;
    }
    for (operation, times, fault) in [
        (GET, 3, Fault::SilentBefore),
        (TRANSACT, 12, Fault::LostBefore),
        (TRANSACT, 1, Fault::CodeBefore(400, "AccessDeniedException")),
    ] {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.seam.fail_times(operation, times, fault);
        let answer = service.post(&Ask::cancel(&id)).await;
        assert_eq!(
            (answer.word().as_str(), answer.header("retry-after")),
            ("503 unavailable", Some("1")),
            "{operation}"
        );
        assert_eq!(service.post(&Ask::cancel(&id)).await.status, 200, "{operation}");
        service.assert_sound().await;
    }
}
