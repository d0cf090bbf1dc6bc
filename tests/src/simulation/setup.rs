//! The numbers of a run: what the template's defaults are, and what a seed makes of them.

use core::cell::Cell;
use std::sync::LazyLock;

use sendonce::config::DispatchConfig;
use sendonce::dispatch::Timing;
use sendonce::idempotency::{DedupWindow, WindowTerms};
use sendonce::notification::{Policy, Provider, Silence};
use sendonce::time::Millis;

use super::chance::Chance;
use super::choice::{Pace, Weather};
use super::fault::Fault;
use crate::world::{Flaw, Forgetting};

/// The instant at which every run begins, to the minute.
const STARTS_AT: i64 = 1_800_000_000_000;
/// Within how many ticks everything settles, once it has expired and nothing strikes any more.
const SETTLE_TICKS: i64 = 4;
/// One minute.
pub const MINUTE: i64 = 60_000;
/// One day.
pub const DAY: i64 = 86_400_000;

/// What the functions decide by when nobody configures anything.
static DEFAULTS: LazyLock<(Policy, Timing)> = LazyLock::new(|| {
    let needed = |name: &str| (name.ends_with("_TABLE") || name.ends_with("_URL")).then(|| String::from("x"));
    let config = DispatchConfig::read(needed).expect("defaults are in order");
    (config.policy, config.timing)
});

/// The numbers of one run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The true time at which it begins.
    pub starts_at: i64,
    /// What decisions depend on.
    pub policy: Policy,
    /// How long the steps of an attempt take.
    pub timing: Timing,
    /// How long a key is remembered.
    pub window: DedupWindow,
    /// How long it has to be, whatever `window` says.
    pub window_due: Millis,
    /// The longest life a command may ask for.
    pub lifetime_max: Millis,
    /// How long the first command asks to live.
    pub lifetime: Millis,
    /// How far apart clocks really are, at most.
    pub skew: Millis,
    /// How long the queue hides a message.
    pub visibility: Millis,
    /// How often it delivers one.
    pub receives_max: u32,
    /// How long dispatch may run.
    pub dispatch_timeout: i64,
    /// How long admission and cancel may run.
    pub request_timeout: i64,
    /// How long a tick may run.
    pub tick_timeout: i64,
    /// What must be left of it to begin with another notification.
    pub tick_reserve: Millis,
    /// How many schedules tick.
    pub reconcilers: usize,
    /// Which of them rest because nothing is open.
    pub parked: [Cell<bool>; 2],
    /// When items go.
    pub forgetting: Forgetting,
    /// How far the index is behind as a rule.
    pub lag: Millis,
    /// How far when that is a fault.
    pub stale: Millis,
    /// How many entries its pages hold.
    pub page: usize,
    /// Within how many ticks everything settles, once it has expired and nothing strikes any more.
    pub settle_ticks: i64,
    /// Through whom texts go, and what it reports.
    pub reports: Reports,
    /// What was planted.
    pub flaw: Option<Flaw>,
}

/// What the provider of a run reports of the texts it took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reports {
    /// Through whom texts go.
    pub provider: Provider,
    /// How much of what it has to say gets through.
    pub care: Care,
}

/// How much of what a provider has to say gets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Nothing.
    Silent,
    /// All of it, within seconds.
    Prompt,
    /// Some of it, within seconds or days, once or twice, and at times against what it said before.
    Wild,
}

const fn terms() -> WindowTerms {
    WindowTerms {
        message_lifetime: Millis::from_secs(600),
        client_retry_window: Millis::from_secs(3_600),
        visibility_timeout: Millis::from_secs(180),
        max_receive_count: 5,
        clock_skew: Millis::from_secs(5),
    }
}

