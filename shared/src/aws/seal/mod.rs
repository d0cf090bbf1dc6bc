//! KMS: the keys of seals and fingerprints.

mod opener;
mod root;
mod sealer;
mod single_flight;

pub use opener::KmsOpener;
pub use root::mac_root;
pub use sealer::KmsSealer;

/// Bound to every data key: one made for another purpose does not decrypt here, and the audit trail says what for.
const CONTEXT: (&str, &str) = ("purpose", "sendonce.seal.v1");
