//! An operator's decision about an attempt that nobody knows the outcome of.

use std::collections::BTreeSet;

use crate::invocation::Invocation;
use crate::land::{Landed, land};
use crate::marks::{Mark, mark, marked};
use crate::notification::{Decision, NotDecidable, NotificationId, Policy, PrincipalId, Record, decide_by_operator};
use crate::ports::{Clock, Doorbell, Records, Transitions};
use crate::tenant::TenantId;
use crate::time::Millis;

/// The resolution flow.
#[derive(Clone, Debug)]
pub struct Resolve<L, D, C> {
    /// Where records are.
    pub ledger: L,
    /// What wakes a dispatcher.
    pub doorbell: D,
    /// Time, and chance.
    pub clock: C,
    /// The numbers decisions depend on.
    pub policy: Policy,
    /// Who may decide for any tenant; everybody else may for their own only.
    pub operators: BTreeSet<TenantId>,
}

/// Who decides.
#[derive(Clone, Debug)]
pub struct Operator {
    /// The caller as a tenant.
    pub tenant: TenantId,
    /// The caller as a person, for the evidence.
    pub principal: PrincipalId,
}

/// A decision that changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotResolved {
    /// There is no such notification that this caller may decide on.
    #[error("there is no such notification")]
    NotFound,
    /// It is no longer at the revision the operator saw.
    #[error("the notification has changed since")]
    Changed,
    /// It cannot be decided now.
    #[error("{0}")]
    NotDecidable(NotDecidable),
    /// The store did not do its part; asking again is safe.
    #[error("the store is not available")]
    Unavailable,
}

impl<L, D, C> Resolve<L, D, C>
where
    L: Records + Transitions,
    D: Doorbell,
    C: Clock,
{
    /// Carries out `decision` on the revision that the operator saw, and on no other.
    ///
    /// # Errors
    /// [`NotResolved`].
    pub async fn resolve(
        &self,
        operator: &Operator,
        id: &NotificationId,
        if_rev: u32,
        decision: Decision,
        invocation: &Invocation,
    ) -> Result<Record, NotResolved> {
        let found = self.ledger.record(id).await.map_err(|_| NotResolved::Unavailable)?;
        let may = |record: &Record| record.tenant == operator.tenant || self.operators.contains(&operator.tenant);
        let record = found.filter(may).ok_or(NotResolved::NotFound)?;
        if record.rev != if_rev {
            return Err(NotResolved::Changed);
        }
        let now = self.clock.now();
        let fact = decide_by_operator(&record, decision, &operator.principal, now, &self.policy)
            .map_err(|fault| marked(Mark::OperatorRefused, NotResolved::NotDecidable(fault)))?;
        let step = record
            .step(fact, now, invocation.actor.clone(), &self.policy)
            .map_err(|_| NotResolved::NotDecidable(NotDecidable::Settled))?;
        match land(&self.ledger, &self.clock, &step, invocation).await {
            Ok(Landed::Done) => {}
            Ok(Landed::Lost(Some(_))) => return Err(NotResolved::Changed),
            Ok(Landed::Lost(None)) => return Err(NotResolved::NotFound),
            Err(_) => return Err(NotResolved::Unavailable),
        }
        match decision {
            Decision::Close(_) => mark(Mark::OperatorClosed),
            Decision::Resend(_) => {
                mark(Mark::OperatorResent);
                if self.doorbell.ring(id, Millis::ZERO).await.is_err() {
                    tracing::warn!(notification.id = %id, "doorbell not rung; reconciliation will ring it");
                }
            }
        }
        Ok(step.record)
    }
}
