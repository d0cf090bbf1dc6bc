//! AWS in process, under the real SDK.
//!
//! [`Seam`] is an HTTP client for the SDK that has no sockets. What the SDK sends is answered right here: DynamoDB by
//! the engine `dynoxide`, with tables as the template makes them; SQS, SNS, End User Messaging, KMS and CloudWatch Logs by small
//! models of what the service uses of them. So everything above the wire is production code: adapters, client options, retries,
//! serialisation.
//!
//! ```
//! # use sendonce::ports::{Doorbell, Records};
//! # use sendonce::time::Millis;
//! # use sendonce::notification::NotificationId;
//! # use tests::aws_seam::{Fault, Seam};
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let seam = Seam::new();
//! let adapters = seam.adapters().await;
//! let id = NotificationId::parse("ntf_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").unwrap();
//!
//! seam.fail_next("dynamodb:GetItem", Fault::SilentBefore); // one hang; the SDK tries again
//! assert_eq!(adapters.ledger.record(&id).await, Ok(None));
//! assert_eq!(seam.count("dynamodb:GetItem"), 2);
//!
//! adapters.doorbell.ring(&id, Millis::ZERO).await.unwrap();
//! assert_eq!(seam.receive(10).len(), 1);
//! # }
//! ```
//!
//! * **Time** is [`SeamClock`]'s for the adapters, the SDK's signatures and the database; it stands still until a test
//!   moves it. Time-outs run on tokio's clock, so tests are written with `start_paused = true` and never wait.
//! * **Requests** are counted as they arrive, each try for itself: [`Seam::count`], [`Seam::counts`],
//!   [`Seam::requests`] (with everything that was sent, for searches after secrets), [`Seam::forget_requests`].
//! * **Faults** are queued for an operation and strike one request each: [`Seam::fail_next`], [`Seam::fail_times`].
//!   `…Before` means that nothing was done, `…After` that all was done and its answer was lost.
//! * **The queue** delivers at least once: [`Seam::receive`], [`Seam::delete`], [`Seam::deliver_again`].
//! * **Texts** that the provider took, which is the ground truth of a test, are in [`Seam::texts`].
//! * **Log groups** are written by tests, as SNS would: [`Seam::write_log`], [`Seam::subscribe`].
//! * **Items** can be read, planted and swept: [`Seam::items`], [`Seam::item`], [`Seam::plant`], [`Seam::sweep_ttl`].

mod account;
mod clock;
mod connector;
mod database;
mod fault;
mod keys;
mod logs;
mod provider;
mod queue;
mod request;

use core::time::Duration;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_credential_types::Credentials;
use aws_sdk_sns::config::{Region, SharedHttpClient};
use aws_smithy_async::time::SharedTimeSource;
use sendonce::aws::{
    Aws, CarrierTimeouts, EumCarrier, EumSettings, KmsOpener, KmsSealer, Ledger, Parts, SnsCarrier, SnsSettings,
    SqsDoorbell,
};
use sendonce::time::Millis;

pub use clock::SeamClock;
pub use connector::REQUEST_ID;
pub use database::{EVIDENCE, NOTIFICATIONS, TABLES, item_size};
pub use fault::Fault;
pub use keys::{MAC_KEY, SEAL_KEY};
pub use logs::SNS_LOG_GROUP;
pub use provider::Taken;
pub use queue::{Message, QUEUE_URL};
pub use request::{Request, operation};

/// AWS, as one test sees it. Clones are the same one.
#[derive(Clone, Default)]
pub struct Seam(Arc<Inner>);

/// It holds numbers and texts, and clients print what they send through.
impl fmt::Debug for Seam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seam")
    }
}

#[derive(Default)]
struct Inner {
    clock: SeamClock,
    database: database::Tables,
    log: Mutex<request::Log>,
    queue: Mutex<queue::Queue>,
    keys: Mutex<keys::Keys>,
    taken: Mutex<Vec<Taken>>,
    logs: Mutex<logs::Logs>,
    account: Mutex<account::Account>,
    latency: Mutex<Duration>,
}

