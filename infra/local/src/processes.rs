//! Which processes a stack consists of, as `ps` tells.

use std::process::Command;

use anyhow::{Context, Result};

/// One process, and how it was started.
#[derive(Debug, Clone)]
pub struct Process {
    /// Its number.
    pub id: u32,
    parent: u32,
    /// State, command and environment.
    description: String,
}

impl Process {
    /// Whether this is a function's process, and of which function: `admission`, `dispatch`, …
    pub fn is_function(&self, name: &str) -> bool {
        self.description.contains("/bootstrap ")
            && self.description.contains(&format!("AWS_LAMBDA_FUNCTION_NAME=sendonce-{name} "))
    }

    /// Whether it still runs. One that has ended and waits to be reaped does not.
    pub fn is_running(&self) -> Result<bool> {
        Ok(all()?.iter().any(|process| process.id == self.id && !process.description.starts_with('Z')))
    }

    /// Ends it as a machine that fails would: with no chance to do anything about it.
    pub fn kill(&self) -> Result<()> {
        Command::new("kill").args(["-KILL", &self.id.to_string()]).status().context("cannot run kill").map(drop)
    }
}

/// The process `root` and all that it has spawned, in whatever generation.
pub fn below(root: u32) -> Result<Vec<Process>> {
    let (mut found, mut left): (Vec<Process>, Vec<Process>) =
        all()?.into_iter().partition(|process| process.id == root);
    loop {
        let (children, others) =
            left.into_iter().partition(|process| found.iter().any(|known| known.id == process.parent));
        if Vec::<Process>::is_empty(&children) {
            return Ok(found);
        }
        found.extend(children);
        left = others;
    }
}

fn all() -> Result<Vec<Process>> {
    let listed =
        Command::new("ps").args(["axeww", "-o", "pid=,ppid=,stat=,command="]).output().context("cannot run ps")?;
    Ok(String::from_utf8_lossy(&listed.stdout).lines().filter_map(read).collect())
}

fn read(line: &str) -> Option<Process> {
    let (id, rest) = line.trim_start().split_once(' ')?;
    let (parent, description) = rest.trim_start().split_once(' ')?;
    Some(Process {
        id: id.parse().ok()?,
        parent: parent.parse().ok()?,
        description: format!("{} ", description.trim_start()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_found_with_their_environment() {
        let mut child = Command::new("sh").args(["-c", "sleep 60 & wait"]).env("MARK", "here").spawn().expect("starts");
        let mut found = Vec::new();
        while found.len() < 2 {
            found = below(child.id()).expect("ps");
        }
        assert!(found.iter().all(|process| process.description.contains("MARK=here ")), "{found:?}");
        for process in &found {
            process.kill().expect("kill");
        }
        child.wait().expect("it ended");
        assert!(!found.first().expect("the shell").is_running().expect("ps"));
    }
}