impl Setup {
    /// The template's defaults, and a world in good order.
    ///
    /// # Panics
    /// When the formula for the window and the window disagree.
    #[must_use]
    pub fn plain(flaw: Option<Flaw>) -> Self {
        let window_due = terms().shortest();
        let mut policy = DEFAULTS.0;
        if flaw == Some(Flaw::SkewIgnored) {
            policy.clock_skew = Millis::ZERO;
        }
        let short = WindowTerms { client_retry_window: Millis::ZERO, ..terms() };
        let window = match flaw {
            Some(Flaw::WindowTooShort) => DedupWindow::new(short.shortest(), short),
            _ => DedupWindow::new(window_due, terms()),
        };
        Self {
            starts_at: STARTS_AT,
            policy,
            timing: DEFAULTS.1,
            window: window.expect("the window covers its own terms"),
            window_due,
            lifetime_max: Millis::from_secs(600),
            lifetime: Millis::from_secs(600),
            skew: Millis::from_secs(5),
            visibility: Millis::from_secs(180),
            receives_max: 5,
            dispatch_timeout: 30_000,
            request_timeout: 10_000,
            tick_timeout: 50_000,
            tick_reserve: Millis::from_secs(13),
            reconcilers: 1,
            parked: [Cell::new(true), Cell::new(true)],
            forgetting: Forgetting::Never,
            lag: Millis::ZERO,
            stale: Millis::from_secs(70),
            page: 100,
            settle_ticks: SETTLE_TICKS,
            reports: Reports { provider: Provider::Sns, care: Care::Silent },
            flaw,
        }
    }

    /// What a seed makes of the defaults.
    #[must_use]
    pub fn seeded(chance: &mut Chance, flaw: Option<Flaw>) -> Self {
        let mut setup = Self::plain(flaw);
        setup.policy.attempts_max = chance.pick(&[1, 2, 3, 5]);
        setup.lifetime = Millis::from_secs(chance.pick(&[40, 75, 150, 300, 600, 600]));
        setup.skew = Millis::from_secs(chance.pick(&[0, 1, 5, 5]));
        setup.reconcilers = chance.pick(&[1, 1, 2]);
        setup.forgetting = chance.pick(&[Forgetting::AtOnce, Forgetting::Late, Forgetting::Never]);
        setup.lag = Millis::new(chance.pick(&[0, 0, 300, 2_500]));
        setup.page = chance.pick(&[1, 100]);
        setup
    }

    /// What a seed makes of what the provider reports; a chance of its own, so that the rest of a seed stays what it was.
    #[must_use]
    pub fn with_reports(mut self, chance: &mut Chance) -> Self {
        self.reports = Reports {
            provider: chance.pick(&[Provider::Sns, Provider::Sns, Provider::Eum]),
            care: chance.pick(&[Care::Silent, Care::Prompt, Care::Wild, Care::Wild]),
        };
        let speaks = self.reports == Reports { provider: Provider::Eum, care: Care::Wild };
        if speaks && chance.one_in(2) {
            self.policy.silence = Silence::ResendOnce { after: Millis::from_secs(chance.pick(&[30, 120])) };
        }
        self
    }

    /// How long until a reconciler's next tick.
    #[must_use]
    pub fn until_tick(&self, reconciler: usize, now: i64) -> i64 {
        let phase = [0, 17_000][reconciler];
        MINUTE - (now - self.starts_at - phase).rem_euclid(MINUTE)
    }

    /// The weather of a seed: how often what strikes, and how fast things go.
    #[must_use]
    pub fn weather(&self, seed: u64, chance: &mut Chance) -> Weather {
        let rate = chance.pick(&[0, 1_500, 4_000, 9_000, 16_000, 24_000]);
        let all = !(1 << Fault::Dropped as u32);
        let kinds = match chance.below(3) {
            0 => all,
            1 => chance.next() as u32 & all,
            _ => (chance.next() & chance.next()) as u32 & all,
        };
        let throttled = chance.pick(&[0, 0, 0, 0, 0, 16_000, 48_000]);
        let deaf = chance.pick(&[0, 0, 0, 0, 0, 30_000, 60_000]);
        let pace = chance.pick(&[Pace::Quick, Pace::Quick, Pace::Mixed, Pace::Mixed, Pace::Sluggish]);
        let ends_at = self.starts_at + chance.between(0, 15 * MINUTE);
        Weather { seed, pace, rate, throttled, deaf, kinds, ends_at, lifetime: self.lifetime.get() }
    }
}
