//! Who decides what strikes where: chance, or a list.

use super::chance;
use super::fault::{Fault, Op};

/// One fault at one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strike {
    /// The point's number within the run.
    pub point: u32,
    /// What struck.
    pub fault: Fault,
}

/// Where faults come from.
#[derive(Clone, Copy, Debug)]
pub enum Faults<'f> {
    /// Drawn by the seed.
    Drawn,
    /// These and no others, in the order of their points.
    Listed(&'f [Strike]),
}

/// How fast things go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Every step takes the same few milliseconds.
    Even,
    /// Milliseconds.
    Quick,
    /// Milliseconds, now and then seconds.
    Mixed,
    /// Seconds, up to whatever the platform allows.
    Sluggish,
}

/// The weather of a run.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// What delays and lengths follow from.
    pub seed: u64,
    /// How fast things go.
    pub pace: Pace,
    /// How often a fault is drawn, in 65,536 points.
    pub rate: u64,
    /// How often the provider refuses for now, in 65,536 calls.
    pub throttled: u64,
    /// How often a doorbell is lost, in 65,536 rings.
    pub deaf: u64,
    /// Which faults may be drawn, a bit each.
    pub kinds: u32,
    /// When no more are.
    pub ends_at: i64,
    /// How long a message can live.
    pub lifetime: i64,
}

/// Decides at every point, and keeps what it decided.
#[derive(Clone, Debug)]
pub struct Chooser {
    weather: Weather,
    listed: Option<Vec<Strike>>,
    next_listed: usize,
    points: u32,
    /// What struck, in order.
    pub struck: Vec<Strike>,
    /// Where.
    pub struck_at: Vec<Op>,
    /// Until when what struck may be felt.
    pub felt_until: i64,
    /// How often each fault struck.
    pub counts: [u32; 24],
    /// The kinds of all points, when asked for.
    pub ops: Option<Vec<Op>>,
    hash: u64,
}

impl Chooser {
    /// For a run in this weather.
    #[must_use]
    pub fn new(weather: Weather, faults: Faults<'_>) -> Self {
        let listed = match faults {
            Faults::Drawn => None,
            Faults::Listed(strikes) => Some(strikes.to_vec()),
        };
        Self {
            weather,
            listed,
            next_listed: 0,
            points: 0,
            struck: Vec::new(),
            struck_at: Vec::new(),
            felt_until: 0,
            counts: [0; 24],
            ops: None,
            hash: 0xcbf2_9ce4_8422_2325,
        }
    }

    /// Decides at the next point: its number, and what strikes.
    pub fn choose(&mut self, op: Op, now: i64) -> (u32, Fault) {
        let point = self.points;
        self.points += 1;
        if let Some(ops) = &mut self.ops {
            ops.push(op);
        }
        let fault = if self.listed.is_some() { self.listed_at(point) } else { self.drawn(point, op, now) };
        if fault.strikes() {
            self.struck.push(Strike { point, fault });
            self.struck_at.push(op);
            let frozen = fault.frozen_before().or(fault.frozen_after()).or((fault == Fault::Ghost).then_some(true));
            self.felt(now + frozen.map_or(0, |long| self.freeze(point, long).max(self.freeze(point + 1, long))));
            self.counts[fault as usize] += 1;
        }
        self.note(now as u64 ^ (op as u64) << 56 ^ (fault as u64) << 48);
        (point, fault)
    }

    /// Lists other strikes, the first of which are those that struck already.
    pub fn relist(&mut self, strikes: &[Strike]) {
        self.listed = Some(strikes.to_vec());
    }

    fn listed_at(&mut self, point: u32) -> Fault {
        let next = self.listed.as_ref().and_then(|listed| listed.get(self.next_listed));
        match next {
            Some(strike) if strike.point == point => {
                self.next_listed += 1;
                strike.fault
            }
            _ => Fault::None,
        }
    }

    fn drawn(&self, point: u32, op: Op, now: i64) -> Fault {
        let draw = chance::at(self.weather.seed ^ 0x5eed_fa17, u64::from(point));
        if op == Op::Send && (draw >> 48) < self.weather.throttled {
            return Fault::Refused;
        }
        if op == Op::Ring && (draw >> 48) < self.weather.deaf {
            return Fault::Vanished;
        }
        if now >= self.weather.ends_at || (draw & 0xffff) >= self.weather.rate {
            return Fault::None;
        }
        let kinds = op.faults();
        let fault = kinds[((draw >> 16) % kinds.len() as u64) as usize];
        if self.weather.kinds & (1 << fault as u32) == 0 { Fault::None } else { fault }
    }

    /// Notes that something may be felt until then.
    pub fn felt(&mut self, until: i64) {
        self.felt_until = self.felt_until.max(until);
    }

    /// How long a point of a task takes when nothing strikes. Where things are sluggish, not all of them are.
    #[must_use]
    pub fn delay(&self, point: u32, task: usize) -> i64 {
        let draw = chance::at(self.weather.seed ^ 0xde1a, u64::from(point));
        let (coin, size) = (draw & 0xff, (draw >> 8) as i64 & 0x7fff_ffff);
        match self.weather.pace {
            Pace::Even => 5,
            Pace::Quick => 1 + size % 40,
            Pace::Mixed if coin < 24 => 200 + size % 3_000,
            Pace::Mixed => 1 + size % 60,
            Pace::Sluggish if self.number(task as u64 ^ 0x51_0e).is_multiple_of(2) => 1 + size % 60,
            Pace::Sluggish if coin < 96 => size % 12_000,
            Pace::Sluggish => size % 1_500,
        }
    }

    /// Whether a provider call begins as late as it may.
    #[must_use]
    pub fn dawdles(&self) -> bool {
        self.weather.pace == Pace::Sluggish && self.number(u64::from(self.points) ^ 0x1a7e).is_multiple_of(3)
    }

    /// How long a provider call takes of the time it is allowed.
    #[must_use]
    pub fn transit(&self, allowed: i64, task: usize) -> i64 {
        let all_of_it = self.weather.pace == Pace::Sluggish && self.number(u64::from(self.points) ^ 0xca11) & 3 == 0;
        if all_of_it { allowed } else { self.delay(self.points, task).min(allowed) }
    }

    /// How long a freeze lasts; a long one outlasts the message.
    #[must_use]
    pub fn freeze(&self, point: u32, long: bool) -> i64 {
        let size = (chance::at(self.weather.seed ^ 0xf10e, u64::from(point)) >> 8) as i64 & 0x7fff_ffff;
        match (self.weather.pace, long) {
            (Pace::Even, false) => 95_000,
            (Pace::Even, true) => self.weather.lifetime + 60_000,
            (_, false) => 15_000 + size % 200_000,
            (_, true) => self.weather.lifetime / 2 + size % (self.weather.lifetime * 2),
        }
    }

    /// A number of this run for `place`.
    #[must_use]
    pub const fn number(&self, place: u64) -> u64 {
        chance::at(self.weather.seed ^ 0xa5a5, place)
    }

    /// Adds to the trace hash.
    pub const fn note(&mut self, value: u64) {
        self.hash = (self.hash ^ value).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23);
    }

    /// The hash of all that was noted.
    #[must_use]
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// How many points there were.
    #[must_use]
    pub const fn points(&self) -> u32 {
        self.points
    }

    /// Whether all that was listed has struck.
    #[must_use]
    pub fn is_through(&self) -> bool {
        self.listed.as_ref().is_none_or(|listed| listed.len() == self.next_listed)
    }

    /// The weather.
    #[must_use]
    pub const fn weather(&self) -> &Weather {
        &self.weather
    }
}
