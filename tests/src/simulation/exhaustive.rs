//! Every sequence of up to k faults: each run names its points, and each point and kind after the last fault is the
//! next run.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::choice::{Faults, Strike};
use super::moment::{GoneOn, Moment};
use super::play::{Ground, Play};
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
    cast: Cast,
    stats: Stats,
    played: &'s AtomicU64,
    ended: bool,
}

impl Exhaustive {
    /// Tries all of it on `threads` threads; `played` counts the runs as they go.
    #[must_use]
    pub fn search(&self, threads: usize, played: &AtomicU64) -> Stats {
        let mut root = Search::new(self, played);
        let branches = root.visit(&[], &root.beginning()).following(&[]);
        let next = AtomicUsize::new(0);
        let found = std::thread::scope(|scope| {
            let work = || {
                let mut search = Search::new(self, played);
                let beginning = search.beginning();
                while let Some(strike) = branches.get(next.fetch_add(1, Ordering::Relaxed)) {
                    search.descend(&mut vec![*strike], &beginning);
                }
                search.stats
            };
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            workers.into_iter().map(|worker| worker.join().expect("no run panics")).collect::<Vec<_>>()
        });
        found.into_iter().fold(root.stats, Stats::plus)
    }
}

impl<'s> Search<'s> {
    fn new(what: &'s Exhaustive, played: &'s AtomicU64) -> Self {
        Self { what, cast: Cast::new(), stats: Stats::default(), played, ended: false }
    }

    fn beginning(&self) -> Moment {
        Moment::beginning(&self.cast, self.what.scene, self.what.flaw)
    }

    fn descend(&mut self, strikes: &mut Vec<Strike>, from: &Moment) {
        let gone_on = self.visit(strikes, from);
        if strikes.len() >= self.what.faults_max {
            return;
        }
        for next in gone_on.following(strikes) {
            if self.ended {
                return;
            }
            strikes.push(next);
            self.descend(strikes, gone_on.before(next.point).unwrap_or(from));
            strikes.pop();
        }
    }

    /// Plays one sequence, from a moment before its last fault.
    fn visit(&mut self, strikes: &[Strike], from: &Moment) -> GoneOn {
        let goes_deeper = strikes.len() < self.what.faults_max;
        let gone_on = from.go_on(&self.cast, strikes, goes_deeper);
        let (ground, faults) = (Ground::Scene(self.what.scene), Faults::Listed(strikes));
        self.stats.count(&Play { ground, faults, flaw: self.what.flaw }, &gone_on.report);
        self.played.fetch_add(1, Ordering::Relaxed);
        self.ended |= self.what.stops && !gone_on.report.violations.is_empty();
        gone_on
    }
}
