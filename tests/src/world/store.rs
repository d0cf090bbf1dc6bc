//! DynamoDB, as far as the ports see it: conditions, transactions that bring back what stood in the way, an index that
//! lags, and a table that forgets late or never.

use core::cell::{Cell, RefCell};

use sendonce::idempotency::{Guard, GuardId};
use sendonce::notification::{DestinationMac, Held, NotificationId, Record, Row, Transition};
use sendonce::ports::{
    Admission, Admissions, Destinations, DueCursor, DuePage, DueWork, EvidenceLog, HeldAdmission, Records, SentTo,
    Transitions, Unreadable, WriteFault, Written,
};
use sendonce::time::{EpochMillis, Millis};

use super::table::{Forgetting, IndexView, Tables};
use super::{Flaw, Flaws};

const RECORD_IGNORED: [Flaw; 2] = [Flaw::RecordConditionIgnored, Flaw::EventConditionsIgnored];
const ROW_ZERO_IGNORED: [Flaw; 2] = [Flaw::RowZeroConditionIgnored, Flaw::EventConditionsIgnored];

/// The tables. Every method is one request, done whole at the instant at which it is made.
#[derive(Clone, Debug)]
pub struct Store {
    tables: RefCell<Tables>,
    now: Cell<EpochMillis>,
    view: Cell<IndexView>,
    flaws: Flaws,
    disturbed: Cell<bool>,
    ended_guards_replaced: Cell<u32>,
}

impl Default for Store {
    fn default() -> Self {
        Self {
            tables: RefCell::default(),
            now: Cell::new(EpochMillis::new(0)),
            view: Cell::new(IndexView { lag: Millis::ZERO, page: 100 }),
            flaws: Flaws::default(),
            disturbed: Cell::new(false),
            ended_guards_replaced: Cell::new(0),
        }
    }
}

impl Store {
    /// Empties it.
    pub fn reset(&self, now: EpochMillis, forgetting: Forgetting, flaw: Option<Flaw>) {
        self.tables.borrow_mut().clear(forgetting);
        self.now.set(now);
        self.flaws.only(flaw);
        self.disturbed.set(false);
        self.ended_guards_replaced.set(0);
    }

    /// Sets its time.
    pub fn set_now(&self, now: EpochMillis) {
        self.now.set(now);
    }

    /// Sets how index reads see it from here on.
    pub fn set_view(&self, view: IndexView) {
        self.view.set(view);
    }

    /// Marks the next commit as one whose caller sees a fault; only a planted flaw asks.
    pub fn set_disturbed(&self, disturbed: bool) {
        self.disturbed.set(disturbed);
    }

    /// How often a guard was replaced that still stood there, its window over.
    #[must_use]
    pub fn ended_guards_replaced(&self) -> u32 {
        self.ended_guards_replaced.get()
    }

    fn put_guard(&self, tables: &mut Tables, guard: &Guard) {
        if tables.guard(&guard.id).is_some() {
            self.ended_guards_replaced.set(self.ended_guards_replaced.get() + 1);
        }
        tables.put_guard(guard);
    }

    /// Whether a look at one shard of the index, at most `lag` behind, could find anything due by `due_by`.
    #[must_use]
    pub fn has_due(&self, shard: u8, due_by: EpochMillis, lag: Millis) -> bool {
        self.tables.borrow().has_due(shard, due_by, self.now.get(), lag)
    }

    /// Calls `visit` with every record.
    pub fn for_each_record(&self, mut visit: impl FnMut(&Record)) {
        self.tables.borrow().records.iter().for_each(&mut visit);
    }

    fn tables(&self) -> core::cell::RefMut<'_, Tables> {
        let mut tables = self.tables.borrow_mut();
        tables.forget(self.now.get());
        if self.flaws.has(Flaw::OpenRecordsForgotten) {
            let by = self.now.get().minus(Millis::from_secs(300));
            tables.records.retain(|record| record.accepted_at > by);
        }
        tables
    }

    fn standing_guard(&self, tables: &Tables, guard: &Guard, now: EpochMillis, ignored: Flaw) -> Option<Guard> {
        let standing = tables.guard(&guard.id).filter(|stored| stored.window_ends_at > now)?;
        if self.flaws.has(ignored) { None } else { Some(self.as_returned(standing, guard)) }
    }

    /// What stood in the way, as it comes back with the failure.
    fn as_returned(&self, standing: &Guard, written: &Guard) -> Guard {
        let mut back = standing.clone();
        if self.flaws.has(Flaw::OwnWriteUnrecognised) && back.nonce == written.nonce {
            back.nonce = sendonce::idempotency::Nonce::new([0xff; 16]);
            back.fingerprint = sendonce::idempotency::FingerprintKey::new([0xff; 32]).fingerprint(&Nothing);
        }
        if self.flaws.has(Flaw::MismatchHidden) {
            back.fingerprint = written.fingerprint;
        }
        if self.flaws.has(Flaw::AnswerRebuilt) {
            back.answer = written.answer.clone();
        }
        back
    }
}

