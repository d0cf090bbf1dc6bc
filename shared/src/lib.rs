#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

pub mod admit;
mod answer;
#[cfg(feature = "aws")]
pub mod aws;
pub mod cancel;
pub mod config;
mod digest;
pub mod dispatch;
pub mod http;
pub mod idempotency;
pub mod invocation;
#[cfg(feature = "lambda")]
pub mod lambda;
mod land;
pub mod marks;
mod merge;
pub mod notification;
pub mod ports;
pub mod read;
pub mod receive;
pub mod reconcile;
pub mod resolve;
pub mod seek;
pub mod tenant;
pub mod time;
