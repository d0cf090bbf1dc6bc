//! The idempotency layer as others use it: on DynamoDB under the real SDK, and on its in-memory store.

mod cases;
mod costs;
mod flaws;
mod http;
mod model;
mod resolution;
mod sqs;
mod stores;
mod transactions;
mod versions;
