//! Where a text goes. The number itself is never printed, logged or stored outside the seal.

use core::fmt;

use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::digest::base64url;
use crate::idempotency::FingerprintKey;

/// A phone number in canonical E.164: `+`, no leading zero, 7 to 15 digits. Nothing is repaired into one.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct PhoneNumber(String);

impl PhoneNumber {
    /// What a valid one looks like, for error messages.
    pub const RULE: &'static str = "a number in E.164: + and 7 to 15 digits, the first not 0";

    /// Reads one, exactly as it stands.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('+')?;
        let canonical =
            (7..=15).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        canonical.then(|| Self(text.to_owned()))
    }

    /// The number in the clear, for the provider call and the seal only.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What people may see of it.
    #[must_use]
    pub fn mask(&self) -> Mask {
        Mask::of(&self.0)
    }

    /// What it can be found by without being read.
    #[must_use]
    pub fn mac(&self, key: &FingerprintKey) -> DestinationMac {
        DestinationMac(base64url(&key.mac(self.0.as_bytes())))
    }
}

impl fmt::Debug for PhoneNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PhoneNumber({})", self.mask())
    }
}

/// `+1••••••••00`: first digit, length, last two digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mask(String);

impl Mask {
    fn of(number: &str) -> Self {
        let last = number.len().saturating_sub(2);
        let shown = |at: usize| at < 2 || at >= last;
        Self(number.chars().enumerate().map(|(at, digit)| if shown(at) { digit } else { '•' }).collect())
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A keyed hash of a number, 128 bits in base64url.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DestinationMac(String);

impl DestinationMac {
    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a11_only_canonical_e164_is_a_number() {
        for text in ["+15550100000", "+4930123456", "+1234567", "+123456789012345"] {
            assert!(PhoneNumber::parse(text).is_some(), "{text}");
        }
        for text in [
            "+3367a829916",
            "someone1110@example.com",
            "003-836-4618x3001",
            "+1 650-253-0000",
            "+0123456789",
            "+1234567890123456",
            "+123456",
            "15550100000",
            "++15550100000",
            "+15550100000 ",
            " +15550100000",
            "",
            "+",
            "+١٢٣٤٥٦٧٨٩٠",
            "+1555010000\n",
            "tel:+15550100000",
        ] {
            assert!(PhoneNumber::parse(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn p1_debug_and_mask_show_three_digits_at_most() {
        let number = PhoneNumber::parse("+15550142973").unwrap();
        assert_eq!([number.mask().as_str(), &number.mask().to_string()], ["+1••••••••73"; 2]);
        assert_eq!(format!("{number:?}"), "PhoneNumber(+1••••••••73)");
        assert_eq!(PhoneNumber::parse("+1234567").unwrap().mask().to_string(), "+1••••67");
    }

    #[test]
    fn macs_are_equal_for_equal_numbers_under_one_key_only() {
        let (key, other) = (FingerprintKey::new([1; 32]), FingerprintKey::new([2; 32]));
        let number = PhoneNumber::parse("+15550142973").unwrap();
        assert_eq!(number.mac(&key), number.mac(&key));
        assert_ne!(number.mac(&key), number.mac(&other));
        assert_eq!(number.mac(&key).as_str().len(), 22);
    }
}
