//! `Doorbell`, and reading what it sends.

use sendonce::aws::parse_doorbell;
use sendonce::notification::NotificationId;
use sendonce::ports::{Doorbell, WriteFault};
use sendonce::time::Millis;
use tests::aws_seam::{Fault, Seam};

const SEND: &str = "sqs:SendMessage";

fn id() -> NotificationId {
    NotificationId::parse("ntf_abcdefghijklmnopqrstuvwxyz234567").unwrap()
}

#[tokio::test(start_paused = true)]
async fn ring_sends_the_id_and_nothing_else_in_one_request() {
    let seam = Seam::new();
    let doorbell = seam.adapters().await.doorbell;
    assert_eq!(doorbell.ring(&id(), Millis::ZERO).await, Ok(()));
    assert_eq!(seam.counts(), [(SEND.into(), 1)].into());
    let received = seam.receive(10);
    assert_eq!(received[0].body, r#"{"v":1,"id":"ntf_abcdefghijklmnopqrstuvwxyz234567"}"#);
    assert_eq!(parse_doorbell(&received[0].body), Some(id()));
}

#[tokio::test(start_paused = true)]
async fn the_delay_is_in_whole_seconds_not_early_and_within_what_sqs_takes() {
    let seam = Seam::new();
    let doorbell = seam.adapters().await.doorbell;
    for (ms, seconds) in
        [(-5, 0), (0, 0), (1, 1), (1_000, 1), (1_001, 2), (900_000, 900), (900_001, 900), (i64::MAX, 900)]
    {
        seam.forget_requests();
        assert_eq!(doorbell.ring(&id(), Millis::new(ms)).await, Ok(()));
        assert_eq!(seam.requests()[0].json()["DelaySeconds"], seconds, "{ms} ms");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_ring_says_whether_it_may_have_rung() {
    let throttled = Fault::CodeBefore(400, "RequestThrottled");
    for (faults, expected) in [
        (vec![Fault::NeverConnected; 2], WriteFault::Refused),
        (vec![throttled.clone(); 2], WriteFault::Refused),
        (vec![Fault::LostAfter, throttled], WriteFault::Unknown),
        (vec![Fault::LostBefore; 2], WriteFault::Unknown),
        (vec![Fault::SilentBefore; 2], WriteFault::Unknown),
        (vec![Fault::CodeBefore(500, "InternalError"); 2], WriteFault::Unknown),
    ] {
        let seam = Seam::new();
        let doorbell = seam.adapters().await.doorbell;
        faults.iter().for_each(|fault| seam.fail_next(SEND, fault.clone()));
        assert_eq!(doorbell.ring(&id(), Millis::ZERO).await, Err(expected), "{faults:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_doorbell_that_is_not_answered_rings_again() {
    let seam = Seam::new();
    let doorbell = seam.adapters().await.doorbell;
    doorbell.ring(&id(), Millis::from_secs(5)).await.unwrap();
    assert!(seam.receive(10).is_empty());
    seam.clock().advance(Millis::from_secs(5));
    let message = seam.receive(10).remove(0);
    assert!(seam.receive(10).is_empty());
    seam.deliver_again(&message.id);
    assert_eq!(seam.receive(10)[0].receives, 2);
    seam.clock().advance(Millis::from_secs(180));
    assert_eq!(seam.receive(10)[0].receives, 3);
    seam.delete(&message.id);
    assert!(seam.waiting().is_empty());
}
