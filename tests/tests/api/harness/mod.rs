//! The four functions as Lambda runs them, on AWS in process.

mod answer;
mod ask;
mod clocks;
mod lines;
mod oracle;
mod reports;
mod service;
mod traces;

pub use answer::Answer;
pub use ask::{Ask, EXPIRES_AT, EXPIRES_AT_MS, NUMBER, TOKEN, doorbells, message, reset};
pub use clocks::Watch;
pub use lines::Lines;
pub use reports::{LogRow, eum_event, pushed, queued};
pub use service::{DISPATCH_TIMEOUT, FUNCTION_ARN, HTTP_TIMEOUT, RECONCILIATION_TIMEOUT, Service, Setting};
pub use traces::traces;

/// The tables and operations that tests name most.
pub const GET: &str = "dynamodb:GetItem";
pub const TRANSACT: &str = "dynamodb:TransactWriteItems";
pub const PUBLISH: &str = "sns:Publish";
pub const SEND_TEXT: &str = "sms-voice:SendTextMessage";
/// The provider calls, of which a deployment makes one kind.
pub const CALLS: [&str; 2] = [PUBLISH, SEND_TEXT];
/// What makes texts go through End User Messaging.
pub const THROUGH_EUM: (&str, &str) = ("PROVIDER", "eum");
pub const RING: &str = "sqs:SendMessage";
pub const DECRYPT: &str = "kms:Decrypt";
pub const DATA_KEY: &str = "kms:GenerateDataKey";
