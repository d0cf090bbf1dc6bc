//! What became of one provider call.

use serde::{Deserialize, Serialize};

use super::{Reference, UnknownBasis};

/// The answer to one provider call, by what it proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The provider took the text.
    Accepted {
        /// Its name for the message, when the answer held one.
        message_id: Option<Reference>,
        /// Its name for the request.
        request_id: Option<Reference>,
    },
    /// The provider surely did not take it.
    Refused(Refusal),
    /// It may have taken it, or not.
    Unknown(UnknownBasis),
}

/// A proof that a text was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What follows from it.
    pub class: RefusalClass,
    /// The provider's reason.
    pub code: ProviderCode,
}

/// What follows from a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalClass {
    /// The next attempt may fare better: throttled, or never connected.
    Retryable,
    /// Worth another attempt, and somebody must look: credentials, rights.
    RetryableAlarm,
    /// No attempt will fare better.
    Permanent,
    /// No attempt will fare better, and somebody must look: a set-up fault.
    PermanentAlarm,
}

impl RefusalClass {
    /// Whether another attempt makes sense.
    #[must_use]
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::Retryable | Self::RetryableAlarm)
    }

    /// Whether somebody must look.
    #[must_use]
    pub const fn is_alarming(self) -> bool {
        matches!(self, Self::RetryableAlarm | Self::PermanentAlarm)
    }
}

/// The reasons a provider gives, as the closed list this service knows. Anything else is [`ProviderCode::Other`]: an
/// unknown reason's text is kept nowhere, for it may hold a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProviderCode {
    /// A parameter of the call is not acceptable.
    InvalidParameter,
    /// The recipient asked not to be texted.
    OptedOut,
    /// Texts to this country are switched off.
    CountryBlocked,
    /// The text would cost more than one may.
    PriceOverThreshold,
    /// The account may not text strangers yet, and the recipient is not one of its verified numbers.
    NotVerified,
    /// A protect configuration stands against this recipient.
    BlockedByProtect,
    /// The account has nothing to send from to this recipient.
    NoOrigination,
    /// What the text was to be sent from cannot send this text to this recipient.
    OriginationUnfit,
    /// The call does not go with how the account stands, and why is on no list here.
    Conflict,
    /// The account has used up what it may send or spend.
    QuotaExceeded,
    /// The caller may not do this.
    AccessDenied,
    /// The call's credentials or signature do not hold.
    BadCredentials,
    /// Too many calls.
    Throttled,
    /// What the call names does not exist or is switched off.
    NotFound,
    /// A key the provider needs cannot be used.
    KeyUnusable,
    /// The call never reached the provider.
    NotConnected,
    /// The call could not be built.
    NotBuilt,
    /// The last useful instant had passed; the call was not made.
    TooLate,
    /// Anything else.
    Other,
}
