//! The `Idempotency-Key` request header.

use core::fmt;

/// A client's name for one logical command: 1 to 255 of `A-Z a-z 0-9 _ : . -`.
///
/// ```
/// use sendonce::idempotency::IdempotencyKey;
/// // An RFC 9651 String and the bare characters spell one key.
/// assert_eq!(IdempotencyKey::from_headers(["\"k-1\""]), IdempotencyKey::from_headers(["k-1"]));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

/// Why a request names no usable key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// No header, or one without content.
    #[error("the Idempotency-Key header is missing")]
    Missing,
    /// Characters or a length outside the rule, or more than one header.
    #[error("the Idempotency-Key header must hold one key of 1 to 255 characters from A-Z a-z 0-9 _ : . -")]
    Invalid,
}

impl IdempotencyKey {
    /// The most characters a key may have.
    pub const MAX_LEN: usize = 255;

    /// Reads the values of all `Idempotency-Key` headers of a request.
    ///
    /// # Errors
    /// [`KeyFault::Missing`] when there is none or it is blank, [`KeyFault::Invalid`] when it is repeated or malformed.
    pub fn from_headers<'a>(values: impl IntoIterator<Item = &'a str>) -> Result<Self, KeyFault> {
        let mut values = values.into_iter();
        let value = values.next().ok_or(KeyFault::Missing)?;
        if values.next().is_some() {
            return Err(KeyFault::Invalid);
        }
        Self::parse(value)
    }

    /// Reads one header value: an RFC 9651 String or the bare key, white space around it ignored.
    ///
    /// # Errors
    /// As [`IdempotencyKey::from_headers`]. An empty String is missing, not malformed.
    pub fn parse(value: &str) -> Result<Self, KeyFault> {
        let value = value.trim_matches([' ', '\t']);
        let bare = match value.strip_prefix('"') {
            Some(rest) => rest.strip_suffix('"').ok_or(KeyFault::Invalid)?,
            None => value,
        };
        if bare.is_empty() || bare.bytes().all(|b| b == b' ') {
            return Err(KeyFault::Missing);
        }
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_:.-".contains(&b);
        if bare.len() > Self::MAX_LEN || !bare.bytes().all(allowed) {
            return Err(KeyFault::Invalid);
        }
        Ok(Self(bare.to_owned()))
    }

    /// The key's characters, without quotes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Clients build keys out of what they have at hand, people's data included: a key is never printed.
impl fmt::Debug for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdempotencyKey({} characters)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_and_bare_spell_one_key() {
        let bare = IdempotencyKey::parse("reset:42_a.b-C").unwrap();
        assert_eq!(IdempotencyKey::parse("\"reset:42_a.b-C\"").unwrap(), bare);
        assert_eq!(IdempotencyKey::parse("  reset:42_a.b-C\t").unwrap(), bare);
        assert_eq!(bare.as_str(), "reset:42_a.b-C");
    }

    #[test]
    fn a2_absent_empty_and_blank_are_missing() {
        assert_eq!(IdempotencyKey::from_headers([]), Err(KeyFault::Missing));
        for value in ["", " ", "\"\"", "\" \"", "\t"] {
            assert_eq!(IdempotencyKey::from_headers([value]), Err(KeyFault::Missing), "{value:?}");
        }
    }

    #[test]
    fn a2_repeated_headers_are_invalid_joined_or_apart() {
        assert_eq!(IdempotencyKey::from_headers(["a", "a"]), Err(KeyFault::Invalid));
        assert_eq!(IdempotencyKey::from_headers(["a,a"]), Err(KeyFault::Invalid));
        assert_eq!(IdempotencyKey::from_headers(["\"a\",\"a\""]), Err(KeyFault::Invalid));
    }

    #[test]
    fn malformed_keys_are_invalid() {
        for value in ["a b", "\"a", "a\"", "é", "a/b", "a+b", "a\u{0}b", "\"a\";p=1", "'a'", "\"\"\""] {
            assert_eq!(IdempotencyKey::parse(value), Err(KeyFault::Invalid), "{value:?}");
        }
    }

    #[test]
    fn length_limit_is_255() {
        assert!(IdempotencyKey::parse(&"k".repeat(255)).is_ok());
        assert_eq!(IdempotencyKey::parse(&"k".repeat(256)), Err(KeyFault::Invalid));
    }

    #[test]
    fn debug_prints_no_character_of_a_key() {
        let key = IdempotencyKey::parse("482913").unwrap();
        assert_eq!(format!("{key:?}"), "IdempotencyKey(6 characters)");
    }
}
