//! Who wants what, and when.

use sendonce::admit::Keys;
use sendonce::idempotency::{FingerprintKey, IdempotencyKey};
use sendonce::notification::{
    CloseBasis, Command, Decision, Event, EventId, EventType, Kind, MessageText, NotificationId, PhoneNumber,
    PrincipalId, ResendBasis,
};
use sendonce::resolve::Operator;
use sendonce::tenant::TenantId;
use sendonce::time::{EpochMillis, Millis};

use super::chance::Chance;
use super::setup::{DAY, MINUTE, Setup};

/// What never changes from run to run.
#[derive(Debug)]
pub struct Cast {
    /// Admission's secrets.
    pub keys: Keys,
    /// Two callers.
    pub tenants: [TenantId; 2],
    /// Two keys.
    pub names: [IdempotencyKey; 2],
    /// Commands; their times are set for each run.
    pub commands: [Command; COMMANDS],
    /// Who may decide for all tenants.
    pub operator: Operator,
    /// The notification that each command of each tenant is.
    ids: [[NotificationId; COMMANDS]; 2],
}

/// How many commands there are: 0 and 1 name one event and differ, 2 is another event, 3 is made after the window, 4
/// and 5 ask for lives that cannot be, 6 is made well within the window and 7 where it ends, 8
/// names the event of 0 once more, when all but its evidence is gone.
pub const COMMANDS: usize = 9;

fn command(event: &str, to: &str, message: &str) -> Option<Command> {
    Some(Command {
        event: Event { r#type: EventType::parse("password_reset.requested")?, id: EventId::parse(event)? },
        to: PhoneNumber::parse(to)?,
        message: MessageText::parse(message)?,
        expires_at: EpochMillis::new(0),
        sender_id: None,
        kind: Kind::Transactional,
    })
}

impl Cast {
    /// The cast of every run.
    ///
    /// # Panics
    /// Never: all of it is valid.
    #[must_use]
    pub fn new() -> Self {
        let make = |event: &str, to: &str, message: &str| command(event, to, message).expect("a valid command");
        let tenants = [TenantId::derive(&["one"]), TenantId::derive(&["two"])];
        let shard = |number: u32| {
            let named = make(&format!("evt-{number}"), "+15550100000", "text");
            NotificationId::of(&tenants[0], &named.event).due_shard()
        };
        // An event whose open work lies beside that of the first.
        let beside = (100..).find(|number| shard(*number) == shard(1)).unwrap_or(2);
        let commands = [
            make("evt-1", "+15550100000", "Your code is 482913"),
            make("evt-1", "+15550100000", "Your code is 775201"),
            make(&format!("evt-{beside}"), "+15550100001", "Your code is 482913"),
            make("evt-3", "+15550100000", "Your code is 118406"),
            make("evt-4", "+15550100000", "Your code is 640277"),
            make("evt-5", "+15550100000", "Your code is 903355"),
            make("evt-6", "+15550100000", "Your code is 551098"),
            make("evt-7", "+15550100000", "Your code is 236614"),
            make("evt-1", "+15550100000", "Your code is 349920"),
        ];
        let ids =
            [0, 1].map(|at: usize| commands.each_ref().map(|command| NotificationId::of(&tenants[at], &command.event)));
        Self {
            keys: Keys::derive(&FingerprintKey::new([7; 32])),
            names: ["k-1", "k-2"].map(|name| IdempotencyKey::parse(name).expect("a valid key")),
            operator: Operator {
                tenant: TenantId::derive(&["operator"]),
                principal: PrincipalId::derive(&["operator", "someone"]),
            },
            commands,
            ids,
            tenants,
        }
    }

    /// A command with its end.
    #[must_use]
    pub fn command(&self, number: usize, setup: &Setup) -> Command {
        let begins = EpochMillis::new(setup.starts_at);
        let lives = match number {
            3 | 6..=8 => Millis::new(made_at(number, setup)).plus(setup.lifetime),
            4 => Millis::new(-MINUTE),
            5 => setup.lifetime_max.plus(Millis::new(2 * DAY)),
            _ => setup.lifetime,
        };
        Command { expires_at: begins.plus(lives), ..self.commands[number].clone() }
    }

    /// The notification that a command of a tenant is.
    #[must_use]
    pub fn id(&self, tenant: usize, number: usize) -> &NotificationId {
        &self.ids[tenant][number]
    }
}

/// When, after the run's beginning, a late command is made.
const fn made_at(command: usize, setup: &Setup) -> i64 {
    let window = setup.window_due.get();
    match command {
        3 => window + DAY / 2,
        6 => window * 3 / 5,
        8 => 40 * DAY,
        _ => window,
    }
}

impl Default for Cast {
    fn default() -> Self {
        Self::new()
    }
}

/// What a session wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// A text, under a key.
    Send {
        /// Which of the keys.
        key: usize,
        /// Which of the commands.
        command: usize,
    },
    /// To take a text back.
    Cancel {
        /// Which of the commands.
        command: usize,
    },
    /// To end doubt by decision.
    Decide {
        /// Which of the commands.
        command: usize,
        /// How.
        decision: Decision,
    },
    /// To see state and evidence.
    Look {
        /// Which of the commands.
        command: usize,
    },
}

