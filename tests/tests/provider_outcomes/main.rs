//! What one call to a provider comes to, SNS and End User Messaging alike: the real SDK with production options, against an endpoint that misbehaves by script.
//!
//! Each test asserts the outcome *and* how many requests the endpoint got: one, or none where nothing ever connected.
//! A second one would be a second text.

mod codes;
mod connections;
mod endpoint;
mod eum_codes;
mod logs;
mod setup;
mod sns_codes;
mod wire;
