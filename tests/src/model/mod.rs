//! The design as a space of states, for the model checker `stateright`.
//!
//! The decisions are the production ones, called and not described: what may be done with a record
//! ([`sendonce::notification::next`]), where a fact leads ([`sendonce::notification::Record::step`]), what a late answer
//! adds ([`sendonce::notification::merge_outcome`]), whose write stands in the way
//! ([`sendonce::notification::Transition::is_own`]), what a stored guard means ([`sendonce::idempotency::Guard::judge`]),
//! and the record that admission makes. What is told anew, as short as can be, is what stands around them: the order of
//! an actor's requests, the conditions of the store, a queue, a provider. [`crate::simulation`] runs the flows
//! themselves; this looks at *all* that can come of the decisions, where a simulation looks at much.
//!
//! * **State** ([`world::World`]) is some 300 bytes: records and rows go in and out of their slim form ([`slim`]).
//! * **Time** is ten instants ([`numbers`]). Doing things takes no time; who is to be slow is frozen, which is a fault.
//! * **Faults** are counted: a crash or a freeze at any point, a lost answer, a message lost, doubled or held back, an
//!   answer that its client never hears. How the provider meets a call costs nothing.
//! * **Promises** ([`properties`]) carry the numbers of the design's invariants. [`flaw`] breaks them on purpose.
//!
//! Receipts, look-ups and operators are not told here, so that `delivered` and `undelivered` are not reached; the simulation
//! plays them.

pub mod admission;
pub mod cast;
pub mod check;
pub mod decisions;
pub mod flaw;
pub mod moves;
pub mod numbers;
pub mod properties;
pub mod slim;
pub mod world;
