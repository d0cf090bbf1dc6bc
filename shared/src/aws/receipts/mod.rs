//! What providers report, read. No I/O, and nothing of a number or a text outlives the reading: not in what is given
//! back, not in an error.

mod eum_event;
mod pushed;
mod sns_row;

pub use eum_event::{EumEvent, read_eum_event};
pub use pushed::{NotPushed, Pushed, read_pushed};
pub use sns_row::read_sns_row;
