//! The body of `POST /v1/notifications`, read strictly and with all its faults at once.

use serde_json::{Map, Value};

use crate::notification::{Command, Event, EventId, EventType, Kind, MessageText, PhoneNumber, SenderId};
use crate::time::EpochMillis;

use super::strict_json;

/// What is wrong with one member. The rule is told, never the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldFault {
    /// JSON Pointer of the member.
    pub pointer: String,
    /// What it must be.
    pub rule: &'static str,
}

/// Why a body is no command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyFault {
    /// Longer than any command can be.
    TooLarge,
    /// Not JSON, or JSON that parsers disagree about.
    NotJson,
    /// JSON whose members do not hold what they must.
    Fields(Vec<FieldFault>),
}

/// The longest body read: 1,600 characters, each as two `\uXXXX`, and room for the rest.
pub(super) const MAX_BYTES: usize = 32 * 1_024;

/// The most faults told of one body: an answer is not to be many times what it answers.
const MAX_FAULTS: usize = 32;

const REQUIRED: &str = "is required";
const UNKNOWN: &str = "is not known here; known are event {type, id}, to, message, expires_at, sender_id, kind";

/// Reads a command.
///
/// # Errors
/// [`BodyFault`], with every fault of every member.
pub fn read_command(body: &[u8]) -> Result<Command, BodyFault> {
    if body.len() > MAX_BYTES {
        return Err(BodyFault::TooLarge);
    }
    let value = strict_json::parse(body).ok_or(BodyFault::NotJson)?;
    let mut faults = Faults::default();
    let command = faults.command(&value);
    match command {
        Some(command) if faults.is_empty() => Ok(command),
        _ => Err(faults.into_fault()),
    }
}

/// What is wrong with a body, member by member.
#[derive(Default)]
pub(super) struct Faults(Vec<FieldFault>);

impl Faults {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_fault(self) -> BodyFault {
        BodyFault::Fields(self.0)
    }

    fn add(&mut self, pointer: &str, rule: &'static str) {
        if self.0.len() < MAX_FAULTS {
            self.0.push(FieldFault { pointer: pointer.to_owned(), rule });
        }
    }

    fn command(&mut self, value: &Value) -> Option<Command> {
        let members = self.object("", value)?;
        self.no_others("", members, &["event", "to", "message", "expires_at", "sender_id", "kind"], UNKNOWN);
        let event = self.event(members);
        let to = self.text(members, "", "to", PhoneNumber::RULE, PhoneNumber::parse);
        let message = self.text(members, "", "message", MessageText::RULE, MessageText::parse);
        let expires_at = self.text(
            members,
            "",
            "expires_at",
            "an RFC 3339 date-time with zone, such as 2026-11-30T20:10:00Z",
            EpochMillis::parse_rfc3339,
        );
        let sender_id = self.optional(members, "sender_id", SenderId::RULE, SenderId::parse);
        let kind = self.optional(members, "kind", "transactional or promotional", Kind::parse);
        let (event, to) = (event?, to?);
        self.no_number_in_event(&event, &to);
        let (sender_id, kind) = (sender_id?, kind?.unwrap_or_default());
        Some(Command { event, to, message: message?, expires_at: expires_at?, sender_id, kind })
    }

