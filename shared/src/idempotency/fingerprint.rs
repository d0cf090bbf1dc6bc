//! What tells one command from another under the same key.

use core::fmt;

use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::digest::{FieldMac, Hash32, base64url, hash_from_base64url};

/// The secret under which fingerprints are made, derived once per cold start.
///
/// A plain hash would not do: whoever reads the table could try all million six-digit tokens against it.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct FingerprintKey(Hash32);

impl FingerprintKey {
    /// A key of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A key for another purpose, from which this one cannot be found.
    #[must_use]
    pub fn derive(&self, purpose: &str) -> Self {
        let mut mac = FieldMac::new(&self.0);
        mac.push(b"sendonce.derive.v1");
        mac.push(purpose.as_bytes());
        Self(mac.finish())
    }

    /// The fingerprint of a command given as its validated, typed fields.
    #[must_use]
    pub fn fingerprint(&self, command: &impl Fields) -> Fingerprint {
        let mut mac = FieldMac::new(&self.0);
        mac.push(b"sendonce.fingerprint.v1");
        command.fields(&mut |field| mac.push(field));
        Fingerprint(mac.finish())
    }

    /// A keyed hash of one secret value, 128 bits of it: equal values can be found, none can be read.
    #[must_use]
    pub fn mac(&self, value: &[u8]) -> [u8; 16] {
        let mut mac = FieldMac::new(&self.0);
        mac.push(value);
        let full = mac.finish();
        let mut half = [0; 16];
        half.iter_mut().zip(full).for_each(|(to, from)| *to = from);
        half
    }
}

impl fmt::Debug for FingerprintKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FingerprintKey(…)")
    }
}

/// A command as its fields, in a fixed order. Every field is given, absent ones as an empty or marked value, so that
/// no two commands yield one sequence.
pub trait Fields {
    /// Calls `field` once for each field.
    fn fields(&self, field: &mut dyn FnMut(&[u8]));
}

/// HMAC-SHA-256 of a command, written `v1:` and base64url.
#[derive(Clone, Copy, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Fingerprint(Hash32);

impl Fingerprint {
    const VERSION: &str = "v1:";
}

impl PartialEq for Fingerprint {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Self::VERSION, base64url(&self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.to_string()
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.strip_prefix(Self::VERSION).and_then(hash_from_base64url).map(Self).ok_or("not a v1 fingerprint")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Words(&'static [&'static str]);
    impl Fields for Words {
        fn fields(&self, field: &mut dyn FnMut(&[u8])) {
            self.0.iter().for_each(|word| field(word.as_bytes()));
        }
    }

    fn print(words: &'static [&'static str]) -> Fingerprint {
        FingerprintKey::new([7; 32]).fingerprint(&Words(words))
    }

    #[test]
    fn a_key_is_not_shown_and_a_fingerprint_is_as_it_is_stored() {
        assert_eq!(format!("{:?}", FingerprintKey::new([7; 32])), "FingerprintKey(…)");
        assert_eq!(format!("{:?}", print(&["a"])), String::from(print(&["a"])));
    }

    #[test]
    fn equal_fields_are_equal_and_moved_borders_are_not() {
        assert_eq!(print(&["ab", "c"]), print(&["ab", "c"]));
        assert_ne!(print(&["ab", "c"]), print(&["a", "bc"]));
        assert_ne!(print(&["ab", "c"]), print(&["ab", "c", ""]));
    }

    #[test]
    fn another_key_gives_another_fingerprint() {
        assert_ne!(print(&["a"]), FingerprintKey::new([8; 32]).fingerprint(&Words(&["a"])));
        let root = FingerprintKey::new([7; 32]);
        assert_ne!(root.derive("a").mac(b"x"), root.derive("b").mac(b"x"));
    }

    #[test]
    fn text_form_is_versioned_and_round_trips() {
        let one = print(&["a"]);
        let text = one.to_string();
        assert!(text.starts_with("v1:") && text.len() == 46, "{text}");
        assert_eq!(Fingerprint::try_from(text).unwrap(), one);
        assert!(Fingerprint::try_from(String::from("v2:AAAA")).is_err());
        assert!(Fingerprint::try_from(String::from("v1:AAAA")).is_err());
    }
}