/// The production adapters on a seam, made as the functions make them.
#[derive(Clone, Debug)]
pub struct Adapters {
    pub aws: Aws,
    pub clock: SeamClock,
    pub ledger: Ledger,
    pub doorbell: SqsDoorbell,
    pub carrier: SnsCarrier<SeamClock>,
    pub eum: EumCarrier<SeamClock>,
    pub sealer: KmsSealer<SeamClock>,
    pub opener: KmsOpener,
    pub kms: aws_sdk_kms::Client,
}

impl Seam {
    /// Empty tables, an empty queue, and the clock at [`SeamClock::START`].
    pub fn new() -> Self {
        let clock = SeamClock::default();
        Self(Arc::new(Inner { database: database::Tables::new(&clock), clock, ..Inner::default() }))
    }

    pub fn clock(&self) -> SeamClock {
        self.0.clock.clone()
    }

    /// The client factory of production, with this seam for a network.
    pub async fn aws(&self) -> Aws {
        let parts = Parts {
            http_client: Some(SharedHttpClient::new(connector::SeamClient(self.clone()))),
            time_source: Some(SharedTimeSource::new(self.clock())),
            region: Some(Region::new("eu-central-1")),
            credentials: Some(credentials()),
            ..Parts::default()
        };
        Aws::with(parts).await.expect("region and credentials are given")
    }

    pub async fn adapters(&self) -> Adapters {
        let (aws, clock) = (self.aws().await, self.clock());
        let limits = CarrierTimeouts { connect: Millis::from_secs(2), operation: Millis::from_secs(10) };
        Adapters {
            ledger: Ledger::new(aws.dynamodb(), NOTIFICATIONS, EVIDENCE),
            doorbell: SqsDoorbell::new(aws.sqs(), QUEUE_URL),
            carrier: SnsCarrier::new(aws.sns(limits), clock.clone(), SnsSettings::default()),
            eum: EumCarrier::new(aws.eum(limits), clock.clone(), EumSettings::default()),
            sealer: KmsSealer::new(aws.kms(), SEAL_KEY, clock.clone()),
            opener: KmsOpener::new(aws.kms()),
            kms: aws.kms(),
            aws,
            clock,
        }
    }

    /// Every answer takes this long from here on.
    pub fn answer_after(&self, latency: Duration) {
        *lock(&self.0.latency) = latency;
    }

    /// The next request for `operation` (such as `dynamodb:PutItem`) meets this fault.
    pub fn fail_next(&self, operation: &str, fault: Fault) {
        self.fail_times(operation, 1, fault);
    }

    /// The next `times` requests for `operation` meet this fault.
    pub fn fail_times(&self, operation: &str, times: usize, fault: Fault) {
        lock(&self.0.log).plan(operation, times, fault);
    }

    /// No fault that is still to come comes.
    pub fn fail_no_more(&self) {
        lock(&self.0.log).unplan();
    }

    /// Every request that arrived, in order, each try for itself.
    pub fn requests(&self) -> Vec<Request> {
        lock(&self.0.log).arrived.clone()
    }

    /// How many requests for `operation` arrived.
    pub fn count(&self, operation: &str) -> usize {
        self.counts().get(operation).copied().unwrap_or(0)
    }

    /// How many requests arrived for each operation that any arrived for.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for request in &lock(&self.0.log).arrived {
            *counts.entry(request.operation.clone()).or_default() += 1;
        }
        counts
    }

    /// Counts from here.
    pub fn forget_requests(&self) {
        lock(&self.0.log).arrived.clear();
    }

    /// The texts that the provider took.
    pub fn texts(&self) -> Vec<Taken> {
        lock(&self.0.taken).clone()
    }
}

/// Not a secret: what signs requests that go nowhere.
pub fn credentials() -> Credentials {
    Credentials::builder().access_key_id("AKIDEXAMPLE").secret_access_key("example").provider_name("test").build()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A test that panicked elsewhere is the one to read; this one should not add to it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
