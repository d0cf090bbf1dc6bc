//! Taking a notification back, while that is still possible.

use crate::invocation::Invocation;
use crate::land::{Landed, land};
use crate::marks::{Mark, marked};
use crate::notification::{Fact, NotificationId, Policy, Record, State, StopReason};
use crate::ports::{Clock, Records, Transitions};
use crate::tenant::TenantId;

/// How often one request follows a record that others keep moving.
const ROUNDS: u32 = 4;

/// The cancel flow.
#[derive(Clone, Debug)]
pub struct Cancel<L, C> {
    /// Where records are.
    pub ledger: L,
    /// Time, and chance.
    pub clock: C,
    /// The numbers decisions depend on.
    pub policy: Policy,
}

/// A cancel that changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCancelled {
    /// There is no such notification of this tenant.
    #[error("there is no such notification")]
    NotFound,
    /// It is no longer at the revision the client saw.
    #[error("the notification has changed since")]
    Changed,
    /// An attempt is running; nobody can call it back.
    #[error("an attempt is running")]
    AttemptRunning,
    /// It has settled otherwise.
    #[error("the notification has settled")]
    Settled,
    /// The store did not do its part; asking again is safe.
    #[error("the store is not available")]
    Unavailable,
}

impl<L, C> Cancel<L, C>
where
    L: Records + Transitions,
    C: Clock,
{
    /// Stops a notification of `tenant` for good. One that was cancelled before is simply shown again.
    ///
    /// # Errors
    /// [`NotCancelled`].
    pub async fn cancel(
        &self,
        tenant: &TenantId,
        id: &NotificationId,
        if_rev: Option<u32>,
        invocation: &Invocation,
    ) -> Result<Record, NotCancelled> {
        let mut found = self.ledger.record(id).await.map_err(|_| NotCancelled::Unavailable)?;
        for _ in 0..ROUNDS {
            let record = found.filter(|record| record.tenant == *tenant).ok_or(NotCancelled::NotFound)?;
            if record.state() == State::Stopped(StopReason::Cancelled) {
                return marked(Mark::CancelledAgain, Ok(record));
            }
            check(&record, if_rev)?;
            let fact = Fact::Stopped { reason: StopReason::Cancelled };
            let step = record
                .step(fact, self.clock.now(), invocation.actor.clone(), &self.policy)
                .map_err(|_| NotCancelled::Settled)?;
            match land(&self.ledger, &self.clock, &step, invocation).await {
                Ok(Landed::Done) => return Ok(step.record),
                Ok(Landed::Lost(now)) => found = marked(Mark::CancelOvertaken, now),
                Err(_) => return Err(NotCancelled::Unavailable),
            }
        }
        Err(NotCancelled::Unavailable)
    }
}

fn check(record: &Record, if_rev: Option<u32>) -> Result<(), NotCancelled> {
    if if_rev.is_some_and(|rev| rev != record.rev) {
        return Err(NotCancelled::Changed);
    }
    match record.state() {
        State::Accepted | State::DispatchUnknown => Ok(()),
        State::Sending => marked(Mark::CancelWhileRunning, Err(NotCancelled::AttemptRunning)),
        State::Sent | State::Delivered | State::Undelivered | State::Failed | State::Stopped(_) => {
            Err(NotCancelled::Settled)
        }
    }
}
