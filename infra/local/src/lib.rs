//! `infra/template.yaml` on one laptop: deploys it as it is, on MiniStack, and drives it.

pub mod api;
pub mod args;
pub mod aws;
mod deploy;
pub mod doorbells;
pub mod endpoint;
mod env_file;
pub mod examples;
mod functions;
mod ministack;
mod package;
pub mod processes;
pub mod provider;
mod python;
mod reports;
pub mod say;
pub mod serve;
pub mod stack;
pub mod story;
mod supervise;
