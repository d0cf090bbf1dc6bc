//! Closes envelopes.

use std::sync::Arc;

use aws_sdk_kms::Client;
use aws_sdk_kms::types::DataKeySpec;

use super::CONTEXT;
use super::single_flight::SingleFlight;
use crate::aws::failure::{Failure, log};
use crate::notification::{DataKey, NotificationId, Payload, Sealed};
use crate::ports::{Clock, SealFault, Sealer};
use crate::tenant::TenantId;
use crate::time::{EpochMillis, Millis};

/// How long one data key seals, at most.
const KEY_AGE_MAX: Millis = Millis::from_secs(300);
/// How many messages one data key seals, at most.
const KEY_USES_MAX: u32 = 1_000;

/// Seals under data keys of one KMS key.
#[derive(Clone, Debug)]
pub struct KmsSealer<C> {
    client: Client,
    key_id: String,
    clock: C,
    current: Arc<SingleFlight<Current>>,
}

#[derive(Debug)]
struct Current {
    key: DataKey,
    encrypted: Arc<[u8]>,
    made_at: EpochMillis,
    uses: u32,
}

impl<C: Clock> KmsSealer<C> {
    /// A sealer under this KMS key.
    pub fn new(client: Client, key_id: impl Into<String>, clock: C) -> Self {
        Self { client, key_id: key_id.into(), clock, current: Arc::new(SingleFlight::new()) }
    }

    /// Asks for a data key ahead of the first message.
    pub(in crate::aws) async fn prepare(&self) -> Result<(), SealFault> {
        let now = self.clock.now();
        self.current.get(|current| current.is_usable(now).then_some(()), || self.generate(now)).await
    }

    async fn data_key(&self) -> Result<(DataKey, Arc<[u8]>), SealFault> {
        let now = self.clock.now();
        self.current.get(|current| current.use_once(now), || self.generate(now)).await
    }

    async fn generate(&self, now: EpochMillis) -> Result<Current, SealFault> {
        let (name, purpose) = CONTEXT;
        let request = self
            .client
            .generate_data_key()
            .key_id(&self.key_id)
            .key_spec(DataKeySpec::Aes256)
            .encryption_context(name, purpose);
        let answer = request.send().await.map_err(|error| {
            log("kms:GenerateDataKey", &Failure::of(&error), "unavailable");
            SealFault::Unavailable
        })?;
        let key = answer.plaintext().and_then(|bytes| DataKey::from_slice(bytes.as_ref()));
        let encrypted = answer.ciphertext_blob().map(|bytes| Arc::from(bytes.as_ref()));
        let (Some(key), Some(encrypted)) = (key, encrypted) else { return Err(SealFault::Unavailable) };
        Ok(Current { key, encrypted, made_at: now, uses: 0 })
    }
}

impl Current {
    /// Age is taken from when the key was asked for. One from the future (the clock was set back) is not trusted.
    fn is_usable(&self, now: EpochMillis) -> bool {
        let age = now.since(self.made_at);
        (Millis::ZERO..KEY_AGE_MAX).contains(&age) && self.uses < KEY_USES_MAX
    }

    fn use_once(&mut self, now: EpochMillis) -> Option<(DataKey, Arc<[u8]>)> {
        self.is_usable(now).then(|| {
            self.uses += 1;
            (self.key.clone(), Arc::clone(&self.encrypted))
        })
    }
}

impl<C: Clock> Sealer for KmsSealer<C> {
    async fn seal(&self, payload: &Payload, tenant: &TenantId, id: &NotificationId) -> Result<Sealed, SealFault> {
        let (key, encrypted) = self.data_key().await?;
        let random = self.clock.random();
        let nonce = random.first_chunk().copied().ok_or(SealFault::Unavailable)?;
        Sealed::seal(payload, tenant, id, &key, &encrypted, nonce).map_err(|_| SealFault::Broken)
    }
}
