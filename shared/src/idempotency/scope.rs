//! What a key is unique within.

use crate::digest::FieldHash;
use crate::tenant::TenantId;

use super::{GuardId, IdempotencyKey};

/// The named thing that may happen once. The tenant is always inside it: two tenants never meet in one guard.
///
/// `Request` is for commands whose client makes a key; `Operation` for effects that several paths can ask for and that
/// have a name of their own (refund of order 123); `Periodic` for what may happen once in a period whose name the
/// caller computed in an explicit time zone.
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
        name: String,
        /// What it is done to, such as an order's number.
        id: String,
    },
    /// One action of one subject in one period.
    Periodic {
        /// Who acts.
        subject: String,
        /// What is done.
        action: String,
        /// The period's name, zone included, such as `2026-11-30[Europe/Paris]`.
        period: String,
    },
}

impl Scope {
    /// The stored item's identity: a hash, so that no part of a key or an id can be read from the table.
    #[must_use]
    pub fn guard_id(&self, tenant: &TenantId) -> GuardId {
        let hash = FieldHash::new("sendonce.guard.v1").field(tenant.as_str());
        let hash = match self {
            Self::Request { key } => hash.field("request").field(key.as_str()),
            Self::Operation { name, id } => hash.field("operation").field(name).field(id),
            Self::Periodic { subject, action, period } => {
                hash.field("periodic").field(subject).field(action).field(period)
            }
        };
        GuardId::from_digest(&hash.finish())
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
        let operation = |name: &str, id: &str| Scope::Operation { name: name.into(), id: id.into() }.guard_id(&tenant);
        assert_ne!(operation("ab", "c"), operation("a", "bc"));
        assert_ne!(operation("request", "k-1"), request("k-1").guard_id(&tenant));
    }

    #[test]
    fn a_guard_id_is_pinned_because_stored_guards_must_be_found_again() {
        let id = request("k-1").guard_id(&TenantId::derive(&["a"]));
        assert_eq!(id, request("\"k-1\"").guard_id(&TenantId::derive(&["a"])));
        assert!(id.as_str().starts_with("key#"), "{id:?}");
        assert_eq!(id.as_str().len(), "key#".len() + 52);
    }
}
