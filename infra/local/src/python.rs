//! A virtual environment under the target directory with exactly what `requirements.txt` names.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::say::Timeline;
use crate::supervise;

const REQUIREMENTS: &str = include_str!("../requirements.txt");
const ASK: &str = "import sys, venv, ensurepip; print(sys.version); sys.exit(sys.version_info < (3, 10))";

/// The interpreter of the environment, which is made first if it is not there or not the right one.
pub(crate) async fn environment(target: &Path, timeline: &Timeline) -> Result<PathBuf> {
    let version = system_python()?;
    let home = target.join("local");
    std::fs::create_dir_all(&home).with_context(|| format!("cannot create {}", home.display()))?;
    // Several of us may start at once on a fresh clone; the first one sets up, the others wait here.
    let lock = File::create(home.join("venv.lock")).context("cannot create target/local/venv.lock")?;
    let lock = tokio::task::spawn_blocking(move || lock.lock().map(|()| lock)).await??;
    let venv = home.join("venv");
    let python = venv.join("bin/python");
    let stamp = venv.join("stamp");
    let wanted = format!("{version}{REQUIREMENTS}");
    if std::fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        timeline.event("python environment: ready");
    } else {
        timeline.event("python environment: installing MiniStack into target/local/venv, once");
        install(&home, &venv, &python).await?;
        std::fs::write(&stamp, wanted).context("cannot write the environment's stamp")?;
    }
    drop(lock);
    Ok(python)
}

async fn install(home: &Path, venv: &Path, python: &Path) -> Result<()> {
    if venv.exists() {
        std::fs::remove_dir_all(venv).context("cannot remove the outdated target/local/venv")?;
    }
    let requirements = home.join("requirements.txt");
    std::fs::write(&requirements, REQUIREMENTS).context("cannot write target/local/requirements.txt")?;
    run(
        &["python3", "-m", "venv", &text(venv)?],
        "python3 could not create a virtual environment; its reason is above",
    )
    .await?;
    let (python, requirements) = (text(python)?, text(&requirements)?);
    let pip = [
        &python,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "-r",
        &requirements,
    ];
    run(
        &pip,
        "pip could not install MiniStack; its reason is above. If it could not connect, check the network (a proxy goes \
         into HTTPS_PROXY, a mirror into PIP_INDEX_URL) and run this again: it starts over",
    )
    .await
}

async fn run(command: &[&str], otherwise: &'static str) -> Result<()> {
    let (status, output) = supervise::output(command, |_| {}).await?;
    if !status.success() {
        crate::say::complain(output.trim_end());
        bail!(otherwise);
    }
    Ok(())
}

fn system_python() -> Result<String> {
    let answer = Command::new("python3").args(["-I", "-c", ASK]).output();
    let advice = "install Python 3.10 or newer with its venv module (Debian and Ubuntu: apt install python3 python3-venv; \
                  macOS: brew install python3) and run this again";
    match answer {
        Ok(answer) if answer.status.success() => Ok(String::from_utf8_lossy(&answer.stdout).into_owned()),
        Ok(answer) if answer.stdout.is_empty() => bail!("python3 lacks its venv module: {advice}"),
        Ok(_) => bail!("python3 is too old: {advice}"),
        Err(_) => bail!("there is no python3 on the PATH: {advice}"),
    }
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).with_context(|| format!("{} is not valid UTF-8", path.display()))
}