    fn event(&mut self, members: &Map<String, Value>) -> Option<Event> {
        let Some(value) = members.get("event") else {
            self.add("/event", REQUIRED);
            return None;
        };
        let event = self.object("/event", value)?;
        self.no_others("/event", event, &["type", "id"], UNKNOWN);
        let r#type = self.text(event, "/event", "type", EventType::RULE, EventType::parse);
        let id = self.text(event, "/event", "id", EventId::RULE, EventId::parse);
        Some(Event { r#type: r#type?, id: id? })
    }

    /// Event names are stored and shown; a number in one would be too.
    fn no_number_in_event(&mut self, event: &Event, to: &PhoneNumber) {
        let digits = to.expose().trim_start_matches('+');
        for (pointer, text) in [("/event/type", event.r#type.as_str()), ("/event/id", event.id.as_str())] {
            if text.contains(digits) {
                self.add(pointer, "must not hold the number that is texted");
            }
        }
    }

    pub(super) fn object<'a>(&mut self, pointer: &str, value: &'a Value) -> Option<&'a Map<String, Value>> {
        let object = value.as_object();
        if object.is_none() {
            self.add(pointer, "must be an object");
        }
        object
    }

    /// The name of an unknown member is given back only if it looks like a name: it is the client's text.
    pub(super) fn no_others(
        &mut self,
        pointer: &str,
        members: &Map<String, Value>,
        known: &[&str],
        rule: &'static str,
    ) {
        for name in members.keys().filter(|name| !known.contains(&name.as_str())) {
            let is_plain = name.len() <= 32 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            let shown = if is_plain { name.as_str() } else { "?" };
            self.add(&format!("{pointer}/{shown}"), rule);
        }
    }

    pub(super) fn text<T>(
        &mut self,
        members: &Map<String, Value>,
        parent: &str,
        name: &str,
        rule: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let pointer = format!("{parent}/{name}");
        let Some(value) = members.get(name) else {
            self.add(&pointer, REQUIRED);
            return None;
        };
        let parsed = value.as_str().and_then(parse);
        if parsed.is_none() {
            self.add(&pointer, rule);
        }
        parsed
    }

    /// `Some(None)` when the member is absent; `null` is a value, not absence.
    fn optional<T>(
        &mut self,
        members: &Map<String, Value>,
        name: &str,
        rule: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<Option<T>> {
        if members.contains_key(name) { self.text(members, "", name, rule, parse).map(Some) } else { Some(None) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn good() -> Value {
        json!({
            "event": {"type": "password_reset.requested", "id": "evt-1"},
            "to": "+15550100000",
            "message": "Your code is 482913",
            "expires_at": "2026-11-30T20:10:00Z",
        })
    }

    fn faults_of(body: &Value) -> Vec<String> {
        match read_command(body.to_string().as_bytes()) {
            Err(BodyFault::Fields(faults)) => faults.into_iter().map(|fault| fault.pointer).collect(),
            Err(_) => vec![String::from("no fields")],
            Ok(_) => Vec::new(),
        }
    }

    #[test]
    fn a5_member_order_and_white_space_do_not_matter() {
        let spread = r#" { "expires_at" : "2026-11-30T20:10:00Z", "message":"Your code is 482913",
            "to":"+15550100000", "event":{"id":"evt-1","type":"password_reset.requested"} } "#;
        assert!(read_command(spread.as_bytes()) == read_command(good().to_string().as_bytes()));
    }

    #[test]
    fn all_faults_are_listed_at_once() {
        let body = json!({
            "event": {"type": "Bad Type", "id": 7, "extra": 1},
            "to": "003-836-4618x3001", "message": "", "expires_at": "tomorrow", "sender_id": null, "kind": "urgent",
            "482913": true,
        });
        assert_eq!(
            faults_of(&body),
            ["/?", "/event/extra", "/event/type", "/event/id", "/to", "/message", "/expires_at", "/sender_id", "/kind"]
        );
        assert_eq!(faults_of(&json!({})), ["/event", "/to", "/message", "/expires_at"]);
    }

    #[test]
    fn of_very_many_faults_some_are_listed() {
        let body: Value = (0..1_000).map(|n| (format!("m{n}"), json!(n))).collect::<Map<_, _>>().into();
        assert_eq!(faults_of(&body).len(), MAX_FAULTS);
    }

    #[test]
    fn wrong_types_at_the_top_are_told() {
        for body in [json!([]), json!("x"), json!(1), json!(null)] {
            assert_eq!(faults_of(&body), [""]);
        }
        let mut body = good();
        body["event"] = json!("password_reset");
        assert_eq!(faults_of(&body), ["/event"]);
    }

    #[test]
    fn a6_ids_that_are_numbers_are_refused_not_rounded() {
        let mut body = good();
        body["event"]["id"] = json!(9_007_199_254_740_993_u64);
        assert_eq!(faults_of(&body), ["/event/id"]);
    }

    #[test]
    fn p1_event_names_may_not_hold_the_number() {
        let mut body = good();
        body["event"]["id"] = json!("reset:15550100000");
        assert_eq!(faults_of(&body), ["/event/id"]);
    }

    #[test]
    fn too_large_and_not_json_are_told_apart() {
        assert_eq!(read_command(&vec![b' '; MAX_BYTES + 1]), Err(BodyFault::TooLarge));
        assert_eq!(read_command(b"{"), Err(BodyFault::NotJson));
        assert_eq!(read_command(b""), Err(BodyFault::NotJson));
    }
}
