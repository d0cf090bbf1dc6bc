//! `cargo run -p local`: see `--help`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;
use local::args::{Args, Command};
use local::say::{Timeline, complain};
use local::stack::{Options, Stack};
use tokio::signal::unix::{SignalKind, signal};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args = Args::parse();
    // Whichever branch ends first, the other is dropped, and with it the stack and all its processes.
    let ended = tokio::select! {
        ended = run(&args) => ended,
        interrupted = interruption() => interrupted,
    };
    ended.unwrap_or_else(|error| {
        complain(&format!("local: {error:#}"));
        ExitCode::from(2)
    })
}

async fn run(args: &Args) -> Result<ExitCode> {
    let timeline = Timeline::default();
    let options = Options {
        release: args.release,
        via: args.via,
        provider: args.provider,
        reports_after: Some(Duration::from_secs(args.report_after)),
        log: args.log.clone(),
        ..Options::default()
    };
    match args.command.unwrap_or(Command::Story) {
        Command::Story => local::story::tell(&options, &timeline).await,
        Command::Serve => {
            let stack = Stack::up(&options, &timeline).await?;
            local::serve::serve(&stack, &timeline).await?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Examples => local::examples::tell(&options, &timeline).await,
    }
}

/// Resolves on Ctrl-C, and on being asked to end.
async fn interruption() -> Result<ExitCode> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.map(|()| ExitCode::from(130)).map_err(Into::into),
        _ = terminate.recv() => Ok(ExitCode::from(143)),
        _ = hang_up.recv() => Ok(ExitCode::from(129)),
    }
}
