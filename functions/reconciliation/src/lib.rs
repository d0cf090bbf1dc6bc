//! Reconciliation: on a schedule, closes what is open; takes in what providers report; once a day, looks whether they
//! can.

mod event;
mod receiving;

use aws_lambda_events::sqs::SqsBatchResponse;
use lambda_runtime::{Context, LambdaEvent};
use sendonce::admit::destination_key;
use sendonce::aws::warm::{self, NoMacRoot};
use sendonce::aws::{Aws, Ledger, SnsDeliveryLog, SnsSetup, SqsDoorbell, invocation};
use sendonce::config::ReconciliationConfig;
use sendonce::notification::{Function, Provider};
use sendonce::ports::Clock;
use sendonce::receive::Receive;
use sendonce::reconcile::{Reconcile, Tally};
use sendonce::seek::Seek;
use sendonce::time::Millis;
use serde::Serialize;
use serde_json::value::RawValue;

use event::Event;
pub use receiving::Counts;
use receiving::Receiver;

/// Left in the invocation when it begins with another notification or report: a read, a look-up (its evidence, its
/// number's index, a few pages of the log), a write and a ring, each slow.
const RESERVE: Millis = Millis::from_secs(25);

/// How many notifications or reports are looked at side by side. Most of a look-up is waiting for the log, and one
/// connection to the store is kept for each.
const AT_ONCE: usize = 16;

/// How long a report about nothing known is put off: an attempt's record is written before the call, so it takes a
/// store that hangs for something to be late.
const HOLD: Millis = Millis::from_secs(300);

/// Everything one environment keeps between events.
#[derive(Debug)]
pub struct Handler<C> {
    reconcile: Reconcile<Ledger, SnsDeliveryLog, SqsDoorbell, C>,
    receive: Receiver<C>,
    setup: Option<SnsSetup>,
}

/// What an event led to.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// Of a tick.
    Ticked(Tally),
    /// Of a push.
    Pushed(Counts),
    /// Of a batch of receipts.
    Received(SqsBatchResponse),
    /// Of a look at what the account is set to: what is in the way of evidence.
    Checked {
        /// Each by its name.
        findings: Vec<&'static str>,
    },
}

impl<C: Clock + Clone> Handler<C> {
    /// Builds the adapters and makes the requests that must not wait for the first event.
    ///
    /// # Errors
    /// [`NoMacRoot`] when no number could be found again.
    pub async fn start(aws: &Aws, config: ReconciliationConfig, clock: C) -> Result<Self, NoMacRoot> {
        let (policy, group) = (config.policy, config.sns_log_group);
        let ledger = Ledger::new(aws.dynamodb(), config.tables.notifications, config.tables.evidence);
        let root = warm::reconciliation(&aws.kms(), &config.mac_key_id, &ledger).await?;
        let seek = Seek {
            ledger: ledger.clone(),
            log: SnsDeliveryLog::new(aws.logs(), &group, destination_key(&root)),
            clock: clock.clone(),
            policy,
            lifetime_max: config.lifetime_max,
        };
        let receive = Receive { ledger: ledger.clone(), seek: seek.clone(), clock: clock.clone(), policy, hold: HOLD };
        let doorbell = SqsDoorbell::new(aws.sqs(), config.doorbell_queue_url);
        let reconcile = Reconcile { ledger, seek, doorbell, clock, policy, reserve: RESERVE, at_once: AT_ONCE };
        let setup = match config.provider {
            Provider::Sns => Some(SnsSetup::new(aws.sns_settings(), aws.logs(), &group)),
            Provider::Eum => None,
        };
        Ok(Self { reconcile, receive, setup })
    }

    /// Answers one event.
    ///
    /// # Errors
    /// When a push holds rows that must come again, which Lambda then sees to, twice; when a batch is none; when the
    /// set-up could not be looked at. A tick has none: what could not be done is due again on the next.
    pub async fn handle(&self, event: LambdaEvent<Box<RawValue>>) -> Result<Answer, lambda_runtime::Error> {
        let invocation = invocation(Function::Reconciliation, &event.context);
        match Event::of(&event.payload) {
            Event::Tick => {
                let tally = self.reconcile.tick(&invocation).await;
                if tally.failed > 0 || !tally.complete {
                    tracing::warn!(failed = tally.failed, complete = tally.complete, "work is left for the next tick");
                }
                Ok(Answer::Ticked(tally))
            }
            Event::Pushed(awslogs) => match receiving::pushed(&self.receive, awslogs, &invocation).await {
                counts @ Counts { held: 0, .. } => Ok(Answer::Pushed(counts)),
                Counts { held, .. } => Err(format!("{held} pushed rows must come again").into()),
            },
            Event::Receipts => {
                Ok(Answer::Received(receiving::queued(&self.receive, event.payload.get(), &invocation).await?))
            }
            Event::Setup => self.check(&event.context).await,
        }
    }

    /// Each finding is a line of its own, which an alarm counts.
    async fn check(&self, context: &Context) -> Result<Answer, lambda_runtime::Error> {
        let Some(setup) = &self.setup else { return Ok(Answer::Checked { findings: Vec::new() }) };
        let findings = setup.findings(&context.invoked_function_arn).await;
        let findings = findings.map_err(|_| "what the account is set to could not be looked at")?;
        for finding in &findings {
            tracing::error!(alarm = "evidence", finding = finding.as_str(), "evidence cannot arrive, or not all of it");
        }
        Ok(Answer::Checked { findings: findings.into_iter().map(|finding| finding.as_str()).collect() })
    }
}
