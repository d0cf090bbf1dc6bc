//! Optimistic concurrency: a write that holds only for the version its writer saw.
#![expect(async_fn_in_trait, reason = "flows are generic over ports; whoever spawns one names concrete types")]

use crate::digest::{base64url, sha256};
use crate::ports::{Unreadable, WriteFault, Written};

use super::Part;

/// A strong entity tag: the quoted name of one version's exact content.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ETag(String);

impl ETag {
    /// The tag of this content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        let digest = sha256(&[content]);
        let (half, _) = digest.split_at(16);
        Self(format!("\"{}\"", base64url(half)))
    }

    /// Reads one tag of a header: quoted, strong, and of the characters that RFC 9110 allows.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let tag = text.trim_matches([' ', '\t']);
        let inner = tag.strip_prefix('"')?.strip_suffix('"')?;
        let allowed = |b: u8| b == 0x21 || (0x23..=0x7e).contains(&b);
        inner.bytes().all(allowed).then(|| Self(tag.to_owned()))
    }

    /// With its quotes, as it stands in a header and in a store.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a write expects to find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This version: `If-Match: "…"`.
    Version(ETag),
    /// Nothing: `If-None-Match: *`.
    Nothing,
}

/// A request whose preconditions cannot be read as one expectation: answer 428 to the first, 412 to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PreconditionFault {
    /// It names none.
    #[error("the request must say what it expects, by If-Match or If-None-Match")]
    Missing,
    /// It names one that cannot hold here: a weak tag, a list, a tag that none of ours looks like.
    #[error("the request expects what cannot be")]
    CannotHold,
}

impl Expected {
    /// Reads `If-Match` and `If-None-Match`, all values of each.
    ///
    /// # Errors
    /// [`PreconditionFault`].
    pub fn from_headers<'a>(
        if_match: impl IntoIterator<Item = &'a str>,
        if_none_match: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, PreconditionFault> {
        let (mut matching, mut none) = (if_match.into_iter(), if_none_match.into_iter());
        match (matching.next(), matching.next(), none.next(), none.next()) {
            (None, None, None, None) => Err(PreconditionFault::Missing),
            (Some(tag), None, None, None) => ETag::parse(tag).map(Self::Version).ok_or(PreconditionFault::CannotHold),
            (None, None, Some("*"), None) => Ok(Self::Nothing),
            _ => Err(PreconditionFault::CannotHold),
        }
    }
}

/// One version of a resource: not what makes a command unique, but what makes it apply to what its writer saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// What is written to.
    pub resource: Part,
    /// What the writer saw of it.
    pub expected: Expected,
}

/// A stored resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versioned {
    /// Its tag.
    pub etag: ETag,
    /// Its content.
    pub content: Vec<u8>,
}

impl Versioned {
    /// This content under its tag.
    #[must_use]
    pub fn new(content: Vec<u8>) -> Self {
        Self { etag: ETag::of(&content), content }
    }

    /// Whether the stored resource is what a writer expected.
    #[must_use]
    pub fn is(stored: Option<&Self>, expected: &Expected) -> bool {
        match (stored, expected) {
            (Some(stored), Expected::Version(etag)) => stored.etag == *etag,
            (None, Expected::Nothing) => true,
            (Some(_), Expected::Nothing) | (None, Expected::Version(_)) => false,
        }
    }
}

/// A store of resources that are written by version.
pub trait Versions {
    /// The resource as it stands. Sees every write that was answered before.
    async fn versioned(
        &self,
        tenant: &crate::tenant::TenantId,
        resource: &Part,
    ) -> Result<Option<Versioned>, Unreadable>;

    /// Writes `next` if the stored resource is what `version` expects: 412 is the answer to `Held`, which brings what is
    /// there instead. A writer that finds its own `next` there was done before: its first answer was lost.
    ///
    /// `Done`: durable. `Held`: not written by this try. `Conflict`, `Refused`: not written. `Unknown`: perhaps.
    async fn write_version(
        &self,
        tenant: &crate::tenant::TenantId,
        version: &Version,
        next: &Versioned,
    ) -> Result<Written<Option<Versioned>>, WriteFault>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_strong_and_of_the_exact_content() {
        assert_eq!(ETag::of(b"a"), ETag::of(b"a"));
        assert_ne!(ETag::of(b"a"), ETag::of(b"a "));
        assert_eq!(ETag::parse(ETag::of(b"a").as_str()), Some(ETag::of(b"a")));
        for text in ["", "a", "\"a", "W/\"a\"", "*", "\"a\", \"b\"", "\"a\u{7f}\"", "\"\u{e9}\""] {
            assert_eq!(ETag::parse(text), None, "{text}");
        }
    }

    #[test]
    fn one_expectation_or_none() {
        let version = Expected::Version(ETag::of(b"a"));
        assert_eq!(Expected::from_headers([ETag::of(b"a").as_str()], []), Ok(version));
        assert_eq!(Expected::from_headers([], ["*"]), Ok(Expected::Nothing));
        assert_eq!(Expected::from_headers([], []), Err(PreconditionFault::Missing));
        for (matching, none) in
            [(&["*"][..], &[][..]), (&["\"a\"", "\"b\""], &[]), (&["\"a\""], &["*"]), (&[], &["\"a\""])]
        {
            let read = Expected::from_headers(matching.iter().copied(), none.iter().copied());
            assert_eq!(read, Err(PreconditionFault::CannotHold), "{matching:?} {none:?}");
        }
    }

    #[test]
    fn a_version_holds_for_what_its_writer_saw_and_nothing_else() {
        let stored = Versioned::new(b"a".to_vec());
        assert!(Versioned::is(Some(&stored), &Expected::Version(ETag::of(b"a"))));
        assert!(!Versioned::is(Some(&stored), &Expected::Version(ETag::of(b"b"))));
        assert!(!Versioned::is(Some(&stored), &Expected::Nothing));
        assert!(Versioned::is(None, &Expected::Nothing));
        assert!(!Versioned::is(None, &Expected::Version(ETag::of(b"a"))));
    }
}
