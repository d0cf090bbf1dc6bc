//! KMS and the envelope: opens only under the names it was closed with. The cipher itself has its own tests; here an
//! envelope is the names and the payload side by side, which costs nothing.

use sendonce::notification::{MessageText, NotificationId, Payload, PhoneNumber, Sealed};
use sendonce::ports::{Opener, SealFault, Sealer};
use sendonce::tenant::TenantId;

/// The key service.
#[derive(Clone, Copy, Debug, Default)]
pub struct SealModel;

impl Sealer for SealModel {
    async fn seal(&self, payload: &Payload, tenant: &TenantId, id: &NotificationId) -> Result<Sealed, SealFault> {
        let parts = [tenant.as_str(), id.as_str(), payload.to.expose(), payload.message.expose()];
        Ok(Sealed::from_bytes(parts.join("\u{0}").into_bytes()))
    }
}

impl Opener for SealModel {
    async fn open(&self, sealed: &Sealed, tenant: &TenantId, id: &NotificationId) -> Result<Payload, SealFault> {
        let text = core::str::from_utf8(sealed.as_bytes()).map_err(|_| SealFault::Broken)?;
        let mut parts = text.splitn(4, '\u{0}');
        let names = [parts.next(), parts.next()];
        if names != [Some(tenant.as_str()), Some(id.as_str())] {
            return Err(SealFault::Broken);
        }
        let to = parts.next().and_then(PhoneNumber::parse).ok_or(SealFault::Broken)?;
        let message = parts.next().and_then(MessageText::parse).ok_or(SealFault::Broken)?;
        Ok(Payload { to, message })
    }
}
