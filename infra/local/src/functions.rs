//! The functions, built by cargo as they are deployed: each binary alone in a zip, named `bootstrap`.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use zip::write::SimpleFileOptions;

use crate::supervise;

/// What is built together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binaries {
    packages: &'static [&'static str],
    names: &'static [&'static str],
}

/// The service's.
pub(crate) const SERVICE: Binaries = {
    let names = &["admission", "dispatch", "reconciliation", "status"];
    Binaries { packages: names, names }
};
/// The examples'.
pub(crate) const EXAMPLES: Binaries = Binaries { packages: &["examples"], names: &["charges", "orders"] };

/// A function's deployment package.
#[derive(Debug)]
pub(crate) struct Package {
    /// Name of package and binary.
    pub(crate) name: String,
    /// The archive.
    pub(crate) zip: Vec<u8>,
}

struct Executable {
    name: String,
    path: PathBuf,
}

/// The root of the workspace that this crate was built in.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Asks cargo where it builds: not always `target`.
pub(crate) async fn target_directory() -> Result<PathBuf> {
    #[derive(Deserialize)]
    struct Metadata {
        target_directory: PathBuf,
    }
    let command = [&cargo(), "metadata", "--no-deps", "--format-version", "1", "--offline"];
    let output = Command::new(command.first().unwrap_or(&"cargo"))
        .args(command.iter().skip(1))
        .current_dir(workspace())
        .output()
        .context("cannot run cargo; install Rust (https://rustup.rs) and run this again")?;
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("cargo metadata gave an unexpected answer")?;
    Ok(metadata.target_directory)
}

/// Builds the functions. Cargo shows its progress on standard error meanwhile.
pub(crate) async fn build(release: bool, binaries: Binaries) -> Result<Vec<Package>> {
    let cargo = cargo();
    let mut command: Vec<&str> = vec![&cargo, "build", "--message-format", "json-render-diagnostics"];
    if release {
        command.push("--release");
        command.extend(binaries.packages.iter().flat_map(|package| ["--package", *package]));
    } else {
        // What is built of the libraries then serves `cargo test --workspace` too. Fewer packages would be other
        // features of theirs, and minutes more for whoever does both.
        command.extend(["--workspace", "--bins"]);
    }
    let (status, messages) = supervise::output(&command, as_from_a_shell).await?;
    if !status.success() {
        bail!("the functions do not build; cargo says above why");
    }
    let executables: Vec<Executable> = messages.lines().filter_map(executable).collect();
    let find = |name: &&str| executables.iter().find(|executable| executable.name == **name);
    let packages = binaries.names.iter().map(|name| {
        let found = find(name).with_context(|| format!("cargo built no binary named {name}"))?;
        Ok(Package { name: found.name.clone(), zip: zip(&found.path, release)? })
    });
    packages.collect()
}

/// The binary alone in an archive. What is not deployed is not worth the time to compress it.
fn zip(binary: &Path, compress: bool) -> Result<Vec<u8>> {
    let content = std::fs::read(binary).with_context(|| format!("cannot read {}", binary.display()))?;
    let method = if compress { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    let options = SimpleFileOptions::default().compression_method(method).unix_permissions(0o755);
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    archive.start_file("bootstrap", options)?;
    archive.write_all(&content)?;
    Ok(archive.finish()?.into_inner())
}

fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned())
}

/// `cargo run` describes *our* package to us in the environment. Some build scripts watch those variables, and would run
/// again, and all that depends on them be built again, each time a build is started from here and then from a shell.
fn as_from_a_shell(command: &mut Command) {
    command.current_dir(workspace());
    for (name, _) in std::env::vars() {
        let ours = ["CARGO_PKG_", "CARGO_BIN_", "CARGO_MANIFEST_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
        if ours.iter().any(|prefix| name.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
}

fn executable(message: &str) -> Option<Executable> {
    #[derive(Deserialize)]
    struct Message {
        target: Target,
        executable: Option<PathBuf>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }
    let message: Message = serde_json::from_str(message).ok()?;
    Some(Executable { name: message.target.name, path: message.executable? })
}

#[cfg(test)]
mod tests {
    use super::executable;

    #[test]
    fn only_messages_about_executables_count() {
        let bin = r#"{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"status"},"executable":"/t/debug/status"}"#;
        let built = executable(bin).expect("an executable");
        assert_eq!((built.name.as_str(), built.path.to_str()), ("status", Some("/t/debug/status")));
        assert!(
            executable(r#"{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"status"},"executable":null}"#)
                .is_none()
        );
        assert!(executable(r#"{"reason":"build-finished","success":true}"#).is_none());
    }
}
