//! What the flows need of the world. One method is one request to one service, and each says what holds when it
//! returns: **surely done**, **surely not done**, or **perhaps done**. The last two are different types of failure
//! everywhere; there is no `retryable: bool`.
//!
//! A flow awaits nothing but these methods, so dropping it at an await is the same as a crash there.
#![expect(async_fn_in_trait, reason = "flows are generic over ports; whoever spawns one names concrete types")]

use crate::idempotency::{Guard, GuardId};
use crate::notification::{
    Attempt, DestinationMac, Held, Kind, LogRow, NotificationId, Outcome, Payload, Record, Row, Sealed, SenderId,
    Transition,
};
use crate::tenant::TenantId;
use crate::time::{EpochMillis, Millis};

/// A read that brought nothing. Nothing changed by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the store could not be read")]
pub struct Unreadable;

/// A write that did not answer "done".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteFault {
    /// Surely not done: another transaction was at the same items.
    #[error("another write was at the same items")]
    Conflict,
    /// Surely not done: throttled, denied, malformed, or never connected.
    #[error("the write was refused")]
    Refused,
    /// Perhaps done.
    #[error("the write may or may not have been done")]
    Unknown,
}

/// A conditional write that the store answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written<H> {
    /// Durable, all of it.
    Done,
    /// Nothing of it was written; what stood in the way.
    Held(H),
}

/// Guard, record and row 0 of one accepted command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admission {
    /// Makes the key unique.
    pub guard: Guard,
    /// The notification.
    pub record: Record,
    /// Its row 0.
    pub row: Row,
}

/// What stood in the way of an admission. A part is `None` when its own condition held.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct HeldAdmission {
    /// A guard under the same key, its window not over.
    pub guard: Option<Guard>,
    /// The record of the same event.
    pub record: Option<Record>,
    /// Row 0 of the same event.
    pub row: Option<Row>,
}

/// Takes commands into the store.
pub trait Admissions {
    /// Writes all three items, or none: the guard unless one holds at `now`, record and row unless they exist.
    ///
    /// `Done`: all three are durable. `Held`: none is; what stands in the way is exact at that instant. `Conflict`,
    /// `Refused`: none is. `Unknown`: all or none.
    async fn admit(&self, admission: &Admission, now: EpochMillis) -> Result<Written<HeldAdmission>, WriteFault>;

    /// Writes a guard alone, unless one holds at `now`.
    ///
    /// `Done`: durable. `Held`: not written. `Conflict`, `Refused`: not written. `Unknown`: perhaps written.
    async fn bind(&self, guard: &Guard, now: EpochMillis) -> Result<Written<Guard>, WriteFault>;

    /// The guard stored under this id, whether or not it still holds. Sees every write that was answered before.
    async fn guard(&self, id: &GuardId) -> Result<Option<Guard>, Unreadable>;
}

/// Reads records.
pub trait Records {
    /// The record as it stands. Sees every write that was answered before.
    async fn record(&self, id: &NotificationId) -> Result<Option<Record>, Unreadable>;
}

/// Moves records.
pub trait Transitions {
    /// Writes record and row, or neither: the record if the stored one is still at `expected_rev`, the row if its
    /// place is free.
    ///
    /// `Done`: both are durable. `Held`: neither was written by this call; an earlier try of it may have been, see
    /// [`Transition::is_own`]. `Conflict`, `Refused`: neither. `Unknown`: both or neither.
    async fn commit(&self, transition: &Transition) -> Result<Written<Held>, WriteFault>;
}

/// One page of open work.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DuePage {
    /// In order of their due time. May be stale: re-read each before acting.
    pub ids: Vec<NotificationId>,
    /// Where the next page starts; `None` after the last. A page may be empty and not be the last.
    pub next: Option<DueCursor>,
}

/// A place in one shard of open work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueCursor {
    /// The last notification seen.
    pub id: NotificationId,
    /// Its due time.
    pub due_at: EpochMillis,
}

/// Finds open work.
pub trait DueWork {
    /// What is due at `now` in one shard, from `from` on. Eventually consistent: may lack the newest, may show what
    /// has moved.
    async fn due(&self, shard: u8, now: EpochMillis, from: Option<&DueCursor>) -> Result<DuePage, Unreadable>;
}