struct Nothing;

impl sendonce::idempotency::Fields for Nothing {
    fn fields(&self, _: &mut dyn FnMut(&[u8])) {}
}

impl Admissions for &Store {
    async fn admit(&self, admission: &Admission, now: EpochMillis) -> Result<Written<HeldAdmission>, WriteFault> {
        let Admission { guard, record, row } = admission;
        let mut tables = self.tables();
        let held = HeldAdmission {
            guard: self.standing_guard(&tables, guard, now, Flaw::GuardConditionIgnored),
            record: tables.record(&record.id).filter(|_| !self.flaws.any(&RECORD_IGNORED)).cloned(),
            row: tables.row(&record.id, row.seq()).filter(|_| !self.flaws.any(&ROW_ZERO_IGNORED)).cloned(),
        };
        if held != HeldAdmission::default() {
            return Ok(Written::Held(held));
        }
        self.put_guard(&mut tables, guard);
        tables.put_record(record, self.now.get());
        tables.put_row(row);
        Ok(Written::Done)
    }

    async fn bind(&self, guard: &Guard, now: EpochMillis) -> Result<Written<Guard>, WriteFault> {
        let mut tables = self.tables();
        if let Some(standing) = self.standing_guard(&tables, guard, now, Flaw::BindConditionIgnored) {
            return Ok(Written::Held(standing));
        }
        self.put_guard(&mut tables, guard);
        Ok(Written::Done)
    }

    async fn guard(&self, id: &GuardId) -> Result<Option<Guard>, Unreadable> {
        Ok(self.tables().guard(id).cloned())
    }
}

impl Records for &Store {
    async fn record(&self, id: &NotificationId) -> Result<Option<Record>, Unreadable> {
        Ok(self.tables().record(id).cloned())
    }
}

impl Transitions for &Store {
    async fn commit(&self, transition: &Transition) -> Result<Written<Held>, WriteFault> {
        let Transition { expected_rev, record, row } = transition;
        let mut tables = self.tables();
        let stored = tables.record(&record.id);
        let rev_ignored = self.flaws.any(&[Flaw::RevConditionIgnored, Flaw::StepConditionsIgnored]);
        let row_ignored = self.flaws.any(&[Flaw::RowConditionIgnored, Flaw::StepConditionsIgnored]);
        let rev_holds = stored.is_some_and(|stored| stored.rev == *expected_rev || rev_ignored);
        let standing = tables.row(&record.id, row.seq()).filter(|_| !row_ignored);
        if !rev_holds || standing.is_some() {
            let mut held = Held { record: stored.filter(|_| !rev_holds).cloned(), row: standing.cloned() };
            if self.flaws.has(Flaw::OwnWriteUnrecognised) && transition.is_own(&held) {
                held = Held::default();
            }
            return Ok(Written::Held(held));
        }
        tables.put_record(record, self.now.get());
        if !(self.flaws.has(Flaw::RowOutsideTransaction) && self.disturbed.get()) {
            tables.put_row(row);
        }
        Ok(Written::Done)
    }
}

impl DueWork for &Store {
    async fn due(&self, shard: u8, now: EpochMillis, from: Option<&DueCursor>) -> Result<DuePage, Unreadable> {
        Ok(self.tables().due(shard, now, from, self.now.get(), self.view.get()))
    }
}

impl Destinations for &Store {
    async fn sent_to(
        &self,
        destination: &DestinationMac,
        from: EpochMillis,
        until: EpochMillis,
    ) -> Result<SentTo, Unreadable> {
        let mut found = self.tables().sent_to(destination, (from, until), self.now.get(), self.view.get().lag);
        if self.flaws.has(Flaw::RivalsHidden) {
            found.ids.clear();
        }
        Ok(found)
    }
}

impl EvidenceLog for &Store {
    async fn rows(&self, id: &NotificationId) -> Result<Vec<Row>, Unreadable> {
        let tables = self.tables();
        let mut rows: Vec<Row> = tables.rows.iter().filter(|row| row.notification() == id).cloned().collect();
        rows.sort_by_key(Row::seq);
        Ok(rows)
    }
}
