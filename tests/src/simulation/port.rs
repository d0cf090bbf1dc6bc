//! The ledger as flows meet it in a run: a gate before every request, and a fault around it.

use sendonce::idempotency::{Guard, GuardId};
use sendonce::notification::{DestinationMac, Fact, Held, NotificationId, Record, Row, Transition};
use sendonce::ports::{
    Admission, Admissions, DeliveryLog, Destinations, DueCursor, DuePage, DueWork, EvidenceLog, HeldAdmission,
    LogCursor, LogPage, Records, SentTo, Transitions, Unreadable, WriteFault, Written,
};
use sendonce::time::{EpochMillis, Millis};

use super::agenda::Event;
use super::fault::{Fault, Op};
use super::sim::{Ghost, Sim};
use super::tamper;
use crate::world::{Flaw, IndexView, Store};

/// Any store that a run can stand on.
pub trait Backend: Admissions + Records + Transitions + DueWork + EvidenceLog + Destinations + Copy {
    /// Sets its time.
    fn set_now(&self, now: EpochMillis);
    /// Sets how far behind its index is, and how long its pages are.
    fn set_view(&self, view: IndexView);
    /// Whether a look at one shard, at most `lag` behind, may find anything due by then.
    fn may_find(&self, shard: u8, due_by: EpochMillis, lag: Millis) -> bool;
    /// Marks the next commit as one whose caller sees a fault.
    fn set_disturbed(&self, disturbed: bool);
}

impl Backend for &Store {
    fn set_now(&self, now: EpochMillis) {
        Store::set_now(self, now);
    }

    fn set_view(&self, view: IndexView) {
        Store::set_view(self, view);
    }

    fn may_find(&self, shard: u8, due_by: EpochMillis, lag: Millis) -> bool {
        self.has_due(shard, due_by, lag)
    }

    fn set_disturbed(&self, disturbed: bool) {
        Store::set_disturbed(self, disturbed);
    }
}

/// All ports of one environment.
#[derive(Clone, Copy, Debug)]
pub struct Port<'w, B> {
    /// The run.
    pub sim: &'w Sim,
    /// The store under it.
    pub store: B,
}

/// The answers a write can have besides the store's own.
fn refusal(fault: Fault) -> Option<WriteFault> {
    match fault {
        Fault::Refused => Some(WriteFault::Refused),
        Fault::Conflict => Some(WriteFault::Conflict),
        Fault::Vanished => Some(WriteFault::Unknown),
        _ => None,
    }
}

impl Sim {
    /// A request that its caller gives up on and that is done a while later all the same.
    pub(super) fn haunt(&self, ghost: Ghost) {
        let number = {
            let mut ghosts = self.ghosts.borrow_mut();
            ghosts.push(ghost);
            ghosts.len() - 1
        };
        let after = {
            let chooser = self.chooser.borrow();
            chooser.freeze(chooser.points(), number % 4 == 3)
        };
        self.plan(after, Event::Ghost(number));
    }
}

impl<B: Backend> Port<'_, B> {
    pub(super) async fn do_admit(
        &self,
        admission: &Admission,
        now: EpochMillis,
    ) -> Result<Written<HeldAdmission>, WriteFault> {
        let foretold = self.sim.foretell_admission(admission);
        let done = self.store.admit(admission, now).await;
        self.sim.compare_admission(foretold, &done);
        self.sim.saw_write(matches!(done, Ok(Written::Done)));
        if matches!(done, Ok(Written::Done)) {
            self.sim.admitted(admission);
        }
        done
    }

    pub(super) async fn do_commit(&self, transition: &Transition) -> Result<Written<Held>, WriteFault> {
        let foretold = self.sim.foretell_step(transition);
        let done = self.store.commit(transition).await;
        self.sim.compare_step(foretold, &done);
        self.sim.saw_write(matches!(done, Ok(Written::Done)));
        if matches!(done, Ok(Written::Done)) {
            self.sim.moved(transition);
        }
        done
    }
}

