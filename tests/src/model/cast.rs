//! Who takes part in a run, and how much may go wrong.

use super::flaw::Flaw;
use super::moves::{Step, canceller, client, dispatcher, reconciler};
use super::numbers::END;
use super::properties;
use super::world::{
    Asking, Bells, Breaches, Canceller, Carrier, Client, Dispatcher, Dispatching, Reconciler, Rows, Skewed, World,
};

/// What the second client wants; the first wants its text for the event under its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// Nothing: there is only one.
    Absent,
    /// The same command under the same key: a retry on another path.
    SameKey,
    /// The same command under another key.
    OtherKey,
    /// Another command for the same event, under the same key.
    SameKeyOtherCommand,
    /// Another command for the same event, under another key.
    OtherKeyOtherCommand,
    /// Another event under the same key.
    SameKeyOtherEvent,
}

impl Second {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Absent,
        Self::SameKey,
        Self::OtherKey,
        Self::SameKeyOtherCommand,
        Self::OtherKeyOtherCommand,
        Self::SameKeyOtherEvent,
    ];
}

/// Who takes part, and how much may go wrong.
#[derive(Clone, Debug)]
pub struct Cast {
    /// What second clients there may be; each is a beginning of its own.
    pub seconds: Vec<Second>,
    /// Whose clock may be off; each is a beginning of its own.
    pub skews: Vec<Skewed>,
    /// How many requests each client makes at most.
    pub requests: u8,
    /// Dispatchers at work, one or two.
    pub dispatchers: usize,
    /// Reconcilers at work, one or two.
    pub reconcilers: usize,
    /// Whether somebody may take it back.
    pub cancels: bool,
    /// How many faults may strike: a crash, a lost answer, a lost or a doubled message.
    pub troubles: u8,
    /// What is done wrong on purpose.
    pub flaw: Option<Flaw>,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// One instant goes by: see [`World::may_age`].
    Time,
    /// The queue holds a message back.
    Hold,
    /// A client's step.
    Client(usize, Step),
    /// A dispatcher's step.
    Dispatcher(usize, Step),
    /// A reconciler's step.
    Reconciler(usize, Step),
    /// The canceller's step.
    Canceller(Step),
}

impl Action {
    /// Who acts, as a bit.
    const fn actor(self) -> u8 {
        match self {
            Self::Time | Self::Hold => 0,
            Self::Client(number, _) => 1 << number,
            Self::Dispatcher(number, _) => 4 << number,
            Self::Reconciler(number, _) => 16 << number,
            Self::Canceller(_) => 64,
        }
    }
}

impl Cast {
    fn beginning(&self, second: Second, skewed: Skewed) -> World {
        let client =
            |key, print, stranger, requests| Client { key, print, stranger, requests, asking: Asking::No, heard: None };
        let requests = self.requests;
        let second = match second {
            Second::Absent => client(0, 0, false, 0),
            Second::SameKey => client(0, 0, false, requests),
            Second::OtherKey => client(1, 0, false, requests),
            Second::SameKeyOtherCommand => client(0, 1, false, requests),
            Second::OtherKeyOtherCommand => client(1, 1, false, requests),
            Second::SameKeyOtherEvent => client(0, 1, true, requests),
        };
        let idle = Dispatcher { dispatching: Dispatching::No, deadline: 0, attempt: 0, receives: None };
        World {
            now: 0,
            skewed,
            troubles: self.troubles,
            frozen: 0,
            record: None,
            rows: Rows::default(),
            guards: [None; 2],
            strangers: 0,
            bells: Bells::default(),
            carrier: Carrier::default(),
            clients: [client(0, 0, false, requests), second],
            dispatchers: [idle; 2],
            reconcilers: [Reconciler::No; 2],
            canceller: if self.cancels { Canceller::NotYet } else { Canceller::Over },
            breaches: Breaches::default(),
        }
    }

    /// Two clients, two dispatchers, two reconcilers, somebody who cancels, and one fault at any point.
    #[must_use]
    pub fn everybody(seconds: &[Second]) -> Self {
        Self {
            seconds: seconds.to_vec(),
            skews: vec![Skewed::Nobody],
            requests: 2,
            dispatchers: 2,
            reconcilers: 2,
            cancels: true,
            troubles: 1,
            flaw: None,
        }
    }

    /// One of each and two faults at any two points.
    #[must_use]
    pub fn few() -> Self {
        Self { dispatchers: 1, reconcilers: 1, cancels: false, troubles: 2, ..Self::everybody(&[Second::Absent]) }
    }

    /// Whether nothing can happen any more.
    #[must_use]
    pub fn is_over(&self, world: &World) -> bool {
        let mut actions = Vec::new();
        stateright::Model::actions(self, world, &mut actions);
        actions.is_empty()
    }
}

impl stateright::Model for Cast {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let skews = |second| self.skews.iter().map(move |skewed| self.beginning(second, *skewed));
        self.seconds.iter().flat_map(|second| skews(*second)).collect()
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        let mut found = Vec::with_capacity(8);
        let mut offer = |steps: &mut Vec<Step>, action: &dyn Fn(Step) -> Action| {
            // Whoever can die in the middle of something can freeze there too.
            if steps.contains(&Step::Crash) && world.frozen & action(Step::Freeze).actor() == 0 {
                steps.push(Step::Freeze);
            }
            let possible = steps.drain(..).filter(|step| world.troubles > 0 || !step.is_trouble());
            actions.extend(possible.map(action));
        };
        for number in 0..2 {
            client::steps(world, number, &mut found);
            offer(&mut found, &|step| Action::Client(number, step));
        }
        for number in 0..self.dispatchers {
            dispatcher::steps(world, number, self.flaw, &mut found);
            offer(&mut found, &|step| Action::Dispatcher(number, step));
        }
        for number in 0..self.reconcilers {
            reconciler::steps(world, number, self.flaw, &mut found);
            offer(&mut found, &|step| Action::Reconciler(number, step));
        }
        canceller::steps(world, self.flaw, &mut found);
        offer(&mut found, &Action::Canceller);
        // Time begins with the first request.
        let begun = world.clients[0].requests < self.requests;
        if world.now < END && begun && world.may_age(self.dispatchers) {
            actions.push(Action::Time);
        }
        if world.now < END && world.troubles > 0 && world.bells.visible(world.now).is_some() {
            actions.push(Action::Hold);
        }
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut world = world.clone();
        let step = match action {
            Action::Time => {
                world.now += 1;
                world.bells.settle(world.now);
                return Some(world);
            }
            Action::Hold => {
                world.troubles -= 1;
                world.bells.hold(world.now);
                return Some(world);
            }
            Action::Client(_, step)
            | Action::Dispatcher(_, step)
            | Action::Reconciler(_, step)
            | Action::Canceller(step) => step,
        };
        if step.is_trouble() {
            world.troubles -= 1;
        }
        if step == Step::Freeze {
            world.frozen |= action.actor();
            return Some(world);
        }
        world.frozen &= !action.actor();
        match action {
            Action::Client(number, step) => client::take(&mut world, number, step, self.flaw),
            Action::Dispatcher(number, step) => dispatcher::take(&mut world, number, step, self.flaw),
            Action::Reconciler(number, step) => reconciler::take(&mut world, number, step, self.flaw),
            Action::Canceller(step) => canceller::take(&mut world, step, self.flaw),
            Action::Time | Action::Hold => {}
        }
        Some(world)
    }

    fn properties(&self) -> Vec<stateright::Property<Self>> {
        properties::all()
    }
}
