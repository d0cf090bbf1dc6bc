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

#[cfg(test)]
mod tests {
    use super::super::fixture::{accepted, payload};
    use super::*;

    fn sealed(record: &super::super::Record) -> Sealed {
        Sealed::seal(&payload(), &record.tenant, &record.id, &DataKey::new([7; 32]), &[9; 184], [1; 12]).unwrap()
    }

    #[test]
    fn p1_neither_key_nor_envelope_is_shown() {
        let (record, _) = accepted();
        assert_eq!(format!("{:?}", DataKey::new([7; 32])), "DataKey(…)");
        let sealed = sealed(&record);
        assert_eq!(format!("{sealed:?}"), format!("Sealed({} bytes)", sealed.as_bytes().len()));
    }

    #[test]
    fn what_is_sealed_opens_for_its_own_notification_and_key_only() {
        let (record, _) = accepted();
        let (key, sealed) = (DataKey::new([7; 32]), sealed(&record));
        assert!(sealed.open(&record.tenant, &record.id, &key) == Ok(payload()));
        assert_eq!(sealed.encrypted_key(), Some(&[9; 184][..]));
        let other = NotificationId::parse(&format!("ntf_{}", "a".repeat(32))).unwrap();
        assert_eq!(sealed.open(&record.tenant, &other, &key), Err(OpenFault));
        assert_eq!(sealed.open(&TenantId::derive(&["b"]), &record.id, &key), Err(OpenFault));
        assert_eq!(sealed.open(&record.tenant, &record.id, &DataKey::new([8; 32])), Err(OpenFault));
    }

    #[test]
    fn every_altered_or_cut_envelope_stays_shut() {
        let (record, _) = accepted();
        let (key, whole) = (DataKey::new([7; 32]), sealed(&record));
        let start = 1 + 2 + 184;
        for at in (0..3).chain(start..whole.as_bytes().len()) {
            let mut bytes = whole.as_bytes().to_vec();
            bytes[at] ^= 1;
            assert_eq!(Sealed::from_bytes(bytes).open(&record.tenant, &record.id, &key), Err(OpenFault), "byte {at}");
        }
        for length in 0..whole.as_bytes().len() {
            let cut = Sealed::from_bytes(whole.as_bytes()[..length].to_vec());
            assert_eq!(cut.open(&record.tenant, &record.id, &key), Err(OpenFault), "length {length}");
        }
    }

    #[test]
    fn p1_no_part_of_number_or_body_is_in_the_envelope_or_its_debug() {
        let (record, _) = accepted();
        let sealed = sealed(&record);
        let clear = String::from_utf8_lossy(sealed.as_bytes()).into_owned();
        assert!(!clear.contains("482913") && !clear.contains("5550142973"));
        let shown = format!("{sealed:?} {:?} {:?}", payload(), DataKey::new([7; 32]));
        assert!(!shown.contains("482913") && !shown.contains("555014"), "{shown}");
    }
}
