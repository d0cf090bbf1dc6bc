//! The world's store and the real adapters side by side, as the one store of a run of the simulation.
//!
//! Every request goes to both, and both must answer alike; the run goes on with what the adapters said. Index pages are
//! the world's where it plays an index that lags or has short pages, which no engine in process does.

use core::cell::{Cell, RefCell};
use core::fmt::Debug;

use sendonce::aws::Ledger;
use sendonce::idempotency::{Guard, GuardId};
use sendonce::notification::{DestinationMac, Held, NotificationId, Record, Row, Transition};
use sendonce::ports::{
    Admission, Admissions, Destinations, DueCursor, DuePage, DueWork, EvidenceLog, HeldAdmission, Records, SentTo,
    Transitions, Unreadable, WriteFault, Written,
};
use sendonce::time::{EpochMillis, EpochSeconds, Millis};

use super::script::{admitted, moved};
use crate::aws_seam::Seam;
use crate::simulation::Backend;
use crate::world::{Forgetting, IndexView, Store};

/// Both stores.
#[derive(Debug)]
pub struct Twin {
    world: Store,
    seam: Seam,
    ledger: Ledger,
    forgetting: Forgetting,
    view: Cell<IndexView>,
    ttls: RefCell<Vec<i64>>,
    requests: Cell<usize>,
    differences: RefCell<Vec<String>>,
}

impl Twin {
    /// Two empty stores, at this time.
    pub async fn new(now: EpochMillis, forgetting: Forgetting) -> Self {
        let (world, seam) = (Store::default(), Seam::new());
        world.reset(now, forgetting, None);
        seam.clock().set(now);
        let ledger = seam.adapters().await.ledger;
        Self {
            world,
            seam,
            ledger,
            forgetting,
            view: Cell::new(IndexView { lag: Millis::ZERO, page: PAGE }),
            ttls: RefCell::default(),
            requests: Cell::new(0),
            differences: RefCell::default(),
        }
    }

    /// Where the two did not answer alike.
    #[must_use]
    pub fn differences(&self) -> Vec<String> {
        self.differences.borrow().clone()
    }

    /// How many requests went to both.
    #[must_use]
    pub const fn requests(&self) -> usize {
        self.requests.get()
    }

    /// Notes that both were asked, and what they said when it is not the same.
    fn compare<T: Debug + PartialEq>(&self, request: &str, world: &T, real: &T) {
        self.requests.set(self.requests.get() + 1);
        if world != real {
            let text = format!("{request}\n  world: {world:?}\n  adapters: {real:?}");
            self.differences.borrow_mut().push(text);
        }
    }

    fn expect_ttl(&self, ttl: Option<EpochSeconds>) {
        self.ttls.borrow_mut().extend(ttl.map(EpochSeconds::get));
    }

    /// Lets the engine forget what the world forgets by now: it does so in the second after.
    fn sweep(&self, now: EpochMillis) {
        let late = match self.forgetting {
            Forgetting::AtOnce => Millis::ZERO,
            Forgetting::Late => Millis::from_secs(2 * 86_400),
            Forgetting::Never => return,
        };
        let by = now.minus(late).get().div_euclid(1_000);
        let mut ttls = self.ttls.borrow_mut();
        let before = ttls.len();
        ttls.retain(|ttl| *ttl > by);
        if ttls.len() < before {
            self.seam.clock().set(EpochMillis::new((by + 1) * 1_000));
            self.seam.sweep_ttl();
        }
    }
}

/// Those of one instant come in no particular order.
fn in_order(found: &Result<SentTo, Unreadable>) -> Result<SentTo, Unreadable> {
    found.clone().map(|mut found| {
        found.ids.sort();
        found
    })
}

/// As the adapters have it.
const PAGE: usize = 100;

/// What the run goes on with: the adapters' answer. DynamoDB remembers a request for ten minutes and then says "done"
/// where the world says whose write stands there, the caller's own; a run could not tell the first time from the second.
fn heard<T>(world: T, real: T, is_repeated: bool) -> T {
    if is_repeated { world } else { real }
}

