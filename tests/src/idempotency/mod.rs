//! What the tests of the idempotency layer share: one command of an invented payments service, and its numbers.

pub mod explore;
pub mod model;

use sendonce::aws::idempotency::DynamoExecutions;
use sendonce::idempotency::{
    AnswerBound, DedupWindow, Fields, FingerprintKey, IdempotencyKey, Leased, Named, Rules, Scope, WindowTerms,
};
use sendonce::tenant::TenantId;
use sendonce::time::{EpochMillis, Millis};

use crate::aws_seam::{NOTIFICATIONS, Seam, SeamClock};

pub const SKEW: Millis = Millis::from_secs(5);
pub const MARGIN: Millis = Millis::from_secs(2);
/// What a function has left when it is called.
pub const TIME_LEFT: Millis = Millis::from_secs(30);

/// A charge, as its typed fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    pub cents: u64,
}

impl Fields for Charge {
    fn fields(&self, field: &mut dyn FnMut(&[u8])) {
        field(b"charge");
        field(&self.cents.to_be_bytes());
    }
}

pub fn window() -> DedupWindow {
    DedupWindow::shortest(WindowTerms {
        message_lifetime: Millis::from_secs(600),
        client_retry_window: Millis::from_secs(86_400),
        visibility_timeout: Millis::from_secs(180),
        max_receive_count: 5,
        clock_skew: SKEW,
    })
}

pub fn rules() -> Rules {
    Rules { window: window(), skew: SKEW, margin: MARGIN, answer_max: AnswerBound::ONE_UNIT }
}

pub fn tenant() -> TenantId {
    TenantId::derive(&["shop"])
}

pub fn scope(key: &str) -> Scope {
    Scope::Request { key: IdempotencyKey::parse(key).expect("a key") }
}

/// A charge of this much under this key.
pub fn charge(key: &str, cents: u64) -> Named {
    Named::new(&tenant(), &scope(key), &Charge { cents }, &FingerprintKey::new([5; 32]))
}

/// The layer on a seam, made as a function makes it.
pub async fn layer(seam: &Seam) -> Leased<DynamoExecutions, SeamClock> {
    Leased::new(DynamoExecutions::new(seam.aws().await.dynamodb(), NOTIFICATIONS), seam.clock(), rules())
}

/// When the platform would end an invocation that starts now.
pub fn deadline(clock: &SeamClock) -> Option<EpochMillis> {
    Some(sendonce::ports::Clock::now(clock).plus(TIME_LEFT))
}
