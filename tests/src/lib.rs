//! What the integration tests share.

pub mod aws_seam;
pub mod simulation;
pub mod world;
