//! Ticks: what is due is closed, whatever else is in the way.

use sendonce::notification::NotificationId;
use sendonce::ports::Clock;
use sendonce::time::Millis;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tests::aws_seam::{Fault, NOTIFICATIONS};

use crate::harness::{Ask, EXPIRES_AT_MS, GET, PUBLISH, RING, Service, TRANSACT, reset};

const MINUTE: Millis = Millis::from_secs(60);

fn lose_doorbells(service: &Service) {
    service.seam.waiting().iter().for_each(|message| service.seam.delete(&message.id));
}

#[tokio::test(start_paused = true)]
async fn a_lost_doorbell_is_rung_again_and_the_text_is_sent_once() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    lose_doorbells(&service);
    service.clock.advance(MINUTE);
    let tally = service.tick().await;
    assert_eq!((&tally["examined"], &tally["rung"], &tally["complete"]), (&json!(1), &json!(1), &json!(true)));
    assert_eq!(service.tick().await["examined"], 0, "the next ring has its own time");
    service.deliver().await;
    assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1));
    assert_eq!(service.facts(&id), ["accepted", "doorbell_rung", "attempt_started", "attempt_accepted"]);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_doorbell_that_was_only_slow_makes_no_second_text() {
    let service = Service::start().await;
    service.admit("evt-1").await;
    service.clock.advance(MINUTE);
    service.tick().await;
    assert_eq!(service.seam.waiting().len(), 2, "the slow one and the one rung again");
    assert!(service.deliver().await.is_empty());
    assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn r4_an_outcome_that_no_log_ever_tells_of_is_looked_at_a_bounded_number_of_times_and_settles() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::SilentAfter);
    service.deliver().await;
    service.seam.forget_requests();
    for _ in 0..180 {
        service.clock.advance(MINUTE);
        service.tick().await;
    }
    assert_eq!(service.state(&id), "stopped:expired_unresolved");
    let looks = service.facts(&id).iter().filter(|fact| *fact == "evidence_sought:sns_log").count();
    assert!((1..=10).contains(&looks), "{looks} looks while it lived");
    assert_eq!(service.seam.count("logs:FilterLogEvents"), 2 * (looks + 1), "both groups, each look and at the end");
    assert_eq!((service.seam.count(GET), service.seam.count(TRANSACT)), (looks + 1, looks + 1));
    assert_eq!((service.seam.count(RING), service.seam.count(PUBLISH)), (0, 0));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn r6_sending_that_is_older_than_twice_the_timeout_is_unknown_at_the_next_tick() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::SilentAfter);
    let message = service.seam.receive(1);
    let running = service.batch(&message);
    assert!(tokio::time::timeout(std::time::Duration::from_secs(1), running).await.is_err(), "killed");
    service.clock.advance(MINUTE);
    assert_eq!(service.state(&id), "sending");
    assert_eq!(service.tick().await["lease_ended"], 1);
    assert_eq!(service.state(&id), "dispatch_unknown");
    assert_eq!(service.facts(&id)[2], "attempt_unknown:lease_ended");
    assert_eq!(service.seam.texts().len(), 1);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn s13_a_day_of_a_stuck_record_and_96_sweeps_is_bounded_doorbells_and_one_send_at_most() {
    let day = [("MESSAGE_LIFETIME_MAX_SECONDS", "86400"), ("DEDUP_WINDOW_SECONDS", "172800")];
    for dispatcher_comes_back in [true, false] {
        let service = Service::with(&day).await;
        let mut body = reset("evt-1");
        body["expires_at"] = json!("2026-12-01T20:10:00Z");
        let id = service.post(&Ask::create("k-1", &body)).await.id();
        for sweep in 1..=96 {
            service.clock.advance(Millis::from_secs(900));
            service.tick().await;
            if dispatcher_comes_back && sweep == 90 {
                service.deliver().await;
            }
        }
        let rung = service.facts(&id).iter().filter(|fact| *fact == "doorbell_rung").count();
        assert!((1..=50).contains(&rung), "{rung} doorbells: gaps grow to sixteen minutes, so every other sweep rings");
        service.deliver().await;
        let sent = usize::from(dispatcher_comes_back);
        assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (sent, sent));
        let end = if dispatcher_comes_back { "sent" } else { "stopped:expired_before_attempt" };
        assert_eq!(service.state(&id), end);
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_expires_is_stopped_for_its_own_reason() {
    let service = Service::start().await;
    let unsent = service.admit("evt-1").await;
    lose_doorbells(&service);
    let unknown = service.admit("evt-2").await;
    service.seam.fail_next(PUBLISH, Fault::SilentBefore);
    service.deliver().await;
    service.clock.set(sendonce::time::EpochMillis::new(EXPIRES_AT_MS - 30_000));
    let tally = service.tick().await;
    assert_eq!((&tally["expired_before_attempt"], &tally["expired_unresolved"]), (&json!(1), &json!(0)));
    service.clock.set(sendonce::time::EpochMillis::new(EXPIRES_AT_MS));
    let tally = service.tick().await;
    assert_eq!((&tally["expired_before_attempt"], &tally["expired_unresolved"]), (&json!(0), &json!(1)));
    assert_eq!(service.state(&unsent), "stopped:expired_before_attempt");
    assert_eq!(service.state(&unknown), "stopped:expired_unresolved");
    for id in [&unsent, &unknown] {
        assert!(service.record(id).get("seal").is_none(), "number and text go when it settles");
    }
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn with_no_time_left_a_tick_does_nothing_and_says_so() {
    let service = Service::start().await;
    service.admit("evt-1").await;
    service.clock.advance(MINUTE);
    service.seam.forget_requests();
    for left in [Millis::from_secs(-60), Millis::ZERO, Millis::new(1), Millis::new(24_999)] {
        let tally = service.tick_on(&service.reconciliation, left).await;
        assert_eq!((&tally["examined"], &tally["complete"]), (&json!(0), &json!(false)), "{left:?} left");
    }
    assert!(service.seam.counts().is_empty());
    assert_eq!(service.tick().await["rung"], 1);
}

#[tokio::test(start_paused = true)]
async fn what_a_tick_has_no_time_for_is_the_next_ones() {
    let service = Service::start().await;
    for n in 0..40 {
        service.admit(&format!("evt-{n}")).await;
    }
    lose_doorbells(&service);
    service.clock.advance(MINUTE);
    let slow = service.setting.reconciliation(service.watch().ticking(Millis::new(100))).await;
    let (mut rung, mut ticks) = (0, 0);
    while rung < 40 {
        let started = service.clock.now();
        let tally = service.tick_on(&slow, Millis::from_secs(27)).await;
        let took = service.clock.now().since(started);
        // Twenty-five seconds are kept back for what was begun with just as much left; this clock makes each look at it cost.
        assert!(took <= Millis::from_secs(8), "tick {ticks} took {took:?}");
        rung += tally["rung"].as_u64().expect("a count");
        ticks += 1;
        assert!(rung == 40 || tally["complete"] == false, "a tick that leaves work says so");
        assert!(ticks < 40, "each tick gets further");
    }
    assert!(ticks > 1, "one tick had no time for all");
    service.deliver().await;
    assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (40, 40));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn wherever_its_time_ends_a_tick_is_complete_only_if_nothing_is_left() {
    let (mut cut_short, mut whole) = (0, 0);
    for tenths in 0..70 {
        let service = Service::start().await;
        // Some for each shard, near enough, so that whichever comes last has something in it.
        for n in 0..40 {
            service.admit(&format!("evt-{n}")).await;
        }
        lose_doorbells(&service);
        service.clock.advance(MINUTE);
        let slow = service.setting.reconciliation(service.watch().ticking(Millis::new(20))).await;
        let left = Millis::from_secs(25).plus(Millis::new(100 * tenths));
        let is_complete = service.tick_on(&slow, left).await["complete"] == true;
        let rest = service.tick().await["examined"].as_i64().expect("a count");
        assert!(!is_complete || rest == 0, "with {left:?} left, {rest} were left over");
        *(if is_complete { &mut whole } else { &mut cut_short }) += 1;
    }
    assert!(cut_short > 10 && whole > 10, "{cut_short} were cut short, {whole} were not");
}

/// Plants records of one shard: like this one, under other names.
fn plant_like(service: &Service, id: &str, many: usize, change: impl Fn(&mut Value)) -> Vec<String> {
    let shard = NotificationId::parse(id).expect("an id").due_shard();
    let names = (0_u32..).map(|n| {
        let letters = format!("{n:032o}").bytes().map(|digit| char::from(digit - b'0' + b'a')).collect::<String>();
        format!("ntf_{letters}")
    });
    let of_shard = names.filter(|name| NotificationId::parse(name).is_some_and(|id| id.due_shard() == shard));
    let planted: Vec<String> = of_shard.take(many).collect();
    for name in &planted {
        let mut item = service.record(id);
        item["pk"]["S"] = json!(format!("ntf#{name}"));
        item["head"]["B"] = json!(data_encoding::BASE64.encode(&Sha256::digest(name)));
        change(&mut item);
        service.seam.plant(NOTIFICATIONS, &item);
    }
    planted
}

#[tokio::test(start_paused = true)]
async fn more_than_a_page_of_one_shard_is_closed_in_one_tick() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    let planted = plant_like(&service, &id, 250, |_| {});
    service.clock.advance(Millis::from_secs(600));
    let tally = service.tick().await;
    assert_eq!((&tally["expired_before_attempt"], &tally["failed"]), (&json!(251), &json!(0)));
    assert!(planted.iter().all(|id| service.state(id) == "stopped:expired_before_attempt"));
    assert_eq!(service.tick().await["examined"], 0);
}

#[tokio::test(start_paused = true)]
async fn a_record_that_cannot_be_read_does_not_stand_in_the_way_of_others() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    // Due before it, in its own shard, more than a page of them.
    plant_like(&service, &id, 120, |item| {
        item["st"] = json!({"S": "a state of some later version"});
        item["due_at"] = json!({"N": "1"});
    });
    service.clock.advance(Millis::from_secs(600));
    for _ in 0..2 {
        let tally = service.tick().await;
        assert_eq!(tally["failed"], 120, "counted, each time");
        assert_eq!(service.state(&id), "stopped:expired_before_attempt");
    }
    assert_eq!(service.facts(&id).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_record_whose_row_is_already_taken_is_left_alone_in_bounded_time() {
    let service = Service::start().await;
    let (id, other) = (service.admit("evt-1").await, service.admit("evt-2").await);
    let doorbells = service.seam.receive(10);
    let doorbell = doorbells.into_iter().find(|message| message.body.contains(&id)).expect("a doorbell");
    lose_doorbells(&service);
    let mut row =
        service.seam.items(tests::aws_seam::EVIDENCE).into_iter().find(|row| row["notification_id"]["S"] == other);
    let row = row.as_mut().expect("row 0");
    row["notification_id"] = json!({"S": id});
    row["seq"] = json!({"N": "1"});
    service.seam.plant(tests::aws_seam::EVIDENCE, row);
    service.clock.advance(MINUTE);
    service.seam.forget_requests();
    let tally = service.tick().await;
    assert_eq!((&tally["rung"], &tally["examined"]), (&json!(1), &json!(2)), "the other one is rung");
    assert!(service.seam.count(TRANSACT) <= 20, "and this one is not tried for ever");
    assert_eq!(service.batch(&[doorbell]).await.len(), 1, "nor is its doorbell taken for answered");
    assert_eq!(service.state(&id), "accepted");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_leaves_the_work_for_the_next_tick() {
    let faults = [
        ("dynamodb:Query", Fault::CodeBefore(400, "AccessDeniedException")),
        (GET, Fault::CodeBefore(400, "AccessDeniedException")),
        (TRANSACT, Fault::CodeBefore(400, "AccessDeniedException")),
    ];
    for (operation, fault) in faults {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        lose_doorbells(&service);
        service.clock.advance(MINUTE);
        service.seam.fail_times(operation, if operation == GET || operation == TRANSACT { 1 } else { 16 }, fault);
        let tally = service.tick().await;
        assert_eq!((&tally["rung"], tally["failed"].as_u64() > Some(0)), (&json!(0), true), "{operation}");
        assert_eq!(service.tick().await["rung"], 1, "{operation}");
        service.deliver().await;
        assert_eq!((service.state(&id), service.seam.texts().len()), ("sent".into(), 1), "{operation}");
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn two_ticks_at_once_close_each_thing_once() {
    let service = Service::start().await;
    for n in 0..12 {
        service.admit(&format!("evt-{n}")).await;
    }
    lose_doorbells(&service);
    let other = service.setting.reconciliation(service.watch()).await;
    service.clock.advance(MINUTE);
    let (here, there) = tokio::join!(service.tick(), service.tick_on(&other, Millis::from_secs(50)));
    let rung = |tally: &Value| tally["rung"].as_u64().expect("a count");
    assert_eq!(rung(&here) + rung(&there), 12);
    assert_eq!(service.seam.waiting().len(), 12);
    service.deliver().await;
    assert_eq!((service.seam.count(PUBLISH), service.seam.texts().len()), (12, 12));
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn whatever_the_schedule_sends_is_a_tick() {
    let service = Service::start().await;
    for event in [json!(null), json!({}), json!([]), json!("tick"), Ask::status("ntf_a").0] {
        let tally = service.tick_with(&service.reconciliation, &event, Millis::from_secs(50)).await;
        assert_eq!((&tally["complete"], &tally["failed"]), (&json!(true), &json!(0)));
    }
}
