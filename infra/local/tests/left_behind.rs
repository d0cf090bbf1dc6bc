//! Whatever ends `local`, nothing of what it started goes on.

#![expect(clippy::expect_used, reason = "a test may panic, and so may what it is made of")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use local::processes::{Process, below};

const PATIENCE: Duration = Duration::from_secs(5);

type Output = BufReader<ChildStdout>;

/// `local serve`, once its stack is up, with its output and all its processes.
fn serving() -> (Child, Output, Vec<Process>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_local"));
    let mut local = command.arg("serve").stdout(Stdio::piped()).spawn().expect("local starts");
    let mut output = BufReader::new(local.stdout.take().expect("piped"));
    let up = output.by_ref().lines().map_while(Result::ok).any(|line| line.starts_with("The stack is up"));
    assert!(up, "the stack did not come up: {:?}", local.wait());
    let processes = below(local.id()).expect("ps");
    assert!(processes.len() >= 3, "{} processes, where itself, a supervisor and MiniStack should be", processes.len());
    (local, output, processes)
}

fn ends_with_everything(signal: &str, code: Option<i32>) {
    let (mut local, _output, processes) = serving();
    let sent = Command::new("kill").args([signal, &local.id().to_string()]).status().expect("kill");
    assert!(sent.success());
    assert_eq!(local.wait().expect("it ended").code(), code);
    let since = Instant::now();
    for process in processes {
        while process.is_running().expect("ps") {
            assert!(since.elapsed() < PATIENCE, "still running: {process:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

#[test]
fn ctrl_c_leaves_nothing_behind() {
    ends_with_everything("-INT", Some(130));
}

#[test]
fn being_killed_leaves_nothing_behind() {
    ends_with_everything("-KILL", None);
}
