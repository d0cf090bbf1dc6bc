//! Looking an unknown attempt up in its provider's log.

use crate::invocation::Invocation;
use crate::marks::{Mark, mark};
use crate::notification::{Finding, LATE, LogRow, Pairing, Policy, Record, Strength, Trace, pair, traces};
use crate::ports::{Clock, DeliveryLog, Destinations, EvidenceLog, LogCursor, Unreadable};
use crate::time::{EpochMillis, Millis};

/// The look-up flow. It writes nothing.
#[derive(Clone, Debug)]
pub struct Seek<L, E, C> {
    /// Where evidence is.
    pub ledger: L,
    /// The provider's log.
    pub log: E,
    /// Time, and chance.
    pub clock: C,
    /// The numbers decisions depend on.
    pub policy: Policy,
    /// How long a notification may live at most: how far back others to the same number may have been accepted.
    pub lifetime_max: Millis,
}

/// What one more page of the log may take.
const PAGE_NEEDS: Millis = Millis::from_secs(3);

impl<L, E, C> Seek<L, E, C>
where
    L: EvidenceLog + Destinations,
    E: DeliveryLog,
    C: Clock,
{
    /// What the log says about a record's latest attempt.
    ///
    /// # Errors
    /// [`Unreadable`] when not all of it could be read in time: what is not known whole decides nothing.
    pub async fn look(&self, record: &Record, invocation: &Invocation) -> Result<Pairing, Unreadable> {
        let nothing = Ok(Pairing::Undecided(Finding::Nothing));
        let Some(attempt) = record.progress.attempt.as_ref() else { return nothing };
        let mut known = traces(&self.ledger.rows(&record.id).await?);
        let Some(own) = known.iter().find(|trace| trace.attempt == attempt.id) else { return nothing };
        let (from, until) = own.window(&self.policy);
        let log = self.rows_about(record, from, until, invocation).await?;
        if log.is_empty() {
            mark(Mark::SoughtInVain);
            return nothing;
        }
        let Some(others) = self.others(record, from, until).await? else {
            return Ok(Pairing::Undecided(Finding::Ambiguous));
        };
        known.extend(others);
        let pairing = pair(&attempt.id, &known, &log, &self.policy);
        match &pairing {
            Pairing::Receipt(receipt) if receipt.strength == Strength::Probable => mark(Mark::PairedProbably),
            Pairing::Undecided(Finding::Ambiguous) => mark(Mark::PairedAmbiguously),
            Pairing::Undecided(Finding::Nothing) => mark(Mark::SoughtInVain),
            Pairing::Receipt(_) => {}
        }
        Ok(pairing)
    }

    /// All attempts of other notifications that may have been meant; `None` when there are too many to tell.
    async fn others(
        &self,
        record: &Record,
        from: EpochMillis,
        until: EpochMillis,
    ) -> Result<Option<Vec<Trace>>, Unreadable> {
        // Accepted by yet another clock, which may be ahead of the one that the span is told by.
        let last = until.plus(self.policy.clock_skew.times(2));
        let first = from.minus(self.lifetime_max).minus(LATE);
        let found = self.ledger.sent_to(&record.destination, first, last).await?;
        if !found.is_whole {
            return Ok(None);
        }
        let mut others = Vec::new();
        for id in found.ids.iter().filter(|id| **id != record.id) {
            others.extend(traces(&self.ledger.rows(id).await?));
        }
        Ok(Some(others))
    }

    /// Every row about this record's number in a span.
    async fn rows_about(
        &self,
        record: &Record,
        from: EpochMillis,
        until: EpochMillis,
        invocation: &Invocation,
    ) -> Result<Vec<LogRow>, Unreadable> {
        let mut rows = Vec::new();
        let mut cursor = LogCursor::default();
        loop {
            if !invocation.has_time(self.clock.now(), PAGE_NEEDS) {
                return Err(Unreadable);
            }
            let page = self.log.log_page(from, until, &cursor).await?;
            let is_about =
                |row: &LogRow| row.destination == record.destination && (from..=until).contains(&row.published_at);
            rows.extend(page.rows.into_iter().filter(is_about));
            match page.next {
                Some(next) => cursor = next,
                None => return Ok(rows),
            }
        }
    }
}
