//! The ports of one environment by themselves, without a run around them: what the contract of the ports is held to.

use core::future::Future;

use sendonce::notification::NotificationId;
use sendonce::time::{EpochMillis, Millis};

use super::choice::{Chooser, Faults, Strike};
use super::fault::Fault;
use super::oracle::now_or_later;
use super::port::Port;
use super::scene::Scene;
use super::setup::Setup;
use super::sim::{Errand, Sim, Slot};
use crate::world::{Delivery, Flaw, Forgetting, Store};

/// A world in which nothing happens but what is asked for.
#[derive(Debug)]
pub struct Bench {
    sim: Sim,
    store: Store,
}

impl Bench {
    /// An empty world, at this time.
    #[must_use]
    pub fn new(now: EpochMillis, flaw: Option<Flaw>) -> Self {
        let setup = Setup { starts_at: now.get(), forgetting: Forgetting::AtOnce, ..Setup::plain(flaw) };
        let chooser = Chooser::new(Scene::weather(&setup), Faults::Listed(&[]));
        let sim = Sim::new(setup, chooser, false);
        sim.slots.borrow_mut().push(Slot::new(Errand::Tick(0), 0, now.get(), 0));
        let store = Store::default();
        store.reset(now, Forgetting::AtOnce, flaw);
        Self { sim, store }
    }

    /// All ports.
    #[must_use]
    pub fn port(&self) -> Port<'_, &Store> {
        Port { sim: &self.sim, store: &self.store }
    }

    /// Lets this strike at the next point.
    pub fn strike_next(&self, fault: Fault) {
        let weather = Scene::weather(&self.sim.setup);
        *self.sim.chooser.borrow_mut() = Chooser::new(weather, Faults::Listed(&[Strike { point: 0, fault }]));
    }

    /// The true time.
    #[must_use]
    pub fn now(&self) -> EpochMillis {
        self.sim.at()
    }

    /// Sets the true time.
    pub fn set_now(&self, now: EpochMillis) {
        self.sim.now.set(now.get());
        self.store.set_now(now);
    }

    /// Receives every message that can be seen now.
    #[must_use]
    pub fn rung(&self) -> Vec<NotificationId> {
        let (queue, now) = (&self.sim.queue, self.now());
        let handles = (0..).take_while(|handle| queue.copy_of(*handle).is_some());
        let received = handles.filter_map(|handle| match queue.receive(handle, now) {
            Delivery::Message(id) => Some(id),
            Delivery::GivenUp | Delivery::Nothing => None,
        });
        received.collect()
    }

    /// How many texts the provider took.
    #[must_use]
    pub fn texts(&self) -> usize {
        let mut texts = 0;
        self.sim.carrier.for_each_call(|call| texts += usize::from(call.accepted));
        texts
    }

    /// Runs what waits for nothing but these ports.
    pub fn run<T>(future: impl Future<Output = T>) -> T {
        now_or_later(future)
    }

    /// Lets time go by.
    pub fn pass(&self, length: Millis) {
        self.set_now(self.now().plus(length));
    }
}
