//! Names: of events, notifications, attempts, and of things at the provider. All of bounded form.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::{FieldHash, base32};
use crate::tenant::TenantId;

/// Declares an identifier that is a string checked by `$is_valid`, printable because its form leaves no room for more.
macro_rules! bounded_id {
    ($(#[$doc:meta])* $name:ident, $is_valid:expr, $rule:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// What a valid one looks like, for error messages.
            pub const RULE: &'static str = $rule;

            /// Reads one; nothing is repaired.
            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                let is_valid: fn(&str) -> bool = $is_valid;
                is_valid(text).then(|| Self(text.to_owned()))
            }

            /// Its text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = &'static str;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                Self::parse(&text).ok_or(concat!("not a ", stringify!($name)))
            }
        }
    };
}

bounded_id!(
    /// What kind of business action an event is, such as `password_reset.requested`.
    EventType,
    |text| is_of(text, 1..=48, |b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_.-".contains(&b)),
    "1 to 48 characters from a-z 0-9 _ . -"
);

bounded_id!(
    /// The business action's own identifier.
    EventId,
    |text| is_of(text, 1..=128, |b| b.is_ascii_alphanumeric() || b"_:.-".contains(&b)),
    "1 to 128 characters from A-Z a-z 0-9 _ : . -"
);

bounded_id!(
    /// `ntf_` and 160 bits of a hash over tenant, event type and event id: one event *is* one notification.
    NotificationId,
    |text| has_base32_body(text, "ntf_", 32),
    "ntf_ and 32 characters from a-z 2-7"
);

bounded_id!(
    /// `att_` and 128 random bits: one call to the provider.
    AttemptId,
    |text| has_base32_body(text, "att_", 26),
    "att_ and 26 characters from a-z 2-7"
);

bounded_id!(
    /// A name that another system gave something: a message, a request, a version. Too short and too plain for prose,
    /// and never only digits and dashes with ten digits or more, which could be a phone number.
    Reference,
    |text| {
        is_of(text, 1..=64, |b| b.is_ascii_alphanumeric() || b"$-_.".contains(&b)) && !could_be_a_number(text)
    },
    "1 to 64 characters from A-Z a-z 0-9 $ - _ ."
);

impl NotificationId {
    /// The notification that this event of this tenant is.
    #[must_use]
    pub fn of(tenant: &TenantId, event: &Event) -> Self {
        let hash = FieldHash::new("sendonce.notification.v1")
            .field(tenant.as_str())
            .field(event.r#type.as_str())
            .field(event.id.as_str())
            .finish();
        let (head, _) = hash.split_at(20);
        Self(format!("ntf_{}", base32(head)))
    }

    /// Spreads open work evenly over the shards of the `due` index.
    #[must_use]
    pub fn due_shard(&self) -> u8 {
        let sum = self.0.bytes().rev().take(4).fold(0_u32, |sum, b| sum.wrapping_mul(33).wrapping_add(u32::from(b)));
        u8::try_from(sum % u32::from(Self::DUE_SHARDS)).unwrap_or(0)
    }

    /// How many shards there are.
    pub const DUE_SHARDS: u8 = 16;
}

impl AttemptId {
    /// The attempt named by these random bytes.
    #[must_use]
    pub fn new(bytes: [u8; 16]) -> Self {
        Self(format!("att_{}", base32(&bytes)))
    }
}

/// The business action that asks for a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Event {
    /// Its kind.
    pub r#type: EventType,
    /// Its own identifier.
    pub id: EventId,
}

fn is_of(text: &str, length: core::ops::RangeInclusive<usize>, allowed: impl Fn(u8) -> bool) -> bool {
    length.contains(&text.len()) && text.bytes().all(allowed)
}

fn has_base32_body(text: &str, prefix: &str, length: usize) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|body| is_of(body, length..=length, |b| matches!(b, b'a'..=b'z' | b'2'..=b'7')))
}

fn could_be_a_number(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits >= 7 && text.bytes().all(|b| b.is_ascii_digit() || b"-._".contains(&b)) && !is_uuid(text)
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<usize> = text.split('-').map(str::len).collect();
    groups == [8, 4, 4, 4, 12]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: &str, id: &str) -> Event {
        Event { r#type: EventType::parse(kind).unwrap(), id: EventId::parse(id).unwrap() }
    }

    #[test]
    fn the_id_is_derived_from_tenant_and_event_alone() {
        let (a, b) = (TenantId::derive(&["a"]), TenantId::derive(&["b"]));
        let id = NotificationId::of(&a, &event("password_reset.requested", "evt-1"));
        assert_eq!(id, NotificationId::of(&a, &event("password_reset.requested", "evt-1")));
        assert_ne!(id, NotificationId::of(&b, &event("password_reset.requested", "evt-1")));
        assert_ne!(id, NotificationId::of(&a, &event("password_reset.requested", "evt-2")));
        assert_eq!(NotificationId::parse(id.as_str()), Some(id));
    }

    #[test]
    fn a6_event_ids_are_text_and_big_numbers_stay_apart() {
        let tenant = TenantId::derive(&["a"]);
        assert_ne!(
            NotificationId::of(&tenant, &event("t", "9007199254740993")),
            NotificationId::of(&tenant, &event("t", "9007199254740992"))
        );
    }

    #[test]
    fn shards_are_used_evenly() {
        let tenant = TenantId::derive(&["a"]);
        let mut shards = [0_u32; 16];
        for n in 0..16_000 {
            let shard = NotificationId::of(&tenant, &event("t", &n.to_string())).due_shard();
            shards[usize::from(shard)] += 1;
        }
        assert!(shards.iter().all(|n| (800..1_200).contains(n)), "{shards:?}");
    }

    #[test]
    fn references_leave_no_room_for_a_number_or_prose() {
        assert!(Reference::parse("8d3b4d5e-0000-1111-2222-333344445555").is_some());
        assert!(Reference::parse("12345678-1234-1234-1234-123456789012").is_some());
        assert!(Reference::parse("$LATEST").is_some());
        for text in ["+15550100000", "15550100000", "1-555-010-0000", "1.555.010.0000", "Your code is 1", "", "a b"] {
            assert_eq!(Reference::parse(text), None, "{text}");
        }
        assert_eq!(Reference::parse(&"a".repeat(65)), None);
    }

    #[test]
    fn event_names_of_other_forms_are_refused() {
        for text in ["", "A", "a b", "é", "a/b", &"a".repeat(49)] {
            assert_eq!(EventType::parse(text), None, "{text}");
        }
        for text in ["", "a b", "é", "a/b", "a+b", "\n", &"a".repeat(129)] {
            assert_eq!(EventId::parse(text), None, "{text}");
        }
    }
}
