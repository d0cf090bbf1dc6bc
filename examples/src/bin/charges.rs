//! The Lambda binary of `POST /charges`.

use examples::{charges, payments::HttpPayments, rules};
use lambda_http::{Error, run};
use sendonce::aws::idempotency::DynamoExecutions;
use sendonce::aws::{Aws, SystemClock, mac_root, telemetry};
use sendonce::idempotency::Leased;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    telemetry::init();
    let aws = Aws::from_env().await?;
    let root = mac_root(&aws.kms(), &std::env::var("MAC_KEY_ID")?).await?;
    let store = DynamoExecutions::new(aws.dynamodb(), std::env::var("EXECUTIONS_TABLE")?);
    let payments = HttpPayments::new(std::env::var("PAYMENTS_URL")?)?;
    run(charges::handler(Leased::new(store, SystemClock, rules()), root.derive("charges"), payments)).await
}
