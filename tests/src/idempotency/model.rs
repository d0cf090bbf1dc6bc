//! The layer's decision as a model for `stateright`: owners that read, freeze, die and come back, over [`judge`] itself.
//!
//! What [`super::explore`] does with the flow, this does with the decision alone, and so it reaches further: any order of
//! any number of takeovers, ends of leases and windows, resolutions and late completions, within its bounds on time.

use sendonce::idempotency::{
    Answer, Ending, Execution, Judgement, Moment, Named, Owner, Phase, judge, reads_as_unknown,
};
use sendonce::time::{EpochMillis, Millis};
use stateright::{Model, Property};

use super::charge;

const SKEW: Millis = Millis::new(1);
const LEASE: Millis = Millis::new(2);
const MARGIN: Millis = Millis::new(1);
const WINDOW: Millis = Millis::new(4);
const COMMANDS: [u64; 2] = [1, 2];

/// One step of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// A caller asks, with this command; a mark is asked for, or not.
    Ask(usize, u64, bool),
    Mark(usize),
    Effect(usize),
    Complete(usize),
    GiveBack(usize),
    /// It is gone, with whatever it knew.
    Die(usize),
    /// Somebody asks the effect's service and writes down what it says.
    Resolve,
    Tick,
}

/// What one caller holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hold {
    owner: u8,
    command: u64,
    lease_until: i64,
    marked: bool,
    done: bool,
}

/// The world at one instant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct State {
    now: i64,
    stored: Option<Stored>,
    callers: [Option<Hold>; 2],
    owners: u8,
    /// Effects since the key was last free by right, as the commands they were of.
    effects: Vec<u64>,
    replayed_wrong: bool,
    seen: Seen,
}

/// What happened at least once, for the properties that say that it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Seen {
    taken_over: bool,
    unknown: bool,
    reopened: bool,
    ended: bool,
    reused: bool,
}

/// An [`Execution`] in the few numbers that differ here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Stored {
    command: u64,
    owner: u8,
    phase: Kind,
    lease_until: i64,
    window_ends_at: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Open,
    Begun,
    Settled,
}

/// How long time runs, and how many times a key may be taken.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub ticks: i64,
    pub owners: u8,
    /// A flaw: age alone makes an unknown retryable.
    pub ages: bool,
}

impl Stored {
    fn execution(self) -> Execution {
        let Named { id, fingerprint } = charge("k", self.command);
        let lease_until = EpochMillis::new(self.lease_until);
        let phase = match self.phase {
            Kind::Open => Phase::Open { lease_until },
            Kind::Begun => Phase::Begun { lease_until },
            Kind::Settled => {
                Phase::Settled { ending: Ending::Succeeded, answer: Answer::Kept(self.command.to_be_bytes().to_vec()) }
            }
        };
        let (owner, window_ends_at) = (Owner::new([self.owner; 16]), EpochMillis::new(self.window_ends_at));
        Execution { id, fingerprint, owner, phase, window_ends_at }
    }
}

impl State {
    /// A caller's clock: the second one's is ahead by all that two clocks may differ.
    fn moment(&self, caller: usize) -> Moment {
        let ahead = if caller == 1 { SKEW } else { Millis::ZERO };
        Moment { now: EpochMillis::new(self.now).plus(ahead), skew: SKEW }
    }

    fn ask(&mut self, caller: usize, command: u64, marked: bool, ages: bool) {
        let at = self.moment(caller);
        let owner = self.owners + 1;
        if let Some(stored) = self.stored {
            let found = stored.execution();
            let judged = judge(&found, &charge("k", command).fingerprint, Owner::new([owner; 16]), at);
            let aged = ages && matches!(judged, Judgement::OutcomeUnknown);
            match &judged {
                Judgement::TakeOver => self.seen.taken_over = true,
                Judgement::OutcomeUnknown => self.seen.unknown = true,
                Judgement::Reused => self.seen.reused = true,
                Judgement::Ended => {
                    self.seen.ended = true;
                    self.effects.clear();
                }
                Judgement::Replay { answer, .. } => {
                    let expected = self.effects.first().map(|command| command.to_be_bytes().to_vec());
                    self.replayed_wrong |= answer.bytes().map(<[u8]>::to_vec) != expected;
                }
                Judgement::Mine | Judgement::InFlight { .. } => {}
            }
            if !judged.gives_way() && !aged {
                return;
            }
        }
        self.owners = owner;
        let lease_until = at.now.plus(LEASE).get();
        let phase = if marked { Kind::Open } else { Kind::Begun };
        let window_ends_at = at.now.plus(WINDOW).get();
        self.stored = Some(Stored { command, owner, phase, lease_until, window_ends_at });
        self.callers[caller] = Some(Hold { owner, command, lease_until, marked: !marked, done: false });
    }

