//! What a key is unique within.

use core::fmt;

use crate::digest::{FieldHash, Hash32};
use crate::tenant::TenantId;

use super::{ExecutionId, GuardId, IdempotencyKey, Period};

/// One part of a name: any text that is not blank.
///
/// Parts come out of events, and what is missing there is often an empty text. If that were taken for a name, all
/// events without one would share it, and be given each other's answers.
///
/// ```
/// use sendonce::idempotency::{NoName, Part};
/// assert!(Part::new("order-123").is_ok());
/// assert_eq!(Part::new(" "), Err(NoName));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Part(String);

/// There is nothing here that could name anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a part of the operation's name is missing or blank")]
pub struct NoName;

impl Part {
    /// A part of this text, exactly.
    ///
    /// # Errors
    /// [`NoName`] when it is blank.
    pub fn new(text: impl Into<String>) -> Result<Self, NoName> {
        let text = text.into();
        if text.trim().is_empty() { Err(NoName) } else { Ok(Self(text)) }
    }

    /// Its exact text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A part of this text, if there is one.
    ///
    /// # Errors
    /// As [`Part::new`], and when there is none.
    pub fn of(text: Option<&str>) -> Result<Self, NoName> {
        Self::new(text.ok_or(NoName)?)
    }

    /// The stored identity of a resource of this name, which no guard and no execution shares.
    #[cfg(feature = "aws")]
    pub(crate) fn version_key(&self, tenant: &TenantId) -> String {
        let hash = FieldHash::new("sendonce.version.v1").field(tenant.as_str()).field(&self.0);
        format!("ver#{}", crate::digest::base32(&hash.finish()))
    }
}

/// Names are built of what is at hand, people's data included: a part is never printed.
impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Part({} bytes)", self.0.len())
    }
}

/// The named thing that may happen once. The tenant is always inside it: two tenants never meet in one guard.
///
/// `Request` is for commands whose client makes a key; `Operation` for effects that several paths can ask for and that
/// have a name of their own (refund of order 123); `Periodic` for what may happen once in a period of an explicit time
/// zone (check-in once a day). For "only if nothing has changed", which is optimistic concurrency and not
/// deduplication, see [`super::Version`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One request of a client, named by its key.
    Request {
        /// The client's key.
        key: IdempotencyKey,
    },
    /// One operation on one thing, whoever asks for it.
    Operation {
        /// What is done, such as `refund`.
        name: Part,
        /// What it is done to, such as an order's number.
        id: Part,
    },
    /// One action of one subject in one period.
    Periodic {
        /// Who acts.
        subject: Part,
        /// What is done.
        action: Part,
        /// The period.
        period: Period,
    },
}

impl Scope {
    /// The stored guard's identity: a hash, so that no part of a key or an id can be read from the table.
    #[must_use]
    pub fn guard_id(&self, tenant: &TenantId) -> GuardId {
        GuardId::from_digest(&self.digest("sendonce.guard.v1", tenant))
    }

    /// The identity of a leased execution, which no guard shares. Nothing of the function that runs it is in it: a
    /// function that is renamed, or two of them on one table, mean the same operation.
    #[must_use]
    pub fn execution_id(&self, tenant: &TenantId) -> ExecutionId {
        ExecutionId::from_digest(&self.digest("sendonce.execution.v1", tenant))
    }

    fn digest(&self, domain: &str, tenant: &TenantId) -> Hash32 {
        let hash = FieldHash::new(domain).field(tenant.as_str());
        let hash = match self {
            Self::Request { key } => hash.field("request").field(key.as_str()),
            Self::Operation { name, id } => hash.field("operation").field(&name.0).field(&id.0),
            Self::Periodic { subject, action, period } => {
                hash.field("periodic").field(&subject.0).field(&action.0).field(period.name())
            }
        };
        hash.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(key: &str) -> Scope {
        Scope::Request { key: IdempotencyKey::parse(key).unwrap() }
    }

    #[test]
    fn tenants_never_share_a_guard() {
        let scope = request("k-1");
        assert_ne!(scope.guard_id(&TenantId::derive(&["a"])), scope.guard_id(&TenantId::derive(&["b"])));
    }

    #[test]
    fn parts_cannot_be_shifted_between_fields() {
        let tenant = TenantId::derive(&["a"]);
        let part = |text: &str| Part::new(text).unwrap();
        let operation = |name: &str, id: &str| Scope::Operation { name: part(name), id: part(id) }.guard_id(&tenant);
        assert_ne!(operation("ab", "c"), operation("a", "bc"));
        assert_ne!(operation("request", "k-1"), request("k-1").guard_id(&tenant));
    }

    #[test]
    fn a_guard_id_is_pinned_because_stored_guards_must_be_found_again() {
        let id = request("k-1").guard_id(&TenantId::derive(&["a"]));
        assert_eq!(id, request("\"k-1\"").guard_id(&TenantId::derive(&["a"])));
        assert!(id.as_str().starts_with("key#"), "{id:?}");
        assert_eq!(id.as_str().len(), "key#".len() + 52);
        assert_eq!(id.as_str(), "key#2agf2by2d5wzymwrd5qzgpyk3ykrapck37jbldm3pafmsojeb5qa");
        assert_eq!(format!("{id:?}"), id.as_str());
        let id = request("k-1").execution_id(&TenantId::derive(&["a"]));
        assert_eq!(id.as_str(), "run#wqwcwj65oezmkqr47stnf3sporm6zew3wpvgyeq4lrkbhzz4bp2a");
    }

    #[test]
    fn flaw_18_missing_parts_name_nothing() {
        for text in ["", " ", "\t\n"] {
            assert_eq!(Part::new(text), Err(NoName));
        }
        assert_eq!(Part::of(None), Err(NoName));
        let part = Part::new("482913").unwrap();
        assert_eq!((part.as_str(), format!("{part:?}").as_str()), ("482913", "Part(6 bytes)"));
    }
}
