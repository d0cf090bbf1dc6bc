//! Doorbell, provider, envelopes and clock as flows meet them in a run.

use sendonce::notification::{NotificationId, Outcome, Payload, Sealed, UnknownBasis};
use sendonce::ports::{Carrier, Clock, Doorbell, Opener, SealFault, Sealer, Text, WriteFault};
use sendonce::tenant::TenantId;
use sendonce::time::{EpochMillis, Millis};

use super::agenda::Event;
use super::fault::{Fault, Op};
use super::port::{Backend, Port};
use super::seen::Seen;
use super::sim::{Ghost, Sim};
use crate::world::{CarrierModel, Flaw, Manner};

impl Sim {
    /// A doorbell reaches the queue.
    pub(super) fn rung(&self, id: &NotificationId, delay: Millis) {
        let visible_at = self.at().plus(delay);
        let message = self.queue.send(id, visible_at);
        let transit = {
            let chooser = self.chooser.borrow();
            chooser.delay(chooser.points(), 0)
        };
        self.plan(delay.get().max(0) + transit, Event::Deliver(message));
    }
}

impl<B: Backend> Doorbell for Port<'_, B> {
    async fn ring(&self, id: &NotificationId, delay: Millis) -> Result<(), WriteFault> {
        let fault = self.sim.gate(Op::Ring).await;
        match fault {
            Fault::Refused => return Err(WriteFault::Refused),
            Fault::Vanished => return Err(WriteFault::Unknown),
            Fault::Ghost => {
                self.sim.haunt(Ghost::Ring(id.clone(), delay));
                return Err(WriteFault::Unknown);
            }
            Fault::Twice => self.sim.rung(id, delay),
            _ => {}
        }
        self.sim.rung(id, delay);
        self.sim.aftermath(fault).await;
        if fault == Fault::Lost { Err(WriteFault::Unknown) } else { Ok(()) }
    }
}

impl<B: Backend> Carrier for Port<'_, B> {
    async fn send(&self, text: &Text) -> Outcome {
        let fault = self.sim.gate(Op::Send).await;
        self.dawdle(text).await;
        if self.now() > text.not_after && !self.sim.has(Flaw::LateCallsMade) {
            self.sim.slot(|slot| slot.heard = Some(false));
            return CarrierModel::too_late();
        }
        self.sim.begins(text);
        self.transit(text).await;
        let manner = match fault {
            Fault::Refused => Manner::Throttles,
            Fault::ForGood => Manner::Rejects,
            Fault::Lost => Manner::AcceptsSilently,
            Fault::Nameless => Manner::AcceptsNameless,
            Fault::Vanished => Manner::NeverSees,
            Fault::Ghost => {
                self.sim.haunt(Ghost::Send(Box::new(text.clone())));
                return Outcome::Unknown(UnknownBasis::Timeout);
            }
            _ => Manner::Accepts,
        };
        let mut outcome = self.sim.request(text, manner);
        if matches!(outcome, Outcome::Unknown(_)) && self.sim.has(Flaw::CarrierRetries) {
            self.sim.begins(text);
            outcome = self.sim.request(text, Manner::Accepts);
        }
        self.sim.slot(|slot| {
            slot.heard = match outcome {
                Outcome::Accepted { .. } => Some(true),
                Outcome::Refused(_) => Some(false),
                Outcome::Unknown(_) => None,
            }
        });
        self.sim.aftermath(fault).await;
        outcome
    }
}

impl<B: Backend> Port<'_, B> {
    /// Now and then a call begins at the last instant at which it may.
    async fn dawdle(&self, text: &Text) {
        let left = text.not_after.since(self.now()).get();
        if left > 0 && self.sim.chooser.borrow().dawdles() {
            self.sim.saw(Seen::LastInstant);
            self.sim.sleep(left, false).await;
        }
    }

    /// The call under way: within the time it is allowed, and not a point of its own.
    async fn transit(&self, text: &Text) {
        let takes = {
            let chooser = self.sim.chooser.borrow();
            chooser.transit(text.time_allowed.get(), self.sim.current.get())
        };
        self.sim.sleep(takes, false).await;
    }
}

impl<B: Backend> Sealer for Port<'_, B> {
    async fn seal(&self, payload: &Payload, tenant: &TenantId, id: &NotificationId) -> Result<Sealed, SealFault> {
        match self.sim.gate(Op::Seal).await {
            Fault::Refused => Err(SealFault::Unavailable),
            _ => self.sim.seal.seal(payload, tenant, id).await,
        }
    }
}

impl<B: Backend> Opener for Port<'_, B> {
    async fn open(&self, sealed: &Sealed, tenant: &TenantId, id: &NotificationId) -> Result<Payload, SealFault> {
        match self.sim.gate(Op::Open).await {
            Fault::Refused => Err(SealFault::Unavailable),
            _ => self.sim.seal.open(sealed, tenant, id).await,
        }
    }
}

impl<B: Backend> Clock for Port<'_, B> {
    fn now(&self) -> EpochMillis {
        let offset = self.sim.slot(|slot| slot.offset);
        self.sim.at().plus(Millis::new(offset))
    }

    fn random(&self) -> [u8; 16] {
        self.sim.random()
    }

    async fn pause(&self, length: Millis) {
        let fault = self.sim.gate(Op::Pause).await;
        if !fault.strikes() {
            self.sim.sleep(length.get(), false).await;
        }
    }
}
