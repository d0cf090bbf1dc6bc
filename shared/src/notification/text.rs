//! The message body.

use core::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

/// A text of 1 to 1,600 characters, kept exactly as it came: nothing inside it is trimmed, folded or normalised.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct MessageText(String);

impl MessageText {
    /// The most characters one provider call takes.
    pub const MAX_CHARS: usize = 1_600;

    /// What a valid one looks like, for error messages.
    pub const RULE: &'static str =
        "1 to 1600 characters, not all blank, without control characters other than line breaks";

    /// Reads one, exactly as it stands.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let within = text.chars().nth(Self::MAX_CHARS).is_none();
        let printable = !text.chars().any(|c| c.is_control() && c != '\n' && c != '\r');
        (within && printable && text.chars().any(shows)).then(|| Self(text.to_owned()))
    }

    /// The text in the clear, for the provider call, the fingerprint and the seal only.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

/// Whether a character leaves anything on a screen by itself.
fn shows(c: char) -> bool {
    let is_invisible = matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}');
    !c.is_whitespace() && !is_invisible
}

impl fmt::Debug for MessageText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MessageText(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_count_characters_not_bytes() {
        assert!(MessageText::parse(&"é".repeat(1_600)).is_some());
        assert!(MessageText::parse(&"é".repeat(1_601)).is_none());
    }

    #[test]
    fn blank_and_control_characters_are_refused() {
        for text in ["", " ", "\n", "\u{200b}", "\u{feff} \u{2060}", "a\u{0}b", "a\u{1b}[31m", "a\tb", "a\u{85}b"] {
            assert!(MessageText::parse(text).is_none(), "{text:?}");
        }
        assert!(MessageText::parse("line one\r\nline two ").is_some());
    }

    #[test]
    fn p1_debug_prints_nothing_of_it() {
        assert_eq!(format!("{:?}", MessageText::parse("Your code is 482913").unwrap()), "MessageText(…)");
    }
}