    /// Writes what `change` makes of it, if `owner` still holds it.
    fn advance(&mut self, owner: u8, change: impl FnOnce(&mut Stored)) -> bool {
        match &mut self.stored {
            Some(stored) if stored.owner == owner && stored.phase != Kind::Settled => {
                change(stored);
                true
            }
            _ => false,
        }
    }

    fn in_lease(&self, caller: usize, hold: Hold) -> bool {
        self.moment(caller).now.get() < hold.lease_until
    }

    fn resolve(&mut self) {
        let at = self.moment(1);
        let Some(stored) = self.stored.filter(|stored| reads_as_unknown(&stored.execution(), at)) else { return };
        if !at.is_past(EpochMillis::new(stored.lease_until).plus(MARGIN)) {
            return;
        }
        let (happened, owner) = (!self.effects.is_empty(), self.owners + 1);
        self.owners = owner;
        self.seen.reopened |= !happened;
        let window_ends_at = at.now.plus(WINDOW).get().max(stored.window_ends_at);
        let phase = if happened { Kind::Settled } else { Kind::Open };
        self.stored = Some(Stored { owner, phase, lease_until: i64::MIN / 2, window_ends_at, ..stored });
    }
}

impl Model for Bounds {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::default()]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.now < self.ticks {
            actions.push(Action::Tick);
        }
        if state.owners < self.owners {
            actions.push(Action::Resolve);
        }
        for (n, caller) in state.callers.iter().enumerate() {
            match caller {
                None if state.owners < self.owners => {
                    actions.extend(COMMANDS.iter().flat_map(|c| [Action::Ask(n, *c, true), Action::Ask(n, *c, false)]));
                }
                None => {}
                Some(hold) if !hold.marked => actions.extend([Action::Mark(n), Action::GiveBack(n), Action::Die(n)]),
                Some(hold) if !hold.done => actions.extend([Action::Effect(n), Action::GiveBack(n), Action::Die(n)]),
                Some(_) => actions.extend([Action::Complete(n), Action::Die(n)]),
            }
        }
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        match action {
            Action::Tick => state.now += 1,
            Action::Resolve => state.resolve(),
            Action::Ask(n, command, marked) => state.ask(n, command, marked, self.ages),
            Action::Die(n) => state.callers[n] = None,
            Action::Mark(n) => {
                let mut hold = state.callers[n]?;
                let written = state.in_lease(n, hold) && state.advance(hold.owner, |stored| stored.phase = Kind::Begun);
                hold.marked = true;
                state.callers[n] = written.then_some(hold);
            }
            Action::Effect(n) => {
                let mut hold = state.callers[n]?;
                if state.in_lease(n, hold) {
                    state.effects.push(hold.command);
                    hold.done = true;
                    state.callers[n] = Some(hold);
                } else {
                    return self.next_state(before, Action::GiveBack(n));
                }
            }
            Action::Complete(n) => {
                let hold = state.callers[n].take()?;
                let ends = state.moment(n).now.plus(WINDOW).get();
                state.advance(hold.owner, |stored| {
                    stored.phase = Kind::Settled;
                    stored.window_ends_at = stored.window_ends_at.max(ends);
                });
            }
            Action::GiveBack(n) => {
                let hold = state.callers[n].take()?;
                let fresh = state.owners + 1;
                state.owners = fresh;
                state.advance(hold.owner, |stored| {
                    (stored.phase, stored.lease_until, stored.owner) = (Kind::Open, i64::MIN / 2, fresh);
                });
            }
        }
        (state != *before).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("one effect within one holding of the key", |_, state: &State| state.effects.len() <= 1),
            Property::always("a replay answers for the effect there was", |_, state: &State| !state.replayed_wrong),
            Property::always("an effect was announced", |_, state: &State| {
                state.effects.is_empty() || state.stored.is_some_and(|stored| stored.phase != Kind::Open)
            }),
            Property::always("the key answers for the command of its effect", |_, state: &State| {
                state.effects.first().is_none_or(|command| state.stored.is_some_and(|found| found.command == *command))
            }),
            Property::sometimes("taken over", |_, state: &State| state.seen.taken_over),
            Property::sometimes("unknown", |_, state: &State| state.seen.unknown),
            Property::sometimes("reopened", |_, state: &State| state.seen.reopened),
            Property::sometimes("ended", |_, state: &State| state.seen.ended),
            Property::sometimes("reused", |_, state: &State| state.seen.reused),
        ]
    }
}
