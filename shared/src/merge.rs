//! Writing what a receipt adds to a record, step by step.

use crate::invocation::Invocation;
use crate::land::{Landed, land};
use crate::notification::{Policy, Receipt, Record};
use crate::ports::{Clock, Records, Transitions, WriteFault};

/// How many writes one receipt may take: three facts at most, and others that keep moving the record.
const ROUNDS: u32 = 6;

/// What became of a receipt.
#[derive(Debug)]
pub(crate) struct Merged {
    /// The record that it left; none when the table has forgotten it.
    pub(crate) record: Option<Record>,
    /// Whether it added anything.
    pub(crate) is_news: bool,
}

/// Writes all that `receipt` adds to `record`, and to whatever the record becomes meanwhile.
pub(crate) async fn merge<L, C>(
    ledger: &L,
    clock: &C,
    policy: &Policy,
    record: Record,
    receipt: &Receipt,
    invocation: &Invocation,
) -> Result<Merged, WriteFault>
where
    L: Records + Transitions,
    C: Clock,
{
    let (mut record, mut is_news) = (record, false);
    for _ in 0..ROUNDS {
        let Some(fact) = receipt.adds_to(&record) else { return Ok(Merged { record: Some(record), is_news }) };
        let step = record.step(fact, clock.now(), invocation.actor.clone(), policy).map_err(|_| WriteFault::Refused)?;
        match land(ledger, clock, &step, invocation).await? {
            Landed::Done => {
                is_news = true;
                record = step.record;
            }
            Landed::Lost(Some(now)) => record = now,
            Landed::Lost(None) => return Ok(Merged { record: None, is_news }),
        }
    }
    Err(WriteFault::Conflict)
}
