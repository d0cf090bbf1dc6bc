//! The append-only, hash-chained rows about one notification.
//!
//! A row's body is compact JSON with its members in the order written here. Its hash is SHA-256 over exactly those
//! bytes, and the body holds the hash before it, so an auditor needs nothing but a SHA-256 tool. Row 0 is chained to
//! the notification's own id.

use serde::{Deserialize, Serialize};

use crate::digest::{Hash32, base64url, hash_from_base64url, sha256};
use crate::time::{EpochMillis, EpochSeconds, Millis};

use super::NotificationId;
use super::fact::{Actor, Fact};
use super::record::{Progress, Record};

/// One row of evidence, exactly as it is stored and hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    notification: NotificationId,
    body: Body,
    hash: Hash32,
    ttl: EpochSeconds,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Body {
    seq: u32,
    at: EpochMillis,
    actor: Actor,
    #[serde(flatten)]
    fact: Fact,
    prev_hash: String,
}

/// The first way in which rows are not the whole, untouched evidence of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainFault {
    /// There is no row at all.
    #[error("there are no rows")]
    Empty,
    /// A row's number is not the one that follows.
    #[error("row {0} is missing")]
    Missing(u32),
    /// A row does not hold the hash of the one before.
    #[error("row {0} is not chained to the row before it")]
    Unchained(u32),
    /// A row states what cannot have happened after the rows before it.
    #[error("row {0} states a fact that its place does not allow")]
    Illegal(u32),
    /// The record knows of another, or a further, row.
    #[error("the record's latest row is not among the rows")]
    OtherHead,
}

impl Row {
    /// 13 months of 31 days, counted from acceptance, so that a chain is forgotten as one.
    const RETENTION: Millis = Millis::from_secs(403 * 86_400);

    /// The row `seq` of a notification accepted at `accepted_at`, chained to `prev`.
    #[must_use]
    pub fn new(
        notification: &NotificationId,
        accepted_at: EpochMillis,
        seq: u32,
        at: EpochMillis,
        actor: Actor,
        fact: Fact,
        prev: Hash32,
    ) -> Self {
        let body = Body { seq, at, actor, fact, prev_hash: base64url(&prev) };
        let hash = body.hash();
        Self { notification: notification.clone(), body, hash, ttl: accepted_at.plus(Self::RETENTION).secs_ceil() }
    }

    /// Reads a stored row; `None` when its hash is not that of its body, or its body has any other form.
    #[must_use]
    pub fn from_stored(
        notification: NotificationId,
        seq: u32,
        body: &str,
        hash: &[u8],
        ttl: EpochSeconds,
    ) -> Option<Self> {
        let parsed: Body = serde_json::from_str(body).ok()?;
        let intact = parsed.seq == seq && parsed.to_json() == body && sha256(&[body.as_bytes()]) == *hash;
        let hash = hash.try_into().ok()?;
        intact.then_some(Self { notification, body: parsed, hash, ttl })
    }

    /// What row 0 of a notification is chained to.
    #[must_use]
    pub fn genesis(notification: &NotificationId) -> Hash32 {
        sha256(&[notification.as_str().as_bytes()])
    }

    /// Whose row it is.
    #[must_use]
    pub const fn notification(&self) -> &NotificationId {
        &self.notification
    }

    /// Its number, from 0.
    #[must_use]
    pub const fn seq(&self) -> u32 {
        self.body.seq
    }

    /// When it was written, by its writer's clock.
    #[must_use]
    pub const fn at(&self) -> EpochMillis {
        self.body.at
    }

    /// Who wrote it.
    #[must_use]
    pub const fn actor(&self) -> &Actor {
        &self.body.actor
    }

    /// What it states.
    #[must_use]
    pub const fn fact(&self) -> &Fact {
        &self.body.fact
    }

    /// The hash of its body.
    #[must_use]
    pub const fn hash(&self) -> Hash32 {
        self.hash
    }

    /// When the table may forget it.
    #[must_use]
    pub const fn ttl(&self) -> EpochSeconds {
        self.ttl
    }

    /// The exact text that is hashed and stored.
    #[must_use]
    pub fn body_json(&self) -> String {
        self.body.to_json()
    }
}

impl Body {
    fn to_json(&self) -> String {
        // A body is strings and numbers; serialising it cannot fail, and an empty text would verify against nothing.
        serde_json::to_string(self).unwrap_or_default()
    }

    fn hash(&self) -> Hash32 {
        sha256(&[self.to_json().as_bytes()])
    }
}

