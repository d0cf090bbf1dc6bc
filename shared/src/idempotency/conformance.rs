//! What every store of executions must do, as cases to run on yours.
//!
//! ```
//! # use sendonce::idempotency::{MemoryStore, conformance};
//! # use sendonce::time::EpochMillis;
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), conformance::Failed> {
//! let now = EpochMillis::new(1_796_069_400_123);
//! let cases = conformance::check(&MemoryStore::new(), "run 1", now).await?;
//! assert!(cases > 200);
//! # Ok(())
//! # }
//! ```
//!
//! The suite asks of a store what [`judge`] says, millisecond by millisecond around every border, so that the condition
//! which a store evaluates and the decision which a reader makes cannot drift apart. It touches only executions of its
//! own, whose names follow from the run's: each run needs a name of its own, and what it leaves may be deleted.

use core::fmt::Debug;

use crate::digest::FieldHash;
use crate::ports::{Unreadable, WriteFault, Written};
use crate::time::{EpochMillis, Millis};

use super::{
    Answer, Ending, Execution, ExecutionId, Executions, Fields, Fingerprint, FingerprintKey, Moment, Owner, Phase,
    judge,
};

/// A case that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{case}: {detail}")]
pub struct Failed {
    /// Which case.
    pub case: String,
    /// What was expected, and what happened.
    pub detail: String,
}

/// Runs all cases, and says how many there were.
///
/// # Errors
/// [`Failed`], the first case that did not hold. A store that fails for reasons of its own fails here too.
pub async fn check<S: Executions>(store: &S, run: &str, now: EpochMillis) -> Result<usize, Failed> {
    let mut suite = Suite { store, run, now, cases: 0 };
    suite.reads().await?;
    suite.beginnings().await?;
    suite.advances().await?;
    suite.lost_answers().await?;
    suite.strangers().await?;
    Ok(suite.cases)
}

const SKEW: Millis = Millis::new(5_000);
const LEASE: Millis = Millis::new(30_877);
const WINDOW: Millis = Millis::new(86_400_123);
const FIRST: Owner = Owner::new([1; 16]);
const SECOND: Owner = Owner::new([2; 16]);

struct Suite<'a, S> {
    store: &'a S,
    run: &'a str,
    now: EpochMillis,
    cases: usize,
}

