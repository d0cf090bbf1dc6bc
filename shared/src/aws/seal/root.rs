//! The root of fingerprints and number hashes.

use aws_sdk_kms::Client;
use aws_sdk_kms::primitives::Blob;
use aws_sdk_kms::types::MacAlgorithmSpec;

use crate::aws::failure::{Failure, log};
use crate::idempotency::FingerprintKey;
use crate::ports::SealFault;

/// What the MAC is made of. Another label would be another root: stored fingerprints would match nothing.
const LABEL: &[u8] = b"sendonce.mac.root.v1";

/// The same 32 bytes for each cold start, which nobody without the KMS key can make. One request.
///
/// # Errors
/// [`SealFault::Unavailable`] when KMS does not give it.
pub async fn mac_root(client: &Client, key_id: &str) -> Result<FingerprintKey, SealFault> {
    let request =
        client.generate_mac().key_id(key_id).mac_algorithm(MacAlgorithmSpec::HmacSha256).message(Blob::new(LABEL));
    let answer = request.send().await.map_err(|error| {
        log("kms:GenerateMac", &Failure::of(&error), "unavailable");
        SealFault::Unavailable
    })?;
    let mac = answer.mac().and_then(|mac| mac.as_ref().try_into().ok());
    mac.map(FingerprintKey::new).ok_or(SealFault::Unavailable)
}
