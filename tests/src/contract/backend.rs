//! What a set of ports must offer to be held to the contract.
#![expect(async_fn_in_trait, reason = "each case names the backend it runs on")]

use sendonce::notification::NotificationId;
use sendonce::ports::{
    Admissions, Carrier, Clock, Destinations, Doorbell, DueWork, EvidenceLog, Opener, Records, Sealer, Transitions,
};
use sendonce::time::{EpochMillis, Millis};

/// A method of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// [`Admissions::admit`]
    Admit,
    /// [`Admissions::bind`]
    Bind,
    /// [`Admissions::guard`]
    Guard,
    /// [`Records::record`]
    Record,
    /// [`Transitions::commit`]
    Commit,
    /// [`DueWork::due`]
    Due,
    /// [`Destinations::sent_to`]
    SentTo,
    /// [`EvidenceLog::rows`]
    Rows,
    /// [`Doorbell::ring`]
    Ring,
    /// [`Sealer::seal`]
    Seal,
    /// [`Opener::open`]
    Open,
    /// [`Carrier::send`]
    Send,
}

/// How one call goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Another write is at the same items.
    Conflict,
    /// The service says no.
    Refused,
    /// Nothing is done, and nothing is heard.
    NeverDone,
    /// It is done, and nothing is heard.
    AnswerLost,
    /// It is done, the answer is lost, and the client library asks again by itself.
    Repeated,
    /// The provider says no for good.
    Rejected,
    /// The provider takes it and does not name it.
    Nameless,
}

/// Why a case cannot be played here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cannot(pub &'static str);

/// All ports, on something to stand on that nobody else uses.
pub trait Backend {
    /// Commands, records and evidence.
    type Ledger: Admissions + Records + Transitions + DueWork + EvidenceLog + Destinations;
    /// Doorbells.
    type Doorbell: Doorbell;
    /// Envelopes, to close.
    type Sealer: Sealer;
    /// Envelopes, to open.
    type Opener: Opener;
    /// Texts.
    type Carrier: Carrier;
    /// Time.
    type Clock: Clock;

    /// Commands, records and evidence.
    fn ledger(&self) -> Self::Ledger;
    /// Doorbells.
    fn doorbell(&self) -> Self::Doorbell;
    /// Envelopes, to close.
    fn sealer(&self) -> Self::Sealer;
    /// Envelopes, to open; it has opened none before.
    fn opener(&self) -> Self::Opener;
    /// Texts.
    fn carrier(&self) -> Self::Carrier;
    /// Time.
    fn clock(&self) -> Self::Clock;

    /// Lets the next call of this method go wrong like this.
    ///
    /// # Errors
    /// [`Cannot`] where that cannot be brought about.
    fn fail_next(&self, port: Port, how: How) -> Result<(), Cannot>;

    /// Lets time go by.
    async fn pass(&self, length: Millis);

    /// Lets the table forget all that it may forget at `now`.
    async fn forget(&self, now: EpochMillis);

    /// Takes the doorbells that can be received now.
    async fn rung(&self) -> Vec<NotificationId>;

    /// How many texts the provider took.
    async fn texts(&self) -> usize;
}
