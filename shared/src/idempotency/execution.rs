//! What is kept of a command whose effect lies elsewhere.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::{Hash32, base32};
use crate::tenant::TenantId;
use crate::time::{EpochMillis, EpochSeconds, Millis};

use super::{Answer, Fields, Fingerprint, FingerprintKey, Nonce, Scope};

/// The primary key of an execution: `run#` and a hash of tenant, scope and key.
///
/// It is stable over retries, so it also serves as the reference, or the idempotency token, that the effect's own
/// service is given. Guards lie under `key#`: an item of one mode is never taken for one of the other.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExecutionId(String);

impl ExecutionId {
    pub(crate) fn from_digest(digest: &Hash32) -> Self {
        Self(format!("run#{}", base32(digest)))
    }

    /// As it stands in the table: 56 characters of `a-z 2-7` after the first four.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who may write an execution: chosen anew by each that takes it, and part of every condition.
pub type Owner = Nonce;

/// One command, named and told apart. Made once, before anything can change the input it was made from: what is
/// completed later is this, not what the input has become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Which execution it is.
    pub id: ExecutionId,
    /// What tells the same command from another one under its key.
    pub fingerprint: Fingerprint,
}

impl Named {
    /// The name of `command` within `scope`, inside `tenant`.
    #[must_use]
    pub fn new(tenant: &TenantId, scope: &Scope, command: &impl Fields, key: &FingerprintKey) -> Self {
        Self { id: scope.execution_id(tenant), fingerprint: key.fingerprint(command) }
    }
}

/// How an effect that took place ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// As the caller wished.
    Succeeded,
    /// Not so, and for good: the same command would end no other way.
    Failed,
}

/// How far an execution got.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Taken; its effect has surely not begun. Once the lease is over the same command may take it over.
    Open {
        /// The first instant at which its owner has no more right to begin the effect.
        lease_until: EpochMillis,
    },
    /// Taken, and its effect may have happened. Once the lease is over nobody knows.
    Begun {
        /// The first instant at which its owner has no more right to begin the effect.
        lease_until: EpochMillis,
    },
    /// Whether the effect happened is not known. Only [`super::Resolution`] ends this, whatever the time.
    Unknown {
        /// As it was: what began within it may still be on its way.
        lease_until: EpochMillis,
    },
    /// Over; the answer is given to all who ask within the window.
    Settled {
        /// How it ended.
        ending: Ending,
        /// What the first caller was told.
        answer: Answer,
    },
}

impl Phase {
    /// A word for logs and items.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Open { .. } => "open",
            Self::Begun { .. } => "begun",
            Self::Unknown { .. } => "unknown",
            Self::Settled { ending: Ending::Succeeded, .. } => "succeeded",
            Self::Settled { ending: Ending::Failed, .. } => "failed",
        }
    }
}

/// One execution as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Execution {
    /// Its place in the store.
    pub id: ExecutionId,
    /// Of the command that took the key.
    pub fingerprint: Fingerprint,
    /// Whose word counts.
    pub owner: Owner,
    /// How far it got.
    pub phase: Phase,
    /// The first instant at which a settled answer is no longer given. Says nothing about what is not settled.
    pub window_ends_at: EpochMillis,
}

impl Execution {
    /// TTL deletes days late and looks at no state; this margin only spares it from deleting what readers still want.
    const TTL_MARGIN: Millis = Millis::from_secs(24 * 3_600);

    /// When the store may forget it: never, while it is not known whether the effect happened.
    #[must_use]
    pub fn ttl(&self) -> Option<EpochSeconds> {
        let useful_until = match self.phase {
            Phase::Begun { .. } | Phase::Unknown { .. } => return None,
            // Its owner's next write needs it to exist, so forgetting it can only make that write fail.
            Phase::Open { lease_until } => lease_until.max(self.window_ends_at),
            Phase::Settled { .. } => self.window_ends_at,
        };
        Some(useful_until.plus(Self::TTL_MARGIN).secs_ceil())
    }

    /// The same execution, further on.
    #[must_use]
    pub(crate) fn with(&self, phase: Phase) -> Self {
        Self { phase, ..self.clone() }
    }
}
