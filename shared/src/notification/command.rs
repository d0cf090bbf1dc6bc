//! What a client asks for, validated.

use serde::{Deserialize, Serialize};

use crate::idempotency::Fields;
use crate::time::EpochMillis;

use super::{Event, MessageText, PhoneNumber};

/// The provider's class of text: it decides routing and price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Time-critical: resets, codes.
    #[default]
    Transactional,
    /// Everything else.
    Promotional,
}

impl Kind {
    /// The word clients write.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transactional => "transactional",
            Self::Promotional => "promotional",
        }
    }

    /// Reads the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Transactional, Self::Promotional].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// The name a handset shows as sender: 1 to 11 letters and digits, one letter at least.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SenderId(String);

impl SenderId {
    /// What a valid one looks like, for error messages.
    pub const RULE: &'static str = "1 to 11 letters and digits, at least one of them a letter";

    /// Reads one; nothing is repaired.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let valid = (1..=11).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_alphanumeric())
            && text.bytes().any(|b| b.is_ascii_alphabetic());
        valid.then(|| Self(text.to_owned()))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One request to notify, every field validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The business action behind it.
    pub event: Event,
    /// Where to.
    pub to: PhoneNumber,
    /// What to say.
    pub message: MessageText,
    /// When saying it no longer makes sense.
    pub expires_at: EpochMillis,
    /// Who the handset says it is from.
    pub sender_id: Option<SenderId>,
    /// The provider's class of text.
    pub kind: Kind,
}

impl Fields for Command {
    fn fields(&self, field: &mut dyn FnMut(&[u8])) {
        field(self.event.r#type.as_str().as_bytes());
        field(self.event.id.as_str().as_bytes());
        field(self.to.expose().as_bytes());
        field(self.message.expose().as_bytes());
        field(&self.expires_at.get().to_be_bytes());
        field(self.sender_id.as_ref().map_or("", SenderId::as_str).as_bytes());
        field(self.kind.as_str().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::super::{EventId, EventType};
    use super::*;
    use crate::idempotency::FingerprintKey;

    fn command() -> Command {
        Command {
            event: Event { r#type: EventType::parse("reset").unwrap(), id: EventId::parse("e-1").unwrap() },
            to: PhoneNumber::parse("+15550100000").unwrap(),
            message: MessageText::parse("Your code is 482913").unwrap(),
            expires_at: EpochMillis::new(1_000),
            sender_id: None,
            kind: Kind::Transactional,
        }
    }

    #[test]
    fn every_field_changes_the_fingerprint() {
        let key = FingerprintKey::new([3; 32]);
        let first = key.fingerprint(&command());
        assert_eq!(first, key.fingerprint(&command()));
        let changes: [fn(&mut Command); 7] = [
            |c| c.event.r#type = EventType::parse("reset2").unwrap(),
            |c| c.event.id = EventId::parse("e-2").unwrap(),
            |c| c.to = PhoneNumber::parse("+15550100001").unwrap(),
            |c| c.message = MessageText::parse("Your code is 482914").unwrap(),
            |c| c.expires_at = EpochMillis::new(1_001),
            |c| c.sender_id = SenderId::parse("ACME"),
            |c| c.kind = Kind::Promotional,
        ];
        for (at, change) in changes.iter().enumerate() {
            let mut other = command();
            change(&mut other);
            assert_ne!(first, key.fingerprint(&other), "change {at}");
        }
    }

    #[test]
    fn sender_ids_need_a_letter() {
        assert!(SenderId::parse("ACME1").is_some());
        for text in ["", "12345", "TWELVELETTER", "A B", "Ünï"] {
            assert!(SenderId::parse(text).is_none(), "{text}");
        }
    }
}