/// The notifications to one number.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SentTo {
    /// Which they are.
    pub ids: Vec<NotificationId>,
    /// Whether these are all of them; a read ends after so many.
    pub is_whole: bool,
}

/// Finds notifications by their number.
pub trait Destinations {
    /// Those to this number that were accepted between two instants, both included. Eventually consistent: may lack
    /// the newest.
    async fn sent_to(
        &self,
        destination: &DestinationMac,
        from: EpochMillis,
        until: EpochMillis,
    ) -> Result<SentTo, Unreadable>;
}

/// One page of a provider's delivery log.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LogPage {
    /// In no particular order; may hold rows from outside the span that was asked for.
    pub rows: Vec<LogRow>,
    /// Where the next page starts; `None` after the last. A page may be empty and not be the last.
    pub next: Option<LogCursor>,
}

/// A place in a delivery log: which of its groups, and the log's own token.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct LogCursor {
    /// Which group.
    pub group: usize,
    /// Where in it; its beginning when there is none.
    pub token: Option<String>,
}

/// Reads the delivery log of the provider that keeps one.
pub trait DeliveryLog {
    /// What the log says about texts that the provider took between two instants. It tells late, up to 72 hours, and
    /// may never tell.
    async fn log_page(&self, from: EpochMillis, until: EpochMillis, cursor: &LogCursor) -> Result<LogPage, Unreadable>;
}

/// Reads evidence.
pub trait EvidenceLog {
    /// All rows of a notification in order, those that are not intact left out (the chain check finds the gap). Sees
    /// every write that was answered before.
    async fn rows(&self, id: &NotificationId) -> Result<Vec<Row>, Unreadable>;
}

/// Wakes a dispatcher.
pub trait Doorbell {
    /// Asks for a look at this notification, after `delay`.
    ///
    /// `Ok`: it will be asked for, at least once. Any failure: perhaps, perhaps not; the record's due time covers it.
    async fn ring(&self, id: &NotificationId, delay: Millis) -> Result<(), WriteFault>;
}

/// The seal could not be made or opened; nothing was sent and nothing written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealFault {
    /// The key service did not give a key this time.
    #[error("the key service is not available")]
    Unavailable,
    /// The envelope is broken; it will never open.
    #[error("the seal does not open")]
    Broken,
}

/// Closes envelopes; cannot open them.
pub trait Sealer {
    /// Seals a payload for one notification. Changes nothing anywhere.
    async fn seal(&self, payload: &Payload, tenant: &TenantId, id: &NotificationId) -> Result<Sealed, SealFault>;
}

/// Opens envelopes; cannot close them.
pub trait Opener {
    /// Opens one notification's envelope. Changes nothing anywhere.
    async fn open(&self, sealed: &Sealed, tenant: &TenantId, id: &NotificationId) -> Result<Payload, SealFault>;
}

/// One text, ready to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Which notification it is.
    pub id: NotificationId,
    /// Which attempt it is.
    pub attempt: Attempt,
    /// Number and body.
    pub payload: Payload,
    /// Who the handset says it is from.
    pub sender_id: Option<SenderId>,
    /// The provider's class of text.
    pub kind: Kind,
    /// The latest instant at which the call may begin.
    pub not_after: EpochMillis,
    /// When saying it no longer makes sense: a provider that can is told to drop it then.
    pub expires_at: EpochMillis,
    /// How long the call may take, all in all.
    pub time_allowed: Millis,
}

/// Sends texts.
pub trait Carrier {
    /// Makes one request to the provider, once.
    ///
    /// `Accepted`: the provider took the text. `Refused`: it surely did not; nothing of the request will take effect
    /// later. `Unknown`: it may have. When the carrier's clock is past `not_after` the call is not made and the answer
    /// is `Refused` with [`crate::notification::ProviderCode::TooLate`].
    async fn send(&self, text: &Text) -> Outcome;
}

/// Time, and chance.
pub trait Clock {
    /// This environment's clock; others may be off by the configured skew.
    fn now(&self) -> EpochMillis;

    /// 16 random bytes, from the system's cryptographic source.
    fn random(&self) -> [u8; 16];

    /// Waits.
    async fn pause(&self, length: Millis);
}
