//! What an event is.

use serde::Deserialize;
use serde_json::value::RawValue;

/// One event, told by the member that only its kind has.
pub(crate) enum Event<'a> {
    /// Rows of SNS's delivery log, as CloudWatch Logs pushes them.
    Pushed(&'a str),
    /// A batch of the receipts queue.
    Receipts,
    /// The daily look at what the account is set to.
    Setup,
    /// Anything else: what the schedule sends does not matter.
    Tick,
}

#[derive(Deserialize)]
struct Shape<'a> {
    #[serde(borrow, default)]
    awslogs: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "Records")]
    records: Option<&'a RawValue>,
    #[serde(borrow, default)]
    check: Option<&'a RawValue>,
}

impl<'a> Event<'a> {
    pub(crate) fn of(payload: &'a RawValue) -> Self {
        match serde_json::from_str(payload.get()) {
            Ok(Shape { awslogs: Some(awslogs), .. }) => Self::Pushed(awslogs.get()),
            Ok(Shape { records: Some(_), .. }) => Self::Receipts,
            Ok(Shape { check: Some(check), .. }) if check.get() == r#""setup""# => Self::Setup,
            Ok(_) | Err(_) => Self::Tick,
        }
    }
}
