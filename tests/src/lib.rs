//! What the integration tests share.

pub mod aws_seam;
pub mod contract;
pub mod idempotency;
pub mod model;
pub mod simulation;
pub mod world;
