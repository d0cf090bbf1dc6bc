//! Idempotency for Lambda handlers: **key + scope + store + TTL**. Knows nothing of texts.
//!
//! * [`IdempotencyKey`] names one logical command; the client makes it once and keeps it over its retries.
//! * [`Scope`] says what that key is unique within; a tenant is always part of it.
//! * [`Fingerprint`] tells the same command from another one under the same key, and reveals neither.
//! * [`DedupWindow`] is how long it holds, and cannot be built shorter than the retries that it must outlast.
//!
//! Two modes. **Transactional**, where the effect is a write to the same database: [`Guard`] is the item whose
//! conditional put makes the key unique, written in one transaction with the effect, and [`Guard::judge`] reads it back.
//! **Leased**, where the effect lies elsewhere: [`Leased`] keeps an [`Execution`] before, during and after it, and
//! [`judge`] reads that. [`Version`] is a third thing: optimistic concurrency.
//!
#![doc = include_str!("../../IDEMPOTENCY.md")]

mod answer;
#[cfg(feature = "conformance")]
pub mod conformance;
mod execution;
mod fingerprint;
mod guard;
mod judge;
mod key;
mod lease;
mod leased;
mod memory;
mod period;
mod resolve;
mod run;
mod scope;
mod store;
mod version;
mod window;

pub use answer::{Answer, AnswerBound, AsAnswer, BoundFault, Json};
pub use execution::{Ending, Execution, ExecutionId, Named, Owner, Phase};
pub use fingerprint::{Fields, Fingerprint, FingerprintKey};
pub use guard::{Guard, GuardId, Nonce, StoredAnswer, Verdict};
pub use judge::{Judgement, Moment, judge, reads_as_unknown};
pub use key::{IdempotencyKey, KeyFault};
pub use lease::{Lease, NoTimeLeft};
pub use leased::{Begun, Leased, NotMarked, NotRun, NotWritten, Open, Permit, Rules, Taken};
pub use memory::MemoryStore;
pub use period::{Period, PeriodFault, Zone};
pub use resolve::{Authority, NoAuthority, NotResolved, Resolution, Resolved};
pub use run::{Outcome, Ran};
pub use scope::{NoName, Part, Scope};
pub use store::Executions;
pub use version::{ETag, Expected, PreconditionFault, Version, Versioned, Versions};
pub use window::{DedupWindow, WindowFault, WindowTerms};
