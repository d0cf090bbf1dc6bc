//! What many runs came to.

use core::fmt;

use super::fault::Fault;
use super::play::{Play, Report};
use super::replay::line;
use super::seen::Seen;

/// How many failures are kept with their replay lines.
const KEPT: usize = 20;

/// One run in which something did not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Plays it again.
    pub line: String,
    /// What did not hold.
    pub rule: &'static str,
    /// How it showed.
    pub detail: String,
}

/// Sums over runs.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Runs.
    pub runs: u64,
    /// Points at which the schedule decided.
    pub steps: u64,
    /// How often each fault struck.
    pub faults: [u64; 24],
    /// How often each transition was taken: from (8 is nowhere) to.
    pub transitions: [[u64; 8]; 9],
    /// How often what was met.
    pub seen: [u64; Seen::ALL.len()],
    /// Dispatches that ran.
    pub dispatches: u64,
    /// Ticks that ran, and ticks at which nothing could be found.
    pub ticks: [u64; 2],
    /// Runs in which something did not hold.
    pub failed: u64,
    /// The first of them.
    pub failures: Vec<Failure>,
}

impl Stats {
    /// What was never met.
    #[must_use]
    pub fn unseen(&self) -> Vec<Seen> {
        Seen::ALL.into_iter().filter(|seen| self.seen[*seen as usize] == 0).collect()
    }

    /// Adds a run.
    pub fn count(&mut self, play: &Play<'_>, report: &Report) {
        self.runs += 1;
        self.steps += u64::from(report.points);
        self.dispatches += u64::from(report.dispatches);
        self.ticks.iter_mut().zip(report.ticks).for_each(|(sum, n)| *sum += u64::from(n));
        self.seen.iter_mut().zip(report.seen).for_each(|(sum, n)| *sum += u64::from(n));
        self.faults.iter_mut().zip(report.counts).for_each(|(sum, n)| *sum += u64::from(n));
        let cells = self.transitions.iter_mut().flatten().zip(report.transitions.iter().flatten());
        cells.for_each(|(sum, n)| *sum += u64::from(*n));
        if let Some(first) = report.violations.first() {
            self.failed += 1;
            if self.failures.len() < KEPT {
                let (rule, detail) = (first.rule, first.detail.clone());
                self.failures.push(Failure { line: line(play, &report.struck), rule, detail });
            }
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(mut self, other: Self) -> Self {
        self.runs += other.runs;
        self.steps += other.steps;
        self.dispatches += other.dispatches;
        self.ticks.iter_mut().zip(other.ticks).for_each(|(sum, n)| *sum += n);
        self.seen.iter_mut().zip(other.seen).for_each(|(sum, n)| *sum += n);
        self.faults.iter_mut().zip(other.faults).for_each(|(sum, n)| *sum += n);
        let cells = self.transitions.iter_mut().flatten().zip(other.transitions.iter().flatten());
        cells.for_each(|(sum, n)| *sum += n);
        self.failed += other.failed;
        self.failures.extend(other.failures);
        self.failures.truncate(KEPT);
        self
    }
}

const STATES: [&str; 9] =
    ["accepted", "sending", "sent", "delivered", "undelivered", "failed", "dispatch_unknown", "stopped", "-"];

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:<28}{:>16}", "runs", self.runs)?;
        writeln!(f, "{:<28}{:>16}", "steps", self.steps)?;
        writeln!(f, "{:<28}{:>16}", "dispatches", self.dispatches)?;
        writeln!(f, "{:<28}{:>16}", "ticks", self.ticks[0])?;
        writeln!(f, "\n{:<28}{:>16}", "fault", "struck")?;
        for fault in Fault::ALL {
            writeln!(f, "{:<28}{:>16}", fault.name(), self.faults[fault as usize])?;
        }
        writeln!(f, "\n{:<28}{:>16}", "transition", "taken")?;
        for (from, row) in [8, 0, 1, 2, 3, 4, 5, 6, 7].map(|from| (from, &self.transitions[from])) {
            for (to, taken) in row.iter().enumerate().filter(|(_, taken)| **taken > 0) {
                writeln!(f, "{:<28}{taken:>16}", format!("{} -> {}", STATES[from], STATES[to]))?;
            }
        }
        writeln!(f, "\n{:<28}{:>16}", "met", "times")?;
        for seen in Seen::ALL {
            writeln!(f, "{:<28}{:>16}", format!("{seen:?}"), self.seen[seen as usize])?;
        }
        writeln!(f, "\n{:<28}{:>16}", "violations", self.failed)?;
        for failure in &self.failures {
            writeln!(f, "{}: {}\n    {}", failure.rule, failure.detail, failure.line)?;
        }
        Ok(())
    }
}
