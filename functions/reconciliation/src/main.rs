//! The Lambda binary: configuration, adapters, warm-up, run.

use std::sync::Arc;

use lambda_runtime::{Error, run_concurrent, service_fn};
use reconciliation::Handler;
use sendonce::aws::{Aws, SystemClock, telemetry};
use sendonce::config::ReconciliationConfig;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    telemetry::init();
    let config = ReconciliationConfig::read(|name| std::env::var(name).ok())?;
    let aws = Aws::from_env().await?;
    let handler = Arc::new(Handler::start(&aws, config, SystemClock).await?);
    run_concurrent(service_fn(move |event| {
        let handler = Arc::clone(&handler);
        async move { handler.handle(event).await }
    }))
    .await
}
