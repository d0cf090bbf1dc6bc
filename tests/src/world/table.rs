//! Items, the index over open work, and how the table forgets.

use sendonce::idempotency::{Guard, GuardId};
use sendonce::notification::{DestinationMac, NotificationId, Record, Row};
use sendonce::ports::{DueCursor, DuePage, SentTo};
use sendonce::time::{EpochMillis, EpochSeconds, Millis};

/// When items go whose `ttl` has come: the service promises no more than "within days", and says nothing of state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forgetting {
    /// In the very second.
    AtOnce,
    /// Two days late.
    Late,
    /// Not within the time looked at.
    #[default]
    Never,
}

/// How reads of the index see it.
#[derive(Clone, Copy, Debug)]
pub struct IndexView {
    /// How far behind the table it is.
    pub lag: Millis,
    /// How many entries a page holds.
    pub page: usize,
}

/// No look at the index is further behind than this.
const LAG_MAX: Millis = Millis::from_secs(600);

/// One version of one entry of the index.
#[derive(Clone, Debug)]
struct Entry {
    id: NotificationId,
    shard: u8,
    due_at: EpochMillis,
    since: i64,
    until: i64,
}

/// One entry of the index over numbers; it never moves.
#[derive(Clone, Debug)]
struct Born {
    id: NotificationId,
    destination: DestinationMac,
    accepted_at: EpochMillis,
    since: i64,
}

/// The stored items. Few at a time, so a scan beats a map.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    pub(super) guards: Vec<Guard>,
    pub(super) records: Vec<Record>,
    pub(super) rows: Vec<Row>,
    index: Vec<Entry>,
    born: Vec<Born>,
    forgetting: Forgetting,
    next_ttl: Option<i64>,
}

impl Tables {
    pub(super) fn clear(&mut self, forgetting: Forgetting) {
        self.guards.clear();
        self.records.clear();
        self.rows.clear();
        self.index.clear();
        self.born.clear();
        self.forgetting = forgetting;
        self.next_ttl = None;
    }

    pub(super) fn guard(&self, id: &GuardId) -> Option<&Guard> {
        self.guards.iter().find(|guard| guard.id == *id)
    }

    pub(super) fn record(&self, id: &NotificationId) -> Option<&Record> {
        self.records.iter().find(|record| record.id == *id)
    }

    pub(super) fn row(&self, id: &NotificationId, seq: u32) -> Option<&Row> {
        self.rows.iter().find(|row| row.seq() == seq && row.notification() == id)
    }

    pub(super) fn put_guard(&mut self, guard: &Guard) {
        self.expect_ttl(Some(guard.ttl()));
        match self.guards.iter_mut().find(|stored| stored.id == guard.id) {
            Some(stored) => stored.clone_from(guard),
            None => self.guards.push(guard.clone()),
        }
    }

    pub(super) fn put_record(&mut self, record: &Record, now: EpochMillis) {
        self.expect_ttl(record.ttl);
        self.reindex(record, now.get());
        match self.records.iter_mut().find(|stored| stored.id == record.id) {
            Some(stored) => stored.clone_from(record),
            None => {
                self.records.push(record.clone());
                let (id, destination) = (record.id.clone(), record.destination.clone());
                self.born.push(Born { id, destination, accepted_at: record.accepted_at, since: now.get() });
            }
        }
    }

    /// The notifications to one number, as the index stood `lag` ago.
    pub(super) fn sent_to(
        &self,
        destination: &DestinationMac,
        (from, until): (EpochMillis, EpochMillis),
        at: EpochMillis,
        lag: Millis,
    ) -> SentTo {
        let at = at.minus(lag).get();
        let seen = |born: &&Born| {
            born.destination == *destination && (from..=until).contains(&born.accepted_at) && born.since <= at
        };
        let mut found: Vec<&Born> = self.born.iter().filter(seen).collect();
        found.sort_by(|a, b| (b.accepted_at, &b.id).cmp(&(a.accepted_at, &a.id)));
        SentTo { ids: found.into_iter().map(|born| born.id.clone()).collect(), is_whole: true }
    }

