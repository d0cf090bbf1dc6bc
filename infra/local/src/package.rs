//! What `sam package` does to a template: each local `CodeUri` becomes the place it was uploaded to, and nothing else changes.
//!
//! Line by line, as text: a YAML library would have to give back every tag, comment and quote as it found them.

use anyhow::{Result, bail};

/// Rewrites every `CodeUri`; `place` gets the last part of its path, which names the function, and answers with the new value.
pub(crate) fn package(template: &str, mut place: impl FnMut(&str) -> Result<String>) -> Result<String> {
    let mut packaged = String::with_capacity(template.len());
    for line in template.split_inclusive('\n') {
        match code_uri(line) {
            Some((indent, path)) => {
                let function = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
                packaged.push_str(&format!("{indent}CodeUri: {}\n", place(function)?));
            }
            None if line.trim_start().starts_with("CodeUri:") => {
                bail!("cannot read this line of the template: {}", line.trim())
            }
            None => packaged.push_str(line),
        }
    }
    Ok(packaged)
}

fn code_uri(line: &str) -> Option<(&str, &str)> {
    let trimmed = line.trim_start();
    let indent = line.get(..line.len() - trimmed.len())?;
    let value = trimmed.strip_prefix("CodeUri:")?.trim();
    let path = value.trim_matches(['"', '\'']);
    let plain = !path.is_empty() && !path.contains([' ', '#', '!', '{']);
    plain.then_some((indent, path))
}

#[cfg(test)]
mod tests {
    use super::package;

    fn placed(function: &str) -> anyhow::Result<String> {
        Ok(format!("s3://code/{function}"))
    }

    #[test]
    fn code_uris_are_replaced_and_nothing_else() {
        let template = "A:\n  CodeUri: ../target/lambda/status/\n  # a comment\n  Arn: !GetAtt Queue.Arn\nB:\n  CodeUri: '../x/admission'";
        let packaged = "A:\n  CodeUri: s3://code/status\n  # a comment\n  Arn: !GetAtt Queue.Arn\nB:\n  CodeUri: s3://code/admission\n";
        assert_eq!(package(template, placed).expect("packaged"), packaged);
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        for line in ["CodeUri:\n", "CodeUri: {Bucket: b, Key: k}\n", "CodeUri: !Ref Code\n"] {
            assert!(package(line, placed).is_err(), "{line}");
        }
    }
}
