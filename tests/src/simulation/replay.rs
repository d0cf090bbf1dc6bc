//! A run as one line of text, and that line as a run again; shrinking it; telling it.

use core::fmt::Write as _;

use super::choice::{Faults, Strike};
use super::fault::{Fault, Op};
use super::play::{Ground, Keep, Play, Report, play};
use super::scene::Scene;
use super::script::Cast;
use crate::world::Flaw;

/// The line that plays a run again: its ground and every fault that struck.
#[must_use]
pub fn line(play: &Play<'_>, struck: &[Strike]) -> String {
    let mut text = match play.ground {
        Ground::Seed(seed) => format!("seed={seed}"),
        Ground::Scene(scene) => format!("scene={}", scene.name()),
    };
    if let Some(flaw) = play.flaw {
        let _ = write!(text, " flaw={flaw:?}");
    }
    let faults: Vec<String> = struck.iter().map(|strike| format!("{}:{}", strike.point, strike.fault.name())).collect();
    let _ = write!(text, " faults={}", faults.join(","));
    text
}

/// A run read from its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// On what.
    pub ground: Ground,
    /// What strikes; none: what the seed draws.
    pub faults: Option<Vec<Strike>>,
    /// What is planted.
    pub flaw: Option<Flaw>,
}

impl Replay {
    /// Reads a line.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut replay = Self { ground: Ground::Seed(0), faults: None, flaw: None };
        for word in text.split_whitespace() {
            match word.split_once('=')? {
                ("seed", seed) => replay.ground = Ground::Seed(seed.parse().ok()?),
                ("scene", name) => replay.ground = Ground::Scene(Scene::from_name(name)?),
                ("flaw", name) => replay.flaw = Some(Flaw::from_name(name)?),
                ("faults", "") => replay.faults = Some(Vec::new()),
                ("faults", list) => replay.faults = Some(list.split(',').map(strike).collect::<Option<_>>()?),
                _ => return None,
            }
        }
        Some(replay)
    }

    fn plan(&self) -> Play<'_> {
        let faults = self.faults.as_deref().map_or(Faults::Drawn, Faults::Listed);
        Play { ground: self.ground, faults, flaw: self.flaw }
    }

    /// Plays it.
    #[must_use]
    pub fn play(&self, cast: &Cast, keep: Keep) -> Report {
        play(cast, &self.plan(), keep)
    }

    /// Its line.
    #[must_use]
    pub fn line(&self) -> String {
        line(&self.plan(), self.faults.as_deref().unwrap_or_default())
    }

    /// The same failure with as little as it needs: faults are left out one at a time, and clients that do not matter
    /// do not act, as long as the same rule is broken. A run that does not fail stays as it is.
    #[must_use]
    pub fn shrink(&self, cast: &Cast) -> Self {
        let first = self.play(cast, Keep::Verdict);
        let Some(rule) = first.violations.first().map(|violation| violation.rule) else { return self.clone() };
        let fails = |replay: &Self| {
            replay.play(cast, Keep::Verdict).violations.first().is_some_and(|violation| violation.rule == rule)
        };
        let mut best = Self { faults: Some(first.struck), ..self.clone() };
        loop {
            let smaller = best.without_one().into_iter().find(fails).or_else(|| best.without_client(cast, &fails));
            match smaller {
                Some(smaller) => best = smaller,
                None => return best,
            }
        }
    }

    fn without_one(&self) -> Vec<Self> {
        let strikes = self.faults.as_deref().unwrap_or_default();
        let kept = |left_out: usize| {
            let rest = strikes.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, strike)| *strike);
            Self { faults: Some(rest.collect()), ..self.clone() }
        };
        (0..strikes.len()).filter(|&at| strikes[at].fault != Fault::Dropped).map(kept).collect()
    }

    fn without_client(&self, cast: &Cast, fails: &impl Fn(&Self) -> bool) -> Option<Self> {
        let strikes = self.faults.clone().unwrap_or_default();
        let ops = self.play(cast, Keep::Ops).ops;
        let acts = (0_u32..).zip(ops).filter(|(_, op)| *op == Op::Act).map(|(point, _)| point);
        acts.filter(|point| strikes.iter().all(|strike| strike.point != *point)).find_map(|point| {
            let mut strikes = strikes.clone();
            let place = strikes.partition_point(|strike| strike.point < point);
            strikes.insert(place, Strike { point, fault: Fault::Dropped });
            Some(Self { faults: Some(strikes), ..self.clone() }).filter(|replay| fails(replay))
        })
    }
}

fn strike(text: &str) -> Option<Strike> {
    let (point, fault) = text.split_once(':')?;
    Some(Strike { point: point.parse().ok()?, fault: Fault::from_name(fault)? })
}
