//! Opens envelopes.

use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_kms::Client;
use aws_sdk_kms::operation::decrypt::DecryptError;
use aws_sdk_kms::primitives::Blob;

use super::CONTEXT;
use super::single_flight::SingleFlight;
use crate::aws::failure::{Failure, log};
use crate::notification::{DataKey, NotificationId, Payload, Sealed};
use crate::ports::{Opener, SealFault};
use crate::tenant::TenantId;

/// How many data keys are remembered: as many admission environments as a busy dispatcher meets at a time.
const REMEMBERED: usize = 16;

/// Opens what was sealed under any KMS key that this function may decrypt with: a replaced one still opens what waits.
#[derive(Clone, Debug)]
pub struct KmsOpener {
    client: Client,
    known: Arc<Mutex<Vec<Known>>>,
}

/// A data key in its encrypted form, and in the clear once somebody has asked.
#[derive(Clone, Debug)]
struct Known {
    encrypted: Arc<[u8]>,
    key: Arc<SingleFlight<DataKey>>,
}

impl KmsOpener {
    /// An opener.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client, known: Arc::default() }
    }

    /// The place of this key, which becomes the most recently used.
    fn known(&self, encrypted: &[u8]) -> Known {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let place = known.iter().position(|one| *one.encrypted == *encrypted);
        let one = match place {
            Some(place) => known.remove(place),
            None => Known { encrypted: Arc::from(encrypted), key: Arc::new(SingleFlight::new()) },
        };
        known.insert(0, one.clone());
        known.truncate(REMEMBERED);
        one
    }

    async fn decrypt(&self, encrypted: &[u8]) -> Result<DataKey, SealFault> {
        let (name, purpose) = CONTEXT;
        let request = self.client.decrypt().ciphertext_blob(Blob::new(encrypted)).encryption_context(name, purpose);
        let answer = request.send().await.map_err(|error| {
            let (fault, class) = match error.as_service_error() {
                Some(DecryptError::InvalidCiphertextException(_)) => (SealFault::Broken, "broken"),
                _ => (SealFault::Unavailable, "unavailable"),
            };
            log("kms:Decrypt", &Failure::of(&error), class);
            fault
        })?;
        answer.plaintext().and_then(|bytes| DataKey::from_slice(bytes.as_ref())).ok_or(SealFault::Broken)
    }
}

impl Opener for KmsOpener {
    async fn open(&self, sealed: &Sealed, tenant: &TenantId, id: &NotificationId) -> Result<Payload, SealFault> {
        let known = self.known(sealed.encrypted_key().ok_or(SealFault::Broken)?);
        let key = known.key.get(|key| Some(key.clone()), || self.decrypt(&known.encrypted)).await?;
        sealed.open(tenant, id, &key).map_err(|_| SealFault::Broken)
    }
}