/// Checks that `rows` are the whole evidence of `notification`, in order, and says where they leave it.
///
/// With the record at hand, missing rows at the end are found too; without it (records are forgotten sooner), they
/// cannot be. Rows beyond the record's are no fault: they were written after it was read.
///
/// # Errors
/// The first [`ChainFault`] met.
pub fn verify_chain(
    notification: &NotificationId,
    rows: &[Row],
    record: Option<&Record>,
) -> Result<Progress, ChainFault> {
    let mut progress = None;
    let mut head = Row::genesis(notification);
    for (seq, row) in (0_u32..).zip(rows) {
        if row.seq() != seq || row.notification() != notification {
            return Err(ChainFault::Missing(seq));
        }
        if hash_from_base64url(&row.body.prev_hash) != Some(head) || row.hash != row.body.hash() {
            return Err(ChainFault::Unchained(seq));
        }
        progress = Some(match (progress, row.fact()) {
            (None, Fact::Accepted(_)) => Progress::start(),
            (Some(before), fact) => Progress::after(&before, fact).map_err(|_| ChainFault::Illegal(seq))?,
            (None, _) => return Err(ChainFault::Illegal(seq)),
        });
        head = row.hash;
    }
    let knows_head = |record: &Record| rows.iter().any(|row| row.seq() == record.rev && row.hash == record.head);
    match record {
        Some(record) if !knows_head(record) => Err(ChainFault::OtherHead),
        _ => progress.ok_or(ChainFault::Empty),
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::*;
    use super::super::{State, StopReason};
    use super::*;

    fn whole() -> (Record, Vec<Row>) {
        story([started(1, 1), unknown(1), stopped(StopReason::ExpiredUnresolved)])
    }

    fn stored(row: &Row) -> Option<Row> {
        Row::from_stored(row.notification().clone(), row.seq(), &row.body_json(), &row.hash(), row.ttl())
    }

    #[test]
    fn a_whole_chain_verifies_and_rebuilds_the_record() {
        let (record, rows) = whole();
        let progress = verify_chain(&record.id, &rows, Some(&record)).unwrap();
        assert_eq!(progress, record.progress);
        assert_eq!(progress.state, State::Stopped(StopReason::ExpiredUnresolved));
        assert_eq!(verify_chain(&record.id, &rows, None), Ok(progress));
    }

    #[test]
    fn each_kind_of_tampering_is_found() {
        let (record, rows) = whole();
        let check = |rows: &[Row]| verify_chain(&record.id, rows, Some(&record)).unwrap_err();
        assert_eq!(check(&[]), ChainFault::OtherHead);
        assert_eq!(verify_chain(&record.id, &[], None), Err(ChainFault::Empty));
        assert_eq!(check(&rows[1..]), ChainFault::Missing(0));
        assert_eq!(check(&[&rows[..1], &rows[2..]].concat()), ChainFault::Missing(1));
        assert_eq!(check(&rows[..3]), ChainFault::OtherHead);
        assert!(verify_chain(&record.id, &rows[..3], None).is_ok(), "without the record the end cannot be known");

        let mut altered = rows.clone();
        altered[1].body.at = at(5);
        assert_eq!(check(&altered), ChainFault::Unchained(1));
        altered[1].hash = altered[1].body.hash();
        assert_eq!(check(&altered), ChainFault::Unchained(2));

        let mut other = rows.clone();
        other[0].notification = NotificationId::parse(&format!("ntf_{}", "a".repeat(32))).unwrap();
        assert_eq!(check(&other), ChainFault::Missing(0));
    }

    #[test]
    fn rows_that_state_the_impossible_are_found_even_when_chained() {
        let (record, rows) = story([started(1, 1)]);
        let row = |seq, fact, prev| Row::new(&record.id, ACCEPTED_AT, seq, at(2), rows[0].actor().clone(), fact, prev);
        let twice = row(2, rows[0].fact().clone(), rows[1].hash());
        let forged = [rows.as_slice(), &[twice]].concat();
        assert_eq!(verify_chain(&record.id, &forged, None), Err(ChainFault::Illegal(2)));
        let headless = [row(0, taken(1), Row::genesis(&record.id))];
        assert_eq!(verify_chain(&record.id, &headless, None), Err(ChainFault::Illegal(0)));
    }

    #[test]
    fn stored_rows_round_trip_and_anything_else_does_not_read() {
        let (_, rows) = whole();
        for row in &rows {
            assert_eq!(stored(row).as_ref(), Some(row));
        }
        let row = &rows[1];
        let read =
            |seq, body: &str, hash: &[u8]| Row::from_stored(row.notification().clone(), seq, body, hash, row.ttl());
        let body = row.body_json();
        assert!(read(2, &body, &row.hash()).is_none());
        assert!(read(1, &body.replace("sns", "snt"), &row.hash()).is_none());
        assert!(read(1, &format!(" {body}"), &sha256(&[format!(" {body}").as_bytes()])).is_none());
        assert!(read(1, &body, &row.hash()[1..]).is_none());
        assert!(read(1, "{}", &row.hash()).is_none());
    }

    #[test]
    fn the_form_of_a_body_is_pinned_because_its_hash_is_kept_for_13_months() {
        let (_, rows) = whole();
        let body = rows[3].body_json();
        let expected = format!(
            "{{\"seq\":3,\"at\":1000003,\"actor\":\"dispatch/$LATEST/req-1\",\"kind\":\"stopped\",\
             \"reason\":\"expired_unresolved\",\"prev_hash\":\"{}\"}}",
            base64url(&rows[2].hash())
        );
        assert_eq!(body, expected);
    }

    #[test]
    fn rows_are_forgotten_together_13_months_after_acceptance() {
        let (_, rows) = whole();
        assert!(rows.iter().all(|row| row.ttl() == ACCEPTED_AT.plus(Millis::from_secs(403 * 86_400)).secs_ceil()));
    }
}
