//! Many seeds, each with clients, weather and times of its own.

use std::sync::atomic::{AtomicU64, Ordering};

use super::choice::Faults;
use super::play::{Ground, Keep, Play, play};
use super::script::Cast;
use super::stats::Stats;

/// How many seeds a thread takes at a time.
const BLOCK: u64 = 256;

/// Plays `seeds` seeds from `from` on, on `threads` threads; `played` counts them as they go.
#[must_use]
pub fn search(from: u64, seeds: u64, threads: usize, played: &AtomicU64) -> Stats {
    let next = AtomicU64::new(0);
    let work = || {
        let cast = Cast::new();
        let mut stats = Stats::default();
        loop {
            let begin = next.fetch_add(BLOCK, Ordering::Relaxed);
            if begin >= seeds {
                return stats;
            }
            let end = (begin + BLOCK).min(seeds);
            for seed in begin..end {
                let plan = Play { ground: Ground::Seed(from + seed), faults: Faults::Drawn, flaw: None };
                stats.count(&plan, &play(&cast, &plan, Keep::Verdict));
            }
            played.fetch_add(end - begin, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("no run panics")).fold(Stats::default(), Stats::plus)
    })
}

/// The seeds, of every `step`th from `from` on, whose trace differs when they are played again.
#[must_use]
pub fn unsteady(from: u64, step: usize, seeds: u64) -> Vec<u64> {
    let (cast, other) = (Cast::new(), Cast::new());
    let differs = |seed: &u64| {
        let plan = Play { ground: Ground::Seed(*seed), faults: Faults::Drawn, flaw: None };
        let (first, second) = (play(&cast, &plan, Keep::Verdict), play(&other, &plan, Keep::Trace));
        (first.hash, first.points, first.struck) != (second.hash, second.points, second.struck)
    };
    (from..from + seeds).step_by(step).filter(differs).collect()
}
