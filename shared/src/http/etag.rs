//! Entity tags: a notification's revision, quoted.

/// The tag of a revision.
#[must_use]
pub fn etag(rev: u32) -> String {
    format!("\"r{rev}\"")
}

/// The revision that `If-Match` asks for: `Ok(None)` without the header or with `*`, an error for any other value.
///
/// # Errors
/// `()` when the header names no revision of ours; it cannot match then.
#[expect(clippy::result_unit_err, reason = "there is one way to fail, and the caller answers 412")]
pub fn if_match<'a>(values: impl IntoIterator<Item = &'a str>) -> Result<Option<u32>, ()> {
    let mut values = values.into_iter();
    match (values.next(), values.next()) {
        (None, _) | (Some("*"), None) => Ok(None),
        (Some(tag), None) => revision(tag.trim()).map(Some).ok_or(()),
        (Some(_), Some(_)) => Err(()),
    }
}

/// Whether `If-None-Match` holds this revision, so that 304 is the answer.
#[must_use]
pub fn none_match<'a>(values: impl IntoIterator<Item = &'a str>, rev: u32) -> bool {
    values.into_iter().flat_map(|value| value.split(',')).any(|tag| {
        let tag = tag.trim();
        tag == "*" || revision(tag.strip_prefix("W/").unwrap_or(tag)) == Some(rev)
    })
}

fn revision(tag: &str) -> Option<u32> {
    let digits = tag.strip_prefix("\"r")?.strip_suffix('"')?;
    let rev = digits.parse().ok()?;
    (etag(rev) == tag).then_some(rev)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn if_match_takes_one_strong_tag_or_a_star() {
        assert_eq!(if_match([]), Ok(None));
        assert_eq!(if_match(["*"]), Ok(None));
        assert_eq!(if_match(["\"r7\""]), Ok(Some(7)));
        for tag in ["r7", "\"7\"", "W/\"r7\"", "\"r07\"", "\"r+7\"", "\"r7\", \"r8\"", "", "\"r4294967296\""] {
            assert_eq!(if_match([tag]), Err(()), "{tag}");
        }
    }

    #[test]
    fn if_none_match_takes_lists_and_weak_tags() {
        assert!(none_match(["\"r7\""], 7));
        assert!(none_match(["\"x\", W/\"r7\""], 7));
        assert!(none_match(["*"], 0));
        assert!(!none_match(["\"r7\""], 8));
        assert!(!none_match([], 7));
    }
}
