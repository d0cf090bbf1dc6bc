//! Number and body, encrypted for the dispatcher alone.

use core::fmt;

use aes_gcm::aead::{Aead, KeyInit, Payload as Message};
use aes_gcm::{Aes256Gcm, Key, Nonce};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::tenant::TenantId;

use super::{MessageText, NotificationId, PhoneNumber};

/// What is sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payload {
    /// Where to.
    pub to: PhoneNumber,
    /// What to say.
    pub message: MessageText,
}

/// A 256-bit data key in the clear.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct DataKey([u8; 32]);

impl DataKey {
    /// A key of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// A key of these bytes, if there are 32 of them.
    #[must_use]
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DataKey(…)")
    }
}

/// The envelope: the data key in its encrypted form, a nonce, and the ciphertext.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(Vec<u8>);

/// An envelope that cannot be opened: cut, altered, or another notification's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the seal does not open")]
pub struct OpenFault;

const VERSION: u8 = 1;
const NONCE_LEN: usize = 12;

impl Sealed {
    /// Seals a payload for one notification of one tenant: AES-256-GCM, both names as associated data, so that an
    /// envelope moved to another record does not open.
    ///
    /// `nonce` must never repeat under one `data_key`: random ones may be used for far more than its 1,000 messages.
    ///
    /// # Errors
    /// [`OpenFault`] when the encrypted key is longer than 65,535 bytes, or the cipher refuses.
    pub fn seal(
        payload: &Payload,
        tenant: &TenantId,
        id: &NotificationId,
        data_key: &DataKey,
        encrypted_key: &[u8],
        nonce: [u8; NONCE_LEN],
    ) -> Result<Self, OpenFault> {
        let clear = Zeroizing::new(format!("{}\n{}", payload.to.expose(), payload.message.expose()));
        let aad = associated_data(tenant, id);
        let ciphertext = cipher(data_key)
            .encrypt(&Nonce::from(nonce), Message { msg: clear.as_bytes(), aad: aad.as_bytes() })
            .map_err(|_| OpenFault)?;
        let key_len = u16::try_from(encrypted_key.len()).map_err(|_| OpenFault)?;
        Ok(Self([&[VERSION], &key_len.to_be_bytes()[..], encrypted_key, &nonce, &ciphertext].concat()))
    }

    /// Opens the envelope with the data key that [`Sealed::encrypted_key`] decrypts to.
    ///
    /// # Errors
    /// [`OpenFault`]; never a part of the payload.
    pub fn open(&self, tenant: &TenantId, id: &NotificationId, data_key: &DataKey) -> Result<Payload, OpenFault> {
        let (_, nonce, ciphertext) = self.parts().ok_or(OpenFault)?;
        let aad = associated_data(tenant, id);
        let clear = cipher(data_key)
            .decrypt(&Nonce::from(nonce), Message { msg: ciphertext, aad: aad.as_bytes() })
            .map(Zeroizing::new)
            .map_err(|_| OpenFault)?;
        let (to, message) =
            core::str::from_utf8(&clear).ok().and_then(|text| text.split_once('\n')).ok_or(OpenFault)?;
        let to = PhoneNumber::parse(to).ok_or(OpenFault)?;
        let message = MessageText::parse(message).ok_or(OpenFault)?;
        Ok(Payload { to, message })
    }

    /// The data key as KMS encrypted it.
    #[must_use]
    pub fn encrypted_key(&self) -> Option<&[u8]> {
        self.parts().map(|(key, _, _)| key)
    }

    fn parts(&self) -> Option<(&[u8], [u8; NONCE_LEN], &[u8])> {
        let (&version, rest) = self.0.split_first()?;
        let (key_len, rest) = rest.split_first_chunk::<2>()?;
        let (key, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*key_len)))?;
        let (nonce, ciphertext) = rest.split_first_chunk::<NONCE_LEN>()?;
        (version == VERSION).then_some((key, *nonce, ciphertext))
    }

    /// The bytes to store.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Stored bytes.
    #[must_use]
    pub const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed({} bytes)", self.0.len())
    }
}

fn cipher(key: &DataKey) -> Aes256Gcm {
    Aes256Gcm::new(&Key::<Aes256Gcm>::from(key.0))
}

fn associated_data(tenant: &TenantId, id: &NotificationId) -> String {
    format!("sendonce.seal.v1/{}/{}", tenant.as_str(), id.as_str())
}