impl Admissions for &Twin {
    async fn admit(&self, admission: &Admission, now: EpochMillis) -> Result<Written<HeldAdmission>, WriteFault> {
        let world = (&self.world).admit(admission, now).await;
        let real = self.ledger.admit(admission, now).await;
        self.compare("admit", &admitted(admission, world.clone()), &admitted(admission, real.clone()));
        if matches!(real, Ok(Written::Done)) {
            self.expect_ttl(Some(admission.guard.ttl()));
            self.expect_ttl(Some(admission.row.ttl()));
        }
        let is_repeated = matches!((&world, &real), (Ok(Written::Held(_)), Ok(Written::Done)));
        heard(world, real, is_repeated)
    }

    async fn bind(&self, guard: &Guard, now: EpochMillis) -> Result<Written<Guard>, WriteFault> {
        let world = (&self.world).bind(guard, now).await;
        let real = self.ledger.bind(guard, now).await;
        self.compare("bind", &world, &real);
        self.expect_ttl(Some(guard.ttl()));
        real
    }

    async fn guard(&self, id: &GuardId) -> Result<Option<Guard>, Unreadable> {
        let (world, real) = ((&self.world).guard(id).await, self.ledger.guard(id).await);
        self.compare("guard", &world, &real);
        real
    }
}

impl Records for &Twin {
    async fn record(&self, id: &NotificationId) -> Result<Option<Record>, Unreadable> {
        let (world, real) = ((&self.world).record(id).await, self.ledger.record(id).await);
        self.compare("record", &world, &real);
        real
    }
}

impl Transitions for &Twin {
    async fn commit(&self, transition: &Transition) -> Result<Written<Held>, WriteFault> {
        let world = (&self.world).commit(transition).await;
        let real = self.ledger.commit(transition).await;
        self.compare("commit", &moved(transition, world.clone()), &moved(transition, real.clone()));
        if matches!(real, Ok(Written::Done)) {
            self.expect_ttl(transition.record.ttl);
            self.expect_ttl(Some(transition.row.ttl()));
        }
        let is_repeated = matches!((&world, &real), (Ok(Written::Held(_)), Ok(Written::Done)));
        heard(world, real, is_repeated)
    }
}

impl DueWork for &Twin {
    async fn due(&self, shard: u8, now: EpochMillis, from: Option<&DueCursor>) -> Result<DuePage, Unreadable> {
        let world = (&self.world).due(shard, now, from).await;
        let IndexView { lag, page } = self.view.get();
        if lag > Millis::ZERO || page < PAGE {
            return world;
        }
        let real = self.ledger.due(shard, now, from).await;
        self.compare("due", &world, &real);
        real
    }
}

impl Destinations for &Twin {
    async fn sent_to(
        &self,
        destination: &DestinationMac,
        from: EpochMillis,
        until: EpochMillis,
    ) -> Result<SentTo, Unreadable> {
        let world = (&self.world).sent_to(destination, from, until).await;
        if self.view.get().lag > Millis::ZERO {
            return world;
        }
        let real = self.ledger.sent_to(destination, from, until).await;
        self.compare("sent to", &in_order(&world), &in_order(&real));
        world
    }
}

impl EvidenceLog for &Twin {
    async fn rows(&self, id: &NotificationId) -> Result<Vec<Row>, Unreadable> {
        let (world, real) = ((&self.world).rows(id).await, self.ledger.rows(id).await);
        self.compare("rows", &world, &real);
        real
    }
}

impl Backend for &Twin {
    fn set_now(&self, now: EpochMillis) {
        self.world.set_now(now);
        self.sweep(now);
        self.seam.clock().set(now);
    }

    fn set_view(&self, view: IndexView) {
        self.world.set_view(view);
        self.view.set(view);
    }

    fn may_find(&self, shard: u8, due_by: EpochMillis, lag: Millis) -> bool {
        self.world.has_due(shard, due_by, lag)
    }

    fn set_disturbed(&self, _: bool) {}
}
