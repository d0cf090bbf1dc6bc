//! The production flows in the world of [`crate::world`], with faults at every port call, and the checks of it all.

mod actors;
mod agenda;
mod chance;
mod choice;
mod clients;
mod effects;
mod exact;
mod exhaustive;
mod fault;
mod history;
mod legal;
mod oracle;
mod planted;
mod play;
mod port;
mod promises;
pub mod random;
mod replay;
mod run;
mod scene;
mod script;
mod setup;
mod sim;
mod stats;
mod tamper;

pub use choice::{Faults, Strike};
pub use exhaustive::Exhaustive;
pub use fault::{Fault, Op};
pub use history::Violation;
pub use planted::{PLANTED, found_by};
pub use play::{Ground, Keep, Play, Report, play};
pub use replay::Replay;
pub use scene::Scene;
pub use script::Cast;
pub use stats::{Failure, Stats};
