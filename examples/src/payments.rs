//! The payment service, as these examples need it: it takes a reference with each charge, and can be asked about one.

use core::time::Duration;

use sendonce::idempotency::ExecutionId;
use serde::{Deserialize, Serialize};

/// A charge that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paid {
    /// The service's name for it.
    pub charge: String,
}

/// What came of asking for a charge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Charged {
    /// It was made.
    Paid(Paid),
    /// It was declined, for good.
    Declined,
    /// The request surely did not get there.
    NotSent,
    /// It may have been made.
    Unknown,
}

/// What is known about a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// The charge under it.
    Paid(Paid),
    /// The service has never seen it, and its look-up sees every charge that was made.
    Nothing,
    /// No answer this time.
    NoAnswer,
}

/// A payment service.
pub trait Payments {
    /// Asks for a charge, once.
    fn charge(&self, reference: &ExecutionId, cents: u64) -> impl Future<Output = Charged> + Send;

    /// Asks what is known about a reference.
    fn find(&self, reference: &ExecutionId) -> impl Future<Output = Known> + Send;
}

/// The service behind `PAYMENTS_URL`: `POST /charges` and `GET /charges/{reference}`.
#[derive(Clone, Debug)]
pub struct HttpPayments {
    client: reqwest::Client,
    url: String,
}

#[derive(Serialize)]
struct Asked<'a> {
    reference: &'a str,
    cents: u64,
}

impl HttpPayments {
    /// The service at this URL. No request to it is made twice.
    ///
    /// # Errors
    /// When the HTTP client cannot be built.
    pub fn new(url: impl Into<String>) -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder()
            .connect_timeout(Duration::from_secs(2))
            .timeout(Duration::from_secs(10))
            .pool_max_idle_per_host(0)
            .retry(reqwest::retry::never())
            .build()?;
        Ok(Self { client, url: url.into() })
    }
}

impl Payments for HttpPayments {
    async fn charge(&self, reference: &ExecutionId, cents: u64) -> Charged {
        let asked = Asked { reference: reference.as_str(), cents };
        match self.client.post(format!("{}/charges", self.url)).json(&asked).send().await {
            Err(error) if error.is_connect() => Charged::NotSent,
            Err(_) => Charged::Unknown,
            Ok(answer) if answer.status() == 402 => Charged::Declined,
            Ok(answer) if answer.status() == 201 => answer.json().await.map_or(Charged::Unknown, Charged::Paid),
            Ok(_) => Charged::Unknown,
        }
    }

    async fn find(&self, reference: &ExecutionId) -> Known {
        let name = reference.as_str().replace('#', "%23");
        match self.client.get(format!("{}/charges/{name}", self.url)).send().await {
            Ok(answer) if answer.status() == 200 => answer.json().await.map_or(Known::NoAnswer, Known::Paid),
            Ok(answer) if answer.status() == 404 => Known::Nothing,
            Ok(_) | Err(_) => Known::NoAnswer,
        }
    }
}
