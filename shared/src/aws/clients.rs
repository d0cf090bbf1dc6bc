//! The SDK's clients. Every option of theirs is stated here and nowhere else.

use core::time::Duration;

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::retry::RetryConfig;
use aws_config::stalled_stream_protection::StalledStreamProtectionConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::ProvideCredentials;
use aws_sdk_sns::config::{IdentityCache, SharedAsyncSleep, SharedHttpClient};
use aws_smithy_async::rt::sleep::TokioSleep;
use aws_smithy_async::time::{SharedTimeSource, SystemTimeSource};
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};

use crate::land::WRITE_LIMIT;
use crate::time::Millis;

/// To connect, TLS included. Well above a hello within a region, well below an attempt.
const CONNECT: Duration = Duration::from_millis(1_000);
/// Until an answer's headers, connecting included.
const READ: Duration = Duration::from_millis(2_000);
/// One try as a whole, the answer's body included.
const ATTEMPT: Duration = Duration::from_millis(2_200);
/// All tries of one SQS or KMS request. Together, the three that an admission may need stay below its 10 s.
const SMALL_OPERATION: Duration = Duration::from_millis(2_400);
/// DynamoDB conditions and tokens make its writes safe to try again: three that fail at once, or two that hang.
const DYNAMODB_ATTEMPTS: u32 = 3;
/// A doorbell that does not ring is rung by reconciliation, and a key is asked for again by the next request.
const SMALL_ATTEMPTS: u32 = 2;
/// The SDK would wait up to a second before its first retry; someone waits for this answer.
const BACKOFF_FIRST: Duration = Duration::from_millis(50);
const BACKOFF_MAX: Duration = Duration::from_millis(400);
/// Lambda freezes sandboxes for minutes, and peers drop what idles: older connections are not worth trying.
const POOL_IDLE: Duration = Duration::from_secs(20);

/// How long one provider call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarrierTimeouts {
    /// To connect. A call that ends here was surely not sent, so it must be the first limit to strike.
    pub connect: Millis,
    /// The call as a whole, where a text does not allow less.
    pub operation: Millis,
}

/// What tests put under the real SDK, and what the environment says otherwise.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Takes the requests instead of a network.
    pub http_client: Option<SharedHttpClient>,
    /// Instead of the system's clock.
    pub time_source: Option<SharedTimeSource>,
    /// Instead of the runtime's timer.
    pub sleep: Option<SharedAsyncSleep>,
    /// Instead of `AWS_REGION`.
    pub region: Option<Region>,
    /// Instead of `AWS_ACCESS_KEY_ID` and its companions.
    pub credentials: Option<Credentials>,
    /// Instead of `AWS_ENDPOINT_URL` and its forms for single services.
    pub endpoint_url: Option<String>,
}

/// The environment does not say enough to make a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetupFault {
    /// No region.
    #[error("AWS_REGION is not set")]
    NoRegion,
    /// No credentials.
    #[error("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")]
    NoCredentials,
}

/// Makes clients.
#[derive(Clone, Debug)]
pub struct Aws {
    config: SdkConfig,
    unpooled: SharedHttpClient,
}

impl Aws {
    /// From the environment alone, which also names other endpoints where there are any: `AWS_ENDPOINT_URL`, or
    /// `AWS_ENDPOINT_URL_SNS` and so on for one service.
    ///
    /// # Errors
    /// [`SetupFault`] when region or credentials are missing: better now than after an attempt was recorded.
    pub async fn from_env() -> Result<Self, SetupFault> {
        Self::with(Parts::default()).await
    }

    /// As [`Aws::from_env`], with parts replaced.
    ///
    /// # Errors
    /// As [`Aws::from_env`].
    pub async fn with(parts: Parts) -> Result<Self, SetupFault> {
        let credentials = match parts.credentials {
            Some(credentials) => credentials,
            None => EnvironmentVariableCredentialsProvider::new()
                .provide_credentials()
                .await
                .map_err(|_| SetupFault::NoCredentials)?,
        };
        // Lambda sets AWS_REGION; asking anything else could mean a network call.
        let region = parts.region.or_else(|| std::env::var("AWS_REGION").ok().map(Region::new));
        let mut loader =
            aws_config::defaults(BehaviorVersion::v2026_01_12()) // a new one is read about, then chosen
                .region(region.filter(|region| !region.as_ref().is_empty()).ok_or(SetupFault::NoRegion)?)
                .credentials_provider(credentials)
                .identity_cache(IdentityCache::no_cache()) // the credentials are a value: there is nothing to cache
                .time_source(parts.time_source.unwrap_or_else(|| SharedTimeSource::new(SystemTimeSource::new())))
                .sleep_impl(parts.sleep.unwrap_or_else(|| SharedAsyncSleep::new(TokioSleep::new())))
                .http_client(parts.http_client.clone().unwrap_or_else(pooled))
                // The attempt's timeout covers bodies too; a second opinion on slowness would only add ways to fail.
                .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
                // Stated for each client below; what is not must not be retried.
                .retry_config(RetryConfig::disabled())
                .timeout_config(timeouts(SMALL_OPERATION));
        if let Some(endpoint_url) = parts.endpoint_url {
            loader = loader.endpoint_url(endpoint_url);
        }
        Ok(Self { config: loader.load().await, unpooled: parts.http_client.unwrap_or_else(unpooled) })
    }

