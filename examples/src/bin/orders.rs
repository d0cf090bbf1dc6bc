//! The Lambda binary that consumes `OrderCreated`.

use std::sync::Arc;

use examples::{orders, rules};
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use sendonce::aws::idempotency::DynamoExecutions;
use sendonce::aws::{Aws, SystemClock, mac_root, telemetry};
use sendonce::idempotency::{Leased, Outcome};

/// Ships by a line in the log.
struct LoggedShipments;

impl orders::Shipments for LoggedShipments {
    async fn ship(&self, reference: &str, order: &str, items: u32) -> Outcome<()> {
        // Under Sendonce's name: of others, its telemetry shows warnings only.
        tracing::info!(
            target: "sendonce::examples",
            { shipment.reference = reference, order.id = order, order.items = items },
            "shipped"
        );
        Outcome::Succeeded(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    telemetry::init();
    let aws = Aws::from_env().await?;
    let root = mac_root(&aws.kms(), &std::env::var("MAC_KEY_ID")?).await?;
    let store = DynamoExecutions::new(aws.dynamodb(), std::env::var("EXECUTIONS_TABLE")?);
    let leased = Leased::new(store, SystemClock, rules());
    let handler = Arc::new(orders::Handler::new(leased, root.derive("orders"), LoggedShipments));
    run(service_fn(move |event: LambdaEvent<aws_lambda_events::sqs::SqsEvent>| {
        let handler = Arc::clone(&handler);
        async move { handler.handle(&event.payload, &event.context).await.map_err(Error::from) }
    }))
    .await
}