struct Word(&'static str);

impl Fields for Word {
    fn fields(&self, field: &mut dyn FnMut(&[u8])) {
        field(self.0.as_bytes());
    }
}

fn print(word: &'static str) -> Fingerprint {
    FingerprintKey::new([9; 32]).fingerprint(&Word(word))
}

impl<S: Executions> Suite<'_, S> {
    fn at(&self, later: Millis) -> Moment {
        Moment { now: self.now.plus(later), skew: SKEW }
    }

    /// An execution that no other case knows.
    fn fresh(&mut self, phase: Phase) -> Execution {
        self.cases += 1;
        let name = FieldHash::new("sendonce.conformance.v1").field(self.run).field(&self.cases.to_string());
        Execution {
            id: ExecutionId::from_digest(&name.finish()),
            fingerprint: print("a"),
            owner: FIRST,
            phase,
            window_ends_at: self.now.plus(WINDOW),
        }
    }

    /// Every phase, and every kind of answer.
    fn phases(&self) -> Vec<Phase> {
        let lease_until = self.now.plus(LEASE);
        let settled = |ending, bytes: &[u8]| Phase::Settled { ending, answer: Answer::Kept(bytes.to_vec()) };
        let mut phases = vec![
            Phase::Open { lease_until },
            Phase::Begun { lease_until },
            Phase::Unknown { lease_until },
            settled(Ending::Failed, b"no"),
            Phase::Settled { ending: Ending::Succeeded, answer: Answer::NotKept },
            settled(Ending::Succeeded, &[0xff; 736]),
            settled(Ending::Succeeded, &[0, 159, 146, 150]),
        ];
        let falsy: [&[u8]; 6] = [b"", b"0", b"\"\"", b"[]", b"null", b"false"];
        phases.extend(falsy.map(|bytes| settled(Ending::Succeeded, bytes)));
        phases
    }

    async fn reads(&mut self) -> Result<(), Failed> {
        for phase in self.phases() {
            let one = self.fresh(phase);
            let case = format!("what is written is read back ({})", one.phase.as_str());
            same(&case, &self.store.execution(&one.id).await, &Ok::<_, Unreadable>(None))?;
            self.plant(&case, &one).await?;
            same(&case, &self.store.execution(&one.id).await, &Ok::<_, Unreadable>(Some(one)))?;
        }
        Ok(())
    }

    /// A newcomer replaces what gives way to it, and nothing else, on both sides of every border.
    async fn beginnings(&mut self) -> Result<(), Failed> {
        let step = Millis::new(1);
        let borders = [Millis::ZERO, LEASE, LEASE.plus(SKEW), WINDOW, WINDOW.plus(SKEW), WINDOW.times(400)];
        for border in borders {
            for later in [Millis::new(border.get() - step.get()), border, border.plus(step)] {
                for phase in self.phases().into_iter().take(5) {
                    for (word, owner) in [("a", SECOND), ("b", SECOND), ("a", FIRST)] {
                        let stored = self.fresh(phase.clone());
                        self.beginning(&stored, word, owner, self.at(later)).await?;
                    }
                }
            }
        }
        Ok(())
    }

    async fn beginning(&self, stored: &Execution, word: &'static str, owner: Owner, at: Moment) -> Result<(), Failed> {
        let lease_until = at.now.plus(LEASE);
        let newcomer = Execution {
            fingerprint: print(word),
            owner,
            phase: Phase::Begun { lease_until },
            window_ends_at: at.now.plus(WINDOW),
            ..stored.clone()
        };
        let judged = judge(stored, &newcomer.fingerprint, owner, at);
        // An owner's own write is no newcomer; stores may let it be written once more.
        if owner == FIRST && judge(stored, &newcomer.fingerprint, SECOND, at).gives_way() {
            return Ok(());
        }
        let case = format!("begin {} ms on, {word} meets {:?}: {judged:?}", at.now.since(self.now).get(), stored.phase);
        self.plant(&case, stored).await?;
        let (answer, left) = if judged.gives_way() {
            (Written::Done, newcomer.clone())
        } else {
            (Written::Held(stored.clone()), stored.clone())
        };
        same(&case, &self.store.begin(&newcomer, at).await, &Ok::<_, WriteFault>(answer))?;
        same(&case, &self.store.execution(&stored.id).await, &Ok::<_, Unreadable>(Some(left)))
    }

    /// Only its owner moves an execution, and nobody moves what is settled, whatever the time.
    async fn advances(&mut self) -> Result<(), Failed> {
        for phase in self.phases() {
            for next in self.phases() {
                for by in [FIRST, SECOND] {
                    let stored = self.fresh(phase.clone());
                    self.advance(&stored, next.clone(), by).await?;
                }
            }
        }
        let absent = self.fresh(Phase::Open { lease_until: self.now });
        let case = "advance of what is not there";
        same(case, &self.store.advance(&absent, FIRST).await, &Ok::<_, WriteFault>(Written::Held(None)))?;
        same(case, &self.store.execution(&absent.id).await, &Ok::<_, Unreadable>(None))
    }

    async fn advance(&self, stored: &Execution, phase: Phase, by: Owner) -> Result<(), Failed> {
        let next = Execution { owner: SECOND, window_ends_at: self.now.plus(WINDOW.times(2)), ..stored.with(phase) };
        let case = format!("advance by {by:?}: {:?} to {:?}", stored.phase, next.phase);
        self.plant(&case, stored).await?;
        let moves = by == FIRST && !matches!(stored.phase, Phase::Settled { .. });
        let (answer, left) =
            if moves { (Written::Done, next.clone()) } else { (Written::Held(Some(stored.clone())), stored.clone()) };
        same(&case, &self.store.advance(&next, by).await, &Ok::<_, WriteFault>(answer))?;
        same(&case, &self.store.execution(&stored.id).await, &Ok::<_, Unreadable>(Some(left)))
    }

    /// The same write again finds itself.
    async fn lost_answers(&mut self) -> Result<(), Failed> {
        let lease_until = self.now.plus(LEASE);
        for phase in [Phase::Open { lease_until }, Phase::Begun { lease_until }] {
            let one = self.fresh(phase);
            let case = format!("begin of {} again", one.phase.as_str());
            self.plant(&case, &one).await?;
            let again = self.store.begin(&one, self.at(Millis::ZERO)).await;
            same(&case, &again, &Ok::<_, WriteFault>(Written::Held(one.clone())))?;
            let answer = Answer::Kept(b"0".to_vec());
            let next = one.with(Phase::Settled { ending: Ending::Succeeded, answer });
            let case = "completion again";
            same(case, &self.store.advance(&next, FIRST).await, &Ok::<_, WriteFault>(Written::Done))?;
            let again = self.store.advance(&next, FIRST).await;
            same(case, &again, &Ok::<_, WriteFault>(Written::Held(Some(next.clone()))))?;
        }
        Ok(())
    }

    /// One execution is never mistaken for another.
    async fn strangers(&mut self) -> Result<(), Failed> {
        let lease_until = self.now.plus(LEASE);
        let (one, other) = (self.fresh(Phase::Open { lease_until }), self.fresh(Phase::Begun { lease_until }));
        let case = "two executions side by side";
        self.plant(case, &one).await?;
        self.plant(case, &other).await?;
        let next = one.with(Phase::Unknown { lease_until });
        same(case, &self.store.advance(&next, FIRST).await, &Ok::<_, WriteFault>(Written::Done))?;
        same(case, &self.store.execution(&other.id).await, &Ok::<_, Unreadable>(Some(other)))
    }

    async fn plant(&self, case: &str, execution: &Execution) -> Result<(), Failed> {
        same(case, &self.store.begin(execution, self.at(Millis::ZERO)).await, &Ok::<_, WriteFault>(Written::Done))
    }
}

fn same<T: PartialEq + Debug>(case: &str, found: &T, expected: &T) -> Result<(), Failed> {
    if found == expected {
        return Ok(());
    }
    Err(Failed { case: case.to_owned(), detail: format!("expected {expected:?}, found {found:?}") })
}
