//! The contract of the ports, as cases that are written once and played on everything that calls itself a port: the
//! simulated world, the real adapters on an engine in process, and the real adapters on a whole local AWS.
//!
//! A case asserts what `sendonce::ports` promises, and notes all it sees ([`Script`]). Two backends that pass must also
//! have seen the same, word for word: otherwise the world is a fiction, and what a simulation proves is about it alone.
//! A fault that a backend cannot bring about is said so in the table ([`suite::table`]), never passed over.

mod backend;
mod cases;
pub mod fixtures;
mod script;
mod seam;
pub mod suite;
pub mod twin;
mod world;

pub use backend::{Backend, Cannot, How, Port};
pub use cases::Case;
pub use fixtures::POLICY;
pub use script::Script;
pub use seam::{OnSeam, SeamHouse, planned};
pub use world::{OnWorld, WorldHouse};
