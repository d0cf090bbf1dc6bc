//! What is unknown ends by being asked about or decided, never by age.

use std::cell::Cell;

use sendonce::aws::idempotency::DynamoExecutions;
use sendonce::idempotency::{
    Authority, Ending, Execution, ExecutionId, Executions, NoAuthority, NotResolved, NotRun, Outcome, Phase, Ran,
    Resolution, Resolved, Taken,
};
use sendonce::ports::{Clock, Written};
use sendonce::time::Millis;
use tests::aws_seam::{Fault, NOTIFICATIONS, Seam};
use tests::idempotency::{MARGIN, SKEW, TIME_LEFT, charge, deadline, layer};

fn paid(text: &str) -> Outcome<Vec<u8>> {
    Outcome::Succeeded(text.as_bytes().to_vec())
}

fn happened(text: &str) -> Resolution {
    Resolution::Happened { ending: Ending::Succeeded, answer: text.as_bytes().to_vec() }
}

/// A service that knows what became of an operation, and counts how often it was asked.
struct Service {
    knows: Resolution,
    asked: Cell<usize>,
}

impl Authority for Service {
    async fn what_became_of(&self, reference: &ExecutionId) -> Resolution {
        assert!(reference.as_str().starts_with("run#"));
        self.asked.set(self.asked.get() + 1);
        self.knows.clone()
    }
}

