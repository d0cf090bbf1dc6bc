//! The tasks of a run: each makes one flow over its ports and drives it to its end.

use core::future::Future;
use core::pin::Pin;
use std::collections::BTreeSet;

use sendonce::admit::Admit;
use sendonce::cancel::Cancel;
use sendonce::dispatch::Dispatch;
use sendonce::invocation::Invocation;
use sendonce::notification::{Actor, Decision, Function, LATE, NotificationId, Record, Reference};
use sendonce::ports::Records;
use sendonce::read::Read;
use sendonce::receive::{Receive, Received};
use sendonce::reconcile::Reconcile;
use sendonce::resolve::{NotResolved, Operator, Resolve};
use sendonce::seek::Seek;
use sendonce::time::{EpochMillis, Millis};

use super::port::{Backend, Port};
use super::reports::HOLD;
use super::script::{Cast, Session, Wish};
use super::sim::{Ghost, Sim};
use crate::world::Manner;

/// A task.
pub type Task<'w> = Pin<Box<dyn Future<Output = Ended> + 'w>>;

/// How a task ended that came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It did what it was to do.
    Well,
    /// It asks to be called again.
    Badly,
}

/// The world and the cast, as tasks borrow them.
#[derive(Debug)]
pub struct Stage<'w, B> {
    /// The run.
    pub sim: &'w Sim,
    /// What never changes.
    pub cast: &'w Cast,
    /// The store under it.
    pub store: B,
}

impl<B: Copy> Clone for Stage<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Copy> Copy for Stage<'_, B> {}

