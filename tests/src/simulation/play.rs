//! One run from its ground and its faults to its report. Every driver comes through here.

use sendonce::time::EpochMillis;

use super::actors::Stage;
use super::chance::Chance;
use super::choice::{Chooser, Faults, Strike};
use super::fault::Op;
use super::history::Violation;
use super::port::Backend;
use super::run::Run;
use super::scene::Scene;
use super::script::{Cast, clients, operators};
use super::seen::Seen;
use super::setup::Setup;
use super::sim::Sim;
use crate::world::{Flaw, Forgetting, Store};

/// What a run stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Clients, times and lengths that follow from a seed.
    Seed(u64),
    /// A quiet run.
    Scene(Scene),
}

/// What is to be played.
#[derive(Clone, Copy, Debug)]
pub struct Play<'f> {
    /// On what.
    pub ground: Ground,
    /// What strikes.
    pub faults: Faults<'f>,
    /// What is planted.
    pub flaw: Option<Flaw>,
}

/// What is kept of a run besides the verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// Nothing.
    #[default]
    Verdict,
    /// The kinds of all points.
    Ops,
    /// A readable trace.
    Trace,
}

/// What came of a run.
#[derive(Debug)]
pub struct Report {
    /// What did not hold.
    pub violations: Vec<Violation>,
    /// What struck, in order.
    pub struck: Vec<Strike>,
    /// How often each fault struck.
    pub counts: [u32; 24],
    /// How many points there were.
    pub points: u32,
    /// The kinds of all points, if kept.
    pub ops: Vec<Op>,
    /// How often each transition was taken.
    pub transitions: [[u32; 8]; 9],
    /// How often what was met.
    pub seen: [u32; Seen::ALL.len()],
    /// Dispatches that ran.
    pub dispatches: u32,
    /// Ticks that ran, and ticks at which nothing could be found.
    pub ticks: [u32; 2],
    /// The trace's hash.
    pub hash: u64,
    /// The trace, if kept.
    pub trace: Vec<String>,
}

/// Plays one run.
#[must_use]
pub fn play(cast: &Cast, play: &Play<'_>, keep: Keep) -> Report {
    let store = Store::default();
    let mut report = play_on(cast, play, keep, |now, forgetting| {
        store.reset(now, forgetting, play.flaw);
        &store
    });
    report.seen[Seen::EndedGuardReplaced as usize] = store.ended_guards_replaced();
    report
}

/// Plays one run on another store, made for the time at which it begins.
#[must_use]
pub fn play_on<B: Backend>(
    cast: &Cast,
    play: &Play<'_>,
    keep: Keep,
    store: impl FnOnce(EpochMillis, Forgetting) -> B,
) -> Report {
    let (setup, weather, sessions) = match play.ground {
        Ground::Seed(seed) => {
            let mut chance = Chance::new(seed);
            let setup = Setup::seeded(&mut chance, play.flaw);
            let weather = setup.weather(seed, &mut chance);
            let mut sessions = clients(&setup, &mut chance);
            let mut chance = Chance::new(seed ^ 0x2e90_2700);
            let setup = setup.with_reports(&mut chance);
            sessions.extend(operators(&setup, &mut chance));
            (setup, weather, sessions)
        }
        Ground::Scene(scene) => {
            let setup = scene.setup(play.flaw);
            let weather = Scene::weather(&setup);
            (setup, weather, scene.sessions())
        }
    };
    let mut chooser = Chooser::new(weather, play.faults);
    chooser.ops = (keep == Keep::Ops).then(Vec::new);
    let sim = Sim::new(setup, chooser, keep == Keep::Trace);
    let stage = Stage { sim: &sim, cast, store: store(sim.at(), sim.setup.forgetting) };
    sim.report_on_nobody(cast);
    Run::new(stage, &sessions).play(|_| ());
    stage.judge();
    stage.judge_promises(&sessions);
    report(sim)
}

/// What came of a run, at its end.
pub(super) fn report(sim: Sim) -> Report {
    let (chooser, history) = (sim.chooser.into_inner(), sim.history.into_inner());
    Report {
        violations: history.violations,
        points: chooser.points(),
        hash: chooser.hash(),
        struck: chooser.struck,
        counts: chooser.counts,
        ops: chooser.ops.unwrap_or_default(),
        transitions: history.transitions,
        seen: history.seen,
        dispatches: history.dispatches,
        ticks: [history.ticks, history.idle_ticks],
        trace: sim.trace.map(core::cell::RefCell::into_inner).unwrap_or_default(),
    }
}
