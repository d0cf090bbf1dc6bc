//! Sendonce: one event, at most one text message, and the evidence to prove it.

mod digest;
pub mod idempotency;
pub mod notification;
pub mod ports;
pub mod tenant;
pub mod time;
