//! Reading state and evidence of one tenant, from local state alone.

use std::collections::BTreeSet;

use crate::notification::{ChainFault, Fact, NotificationId, Record, Row, verify_chain};
use crate::ports::{EvidenceLog, Records, Unreadable};
use crate::tenant::TenantId;

/// The reading flow. It holds nothing that could write.
#[derive(Clone, Debug)]
pub struct Read<L> {
    /// Where records and evidence are.
    pub ledger: L,
    /// Who may see every tenant's, being allowed to decide about it.
    pub operators: BTreeSet<TenantId>,
}

/// The evidence of one notification, and whether it is whole.
#[derive(Debug)]
pub struct Evidence {
    /// The rows, in order.
    pub rows: Vec<Row>,
    /// The first fault in their chain.
    pub fault: Option<ChainFault>,
}

impl<L: Records + EvidenceLog> Read<L> {
    fn may_see(&self, caller: &TenantId, owner: &TenantId) -> bool {
        caller == owner || self.operators.contains(caller)
    }

    /// The record, if this caller may see it.
    ///
    /// # Errors
    /// [`Unreadable`] when the store did not answer.
    pub async fn status(&self, caller: &TenantId, id: &NotificationId) -> Result<Option<Record>, Unreadable> {
        Ok(self.ledger.record(id).await?.filter(|record| self.may_see(caller, &record.tenant)))
    }

    /// The evidence, if this caller may see it: it outlives the record, and with the record at hand missing last rows are
    /// found too. The record is read first, so that a step between the two reads adds a row rather than a fault.
    ///
    /// # Errors
    /// [`Unreadable`] when the store did not answer.
    pub async fn evidence(&self, caller: &TenantId, id: &NotificationId) -> Result<Option<Evidence>, Unreadable> {
        let record = self.ledger.record(id).await?;
        let rows = self.ledger.rows(id).await?;
        let owner = record.as_ref().map(|record| &record.tenant).or_else(|| rows.first().and_then(owner));
        if !owner.is_some_and(|owner| self.may_see(caller, owner)) {
            return Ok(None);
        }
        let fault = verify_chain(id, &rows, record.as_ref()).err();
        Ok(Some(Evidence { rows, fault }))
    }
}

fn owner(row: &Row) -> Option<&TenantId> {
    let Fact::Accepted(accepted) = row.fact() else { return None };
    Some(&accepted.tenant)
}
