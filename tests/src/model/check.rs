//! Running the checker, and reading what it found.

use core::fmt;
use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model, Path};

use super::cast::{Action, Cast};
use super::properties::{ALWAYS, SETTLES, SOMETIMES};
use super::world::World;

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// How many steps deep.
    pub depth: usize,
    /// On how many threads.
    pub threads: usize,
}

impl Default for Extent {
    /// Deeper than any path, on two threads.
    fn default() -> Self {
        Self { depth: 1_000, threads: 2 }
    }
}

/// What the checker found.
#[derive(Debug)]
pub struct Found {
    /// How many different states it looked at.
    pub unique: usize,
    /// How many it came to, the same ones more than once.
    pub generated: usize,
    /// How many states its longest path has.
    pub depth: usize,
    /// Whether it looked at every state there is.
    pub complete: bool,
    /// How long that took.
    pub took: Duration,
    /// What should hold and does not, with a way to a state that shows it.
    pub failures: Vec<(&'static str, String)>,
    /// What was to be seen in some state, and was.
    pub seen: Vec<&'static str>,
}

/// Looks at every state of a cast, or until something does not hold.
#[must_use]
pub fn check(cast: Cast, extent: Extent) -> Found {
    search(cast, extent, HasDiscoveries::AnyFailures)
}

/// Looks for a state in which this does not hold.
#[must_use]
pub fn refute(cast: Cast, promise: &'static str) -> Found {
    search(cast, Extent::default(), HasDiscoveries::AllOf([promise].into()))
}

fn search(cast: Cast, extent: Extent, finish: HasDiscoveries) -> Found {
    let begun = Instant::now();
    let builder = cast.checker().threads(extent.threads).target_max_depth(extent.depth).finish_when(finish);
    let checker = builder.spawn_bfs().join();
    let took = begun.elapsed();
    let mut discoveries = checker.discoveries();
    let must_hold = ALWAYS.iter().map(|(name, _)| *name).chain([SETTLES]);
    let failures: Vec<_> = must_hold.filter_map(|name| Some((name, trace(&discoveries.remove(name)?)))).collect();
    Found {
        unique: checker.unique_state_count(),
        generated: checker.state_count(),
        depth: checker.max_depth(),
        complete: failures.is_empty() && checker.max_depth() < extent.depth,
        took,
        failures,
        seen: SOMETIMES.iter().map(|(name, _)| *name).filter(|name| discoveries.contains_key(name)).collect(),
    }
}

/// A path, a step a line, and the evidence at its end.
fn trace(path: &Path<World, Action>) -> String {
    let steps = path.clone().into_vec();
    let line = |(world, action): &(World, Option<Action>)| {
        let action = action.as_ref().map_or(String::from("-"), |action| format!("{action:?}"));
        let state = world.record.map_or("-", |record| record.state.as_str());
        format!("  {:>2}  {state:<17} {action}\n", world.now)
    };
    let rows = steps.last().into_iter().flat_map(|(world, _)| world.rows.iter());
    let rows = rows.map(|row| format!("      {:?} by {:?}\n", row.fact, row.by));
    steps.iter().map(line).chain(rows).collect()
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { unique, generated, depth, took, .. } = self;
        let extent = if self.complete { "every state" } else { "not every state" };
        write!(f, "{unique} unique states of {generated}, depth {depth}, {extent}, {:.1} s", took.as_secs_f64())?;
        self.failures.iter().try_for_each(|(name, trace)| write!(f, "\n{name} does not hold:\n{trace}"))
    }
}