impl<B: Backend> Admissions for Port<'_, B> {
    async fn admit(&self, admission: &Admission, now: EpochMillis) -> Result<Written<HeldAdmission>, WriteFault> {
        let fault = self.sim.gate(Op::Admit).await;
        if let Some(refused) = refusal(fault) {
            return Err(refused);
        }
        if fault == Fault::Ghost {
            self.sim.haunt(Ghost::Admit(Box::new(admission.clone()), now));
            return Err(WriteFault::Unknown);
        }
        let mut done = self.do_admit(admission, now).await;
        if fault == Fault::Twice {
            done = self.do_admit(admission, now).await;
        }
        self.sim.aftermath(fault).await;
        if fault == Fault::Lost { Err(WriteFault::Unknown) } else { done }
    }

    async fn bind(&self, guard: &Guard, now: EpochMillis) -> Result<Written<Guard>, WriteFault> {
        let fault = self.sim.gate(Op::Bind).await;
        if let Some(refused) = refusal(fault) {
            return Err(refused);
        }
        if fault == Fault::Ghost {
            self.sim.haunt(Ghost::Bind(Box::new(guard.clone()), now));
            return Err(WriteFault::Unknown);
        }
        let mut done = self.store.bind(guard, now).await;
        if fault == Fault::Twice {
            done = self.store.bind(guard, now).await;
        }
        self.sim.aftermath(fault).await;
        if fault == Fault::Lost { Err(WriteFault::Unknown) } else { done }
    }

    async fn guard(&self, id: &GuardId) -> Result<Option<Guard>, Unreadable> {
        match self.sim.gate(Op::ReadGuard).await {
            Fault::Refused => Err(Unreadable),
            _ => self.store.guard(id).await,
        }
    }
}

impl<B: Backend> Records for Port<'_, B> {
    async fn record(&self, id: &NotificationId) -> Result<Option<Record>, Unreadable> {
        match self.sim.gate(Op::ReadRecord).await {
            Fault::Refused => Err(Unreadable),
            _ => Ok(tamper::read(self.sim, self.store.record(id).await?)),
        }
    }
}

impl<B: Backend> Transitions for Port<'_, B> {
    async fn commit(&self, transition: &Transition) -> Result<Written<Held>, WriteFault> {
        let fault = self.sim.gate(Op::Commit).await;
        if matches!(transition.row.fact(), Fact::AttemptStarted { .. }) {
            self.sim.slot(|slot| slot.blurred = fault.blurs(Op::Commit) || slot.frozen);
            if self.sim.has(Flaw::IntentNotWritten) {
                return Ok(Written::Done);
            }
        }
        if let Some(refused) = refusal(fault) {
            return Err(refused);
        }
        if fault == Fault::Ghost {
            self.sim.haunt(Ghost::Commit(Box::new(transition.clone())));
            return Err(WriteFault::Unknown);
        }
        self.store.set_disturbed(fault.strikes());
        let mut done = self.do_commit(transition).await;
        if fault == Fault::Twice {
            done = self.do_commit(transition).await;
        }
        self.store.set_disturbed(false);
        self.sim.aftermath(fault).await;
        if fault == Fault::Lost { Err(WriteFault::Unknown) } else { tamper::held(self.sim, transition, done) }
    }
}

impl<B: Backend> DueWork for Port<'_, B> {
    async fn due(&self, shard: u8, now: EpochMillis, from: Option<&DueCursor>) -> Result<DuePage, Unreadable> {
        let setup = &self.sim.setup;
        // A look that can find nothing is no point of its own: whatever strikes there strikes the next one as well.
        if from.is_none() && !self.store.may_find(shard, now, setup.stale) {
            return Ok(DuePage::default());
        }
        let fault = self.sim.gate(Op::Due).await;
        if fault == Fault::Refused {
            return Err(Unreadable);
        }
        let lag = if fault == Fault::Stale { setup.stale } else { setup.lag };
        self.store.set_view(IndexView { lag, page: setup.page });
        let page = self.store.due(shard, now, from).await?;
        self.sim.aftermath(fault).await;
        Ok(tamper::page(self, page).await)
    }
}

impl<B: Backend> Destinations for Port<'_, B> {
    async fn sent_to(
        &self,
        destination: &DestinationMac,
        from: EpochMillis,
        until: EpochMillis,
    ) -> Result<SentTo, Unreadable> {
        let setup = &self.sim.setup;
        let fault = self.sim.gate(Op::SentTo).await;
        if fault == Fault::Refused {
            return Err(Unreadable);
        }
        // What the policy allows for, and no more.
        let lag = if fault == Fault::Stale { setup.policy.index_lag } else { setup.lag };
        self.store.set_view(IndexView { lag, page: setup.page });
        let found = self.store.sent_to(destination, from, until).await?;
        self.sim.aftermath(fault).await;
        Ok(found)
    }
}

impl<B: Backend> DeliveryLog for Port<'_, B> {
    async fn log_page(&self, from: EpochMillis, until: EpochMillis, cursor: &LogCursor) -> Result<LogPage, Unreadable> {
        match self.sim.gate(Op::ReadLog).await {
            Fault::Refused => Err(Unreadable),
            _ => Ok(self.sim.log_page(from, until, cursor)),
        }
    }
}

impl<B: Backend> EvidenceLog for Port<'_, B> {
    async fn rows(&self, id: &NotificationId) -> Result<Vec<Row>, Unreadable> {
        match self.sim.gate(Op::ReadRows).await {
            Fault::Refused => Err(Unreadable),
            _ => self.store.rows(id).await,
        }
    }
}
