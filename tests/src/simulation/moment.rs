//! Runs that are gone on with from where they stood: two that share their first faults share all that came before the next.

use super::actors::Stage;
use super::choice::{Chooser, Faults, Strike};
use super::fault::Fault;
use super::play::{Report, report};
use super::run::{AtRest, Run};
use super::scene::Scene;
use super::script::Cast;
use super::seen::Seen;
use super::sim::Sim;
use crate::world::{Flaw, Store};

/// A run at a moment at which no task is alive: all of it is data, and it can be gone on with again and again.
#[derive(Clone, Debug)]
pub struct Moment {
    scene: Scene,
    sim: Sim,
    store: Store,
    rest: AtRest,
}

/// A run gone on with to its end.
#[derive(Debug)]
pub struct GoneOn {
    /// What came of the whole run.
    pub report: Report,
    /// The moments from which it can be gone on with under one fault more, in their order. None when nobody asked.
    pub moments: Vec<Moment>,
}

impl Moment {
    /// The beginning of a quiet run.
    #[must_use]
    pub fn beginning(cast: &Cast, scene: Scene, flaw: Option<Flaw>) -> Self {
        let setup = scene.setup(flaw);
        let mut chooser = Chooser::new(Scene::weather(&setup), Faults::Listed(&[]));
        chooser.ops = Some(Vec::new());
        let sim = Sim::new(setup, chooser, false);
        let store = Store::default();
        store.reset(sim.at(), sim.setup.forgetting, flaw);
        sim.report_on_nobody(cast);
        let rest = Run::new(Stage { sim: &sim, cast, store: &store }, &scene.sessions()).at_rest();
        Self { scene, sim, store, rest }
    }

    /// How many points lie behind it.
    #[must_use]
    pub fn points(&self) -> u32 {
        self.sim.chooser.borrow().points()
    }

    /// Goes on under these faults, the first of which have struck already. `keeps` asks for moments, and for the kinds of
    /// all points.
    #[must_use]
    pub fn go_on(&self, cast: &Cast, strikes: &[Strike], keeps: bool) -> GoneOn {
        let Self { scene, sim, store, rest } = self.clone();
        let sessions = scene.sessions();
        let mut moments: Vec<Self> = Vec::new();
        {
            let chooser = &mut *sim.chooser.borrow_mut();
            chooser.relist(strikes);
            chooser.ops = chooser.ops.take().filter(|_| keeps);
        }
        let stage = Stage { sim: &sim, cast, store: &store };
        Run::go_on(stage, &sessions, &rest).play(|run| {
            let is_new = moments.last().is_none_or(|last| last.points() < sim.chooser.borrow().points());
            if keeps && is_new && sim.chooser.borrow().is_through() {
                moments.push(Self { scene, sim: sim.clone(), store: store.clone(), rest: run.at_rest() });
            }
        });
        stage.judge();
        stage.judge_promises(&sessions);
        let mut report = report(sim);
        report.seen[Seen::EndedGuardReplaced as usize] = store.ended_guards_replaced();
        GoneOn { report, moments }
    }
}

impl GoneOn {
    /// The latest of its moments that has not come to this point.
    #[must_use]
    pub fn before(&self, point: u32) -> Option<&Moment> {
        self.moments.iter().rev().find(|moment| moment.points() <= point)
    }

    /// The faults that may follow these.
    #[must_use]
    pub fn following(&self, strikes: &[Strike]) -> Vec<Strike> {
        let first = strikes.last().map_or(0, |strike| strike.point + 1);
        let points = (0_u32..).zip(&self.report.ops).skip_while(|(point, _)| *point < first);
        points
            .flat_map(|(point, op)| op.faults().iter().map(move |&fault| Strike { point, fault }))
            .filter(|strike| strike.fault != Fault::Dropped)
            .collect()
    }
}
