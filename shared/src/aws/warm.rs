//! What a function does before its first event.
//!
//! A first request pays for the TLS handshake, and inside a handler the processor is throttled. So each function makes
//! one harmless request to each service it needs first, while it still starts: at most two to KMS and one read. All run
//! at once and none for longer than two seconds; what fails is tried again by the first event that needs it.

use core::time::Duration;

use super::{KmsSealer, Ledger, mac_root};
use crate::idempotency::FingerprintKey;
use crate::ports::{Clock, SealFault};

/// The longest that a warm-up holds up the first event.
const LIMIT: Duration = Duration::from_millis(2_000);

/// Without the MAC root, admission can tell no command from another and reconciliation finds no number: there is no use
/// in starting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("KMS did not make the MAC that fingerprints are rooted in: see MAC_KEY_ID, and the right to kms:GenerateMac")]
pub struct NoMacRoot;

/// Admission: the MAC root, a first data key, a connection to DynamoDB.
///
/// # Errors
/// [`NoMacRoot`]; everything else can wait.
pub async fn admission<C: Clock>(
    kms: &aws_sdk_kms::Client,
    mac_key_id: &str,
    sealer: &KmsSealer<C>,
    ledger: &Ledger,
) -> Result<FingerprintKey, NoMacRoot> {
    let (root, (), ()) =
        tokio::join!(mac_root(kms, mac_key_id), bounded("data key", sealer.prepare()), bounded("read", ledger.touch()));
    root.map_err(|_: SealFault| NoMacRoot)
}

/// Reconciliation: the MAC root, under which it finds numbers, and a connection to DynamoDB.
///
/// # Errors
/// [`NoMacRoot`].
pub async fn reconciliation(
    kms: &aws_sdk_kms::Client,
    mac_key_id: &str,
    ledger: &Ledger,
) -> Result<FingerprintKey, NoMacRoot> {
    let (root, ()) = tokio::join!(mac_root(kms, mac_key_id), bounded("read", ledger.touch()));
    root.map_err(|_: SealFault| NoMacRoot)
}

/// Dispatch and status: a connection to DynamoDB. What they need beside it takes an event to ask for.
pub async fn reader(ledger: &Ledger) {
    bounded("read", ledger.touch()).await;
}

async fn bounded<E>(what: &'static str, request: impl Future<Output = Result<(), E>>) {
    match tokio::time::timeout(LIMIT, request).await {
        Ok(Ok(())) => {}
        Ok(Err(_)) | Err(_) => tracing::warn!(what, "a warm-up request did not succeed"),
    }
}
