//! Idempotency for Lambda handlers: **key + scope + store + TTL**. Knows nothing of texts.
//!
//! * [`IdempotencyKey`] names one logical command; the client makes it once and keeps it over its retries.
//! * [`Scope`] says what that key is unique within; a tenant is always part of it.
//! * [`Fingerprint`] tells the same command from another one under the same key, and reveals neither.
//! * [`Guard`] is the stored item whose conditional put makes the key unique, and [`Guard::judge`] reads it back.
//! * [`DedupWindow`] is how long it holds, and cannot be built shorter than the retries that it must outlast.

mod fingerprint;
mod guard;
mod key;
mod scope;
mod window;

pub use fingerprint::{Fields, Fingerprint, FingerprintKey};
pub use guard::{Guard, GuardId, Nonce, StoredAnswer, Verdict};
pub use key::{IdempotencyKey, KeyFault};
pub use scope::Scope;
pub use window::{DedupWindow, WindowFault, WindowTerms};
