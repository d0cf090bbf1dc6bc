//! A handful of instants in place of milliseconds, and lengths that keep the order of the real ones.
//!
//! ```text
//! 0     1     2     3     4     5            6        7     8     9
//! |--- commands may come -----  last useful, expires              END: all of it is past
//! |-- invocation, and lease --|
//! |-- call may begin --|
//! ```

use sendonce::notification::{Policy, Silence};
use sendonce::time::Millis;

/// One of the instants.
pub type Instant = i8;

/// When the commands end.
pub const EXPIRES_AT: Instant = 6;
/// When time stops: whatever can be due, is.
pub const END: Instant = 9;
/// How long a dispatcher's invocation may run, and so its lease.
pub const INVOCATION: Instant = 2;
/// What a call and its write-back need of it.
pub const NEEDED: Instant = 1;
/// How far apart clocks are at most.
pub const SKEW: Instant = 1;
/// How long the queue hides a message that was received.
pub const VISIBILITY: Instant = 3;
/// How long after its refusal an attempt may be followed by another.
pub const BACKOFF: Instant = 1;
/// Until when keys are remembered: longer than anything here lasts.
pub const WINDOW_END: Instant = 60;
/// How often a message is received before it goes to the dead letters.
pub const RECEIVES_MAX: u8 = 2;
/// How many attempts there are.
pub const ATTEMPTS_MAX: u8 = 2;

/// What decisions depend on.
pub const POLICY: Policy = Policy {
    min_useful_life: Millis::new(1),
    attempts_max: 2,
    doorbell_grace: Millis::new(1),
    clock_skew: Millis::new(1),
    backoff_base: Millis::new(1),
    backoff_max: Millis::new(1),
    // Beyond the end: looking unknowns up is left to the simulation.
    index_lag: Millis::new(60),
    silence: Silence::Stop,
};

/// How long the reconciler waits after its ring number `rings`.
#[must_use]
pub const fn ring_gap(rings: u8) -> Instant {
    if rings > 1 { 4 } else { 2 }
}
