//! Every sequence of up to k faults: each run names its points, and each point and kind after the last fault is the
//! next run.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::choice::{Faults, Strike};
use super::fault::Fault;
use super::play::{Ground, Keep, Play, Report, play};
use super::scene::Scene;
use super::script::Cast;
use super::stats::Stats;
use crate::world::Flaw;

/// What is to be tried.
#[derive(Clone, Copy, Debug)]
pub struct Exhaustive {
    /// On which quiet run.
    pub scene: Scene,
    /// The most faults in one sequence.
    pub faults_max: usize,
    /// What is planted.
    pub flaw: Option<Flaw>,
    /// Whether the first violation ends it.
    pub stops: bool,
}

struct Search<'s> {
    what: &'s Exhaustive,
    cast: &'s Cast,
    stats: Stats,
    played: &'s AtomicU64,
    ended: bool,
}

impl Exhaustive {
    /// Tries all of it on `threads` threads; `played` counts the runs as they go.
    #[must_use]
    pub fn search(&self, threads: usize, played: &AtomicU64) -> Stats {
        let cast = Cast::new();
        let mut root = Search { what: self, cast: &cast, stats: Stats::default(), played, ended: false };
        let branches = root.visit(&[]);
        let next = AtomicUsize::new(0);
        let found = std::thread::scope(|scope| {
            let work = || {
                let cast = Cast::new();
                let mut search = Search { what: self, cast: &cast, stats: Stats::default(), played, ended: false };
                while let Some(strike) = branches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    search.descend(&mut vec![*strike]);
                }
                search.stats
            };
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers.into_iter().filter_map(|worker| worker.join().ok()).collect::<Vec<_>>()
        });
        found.into_iter().fold(root.stats, Stats::plus)
    }
}

impl Search<'_> {
    fn descend(&mut self, strikes: &mut Vec<Strike>) {
        for next in self.visit(strikes) {
            if self.ended {
                return;
            }
            strikes.push(next);
            self.descend(strikes);
            strikes.pop();
        }
    }

    /// Plays one sequence; the faults that may follow its last.
    fn visit(&mut self, strikes: &[Strike]) -> Vec<Strike> {
        let last = strikes.len() >= self.what.faults_max;
        let plan =
            Play { ground: Ground::Scene(self.what.scene), faults: Faults::Listed(strikes), flaw: self.what.flaw };
        let report = play(self.cast, &plan, if last { Keep::Verdict } else { Keep::Ops });
        self.stats.count(&plan, &report);
        self.played.fetch_add(1, Ordering::Relaxed);
        self.ended |= self.what.stops && !report.violations.is_empty();
        if last { Vec::new() } else { following(strikes, &report) }
    }
}

fn following(strikes: &[Strike], report: &Report) -> Vec<Strike> {
    let first = strikes.last().map_or(0, |strike| strike.point + 1);
    let points = (0_u32..).zip(&report.ops).skip_while(|(point, _)| *point < first);
    points
        .flat_map(|(point, op)| op.faults().iter().map(move |&fault| Strike { point, fault }))
        .filter(|strike| strike.fault != Fault::Dropped)
        .collect()
}
