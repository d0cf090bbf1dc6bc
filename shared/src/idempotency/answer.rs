//! The answer that is kept, and how long it may be.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The longest answer that an execution may keep, in bytes, declared before any effect.
///
/// A store refuses an item that is too large. Finding that out after the effect would leave a paid charge without a
/// record, so the bound is checked against the store's limit when it is declared, and an answer against the bound
/// before the store sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerBound(usize);

/// An answer declared longer than any store takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an answer of up to {declared} bytes does not fit an item, which leaves {limit} for it")]
pub struct BoundFault {
    /// What was declared.
    pub declared: usize,
    /// What an item leaves.
    pub limit: usize,
}

impl AnswerBound {
    /// What a DynamoDB item of 400 KB leaves beside names, keys and times.
    pub const LIMIT: usize = 400 * 1_024 - 1_024;

    /// What fits an item of 1 KB, so that each write costs one unit.
    pub const ONE_UNIT: Self = Self(736);

    /// A bound of this many bytes.
    ///
    /// # Errors
    /// [`BoundFault`] above [`AnswerBound::LIMIT`].
    pub const fn new(bytes: usize) -> Result<Self, BoundFault> {
        if bytes <= Self::LIMIT { Ok(Self(bytes)) } else { Err(BoundFault { declared: bytes, limit: Self::LIMIT }) }
    }

    /// The number of bytes.
    #[must_use]
    pub const fn get(self) -> usize {
        self.0
    }

    /// The answer as it is kept. One that breaks its own declaration is not: the effect has happened, and that much
    /// must be written down whatever was said about it.
    #[must_use]
    pub fn keep(self, bytes: Option<Vec<u8>>) -> Answer {
        bytes.filter(|bytes| bytes.len() <= self.0).map_or(Answer::NotKept, Answer::Kept)
    }
}

/// What the first caller was told, byte for byte.
///
/// Every value is an answer: `0`, `false`, `""`, `[]`, `null` and no bytes at all are given again as they are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// These bytes.
    Kept(Vec<u8>),
    /// It was longer than declared, or had no form in bytes: only the ending is known.
    NotKept,
}

impl Answer {
    /// The bytes, if they were kept.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Kept(bytes) => Some(bytes),
            Self::NotKept => None,
        }
    }
}

/// What can be kept as an answer and given again as the same bytes.
pub trait AsAnswer: Sized {
    /// The bytes to keep; `None` when this value has none.
    fn to_answer(&self) -> Option<Vec<u8>>;

    /// Reads what [`AsAnswer::to_answer`] wrote; `None` for anything else.
    fn from_answer(bytes: &[u8]) -> Option<Self>;
}

/// A value kept as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl<T: Serialize + DeserializeOwned> AsAnswer for Json<T> {
    fn to_answer(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(&self.0).ok()
    }

    fn from_answer(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok().map(Self)
    }
}

impl AsAnswer for Vec<u8> {
    fn to_answer(&self) -> Option<Vec<u8>> {
        Some(self.clone())
    }

    fn from_answer(bytes: &[u8]) -> Option<Self> {
        Some(bytes.to_vec())
    }
}

/// Where only the ending matters.
impl AsAnswer for () {
    fn to_answer(&self) -> Option<Vec<u8>> {
        Some(Vec::new())
    }

    fn from_answer(bytes: &[u8]) -> Option<Self> {
        bytes.is_empty().then_some(())
    }
}
