//! Dispatch: answers doorbells, each with at most one provider call.

use std::panic::AssertUnwindSafe;

use aws_lambda_events::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::FutureExt;
use futures_util::future::join_all;
use lambda_runtime::LambdaEvent;
use sendonce::aws::{
    AnyCarrier, Aws, CarrierTimeouts, EumCarrier, EumSettings, KmsOpener, Ledger, SnsCarrier, SnsSettings, SqsDoorbell,
    invocation, parse_doorbell, warm,
};
use sendonce::config::{Carriage, DispatchConfig};
use sendonce::dispatch::Dispatch;
use sendonce::invocation::Invocation;
use sendonce::notification::Function;
use sendonce::ports::Clock;
use serde_json::value::RawValue;

/// Everything one environment keeps between events.
#[derive(Debug)]
pub struct Handler<C> {
    dispatch: Dispatch<Ledger, KmsOpener, AnyCarrier<C>, SqsDoorbell, C>,
}

impl<C: Clock + Clone> Handler<C> {
    /// Builds the adapters and makes the request that must not wait for the first event.
    pub async fn start(aws: &Aws, config: DispatchConfig, clock: C) -> Self {
        let ledger = Ledger::new(aws.dynamodb(), config.tables.notifications, config.tables.evidence);
        warm::reader(&ledger).await;
        let limits = CarrierTimeouts { connect: config.connect_timeout, operation: config.timing.call };
        let dispatch = Dispatch {
            ledger,
            opener: KmsOpener::new(aws.kms()),
            provider: config.carriage.provider(),
            carrier: carrier(aws, limits, clock.clone(), config.carriage, config.max_price_usd),
            doorbell: SqsDoorbell::new(aws.sqs(), config.doorbell_queue_url),
            clock,
            policy: config.policy,
            timing: config.timing,
        };
        Self { dispatch }
    }

    /// Answers one batch of doorbells, all at once, and names those that must ring again.
    ///
    /// # Errors
    /// When the event is no batch of named messages: there is no item to fail then, so all of it fails.
    pub async fn handle(&self, event: LambdaEvent<Box<RawValue>>) -> Result<SqsBatchResponse, lambda_runtime::Error> {
        let invocation = invocation(Function::Dispatch, &event.context);
        let batch: SqsEvent = serde_json::from_str(event.payload.get()).map_err(|_| "the event is not an SQS event")?;
        if batch.records.iter().any(|message| message.message_id.as_deref().unwrap_or_default().is_empty()) {
            return Err("the event holds a message without an id".into());
        }
        let answers = join_all(batch.records.iter().map(|message| self.answer(message, &invocation))).await;
        let mut response = SqsBatchResponse::default();
        response.batch_item_failures = answers.into_iter().flatten().collect();
        Ok(response)
    }

    /// Answers one doorbell. A panic in it is one failed item, not a failed batch.
    async fn answer(&self, message: &SqsMessage, invocation: &Invocation) -> Option<BatchItemFailure> {
        let answered = AssertUnwindSafe(self.try_answer(message, invocation)).catch_unwind().await;
        if answered.unwrap_or(false) {
            return None;
        }
        let mut failure = BatchItemFailure::default();
        failure.item_identifier = message.message_id.clone().unwrap_or_default();
        Some(failure)
    }

    /// Whether the doorbell need not ring again.
    async fn try_answer(&self, message: &SqsMessage, invocation: &Invocation) -> bool {
        let Some(id) = message.body.as_deref().and_then(parse_doorbell) else {
            tracing::error!("a message is not a doorbell; it goes to the dead-letter queue");
            return false;
        };
        match self.dispatch.answer(&id, invocation).await {
            Ok(_) => true,
            Err(fault) => {
                tracing::warn!(notification.id = %id, %fault, "doorbell not answered; it will ring again");
                false
            }
        }
    }
}

/// The carrier of the chosen provider. Only its client is made.
fn carrier<C: Clock>(
    aws: &Aws,
    limits: CarrierTimeouts,
    clock: C,
    carriage: Carriage,
    max_price_usd: Option<String>,
) -> AnyCarrier<C> {
    match carriage {
        Carriage::Sns { origination_number } => {
            let settings = SnsSettings { max_price_usd, origination_number };
            AnyCarrier::Sns(SnsCarrier::new(aws.sns(limits), clock, settings))
        }
        Carriage::Eum { configuration_set, origination_identity, protect_configuration_id } => {
            let settings =
                EumSettings { configuration_set, origination_identity, protect_configuration_id, max_price_usd };
            AnyCarrier::Eum(EumCarrier::new(aws.eum(limits), clock, settings))
        }
    }
}
