//! The environment of the deployed functions as a file, with which `cargo lambda watch` runs the same functions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use bytes::Bytes;
use http::Method;
use serde_json::Value;

use crate::aws::{ACCESS_KEY, Aws, REGION, Request, SECRET_KEY};
use crate::functions;

/// Writes `local/serve.env` below cargo's target directory. `endpoints` are the variables that lead to this stack.
pub(crate) async fn write(
    aws: &Aws,
    names: impl Iterator<Item = &String>,
    endpoints: &[(&str, &str)],
) -> Result<PathBuf> {
    let mut variables = BTreeMap::new();
    for name in names {
        variables.extend(variables_of(aws, name).await?);
    }
    // Last: MiniStack's own answer for one function's session would not serve the four of them.
    let ours = [("AWS_REGION", REGION), ("AWS_ACCESS_KEY_ID", ACCESS_KEY), ("AWS_SECRET_ACCESS_KEY", SECRET_KEY)];
    variables.extend(ours.iter().chain(endpoints).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
    let path = functions::target_directory().await?.join("local/serve.env");
    std::fs::write(&path, lines(&variables)).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

async fn variables_of(aws: &Aws, function: &str) -> Result<BTreeMap<String, String>> {
    let path = format!("/2015-03-31/functions/{function}/configuration");
    let request =
        Request { service: "lambda", method: Method::GET, path: &path, headers: Vec::new(), body: Bytes::new() };
    let answer: Value = serde_json::from_slice(&aws.send(request).await?.body)
        .with_context(|| format!("MiniStack does not tell how {function} is configured"))?;
    let variables = answer.pointer("/Environment/Variables").cloned().unwrap_or_default();
    serde_json::from_value(variables).with_context(|| format!("{function} has no variables"))
}

fn lines(variables: &BTreeMap<String, String>) -> String {
    variables.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_a_line() {
        let variables =
            BTreeMap::from([("B", "2"), ("A", "")].map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(lines(&variables), "A=\nB=2\n");
    }
}
