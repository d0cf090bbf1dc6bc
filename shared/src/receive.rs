//! Taking in what provider and carrier report later.

use crate::invocation::Invocation;
use crate::marks::{Mark, marked};
use crate::merge::{Merged, merge};
use crate::notification::{
    AttemptId, LogRow, NotificationId, Pairing, Policy, Receipt, Record, State, Strength, is_pairable, traces,
};
use crate::ports::{Clock, DeliveryLog, Destinations, EvidenceLog, Records, Transitions, Unreadable};
use crate::seek::Seek;
use crate::time::{EpochMillis, Millis};

/// The receipt flow.
#[derive(Clone, Debug)]
pub struct Receive<L, E, C> {
    /// Where records are.
    pub ledger: L,
    /// Looks up what a report does not name.
    pub seek: Seek<L, E, C>,
    /// Time, and chance.
    pub clock: C,
    /// The numbers decisions depend on.
    pub policy: Policy,
    /// How long after its event a report about nothing known is put off rather than dropped.
    pub hold: Millis,
}

/// What a provider reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// About an attempt that it names.
    Named {
        /// Of which notification.
        id: NotificationId,
        /// What it says.
        receipt: Receipt,
        /// When that happened, by the provider's clock.
        at: EpochMillis,
    },
    /// A row of a delivery log, which names nothing of ours.
    Logged(LogRow),
}

/// What a report led to. All of it is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Where it left the notification, and whether that is news.
    Merged(State, bool),
    /// It is about nothing known here, and was dropped.
    ForNobody,
}

/// A report that must come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReceived {
    /// What it is about may be written any moment.
    #[error("what it is about is not known yet")]
    Held,
    /// The store did not do its part.
    #[error("the store is not available")]
    Unavailable,
}

impl From<Unreadable> for NotReceived {
    fn from(_: Unreadable) -> Self {
        Self::Unavailable
    }
}

impl<L, E, C> Receive<L, E, C>
where
    L: Records + Transitions + EvidenceLog + Destinations,
    E: DeliveryLog,
    C: Clock,
{
    /// Takes in one report. The same report any number of times, and in any order, is the same in the end.
    ///
    /// # Errors
    /// [`NotReceived`] when it must come again.
    pub async fn receive(&self, report: &Report, invocation: &Invocation) -> Result<Received, NotReceived> {
        match report {
            Report::Named { id, receipt, at } => self.named(id, receipt, *at, invocation).await,
            Report::Logged(row) => self.logged(row, invocation).await,
        }
    }

    async fn named(
        &self,
        id: &NotificationId,
        receipt: &Receipt,
        at: EpochMillis,
        invocation: &Invocation,
    ) -> Result<Received, NotReceived> {
        let record = self.ledger.record(id).await?;
        match record {
            Some(record) if self.knows(&record, &receipt.attempt).await? => {
                self.merge(record, receipt, invocation).await
            }
            _ => self.for_nobody(at),
        }
    }

    /// Whether an attempt is this notification's. A report's word alone is not enough.
    async fn knows(&self, record: &Record, attempt: &AttemptId) -> Result<bool, Unreadable> {
        let progress = &record.progress;
        if progress.is_latest(attempt) || progress.taken.as_ref() == Some(attempt) {
            return Ok(true);
        }
        let known = traces(&self.ledger.rows(&record.id).await?);
        Ok(known.iter().any(|trace| trace.attempt == *attempt))
    }

    async fn logged(&self, row: &LogRow, invocation: &Invocation) -> Result<Received, NotReceived> {
        let skew = self.policy.clock_skew.times(2);
        let from = row.published_at.minus(self.seek.lifetime_max).minus(skew);
        let found = self.ledger.sent_to(&row.destination, from, row.published_at.plus(skew)).await?;
        let mut open = Vec::new();
        for id in &found.ids {
            let Some(record) = self.ledger.record(id).await? else { continue };
            match &record.progress.taken {
                Some(attempt) if row.message_id.is_some() && record.progress.message_id == row.message_id => {
                    let receipt = row.receipt(attempt, Strength::Exact);
                    return self.merge(record, &receipt, invocation).await;
                }
                None if record.progress.attempts > 0 => open.push(record),
                Some(_) | None => {}
            }
        }
        if open.is_empty() {
            return Ok(marked(Mark::ReceiptForNobody, Received::ForNobody));
        }
        self.paired(row, open, invocation).await
    }

    /// A row that names no message known here may be about an attempt whose answer was lost.
    async fn paired(&self, row: &LogRow, open: Vec<Record>, invocation: &Invocation) -> Result<Received, NotReceived> {
        let mut is_early = false;
        for record in open {
            if !is_pairable(&record, self.clock.now(), &self.policy) {
                is_early = true;
                continue;
            }
            if let Pairing::Receipt(receipt) = self.seek.look(&record, invocation).await? {
                return self.merge(record, &receipt, invocation).await;
            }
        }
        if is_early {
            self.for_nobody(row.published_at)
        } else {
            Ok(marked(Mark::ReceiptForNobody, Received::ForNobody))
        }
    }

    fn for_nobody(&self, at: EpochMillis) -> Result<Received, NotReceived> {
        if self.clock.now() < at.plus(self.hold) {
            return marked(Mark::ReceiptHeld, Err(NotReceived::Held));
        }
        Ok(marked(Mark::ReceiptForNobody, Received::ForNobody))
    }

    async fn merge(&self, record: Record, receipt: &Receipt, invocation: &Invocation) -> Result<Received, NotReceived> {
        let merged = merge(&self.ledger, &self.clock, &self.policy, record, receipt, invocation).await;
        match merged.map_err(|_| NotReceived::Unavailable)? {
            Merged { record: Some(record), is_news } => Ok(Received::Merged(record.state(), is_news)),
            Merged { record: None, .. } => Ok(marked(Mark::ReceiptForNobody, Received::ForNobody)),
        }
    }
}
