//! One notification: what it is, its states, what may become of it, and the evidence. Pure: no AWS type, no clock
//! read, no I/O.

mod command;
mod decide;
mod destination;
mod evidence;
mod fact;
#[cfg(test)]
mod fixture;
mod identity;
mod late;
mod operator;
mod outcome;
mod pairing;
mod receipt;
mod record;
mod seal;
mod text;
mod transition;

pub use command::{Command, Kind, SenderId};
pub use decide::{Next, Policy, Silence, is_pairable, last_useful_instant, next};
pub(crate) use decide::{backoff, due_at, ring_gap, seek_gap};
pub use destination::{DestinationMac, Mask, PhoneNumber};
pub use evidence::{ChainFault, Row, verify_chain};
pub use fact::{Accepted, Actor, Fact, Function, UnknownBasis};
pub use identity::{AttemptId, Event, EventId, EventType, NotificationId, Reference};
pub use late::merge_outcome;
pub use operator::{CloseBasis, Decision, NotDecidable, PrincipalId, ResendBasis, decide_by_operator};
pub use outcome::{Outcome, ProviderCode, Refusal, RefusalClass};
pub use pairing::{LATE, LogRow, Pairing, Trace, pair, trace_named, traces};
pub use receipt::{DeliveryCode, Finding, Noted, Receipt, ReceiptSource, ReceiptStatus, Strength};
pub use record::{Attempt, Progress, Provider, Record, State, StopReason};
pub use seal::{DataKey, OpenFault, Payload, Sealed};
pub use text::MessageText;
pub use transition::{Held, IllegalTransition, Transition};