impl<'w, B: Backend + 'w> Stage<'w, B> {
    fn port(&self) -> Port<'w, B> {
        Port { sim: self.sim, store: self.store }
    }

    fn invocation(&self, function: Function, task: usize, lasts: i64) -> Invocation {
        let request_id = Reference::parse(["r-0", "r-1", "r-2", "r-3", "r-4", "r-5", "r-6", "r-7"][task % 8]);
        let actor = Actor { function, version: None, request_id };
        Invocation { actor, deadline: self.sim.at().plus(Millis::new(lasts)) }
    }

    /// A client's command.
    pub fn admission(self, session: Session, task: usize) -> Task<'w> {
        let setup = &self.sim.setup;
        let invocation = self.invocation(Function::Admission, task, setup.request_timeout);
        let Wish::Send { key, command } = session.wish else { return Box::pin(async { Ended::Well }) };
        Box::pin(async move {
            let flow = Admit {
                ledger: self.port(),
                sealer: self.port(),
                doorbell: self.port(),
                clock: self.port(),
                keys: self.cast.keys.clone(),
                window: setup.window,
                lifetime_max: setup.lifetime_max,
                policy: setup.policy,
            };
            let command = self.cast.command(command, setup);
            let (tenant, key) = (&self.cast.tenants[session.tenant], &self.cast.names[key]);
            let result = flow.admit(tenant, key, &command, &invocation).await;
            self.sim.answered(task, result)
        })
    }

    /// One doorbell.
    pub fn dispatch(self, id: NotificationId, task: usize) -> Task<'w> {
        let setup = &self.sim.setup;
        let invocation = self.invocation(Function::Dispatch, task, setup.dispatch_timeout);
        self.sim.history.borrow_mut().dispatches += 1;
        Box::pin(async move {
            let flow = Dispatch {
                ledger: self.port(),
                opener: self.port(),
                carrier: self.port(),
                provider: setup.reports.provider,
                doorbell: self.port(),
                clock: self.port(),
                policy: setup.policy,
                timing: setup.timing,
            };
            let result = flow.answer(&id, &invocation).await;
            self.sim.say(|| format!("  task {task}: {result:?}"));
            self.sim.dispatched(task, &result);
            if result.is_ok() { Ended::Well } else { Ended::Badly }
        })
    }

    /// One tick.
    pub fn tick(self, task: usize) -> Task<'w> {
        let setup = &self.sim.setup;
        let invocation = self.invocation(Function::Reconciliation, task, setup.tick_timeout);
        self.sim.history.borrow_mut().ticks += 1;
        Box::pin(async move {
            let flow = Reconcile {
                ledger: self.port(),
                seek: self.seek(),
                doorbell: self.port(),
                clock: self.port(),
                policy: setup.policy,
                reserve: setup.tick_reserve,
                at_once: 1,
            };
            let tally = flow.tick(&invocation).await;
            self.sim.ticked(task, &tally);
            Ended::Well
        })
    }

    fn seek(&self) -> Seek<Port<'w, B>, Port<'w, B>, Port<'w, B>> {
        let setup = &self.sim.setup;
        Seek {
            ledger: self.port(),
            log: self.port(),
            clock: self.port(),
            policy: setup.policy,
            lifetime_max: setup.lifetime_max,
        }
    }

    /// A report of the provider.
    pub fn report(self, number: usize, task: usize) -> Task<'w> {
        let setup = &self.sim.setup;
        let invocation = self.invocation(Function::Reconciliation, task, setup.tick_timeout);
        Box::pin(async move {
            let (ledger, clock, policy) = (self.port(), self.port(), setup.policy);
            let flow = Receive { ledger, seek: self.seek(), clock, policy, hold: HOLD };
            let reported = self.sim.reports.borrow()[number].clone();
            let result = match self.sim.drops_by_age(&reported) {
                true => Ok(Received::ForNobody),
                false => flow.receive(&self.sim.renames(reported.report.clone()), &invocation).await,
            };
            self.sim.received(task, &reported, &result);
            if result.is_ok() { Ended::Well } else { Ended::Badly }
        })
    }

    /// An operator decides on what can be seen at this moment, or on what could be seen before.
    async fn decide(
        self,
        operator: &Operator,
        id: &NotificationId,
        decision: Decision,
        invocation: &Invocation,
    ) -> Option<Result<Record, NotResolved>> {
        let seen = self.port().record(id).await.ok().flatten()?;
        let flow = Resolve {
            ledger: self.port(),
            doorbell: self.port(),
            clock: self.port(),
            policy: self.sim.setup.policy,
            operators: BTreeSet::from([self.cast.operator.tenant.clone()]),
        };
        Some(flow.resolve(operator, id, seen.rev, decision, invocation).await)
    }

    /// A client's other wishes.
    pub fn visit(self, session: Session, task: usize) -> Task<'w> {
        let setup = &self.sim.setup;
        let invocation = self.invocation(Function::Admission, task, setup.request_timeout);
        let tenant = &self.cast.tenants[session.tenant];
        Box::pin(async move {
            match session.wish {
                Wish::Cancel { command } => {
                    let flow = Cancel { ledger: self.port(), clock: self.port(), policy: setup.policy };
                    let id = self.cast.id(0, command);
                    let result = flow.cancel(tenant, id, None, &invocation).await;
                    self.sim.cancelled(session.tenant == 0, id, result);
                }
                Wish::Look { command } => {
                    let flow = Read { ledger: self.port(), operators: BTreeSet::new() };
                    let id = self.cast.id(0, command);
                    let evidence = flow.evidence(tenant, id).await;
                    self.sim.looked(session.tenant == 0, id, evidence);
                }
                Wish::Decide { command, decision } => {
                    let id = self.cast.id(0, command);
                    let stranger = Operator { tenant: tenant.clone(), ..self.cast.operator.clone() };
                    let operator = if session.tenant == 0 { &self.cast.operator } else { &stranger };
                    let result = self.decide(operator, id, decision, &invocation).await;
                    self.sim.decided(session.tenant == 0, id, result);
                }
                Wish::Send { .. } => {}
            }
            Ended::Well
        })
    }

    /// A request done after its caller gave up on it.
    pub fn ghost(self, ghost: Ghost) -> Task<'w> {
        let port = self.port();
        Box::pin(async move {
            match ghost {
                Ghost::Admit(admission, now) => drop(port.do_admit(&admission, now).await),
                Ghost::Bind(guard, now) => drop(self.store.bind(&guard, now).await),
                Ghost::Commit(step) => drop(port.do_commit(&step).await),
                Ghost::Ring(id, delay) => self.sim.rung(&id, delay),
                // A signature ages: what comes later than this is refused.
                Ghost::Send(text) if self.sim.at() > text.not_after.plus(LATE) => {}
                Ghost::Send(text) => drop(self.sim.request(&text, Manner::Accepts)),
            }
            Ended::Well
        })
    }

    /// The true time, as the store's.
    pub fn set_now(&self, now: i64) {
        self.sim.now.set(now);
        self.store.set_now(EpochMillis::new(now));
    }
}
