//! Both stores pass one suite, and what DynamoDB holds looks as it should.

use sendonce::aws::idempotency::DynamoExecutions;
use sendonce::idempotency::{Answer, Ending, Execution, Executions, MemoryStore, Moment, Owner, Phase, conformance};
use sendonce::ports::{Unreadable, WriteFault, Written};
use sendonce::time::{EpochMillis, Millis};
use serde_json::json;
use tests::aws_seam::{Fault, NOTIFICATIONS, Seam, SeamClock, item_size};
use tests::idempotency::{SKEW, charge, window};

const NOW: EpochMillis = SeamClock::START;
const PUT: &str = "dynamodb:PutItem";

async fn store(seam: &Seam) -> DynamoExecutions {
    DynamoExecutions::new(seam.aws().await.dynamodb(), NOTIFICATIONS)
}

fn execution(phase: Phase) -> Execution {
    let named = charge("k-1", 100);
    let (owner, window_ends_at) = (Owner::new([1; 16]), window().ends_at(NOW));
    Execution { id: named.id, fingerprint: named.fingerprint, owner, phase, window_ends_at }
}

fn lease_until() -> EpochMillis {
    NOW.plus(Millis::from_secs(28))
}

const AT: Moment = Moment { now: NOW, skew: SKEW };

/// As many executions the suite makes.
const CASES: usize = 626;

#[tokio::test(start_paused = true)]
async fn the_memory_store_conforms() {
    let store = MemoryStore::new();
    assert_eq!(conformance::check(&store, "memory", NOW).await, Ok(CASES));
    assert_eq!(conformance::check(&&store, "a reference to it", NOW).await, Ok(CASES));
}

#[tokio::test(start_paused = true)]
async fn the_dynamodb_store_conforms_by_conditions_alone() {
    let seam = Seam::new();
    assert_eq!(conformance::check(&store(&seam).await, "seam", NOW).await, Ok(CASES));
    assert!(seam.counts().keys().all(|operation| operation == PUT || operation == "dynamodb:GetItem"));
}