#[tokio::test(start_paused = true)]
async fn each_finding_ends_it_as_it_says_and_nothing_else_does() {
    for (knows, resolved, then) in [
        (
            happened("ch-1"),
            Resolved::Settled,
            Ok(Ran::Replayed { ending: Ending::Succeeded, answer: Some(b"ch-1".to_vec()) }),
        ),
        (Resolution::DidNotHappen, Resolved::Reopened, Ok(Ran::First(paid("ch-2")))),
        (Resolution::StillUnknown, Resolved::StillUnknown, Err(NotRun::OutcomeUnknown(charge("k-1", 1).id))),
    ] {
        let (seam, named) = (Seam::new(), charge("k-1", 1));
        let leased = layer(&seam).await;
        let Taken::Run(_killed) = leased.begin(&named, deadline(&seam.clock())).await.unwrap() else { panic!() };
        seam.clock().advance(Millis::from_secs(86_400 * 30));
        let service = Service { knows, asked: Cell::new(0) };
        assert_eq!(leased.resolve(&named.id, &service).await, Ok(resolved));
        assert_eq!(service.asked.get(), 1);
        assert_eq!(leased.run(&named, deadline(&seam.clock()), async |_| paid("ch-2")).await, then);
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_before_an_effect_that_began_in_time_must_be_over() {
    let (seam, named) = (Seam::new(), charge("k-1", 1));
    let leased = layer(&seam).await;
    let started = seam.clock().now();
    let Taken::Run(_running) = leased.begin(&named, deadline(&seam.clock())).await.unwrap() else { panic!() };
    let service = Service { knows: Resolution::DidNotHappen, asked: Cell::new(0) };
    assert_eq!(leased.resolve(&named.id, &service).await, Ok(Resolved::NotUnknown), "it runs");

    let lease_over = started.plus(TIME_LEFT).minus(MARGIN).plus(SKEW);
    seam.clock().set(lease_over);
    assert_eq!(leased.resolve(&named.id, &service).await, Ok(Resolved::NotQuietYet { left: MARGIN }));
    assert_eq!(service.asked.get(), 0);
    seam.clock().set(lease_over.plus(MARGIN));
    assert_eq!(leased.resolve(&named.id, &service).await, Ok(Resolved::Reopened));
}

#[tokio::test(start_paused = true)]
async fn an_owner_who_finds_out_first_is_not_written_over() {
    let (seam, named) = (Seam::new(), charge("k-1", 1));
    let leased = layer(&seam).await;
    let Taken::Run(slow) = leased.begin(&named, deadline(&seam.clock())).await.unwrap() else { panic!() };
    seam.clock().advance(TIME_LEFT.plus(SKEW).plus(MARGIN));

    struct Meanwhile<F>(F);
    impl<F: AsyncFn()> Authority for Meanwhile<F> {
        async fn what_became_of(&self, _: &ExecutionId) -> Resolution {
            self.0().await;
            Resolution::DidNotHappen
        }
    }
    let slow = Cell::new(Some(slow));
    let finds_out = Meanwhile(async || {
        leased.complete(slow.take().unwrap(), &paid("ch-1")).await.unwrap();
    });
    assert_eq!(leased.resolve(&named.id, &finds_out).await, Ok(Resolved::NotUnknown));
    let again = leased.run(&named, deadline(&seam.clock()), async |_| paid("ch-2")).await;
    assert_eq!(again, Ok(Ran::Replayed { ending: Ending::Succeeded, answer: Some(b"ch-1".to_vec()) }));
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_did_not_happen_still_belongs_to_its_command() {
    let (seam, named) = (Seam::new(), charge("k-1", 1));
    let leased = layer(&seam).await;
    leased.run(&named, deadline(&seam.clock()), async |_| Outcome::<()>::Unknown).await.unwrap();
    seam.clock().advance(Millis::from_secs(60));
    leased.resolve(&named.id, &Resolution::DidNotHappen).await.unwrap();
    let other = leased.run(&charge("k-1", 999), deadline(&seam.clock()), async |_| paid("other")).await;
    assert_eq!(other, Err(NotRun::Reused));
}

#[tokio::test(start_paused = true)]
async fn resolving_again_or_what_is_no_unknown_changes_nothing() {
    let (seam, named) = (Seam::new(), charge("k-1", 1));
    let leased = layer(&seam).await;
    assert_eq!(leased.resolve(&named.id, &happened("x")).await, Ok(Resolved::NotUnknown), "it was never taken");
    leased.run(&named, deadline(&seam.clock()), async |_| paid("ch-1")).await.unwrap();
    let before = seam.item(named.id.as_str());
    assert_eq!(leased.resolve(&named.id, &Resolution::DidNotHappen).await, Ok(Resolved::NotUnknown));
    assert_eq!(leased.resolve(&named.id, &NoAuthority).await, Ok(Resolved::NotUnknown));
    assert_eq!(seam.item(named.id.as_str()), before);
}

#[tokio::test(start_paused = true)]
async fn a_resolution_whose_answer_is_lost_is_known_for_ones_own() {
    for faults in [0, 1, 2, 3] {
        let (seam, named) = (Seam::new(), charge("k-1", 1));
        let leased = layer(&seam).await;
        leased.run(&named, deadline(&seam.clock()), async |_| Outcome::<()>::Unknown).await.unwrap();
        seam.clock().advance(Millis::from_secs(60));
        seam.fail_times("dynamodb:PutItem", faults, Fault::LostAfter);
        assert_eq!(leased.resolve(&named.id, &happened("ch-1")).await, Ok(Resolved::Settled));
    }
    let seam = Seam::new();
    seam.fail_times("dynamodb:GetItem", 3, Fault::CodeBefore(500, "InternalServerError"));
    assert_eq!(layer(&seam).await.resolve(&charge("k-1", 1).id, &NoAuthority).await, Err(NotResolved));
}

#[tokio::test(start_paused = true)]
async fn what_is_open_again_is_under_another_token_so_that_a_write_on_its_way_is_fenced_off() {
    for given_back in [true, false] {
        let (seam, named) = (Seam::new(), charge("k-1", 1));
        let leased = layer(&seam).await;
        let store = DynamoExecutions::new(seam.aws().await.dynamodb(), NOTIFICATIONS);
        let before = if given_back {
            let Ok(Taken::Run(open)) = leased.open(&named, deadline(&seam.clock())).await else { panic!() };
            let before = store.execution(&named.id).await.unwrap().unwrap();
            leased.release(open).await.unwrap();
            before
        } else {
            leased.run(&named, deadline(&seam.clock()), async |_| Outcome::<()>::Unknown).await.unwrap();
            let before = store.execution(&named.id).await.unwrap().unwrap();
            seam.clock().advance(Millis::from_secs(60));
            leased.resolve(&named.id, &Resolution::DidNotHappen).await.unwrap();
            before
        };
        let late = Execution { phase: Phase::Begun { lease_until: seam.clock().now() }, ..before.clone() };
        let reopened = store.execution(&named.id).await.unwrap();
        assert!(reopened.as_ref().is_some_and(|now| matches!(now.phase, Phase::Open { .. })));
        assert_eq!(store.advance(&late, before.owner).await, Ok(Written::Held(reopened)));
    }
}
