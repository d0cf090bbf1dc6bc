//! Child processes that cannot outlive us: each runs under `supervisor.py`, tied to this process by a pipe.

use std::io::Read;
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use tempfile::TempDir;

const SUPERVISOR: &str = include_str!("supervisor.py");
const POLL: Duration = Duration::from_millis(20);

/// A command, and with it everything that it spawns. Dropping this ends them all.
#[derive(Debug)]
pub(crate) struct Supervised {
    child: std::process::Child,
    // Never written to. Its end being closed, by whatever ends us, is the message.
    lifeline: Option<ChildStdin>,
    // Removed by us, and by the supervisor if we cannot.
    _scratch: Option<TempDir>,
}

impl Supervised {
    /// Starts `command`; `scratch` is removed when it has ended. `set` may redirect output and change the environment.
    pub(crate) fn start(command: &[&str], scratch: Option<TempDir>, set: impl FnOnce(&mut Command)) -> Result<Self> {
        let mut supervisor = Command::new("python3");
        supervisor.args(["-I", "-c", SUPERVISOR]);
        supervisor.arg(scratch.as_ref().map_or(Path::new("-"), TempDir::path)).args(command).stdin(Stdio::piped());
        // Out of the terminal's foreground group: Ctrl-C is for us, and we close the pipe.
        std::os::unix::process::CommandExt::process_group(&mut supervisor, 0);
        set(&mut supervisor);
        let mut child = supervisor.spawn().context("cannot start python3")?;
        let lifeline = child.stdin.take();
        Ok(Self { child, lifeline, _scratch: scratch })
    }

    /// The supervisor's process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its standard output, if that was piped.
    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// How it ended, or `None` if it is still running.
    pub(crate) fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().context("cannot wait for a child process")
    }

    /// Waits until it has ended by itself.
    pub(crate) async fn finished(&mut self) -> Result<ExitStatus> {
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            tokio::time::sleep(POLL).await;
        }
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        drop(self.lifeline.take());
        // So that nothing is left when we exit. The supervisor needs milliseconds; an error means it is gone already.
        let _ = self.child.wait();
    }
}

/// Runs a command to its end and returns how it ended and what it wrote to standard output.
pub(crate) async fn output(command: &[&str], set: impl FnOnce(&mut Command)) -> Result<(ExitStatus, String)> {
    let mut child = Supervised::start(command, None, |command| {
        set(command);
        command.stdout(Stdio::piped());
    })?;
    let stdout = child.take_stdout();
    // A thread of its own, so that a full pipe cannot stall the command. It ends when the command does.
    let read = tokio::task::spawn_blocking(move || {
        let mut text = String::new();
        stdout.map_or(Ok(0), |mut pipe| pipe.read_to_string(&mut text)).map(|_| text)
    });
    let status = child.finished().await?;
    let text = read.await.context("the reader of a child's output failed")??;
    Ok((status, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether it runs. One that has ended and waits to be reaped does not.
    fn alive(pid: &str) -> bool {
        let state = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().expect("ps");
        !matches!(state.stdout.first(), None | Some(b'Z'))
    }

    #[tokio::test]
    async fn a_command_runs_to_its_end_and_its_status_and_output_come_back() {
        let (status, output) = output(&["sh", "-c", "echo said; exit 3"], |_| {}).await.expect("runs");
        assert_eq!((status.code(), output.as_str()), (Some(3), "said\n"));
    }

    #[tokio::test]
    async fn what_cannot_be_started_is_an_error_with_a_sentence() {
        let (status, _) = output(&["/no/such/command"], |_| {}).await.expect("the supervisor runs");
        assert!(!status.success());
    }

    #[test]
    fn dropping_ends_grandchildren_too_and_removes_the_scratch_directory() {
        let scratch = tempfile::tempdir().expect("a directory");
        let directory = scratch.path().to_owned();
        let pids = directory.join("pids");
        // Written beside and moved, so that it is read whole.
        let script = "sleep 600 & echo $! $$ > $0.tmp; mv $0.tmp $0; trap '' TERM; sleep 600";
        let command = ["sh", "-c", script, pids.to_str().expect("text")];
        let supervised = Supervised::start(&command, Some(scratch), |_| {}).expect("starts");
        let found = loop {
            match std::fs::read_to_string(&pids) {
                Ok(found) => break found,
                Err(_) => std::thread::sleep(POLL),
            }
        };
        assert!(found.split_whitespace().all(alive), "running: {found}");
        drop(supervised);
        std::thread::sleep(POLL);
        assert!(!found.split_whitespace().any(alive), "ended: {found}");
        assert!(!directory.exists());
    }
}
