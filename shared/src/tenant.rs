//! Who calls.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::{FieldHash, base32};

/// The authenticated caller: `tnt_` and 128 bits of a hash over what the authoriser established.
///
/// A hash, because a principal may be anything (a JWT subject is often an e-mail address) while evidence holds
/// identifiers of bounded form only. Whoever knows the principal can compute it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TenantId(String);

impl TenantId {
    /// The tenant named by these parts, in this order.
    #[must_use]
    pub fn derive(parts: &[&str]) -> Self {
        let hash = parts.iter().fold(FieldHash::new("sendonce.tenant.v1"), |hash, part| hash.field(part));
        let digest = hash.finish();
        let (half, _) = digest.split_at(16);
        Self(format!("tnt_{}", base32(half)))
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for TenantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<TenantId> for String {
    fn from(tenant: TenantId) -> Self {
        tenant.0
    }
}

impl TryFrom<String> for TenantId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let body = text.strip_prefix("tnt_").ok_or("not a tenant id")?;
        let is_base32 = body.len() == 26 && body.bytes().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7'));
        if is_base32 { Ok(Self(text)) } else { Err("not a tenant id") }
    }
}
