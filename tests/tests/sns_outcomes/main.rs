//! What one `Publish` comes to: the real SDK with production options, against an endpoint that misbehaves by script.
//!
//! Each test asserts the outcome *and* how many requests the endpoint got: one, or none where nothing ever connected.
//! A second one would be a second text.

mod codes;
mod connections;
mod endpoint;
mod logs;
mod setup;
