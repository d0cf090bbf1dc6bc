//! MiniStack: AWS on one loopback port, in one process, in memory. Functions are its child processes.

use std::fs::File;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::aws::{ACCESS_KEY, REGION, SECRET_KEY, client};
use crate::supervise::Supervised;

const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);

/// Where MiniStack and the functions find things.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    /// The interpreter that has MiniStack.
    pub(crate) python: &'a Path,
    /// Its temporary directory.
    pub(crate) scratch: &'a Path,
    /// The port to listen on.
    pub(crate) port: u16,
    /// With which the functions find it, and what stands in front of it.
    pub(crate) variables: &'a [(&'a str, &'a str)],
    /// Where its log goes, and with it the functions'.
    pub(crate) log: &'a Path,
}

/// A port that was free just now. Another process may take it first; then MiniStack says so and we try the next.
pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("there is no free port on 127.0.0.1")?;
    Ok(listener.local_addr()?.port())
}

/// Starts MiniStack and waits until it answers. Its temporary directory goes when it does.
pub(crate) async fn start(place: &Place<'_>, scratch: TempDir) -> Result<Supervised> {
    let log = File::create(place.log).with_context(|| format!("cannot write {}", place.log.display()))?;
    let python = place.python.to_str().context("the path of the virtual environment is not valid UTF-8")?;
    let errors = log.try_clone()?;
    let mut process = Supervised::start(&[python, "-m", "ministack"], Some(scratch), |command| {
        environment(command, place);
        command.stdout(log).stderr(errors);
    })?;
    let health = format!("http://127.0.0.1:{}/_ministack/health", place.port);
    let (http, started) = (client()?, Instant::now());
    while !http.get(&health).send().await.is_ok_and(|answer| answer.status().is_success()) {
        if process.ended()?.is_some() {
            bail!("MiniStack ended at once; the end of its log:\n{}", tail(place.log));
        }
        if started.elapsed() > PATIENCE {
            bail!("MiniStack does not answer after a minute; the end of its log:\n{}", tail(place.log));
        }
        tokio::time::sleep(POLL).await;
    }
    Ok(process)
}

/// Nothing of the user's environment, least of all AWS credentials or a profile, reaches MiniStack or a function.
fn environment(command: &mut Command, place: &Place<'_>) {
    let path = std::env::var_os("PATH").unwrap_or_default();
    command.env_clear().env("PATH", path).env("HOME", place.scratch).env("TMPDIR", place.scratch);
    command.env("BIND_HOST", "127.0.0.1").env("GATEWAY_PORT", place.port.to_string());
    // Every request is checked against the role that makes it, so that the template's roles are tried here too.
    command.env("AUTH", "true");
    command
        .env("MINISTACK_REGION", REGION)
        .env("AWS_ACCESS_KEY_ID", ACCESS_KEY)
        .env("AWS_SECRET_ACCESS_KEY", SECRET_KEY);
    command.envs(place.variables.iter().copied());
    // Listeners on fixed ports, on which two instances would collide.
    command.env("SFTP_ENABLED", "0").env("IOT_MTLS_ENABLED", "0");
    command.env("PYTHONUNBUFFERED", "1").env("PYTHONDONTWRITEBYTECODE", "1");
}

/// The last lines of a log.
pub(crate) fn tail(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(15)..).unwrap_or_default().join("\n")
}