    pub(super) fn put_row(&mut self, row: &Row) {
        self.expect_ttl(Some(row.ttl()));
        match self
            .rows
            .iter_mut()
            .find(|stored| stored.seq() == row.seq() && stored.notification() == row.notification())
        {
            Some(stored) => stored.clone_from(row),
            None => self.rows.push(row.clone()),
        }
    }

    fn reindex(&mut self, record: &Record, now: i64) {
        let current = self.index.iter_mut().find(|entry| entry.until == i64::MAX && entry.id == record.id);
        match current {
            Some(entry) if Some(entry.due_at) == record.due_at => return,
            Some(entry) => entry.until = now,
            None => {}
        }
        let seen_from = now - LAG_MAX.get();
        self.index.retain(|entry| entry.until > seen_from);
        if let Some(due_at) = record.due_at {
            let shard = record.id.due_shard();
            self.index.push(Entry { id: record.id.clone(), shard, due_at, since: now, until: i64::MAX });
        }
    }

    /// What is due in one shard, as the index stood `view.lag` ago.
    pub(super) fn due(
        &self,
        shard: u8,
        due_by: EpochMillis,
        from: Option<&DueCursor>,
        at: EpochMillis,
        view: IndexView,
    ) -> DuePage {
        let at = at.minus(view.lag).get();
        let seen = |entry: &&Entry| {
            entry.shard == shard
                && entry.due_at <= due_by
                && (entry.since..entry.until).contains(&at)
                && from.is_none_or(|from| (entry.due_at, &entry.id) > (from.due_at, &from.id))
        };
        let mut found: Vec<&Entry> = self.index.iter().filter(seen).collect();
        found.sort_by(|a, b| (a.due_at, &a.id).cmp(&(b.due_at, &b.id)));
        let more = found.len() > view.page;
        found.truncate(view.page);
        let next = found.last().filter(|_| more).map(|last| DueCursor { id: last.id.clone(), due_at: last.due_at });
        DuePage { ids: found.into_iter().map(|entry| entry.id.clone()).collect(), next }
    }

    /// Whether a look at the index within `lag` could find anything due by then.
    pub(super) fn has_due(&self, shard: u8, due_by: EpochMillis, at: EpochMillis, lag: Millis) -> bool {
        let oldest = at.minus(lag).get();
        self.index.iter().any(|entry| entry.shard == shard && entry.due_at <= due_by && entry.until > oldest)
    }

    fn expect_ttl(&mut self, ttl: Option<EpochSeconds>) {
        if let Some(ttl) = ttl {
            self.next_ttl = Some(self.next_ttl.unwrap_or(i64::MAX).min(ttl.get()));
        }
    }

    /// Forgets what may be forgotten by now.
    pub(super) fn forget(&mut self, now: EpochMillis) {
        let late = match self.forgetting {
            Forgetting::AtOnce => Millis::ZERO,
            Forgetting::Late => Millis::from_secs(2 * 86_400),
            Forgetting::Never => return,
        };
        let by = now.minus(late).get().div_euclid(1_000);
        if self.next_ttl.is_none_or(|ttl| by < ttl) {
            return;
        }
        self.guards.retain(|guard| guard.ttl().get() > by);
        self.rows.retain(|row| row.ttl().get() > by);
        self.records.retain(|record| record.ttl.is_none_or(|ttl| ttl.get() > by));
        let kept = &self.records;
        self.index.retain(|entry| kept.iter().any(|record| record.id == entry.id));
        self.born.retain(|born| kept.iter().any(|record| record.id == born.id));
        let ttls = self.guards.iter().map(Guard::ttl).chain(self.rows.iter().map(Row::ttl));
        self.next_ttl = ttls.chain(self.records.iter().filter_map(|record| record.ttl)).map(EpochSeconds::get).min();
    }
}
