//! The services that the flows need, as one deterministic model in memory: what each promises, and what it does not.
//!
//! Nothing here waits, and nothing here chooses: whoever holds a part sets its time, its lag and its flaws. Faults of a
//! call (refused, lost, killed, frozen …) are not here either; [`crate::simulation`] puts them around any port.

mod carrier;
mod flaw;
mod queue;
mod seal;
mod store;
mod table;

pub use carrier::{Call, CarrierModel, Manner};
pub use flaw::{Flaw, Flaws};
pub use queue::{Delivery, Message, QueueModel};
pub use seal::SealModel;
pub use store::Store;
pub use table::{Forgetting, IndexView};
