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

    /// The IAM user or role of this ARN, without a session; `None` for anything else.
    #[must_use]
    pub fn of_iam(arn: &str) -> Option<Self> {
        let parts = iam_principal(arn)?;
        Some(Self::derive(&["iam", parts.partition, parts.account, &parts.principal]))
    }

    /// Whom this issuer means by this value of a claim.
    #[must_use]
    pub fn of_jwt(issuer: &str, value: &str) -> Self {
        Self::derive(&["jwt", issuer, value])
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

struct IamPrincipal<'a> {
    partition: &'a str,
    account: &'a str,
    principal: String,
}

/// A user or role. The last part of an assumed role's ARN is the session's name, which callers choose themselves; the
/// path that a role's own ARN may hold is not in it.
fn iam_principal(arn: &str) -> Option<IamPrincipal<'_>> {
    let parts: Vec<&str> = arn.splitn(6, ':').collect();
    let ["arn", partition, "iam" | "sts", "", account, resource] = parts.as_slice() else { return None };
    if account.is_empty() || resource.is_empty() {
        return None;
    }
    let principal = match resource.split_once('/') {
        Some(("assumed-role", role_and_session)) => {
            let (role, _session) = role_and_session.rsplit_once('/')?;
            format!("role/{role}")
        }
        Some(("role", path_and_role)) => format!("role/{}", path_and_role.rsplit('/').next()?),
        _ => (*resource).to_owned(),
    };
    Some(IamPrincipal { partition, account, principal })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant_of(arn: &str) -> Option<String> {
        iam_principal(arn).map(|parts| format!("{}|{}|{}", parts.partition, parts.account, parts.principal))
    }

    #[test]
    fn a_roles_session_name_is_not_identity() {
        let role = tenant_of("arn:aws:sts::123456789012:assumed-role/checkout/session-1").unwrap();
        assert_eq!(role, "aws|123456789012|role/checkout");
        assert_eq!(tenant_of("arn:aws:sts::123456789012:assumed-role/checkout/session-2"), Some(role));
    }

    #[test]
    fn a_role_is_the_same_by_its_own_name_as_by_a_sessions() {
        let session = TenantId::of_iam("arn:aws:sts::123456789012:assumed-role/ops/jo");
        assert!(session.is_some());
        assert_eq!(TenantId::of_iam("arn:aws:iam::123456789012:role/ops"), session);
        assert_eq!(TenantId::of_iam("arn:aws:iam::123456789012:role/teams/support/ops"), session);
    }

    #[test]
    fn users_and_accounts_are_told_apart() {
        assert_eq!(tenant_of("arn:aws:iam::1:user/a/b"), Some(String::from("aws|1|user/a/b")));
        assert_eq!(tenant_of("arn:aws:iam::1:root"), Some(String::from("aws|1|root")));
        for arn in ["", "arn:aws:iam::1", "arn:aws:s3:::bucket", "arn:aws:iam:::root", "arn:aws:sts::1:assumed-role/x"]
        {
            assert_eq!(tenant_of(arn), None, "{arn}");
        }
    }
}
