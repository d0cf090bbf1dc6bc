//! What the integration tests share.

pub mod aws_seam;