/// One client's business.
#[derive(Clone, Copy, Debug)]
pub struct Session {
    /// Which of the tenants.
    pub tenant: usize,
    /// What for.
    pub wish: Wish,
    /// When, after the run's beginning.
    pub at: i64,
    /// How often it tries again when it hears nothing, or that now is not the time.
    pub retries: u32,
    /// How long it waits before each.
    pub gap: i64,
}

/// The first session of every run: somebody wants a text.
pub const FIRST: Session =
    Session { tenant: 0, wish: Wish::Send { key: 0, command: 0 }, at: 3_000, retries: 3, gap: 4_000 };

/// The clients of a seed.
#[must_use]
pub fn clients(setup: &Setup, chance: &mut Chance) -> Vec<Session> {
    let mut sessions = vec![Session { retries: chance.below(4) as u32, gap: chance.between(200, 9_000), ..FIRST }];
    for _ in 0..chance.pick(&[0, 1, 1, 2, 2, 3, 4]) {
        sessions.push(another(setup, chance));
    }
    if chance.one_in(8) {
        sessions.extend(rivals(chance));
    }
    sessions
}

/// Two commands under one key at the same moment, the event of one of them known already.
fn rivals(chance: &mut Chance) -> [Session; 2] {
    let at = FIRST.at + chance.between(0, 400);
    [0, 2].map(|command| {
        let wish = Wish::Send { key: 1, command };
        Session { wish, at: at + chance.between(0, 40), retries: chance.below(3) as u32, gap: 900, ..FIRST }
    })
}

fn another(setup: &Setup, chance: &mut Chance) -> Session {
    let send = |key, command| Wish::Send { key, command };
    let wish = match chance.below(16) {
        0..=2 => send(0, 0),
        3 | 4 => send(1, 0),
        5 => send(0, 1),
        6 => send(1, 1),
        7 => send(0, 2),
        8 => send(1, 2),
        9 => send(0, chance.pick(&[3, 6, 7, 8])),
        10 => send(0, 4 + chance.below(2) as usize),
        11..=13 => Wish::Cancel { command: chance.pick(&[0, 0, 2]) },
        _ => Wish::Look { command: chance.pick(&[0, 0, 2]) },
    };
    let at = match wish {
        Wish::Send { command: command @ (3 | 6..=8), .. } => made_at(command, setup) + chance.between(-2_000, 15_000),
        _ => moment(setup, chance),
    };
    let tenant = usize::from(chance.one_in(6));
    Session { tenant, wish, at, retries: chance.below(4) as u32, gap: chance.between(200, 20_000) }
}

/// Operators of a seed: now and then somebody does not want to wait.
#[must_use]
pub fn operators(setup: &Setup, chance: &mut Chance) -> Vec<Session> {
    let count = chance.pick(&[0, 0, 0, 1, 1, 2]);
    let decide = |chance: &mut Chance| {
        let resend = Decision::Resend(ResendBasis::RiskAccepted);
        let close = Decision::Close(CloseBasis::NoLongerNeeded);
        let wish = Wish::Decide { command: 0, decision: chance.pick(&[resend, resend, close]) };
        let at = 40_000 + chance.between(0, setup.lifetime.get());
        Session { tenant: usize::from(chance.one_in(8)), wish, at, retries: 0, gap: 1_000 }
    };
    (0..count).map(|_| decide(chance)).collect()
}

fn moment(setup: &Setup, chance: &mut Chance) -> i64 {
    let life = setup.lifetime.get();
    match chance.below(12) {
        0..=3 => 3_000 + chance.between(-50, 200),
        4..=6 => chance.between(0, 20_000),
        7 | 8 => chance.between(0, life + MINUTE),
        9 => life + chance.between(-6_000, 6_000),
        10 => setup.window_due.get() + chance.between(-MINUTE, MINUTE),
        _ => chance.pick(&[2 * DAY, 4 * DAY, 40 * DAY]) + chance.between(0, DAY),
    }
}
