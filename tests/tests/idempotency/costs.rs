//! Requests and write units, as they are billed.

use sendonce::idempotency::{NoAuthority, Outcome, Ran, Resolution};
use sendonce::time::Millis;
use tests::aws_seam::{NOTIFICATIONS, Seam, item_size};
use tests::idempotency::{charge, deadline, layer};

/// A write, failed ones included, costs a unit for each KB of the larger of what was and what would be there.
struct Bill {
    requests: usize,
    units: usize,
}

fn bill(seam: &Seam) -> Bill {
    let requests = seam.requests();
    assert!(requests.iter().all(|request| request.operation == "dynamodb:PutItem"), "nothing is read");
    let largest = requests.iter().map(|request| item_size(&request.json()["Item"])).max().unwrap_or(0);
    let stored = seam.items(NOTIFICATIONS).iter().map(item_size).max().unwrap_or(0);
    Bill { requests: requests.len(), units: requests.len() * largest.max(stored).div_ceil(1_024) }
}

fn answer() -> Outcome<Vec<u8>> {
    Outcome::Succeeded(vec![b'x'; 736])
}

#[tokio::test(start_paused = true)]
async fn a_first_call_is_two_requests_and_two_units_and_a_duplicate_one_and_one() {
    let (seam, named) = (Seam::new(), charge("k-1", 100));
    let leased = layer(&seam).await;
    let first = leased.run(&named, deadline(&seam.clock()), async |_| answer()).await;
    assert_eq!(first, Ok(Ran::First(answer())));
    let cost = bill(&seam);
    assert_eq!((cost.requests, cost.units), (2, 2));

    seam.forget_requests();
    leased.run(&named, deadline(&seam.clock()), async |_| answer()).await.unwrap();
    let cost = bill(&seam);
    assert_eq!((cost.requests, cost.units), (1, 1), "the answer comes with the refusal");
}

#[tokio::test(start_paused = true)]
async fn with_the_mark_a_first_call_is_three_and_three_and_a_duplicate_is_as_before() {
    let (seam, named) = (Seam::new(), charge("k-1", 100));
    let leased = layer(&seam).await;
    for (requests, units) in [(3, 3), (1, 1)] {
        seam.forget_requests();
        let run =
            leased.prepare_and_run(&named, deadline(&seam.clock()), async || Ok(()), async |(), _| answer()).await;
        run.unwrap();
        let cost = bill(&seam);
        assert_eq!((cost.requests, cost.units), (requests, units));
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_that_nobody_can_be_asked_about_is_one_request_and_otherwise_four() {
    let (seam, named) = (Seam::new(), charge("k-1", 100));
    let leased = layer(&seam).await;
    leased.run(&named, deadline(&seam.clock()), async |_| Outcome::<()>::Unknown).await.unwrap();
    seam.clock().advance(Millis::from_secs(60));
    seam.forget_requests();
    let never = async |_| -> Outcome<Vec<u8>> { panic!("nobody knows") };
    leased.run_or_ask(&named, deadline(&seam.clock()), &&NoAuthority, never).await.unwrap_err();
    let cost = bill(&seam);
    assert_eq!((cost.requests, cost.units), (1, 1));

    seam.forget_requests();
    let asked =
        leased.run_or_ask(&named, deadline(&seam.clock()), &&Resolution::DidNotHappen, async |_| answer()).await;
    assert_eq!(asked, Ok(Ran::First(answer())));
    assert_eq!(seam.requests().len(), 5, "the refusal, a read, what was said, the key again, and the answer");
}

#[tokio::test(start_paused = true)]
async fn reuse_in_flight_and_unknown_are_one_request_each() {
    let seam = Seam::new();
    let leased = layer(&seam).await;
    let _ = leased.begin(&charge("k-1", 100), deadline(&seam.clock())).await.unwrap();
    for cents in [999, 100] {
        seam.forget_requests();
        leased.run(&charge("k-1", cents), deadline(&seam.clock()), async |_| answer()).await.unwrap_err();
        let cost = bill(&seam);
        assert_eq!((cost.requests, cost.units), (1, 1));
    }
}
