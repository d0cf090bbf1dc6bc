//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::provider::{Provider, Via};

/// Deploys infra/template.yaml on this machine - no AWS account, no Docker - and drives it.
///
/// Without a command it tells the story: it sends real, signed requests to the deployed functions, prints what happens as a
/// timeline, checks each claim, and exits with 1 if one fails. Everything it starts ends with it.
#[derive(Debug, Parser)]
#[command(name = "local", version)]
pub struct Args {
    /// What to do with the stack; the story if nothing is said
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Which SMS provider is simulated, and the template deployed for
    #[arg(long, global = true, value_enum, default_value = "sns")]
    pub via: Via,
    /// How the simulated SMS provider behaves
    #[arg(long, global = true, value_enum, default_value = "ok")]
    pub provider: Provider,
    /// How long after it took a text the provider reports on it; not before an unanswered call has become unknown
    #[arg(long, global = true, value_name = "SECONDS", default_value = "6", value_parser = clap::value_parser!(u64).range(6..=15))]
    pub report_after: u64,
    /// Build the functions as they are deployed: smaller and faster, and minutes to build
    #[arg(long, global = true)]
    pub release: bool,
    /// Keep the log of MiniStack and the functions in this file
    #[arg(long, global = true, value_name = "FILE")]
    pub log: Option<PathBuf>,
}

/// The commands.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum Command {
    /// Tell the story and check it (the default)
    Story,
    /// Leave the stack up until Ctrl-C: shows how to post, and texts and states as they change
    Serve,
    /// Deploy examples/template.yaml instead, and tell and check what a retry of its handlers is told
    Examples,
}
