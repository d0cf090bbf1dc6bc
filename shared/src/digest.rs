//! Hashing over fields whose borders cannot move.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest as _, Sha256};

/// 32 bytes of SHA-256 or HMAC-SHA-256.
pub(crate) type Hash32 = [u8; 32];

/// SHA-256 over length-prefixed fields: `("ab","c")` and `("a","bc")` differ.
pub(crate) struct FieldHash(Sha256);

impl FieldHash {
    pub(crate) fn new(domain: &str) -> Self {
        Self(Sha256::new()).field(domain)
    }

    #[must_use]
    pub(crate) fn field(mut self, value: &str) -> Self {
        self.0.update(length_prefix(value.as_bytes()));
        self.0.update(value);
        self
    }

    pub(crate) fn finish(self) -> Hash32 {
        self.0.finalize().into()
    }
}

/// HMAC-SHA-256 over length-prefixed fields.
#[derive(Clone)]
pub(crate) struct FieldMac(Hmac<Sha256>);

impl FieldMac {
    pub(crate) fn new(key: &Hash32) -> Self {
        // HMAC pads a key to the hash's block of 64 bytes with zeros; doing so here leaves nothing that can fail.
        let mut block = [0; 64];
        block.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
        Self(<Hmac<Sha256> as KeyInit>::new(&block.into()))
    }

    pub(crate) fn push(&mut self, value: &[u8]) {
        self.0.update(&length_prefix(value));
        self.0.update(value);
    }

    pub(crate) fn finish(self) -> Hash32 {
        self.0.finalize().into_bytes().into()
    }
}

fn length_prefix(value: &[u8]) -> [u8; 8] {
    u64::try_from(value.len()).unwrap_or(u64::MAX).to_be_bytes()
}

pub(crate) fn sha256(parts: &[&[u8]]) -> Hash32 {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// Lower-case base32 without padding: safe in paths, logs and double-click selections.
pub(crate) fn base32(bytes: &[u8]) -> String {
    data_encoding::BASE32_NOPAD.encode(bytes).to_ascii_lowercase()
}

pub(crate) fn base64url(bytes: &[u8]) -> String {
    data_encoding::BASE64URL_NOPAD.encode(bytes)
}

pub(crate) fn hash_from_base64url(text: &str) -> Option<Hash32> {
    data_encoding::BASE64URL_NOPAD.decode(text.as_bytes()).ok()?.try_into().ok()
}