    /// DynamoDB.
    #[must_use]
    pub fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        let config = aws_sdk_dynamodb::config::Builder::from(&self.config)
            .retry_config(retries(DYNAMODB_ATTEMPTS))
            .timeout_config(timeouts(WRITE_LIMIT.to_std()))
            .build();
        aws_sdk_dynamodb::Client::from_conf(config)
    }

    /// SQS.
    #[must_use]
    pub fn sqs(&self) -> aws_sdk_sqs::Client {
        let config = aws_sdk_sqs::config::Builder::from(&self.config)
            .retry_config(retries(SMALL_ATTEMPTS))
            .timeout_config(timeouts(SMALL_OPERATION))
            .build();
        aws_sdk_sqs::Client::from_conf(config)
    }

    /// KMS.
    #[must_use]
    pub fn kms(&self) -> aws_sdk_kms::Client {
        let config = aws_sdk_kms::config::Builder::from(&self.config)
            .retry_config(retries(SMALL_ATTEMPTS))
            .timeout_config(timeouts(SMALL_OPERATION))
            .build();
        aws_sdk_kms::Client::from_conf(config)
    }

    /// SNS, for one purpose: a request to it is made at most once.
    ///
    /// No retries, for `Publish` takes no idempotency token. No connection is used twice: a request on a connection
    /// that the other end has just closed fails with nobody knowing whether it was read, and the HTTP client would
    /// itself send again what it thinks unread. Connect < attempt < operation, so that what ended while connecting
    /// is known to have been connecting.
    #[must_use]
    pub fn sns(&self, limits: CarrierTimeouts) -> aws_sdk_sns::Client {
        aws_sdk_sns::Client::new(&self.once(limits))
    }

    /// AWS End User Messaging SMS, for the same purpose and under the same rules: `SendTextMessage` takes no idempotency
    /// token either.
    #[must_use]
    pub fn eum(&self, limits: CarrierTimeouts) -> aws_sdk_pinpointsmsvoicev2::Client {
        aws_sdk_pinpointsmsvoicev2::Client::new(&self.once(limits))
    }

    /// What makes a request be made at most once, whichever the provider.
    fn once(&self, limits: CarrierTimeouts) -> SdkConfig {
        self.config
            .to_builder()
            .http_client(self.unpooled.clone())
            .retry_config(RetryConfig::disabled())
            .timeout_config(carrier_timeouts(limits.operation).connect_timeout(limits.connect.to_std()).build())
            .build()
    }

    /// CloudWatch Logs, for reading.
    #[must_use]
    pub fn logs(&self) -> aws_sdk_cloudwatchlogs::Client {
        let config = aws_sdk_cloudwatchlogs::config::Builder::from(&self.config)
            .retry_config(retries(SMALL_ATTEMPTS))
            .timeout_config(timeouts(SMALL_OPERATION))
            .build();
        aws_sdk_cloudwatchlogs::Client::from_conf(config)
    }

    /// SNS, for reading the account's settings. Nothing is published through it: it tries again.
    #[must_use]
    pub fn sns_settings(&self) -> aws_sdk_sns::Client {
        let config = aws_sdk_sns::config::Builder::from(&self.config)
            .retry_config(retries(SMALL_ATTEMPTS))
            .timeout_config(timeouts(SMALL_OPERATION))
            .build();
        aws_sdk_sns::Client::from_conf(config)
    }
}

/// The limits of one provider call that may take `operation` in all.
pub(super) fn carrier_timeouts(operation: Millis) -> aws_config::timeout::TimeoutConfigBuilder {
    let whole = operation.to_std();
    TimeoutConfig::builder()
        .disable_read_timeout() // the attempt's covers the same, and the body
        .operation_attempt_timeout(whole.saturating_sub(whole / 20))
        .operation_timeout(whole)
}

fn timeouts(operation: Duration) -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(CONNECT)
        .read_timeout(READ)
        .operation_attempt_timeout(ATTEMPT)
        .operation_timeout(operation)
        .build()
}

fn retries(attempts: u32) -> RetryConfig {
    RetryConfig::standard()
        .with_max_attempts(attempts)
        .with_initial_backoff(BACKOFF_FIRST)
        .with_max_backoff(BACKOFF_MAX)
}

/// ring: its start-up costs a fraction of a millisecond, where the alternative gathers entropy for tens of them.
const CRYPTO: CryptoMode = CryptoMode::Ring;

/// One pool for all but provider calls.
fn pooled() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new()
        .tls_provider(Provider::Rustls(CRYPTO))
        .pool_idle_timeout(POOL_IDLE)
        .pool_max_idle_per_host(16)
        .build_https()
}

fn unpooled() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new()
        .tls_provider(Provider::Rustls(CRYPTO))
        .pool_max_idle_per_host(0)
        .build_https()
}
