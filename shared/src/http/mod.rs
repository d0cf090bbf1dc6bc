//! The HTTP contract: requests read strictly, answers written once. Pure: the functions turn gateway events into
//! [`Request`] and [`Response`] back.

mod body;
mod etag;
mod problem;
mod request;
mod resolution;
mod response;
mod route;
mod strict_json;
mod view;

pub use body::{BodyFault, FieldFault, read_command};
pub use etag::{etag, if_match, none_match};
pub use problem::Problem;
pub use request::Request;
pub use resolution::read_resolution;
pub use response::Response;
pub use route::{Route, RouteFault};
#[cfg(feature = "lambda")]
pub(crate) use strict_json::parse as strict;
pub use view::{accepted, evidence, status};
