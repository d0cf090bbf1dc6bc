//! The adapters: each turns one port method into one AWS request, and its answer into a type.
//!
//! * [`Aws`] makes the clients; every option of theirs stands in `clients.rs`, with its reason.
//! * [`Ledger`] keeps records, guards and evidence in DynamoDB.
//! * [`idempotency`] keeps guards and executions of any handler in DynamoDB.
//! * [`SqsDoorbell`] rings, [`parse_doorbell`] reads what rang.
//! * [`AnyCarrier`] sends texts: through SNS by [`SnsCarrier`], or through End User Messaging by [`EumCarrier`];
//!   [`sns_outcome`] and [`eum_outcome`] say what an answer proves.
//! * [`SnsDeliveryLog`] reads SNS's delivery log; [`receipts`] reads what is pushed.
//! * [`KmsSealer`], [`KmsOpener`] and [`mac_root`] hold the keys.
//! * [`SystemClock`] is time and chance; [`telemetry`] and [`warm`] are what a function does before its first event.
//!
//! An SDK error is never formatted: its text may hold a number or a body. What is logged of it is the operation, the
//! code, and the class that it was put in.

mod carrier;
mod clients;
mod clock;
mod codec;
mod delivery_log;
mod doorbell;
mod eum_carrier;
mod eum_outcome;
mod failure;
mod gateway;
pub mod idempotency;
mod invocation;
mod ledger;
pub mod receipts;
mod seal;
mod setup;
mod sns_carrier;
mod sns_outcome;
pub mod telemetry;
mod tries;
pub mod warm;

pub use carrier::AnyCarrier;
pub use clients::{Aws, CarrierTimeouts, Parts, SetupFault};
pub use clock::SystemClock;
pub use delivery_log::SnsDeliveryLog;
pub use doorbell::{SqsDoorbell, parse_doorbell};
pub use eum_carrier::{EumCarrier, EumSettings};
pub use eum_outcome::eum_outcome;
pub use failure::{Failure, FailureKind};
pub use gateway::{GatewayRequest, read_event, reply};
pub use invocation::invocation;
pub use ledger::Ledger;
pub use seal::{KmsOpener, KmsSealer, mac_root};
pub use setup::{Finding, SnsSetup};
pub use sns_carrier::{SnsCarrier, SnsSettings};
pub use sns_outcome::sns_outcome;
