//! The simulated world as a backend, with the faults that the simulation puts around its ports.

use sendonce::notification::NotificationId;
use sendonce::time::{EpochMillis, Millis};

use super::backend::{Backend, Cannot, How, Port};
use super::cases::Case;
use super::fixtures::NOW;
use super::script::Script;
use super::suite::House;
use crate::simulation::{self, Bench, Fault, Op};
use crate::world::{Flaw, Store};

/// One world. It lives as long as the program does: ports borrow it.
#[derive(Clone, Copy, Debug)]
pub struct OnWorld(&'static Bench);

/// Worlds, a new one for each case.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorldHouse {
    /// What is wrong with them.
    pub flaw: Option<Flaw>,
}

type Ports = simulation::Port<'static, &'static Store>;

impl House for WorldHouse {
    type Backend = OnWorld;

    fn name(&self) -> &'static str {
        "world"
    }

    fn play(&self, case: &Case<OnWorld>, script: &Script) -> Result<(), Cannot> {
        let world = OnWorld(Box::leak(Box::new(Bench::new(NOW, self.flaw))));
        Bench::run((case.play)(&world, script))
    }
}

impl Backend for OnWorld {
    type Ledger = Ports;
    type Doorbell = Ports;
    type Sealer = Ports;
    type Opener = Ports;
    type Carrier = Ports;
    type Clock = Ports;

    fn ledger(&self) -> Ports {
        self.0.port()
    }

    fn doorbell(&self) -> Ports {
        self.0.port()
    }

    fn sealer(&self) -> Ports {
        self.0.port()
    }

    fn opener(&self) -> Ports {
        self.0.port()
    }

    fn carrier(&self) -> Ports {
        self.0.port()
    }

    fn clock(&self) -> Ports {
        self.0.port()
    }

    fn fail_next(&self, port: Port, how: How) -> Result<(), Cannot> {
        let (op, fault) = (op(port), fault(how));
        if !op.faults().contains(&fault) {
            return Err(Cannot("the world has no such fault there"));
        }
        self.0.strike_next(fault);
        Ok(())
    }

    async fn pass(&self, length: Millis) {
        self.0.pass(length);
    }

    async fn forget(&self, now: EpochMillis) {
        // Its table forgets in the very second.
        self.0.set_now(now);
    }

    async fn rung(&self) -> Vec<NotificationId> {
        self.0.rung()
    }

    async fn texts(&self) -> usize {
        self.0.texts()
    }
}

const fn op(port: Port) -> Op {
    match port {
        Port::Admit => Op::Admit,
        Port::Bind => Op::Bind,
        Port::Guard => Op::ReadGuard,
        Port::Record => Op::ReadRecord,
        Port::Commit => Op::Commit,
        Port::Due => Op::Due,
        Port::SentTo => Op::SentTo,
        Port::Rows => Op::ReadRows,
        Port::Ring => Op::Ring,
        Port::Seal => Op::Seal,
        Port::Open => Op::Open,
        Port::Send => Op::Send,
    }
}

const fn fault(how: How) -> Fault {
    match how {
        How::Conflict => Fault::Conflict,
        How::Refused => Fault::Refused,
        How::NeverDone => Fault::Vanished,
        How::AnswerLost => Fault::Lost,
        How::Repeated => Fault::Twice,
        How::Rejected => Fault::ForGood,
        How::Nameless => Fault::Nameless,
    }
}
