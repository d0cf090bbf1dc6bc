#![doc = include_str!("../README.md")]
//!
//! * [`charges`]: `POST /charges`, whose effect is a request to a payment service.
//! * [`orders`]: a consumer of `OrderCreated` events from SQS, whose effect is a shipment.

pub mod charges;
pub mod orders;
pub mod payments;

use sendonce::idempotency::{AnswerBound, DedupWindow, Rules, WindowTerms};
use sendonce::time::Millis;

/// The numbers of both handlers. A window that some retry would outlive does not build.
#[must_use]
pub fn rules() -> Rules {
    let skew = Millis::from_secs(5);
    let terms = WindowTerms {
        message_lifetime: Millis::from_secs(0), // the effect does not wait: it is made at once, or not at all
        client_retry_window: Millis::from_secs(24 * 3_600),
        visibility_timeout: Millis::from_secs(180),
        max_receive_count: 5,
        clock_skew: skew,
    };
    Rules {
        window: DedupWindow::shortest(terms),
        skew,
        margin: Millis::from_secs(2),
        answer_max: AnswerBound::ONE_UNIT,
    }
}