/// A suite that nothing fails proves nothing.
#[tokio::test(start_paused = true)]
async fn the_suite_refuses_a_store_that_breaks_any_one_rule() {
    for (fault, case) in [
        (Breaks::Takeover, "begin 35877 ms on, b meets Open"),
        (Breaks::Fence, "advance by"),
        (Breaks::Unknown, "begin 35877 ms on, a meets Begun"),
        (Breaks::Window, "begin 86400123 ms on, a meets Begun"),
        (Breaks::Bytes, "what is written is read back (succeeded)"),
        (Breaks::Settled, "advance by"),
        (Breaks::Early, "begin 35876 ms on, a meets Open"),
        (Breaks::Never, "begin 35877 ms on, a meets Open"),
        (Breaks::OldPhase, "begin 35877 ms on, a meets Open"),
        (Breaks::OldWindow, "begin 35877 ms on, a meets Open"),
        (Breaks::OldOwner, "advance by"),
        (Breaks::OldEnd, "advance by"),
        (Breaks::Again, "begin -1 ms on, a meets Open"),
        (Breaks::Twice, "completion again"),
        (Breaks::Strangers, "two executions side by side"),
    ] {
        let broken = Broken { store: MemoryStore::new(), fault };
        let failed = conformance::check(&broken, "broken", NOW).await.expect_err("a flaw");
        assert!(failed.case.starts_with(case), "{fault:?}: {}", failed.case);
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Breaks {
    Takeover,
    Fence,
    Unknown,
    Window,
    Bytes,
    Settled,
    /// Its clock is a millisecond ahead.
    Early,
    /// Nothing ever gives way.
    Never,
    /// What takes over keeps something of what it replaced.
    OldPhase,
    OldWindow,
    OldOwner,
    OldEnd,
    /// An owner that begins again is told that it is the first.
    Again,
    /// What was done is done once more.
    Twice,
    /// A write reaches every execution.
    Strangers,
}

/// A store with one of the flaws of others.
struct Broken {
    store: MemoryStore,
    fault: Breaks,
}

impl Executions for Broken {
    async fn begin(&self, execution: &Execution, at: Moment) -> Result<Written<Execution>, WriteFault> {
        let stored = self.store.execution(&execution.id).await.unwrap();
        match (self.fault, &stored) {
            (Breaks::Never, Some(stored)) => return Ok(Written::Held(stored.clone())),
            (Breaks::Again, Some(stored)) if stored.owner == execution.owner => return Ok(Written::Done),
            _ => {}
        }
        let at = if self.fault == Breaks::Early { Moment { now: at.now.plus(Millis::new(1)), ..at } } else { at };
        let over = |until| at.is_past(until);
        let replaced = stored.is_some_and(|stored| match (self.fault, &stored.phase) {
            (Breaks::Takeover, Phase::Open { lease_until }) => over(*lease_until),
            (Breaks::Unknown, Phase::Begun { lease_until }) => over(*lease_until),
            (Breaks::Window, _) => stored.window_ends_at <= at.now,
            _ => false,
        });
        if replaced {
            let stored = self.store.execution(&execution.id).await.unwrap().unwrap();
            let gone = Execution { phase: Phase::Open { lease_until: NOW.minus(SKEW).minus(SKEW) }, ..stored.clone() };
            let gone = Execution { fingerprint: execution.fingerprint, ..gone };
            self.store.advance(&gone, stored.owner).await.unwrap();
        }
        let mut execution = execution.clone();
        match (self.fault, self.store.execution(&execution.id).await.unwrap()) {
            (Breaks::OldPhase, Some(stored)) => execution.phase = stored.phase,
            (Breaks::OldWindow, Some(stored)) => execution.window_ends_at = stored.window_ends_at,
            _ => {}
        }
        if let (Breaks::Bytes, Phase::Settled { answer: Answer::Kept(bytes), .. }) = (self.fault, &mut execution.phase)
            && bytes == b"0"
        {
            bytes.clear();
        }
        self.store.begin(&execution, at).await
    }

    async fn advance(&self, next: &Execution, held_by: Owner) -> Result<Written<Option<Execution>>, WriteFault> {
        let stored = self.store.execution(&next.id).await.unwrap();
        match (self.fault, stored) {
            (Breaks::Fence, Some(stored)) => self.store.advance(next, stored.owner).await,
            (Breaks::Settled, Some(Execution { phase: Phase::Settled { .. }, .. })) => Ok(Written::Done),
            (Breaks::OldOwner, Some(stored)) => {
                self.store.advance(&Execution { owner: stored.owner, ..next.clone() }, held_by).await
            }
            (Breaks::OldEnd, Some(stored)) => {
                let next = Execution { window_ends_at: stored.window_ends_at, ..next.clone() };
                self.store.advance(&next, held_by).await
            }
            (Breaks::Twice, Some(stored)) if stored == *next => Ok(Written::Done),
            (Breaks::Strangers, _) => {
                for other in self.store.all().into_iter().filter(|other| other.id != next.id) {
                    let other = Execution { phase: next.phase.clone(), ..other };
                    self.store.advance(&other, held_by).await.unwrap();
                }
                self.store.advance(next, held_by).await
            }
            _ => self.store.advance(next, held_by).await,
        }
    }

    async fn execution(&self, id: &sendonce::idempotency::ExecutionId) -> Result<Option<Execution>, Unreadable> {
        self.store.execution(id).await
    }
}

#[tokio::test(start_paused = true)]
async fn the_memory_store_forgets_what_dynamodb_would_and_not_a_second_earlier() {
    let store = MemoryStore::new();
    let settled = execution(Phase::Settled { ending: Ending::Succeeded, answer: Answer::NotKept });
    let begun = Execution { id: charge("k-2", 100).id, ..execution(Phase::Begun { lease_until: lease_until() }) };
    for one in [&settled, &begun] {
        store.begin(one, AT).await.unwrap();
    }
    let ttl = EpochMillis::new(settled.ttl().unwrap().get() * 1_000);
    let at = |now| Moment { now, skew: SKEW };
    assert_eq!((store.sweep(at(ttl.minus(Millis::from_secs(1)))), store.all().len()), (0, 2));
    assert_eq!((store.sweep(at(ttl)), store.all()), (1, vec![begun]));
}

#[test]
fn names_in_logs_are_those_in_the_table() {
    let named = charge("k-1", 100);
    assert_eq!(format!("{:?}", named.id), named.id.as_str());
    let (lease_until, answer) = (lease_until(), Answer::NotKept);
    for (phase, word) in [
        (Phase::Open { lease_until }, "open"),
        (Phase::Begun { lease_until }, "begun"),
        (Phase::Unknown { lease_until }, "unknown"),
        (Phase::Settled { ending: Ending::Succeeded, answer: answer.clone() }, "succeeded"),
        (Phase::Settled { ending: Ending::Failed, answer }, "failed"),
    ] {
        assert_eq!(phase.as_str(), word);
    }
}

#[tokio::test(start_paused = true)]
async fn an_item_is_what_the_documentation_says() {
    let seam = Seam::new();
    let store = store(&seam).await;
    let begun = execution(Phase::Begun { lease_until: lease_until() });
    store.begin(&begun, AT).await.unwrap();
    let fp = begun.fingerprint.to_string();
    let until = lease_until().get().to_string();
    let ends = window().ends_at(NOW).get().to_string();
    let expected = json!({
        "pk": {"S": begun.id.as_str()}, "fp": {"S": fp}, "own": {"S": "01".repeat(16)}, "st": {"S": "begun"},
        "til": {"N": until}, "window_ends_at": {"N": ends},
    });
    assert_eq!(seam.items(NOTIFICATIONS), [expected]);
}

#[tokio::test(start_paused = true)]
async fn the_largest_answer_of_one_unit_makes_an_item_of_one_unit() {
    let seam = Seam::new();
    let store = store(&seam).await;
    let bound = sendonce::idempotency::AnswerBound::ONE_UNIT;
    let answer = Answer::Kept(vec![0xff; bound.get()]);
    store.begin(&execution(Phase::Settled { ending: Ending::Succeeded, answer }), AT).await.unwrap();
    let size = item_size(&seam.items(NOTIFICATIONS)[0]);
    assert!((900..=1_024).contains(&size), "{size}");
}

#[tokio::test(start_paused = true)]
async fn the_longest_answer_that_may_be_declared_is_taken() {
    let seam = Seam::new();
    let store = store(&seam).await;
    let answer = Answer::Kept(vec![0xff; sendonce::idempotency::AnswerBound::LIMIT]);
    let longest = execution(Phase::Settled { ending: Ending::Succeeded, answer });
    assert_eq!(store.begin(&longest, AT).await, Ok(Written::Done));
    assert!(item_size(&seam.items(NOTIFICATIONS)[0]) <= 400 * 1_024);
}

#[tokio::test(start_paused = true)]
async fn only_proof_makes_a_failed_write_refused() {
    let begun = execution(Phase::Begun { lease_until: lease_until() });
    for (faults, expected) in [
        (vec![Fault::CodeBefore(400, "ThrottlingException"); 3], WriteFault::Refused),
        (vec![Fault::NeverConnected; 3], WriteFault::Refused),
        (vec![Fault::CodeBefore(400, "TransactionConflictException")], WriteFault::Conflict),
        (vec![Fault::LostBefore; 3], WriteFault::Unknown),
        (vec![Fault::SilentBefore; 3], WriteFault::Unknown),
        (vec![Fault::CodeBefore(500, "InternalServerError"); 3], WriteFault::Unknown),
        (vec![Fault::LostBefore, Fault::NeverConnected, Fault::NeverConnected], WriteFault::Unknown),
    ] {
        let seam = Seam::new();
        let store = self::store(&seam).await;
        faults.iter().cloned().for_each(|fault| seam.fail_next(PUT, fault));
        assert_eq!(store.begin(&begun, AT).await, Err(expected), "{faults:?}");
        let seam = Seam::new();
        let store = self::store(&seam).await;
        faults.iter().cloned().for_each(|fault| seam.fail_next(PUT, fault));
        assert_eq!(store.advance(&begun, begun.owner).await, Err(expected), "{faults:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_item_that_cannot_be_read_is_left_alone() {
    let seam = Seam::new();
    let store = store(&seam).await;
    let begun = execution(Phase::Begun { lease_until: lease_until() });
    store.begin(&begun, AT).await.unwrap();
    let whole = seam.item(begun.id.as_str()).unwrap();
    for (name, value) in [("st", json!({"S": "paused"})), ("extra", json!({"S": "x"})), ("til", json!({"S": "soon"}))] {
        let mut odd = whole.clone();
        odd[name] = value;
        seam.plant(NOTIFICATIONS, &odd);
        let newcomer = Execution { owner: Owner::new([2; 16]), ..begun.clone() };
        assert_eq!(store.begin(&newcomer, AT).await, Err(WriteFault::Unknown), "{name}");
        assert_eq!(store.execution(&begun.id).await, Err(Unreadable), "{name}");
        assert_eq!(seam.item(begun.id.as_str()), Some(odd));
    }
}
