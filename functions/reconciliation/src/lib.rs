//! Reconciliation: on a schedule, closes what is open.

use lambda_runtime::LambdaEvent;
use sendonce::aws::{Aws, Ledger, SqsDoorbell, invocation, warm};
use sendonce::config::ReconciliationConfig;
use sendonce::notification::Function;
use sendonce::ports::Clock;
use sendonce::reconcile::{Reconcile, Tally};
use sendonce::time::Millis;
use serde_json::value::RawValue;

/// Left in the invocation when it begins with another notification: a read, a write and a ring, each at its slowest.
const RESERVE: Millis = Millis::from_secs(13);

/// Everything one environment keeps between events.
#[derive(Debug)]
pub struct Handler<C> {
    reconcile: Reconcile<Ledger, NoLog, SqsDoorbell, C>,
}

impl<C: Clock + Clone> Handler<C> {
    /// Builds the adapters and makes the request that must not wait for the first event.
    pub async fn start(aws: &Aws, config: ReconciliationConfig, clock: C) -> Self {
        let ledger = Ledger::new(aws.dynamodb(), config.tables.notifications, config.tables.evidence);
        warm::reader(&ledger).await;
        let doorbell = SqsDoorbell::new(aws.sqs(), config.doorbell_queue_url);
        let seek = sendonce::seek::Seek {
            ledger: ledger.clone(),
            log: NoLog,
            clock: clock.clone(),
            policy: config.policy,
            lifetime_max: Millis::from_secs(600),
        };
        Self {
            reconcile: Reconcile { ledger, seek, doorbell, clock, policy: config.policy, reserve: RESERVE, at_once: 1 },
        }
    }

    /// One tick. What the schedule sends with it does not matter.
    ///
    /// # Errors
    /// None: what could not be done is in the tally, and due again on the next tick.
    pub async fn handle(&self, event: LambdaEvent<Box<RawValue>>) -> Result<Tally, lambda_runtime::Error> {
        let tally = self.reconcile.tick(&invocation(Function::Reconciliation, &event.context)).await;
        if tally.failed > 0 || !tally.complete {
            tracing::warn!(failed = tally.failed, complete = tally.complete, "work is left for the next tick");
        }
        Ok(tally)
    }
}

#[derive(Debug)]
struct NoLog;
impl sendonce::ports::DeliveryLog for NoLog {
    async fn log_page(
        &self,
        _: sendonce::time::EpochMillis,
        _: sendonce::time::EpochMillis,
        _: &sendonce::ports::LogCursor,
    ) -> Result<sendonce::ports::LogPage, sendonce::ports::Unreadable> {
        Ok(sendonce::ports::LogPage::default())
    }
}
