//! What comes from providers, taken in side by side, each report for itself.

use std::panic::AssertUnwindSafe;

use aws_lambda_events::sqs::{BatchItemFailure, SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::future::join_all;
use futures_util::stream;
use futures_util::{FutureExt, StreamExt};
use sendonce::aws::receipts::{EumEvent, read_eum_event, read_pushed};
use sendonce::aws::{Ledger, SnsDeliveryLog};
use sendonce::invocation::Invocation;
use sendonce::ports::Clock;
use sendonce::receive::{NotReceived, Receive, Received, Report};
use serde::Serialize;

use crate::{AT_ONCE, RESERVE};

pub(crate) type Receiver<C> = Receive<Ledger, SnsDeliveryLog, C>;

/// What became of the reports of one event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Known to their notifications now, news or not.
    pub merged: u32,
    /// About nothing known here, and dropped.
    pub for_nobody: u32,
    /// To come again: what they are about may be written any moment, or there was no store or no time.
    pub held: u32,
    /// No reports, and dropped.
    pub malformed: u32,
}

/// What became of one.
#[derive(Clone, Copy)]
enum End {
    Merged,
    ForNobody,
    Held,
    Malformed,
}

impl Counts {
    fn count(&mut self, end: End) {
        let counter = match end {
            End::Merged => &mut self.merged,
            End::ForNobody => &mut self.for_nobody,
            End::Held => &mut self.held,
            End::Malformed => &mut self.malformed,
        };
        *counter = counter.saturating_add(1);
    }

    /// One line for all, when there is more to say than the transitions say. Nothing of a report is in it.
    fn tell(self) {
        let Self { merged, for_nobody, held, malformed } = self;
        if for_nobody > 0 || held > 0 || malformed > 0 {
            tracing::warn!(merged, for_nobody, held, malformed, "not all receipts were taken in");
        }
    }
}

/// Takes in what CloudWatch Logs pushed. What cannot be read never will be: it is counted, and does not come again.
pub(crate) async fn pushed<C: Clock>(receive: &Receiver<C>, awslogs: &str, invocation: &Invocation) -> Counts {
    let mut counts = Counts::default();
    match read_pushed(awslogs, receive.seek.log.destination()) {
        Ok(pushed) => {
            counts.malformed = pushed.malformed;
            let reports = pushed.rows.into_iter().map(Report::Logged);
            let ends = reports.map(|report| async move { one(receive, &report, invocation).await });
            let mut ends = stream::iter(ends).buffer_unordered(AT_ONCE);
            while let Some(end) = ends.next().await {
                counts.count(end);
            }
        }
        Err(_) => counts.malformed = 1,
    }
    counts.tell();
    counts
}

/// Takes in one batch of the receipts queue, and names those that must come again.
pub(crate) async fn queued<C: Clock>(
    receive: &Receiver<C>,
    payload: &str,
    invocation: &Invocation,
) -> Result<SqsBatchResponse, &'static str> {
    let batch: SqsEvent = serde_json::from_str(payload).map_err(|_| "the event is not an SQS event")?;
    if batch.records.iter().any(|message| message.message_id.as_deref().unwrap_or_default().is_empty()) {
        return Err("the event holds a message without an id");
    }
    let ends = join_all(batch.records.iter().map(|message| async move {
        // A panic is one failed item, not a failed batch.
        AssertUnwindSafe(message_end(receive, message, invocation)).catch_unwind().await.unwrap_or(End::Held)
    }));
    let mut counts = Counts::default();
    let mut response = SqsBatchResponse::default();
    for (message, end) in batch.records.iter().zip(ends.await) {
        counts.count(end);
        if matches!(end, End::Held) {
            let mut failure = BatchItemFailure::default();
            failure.item_identifier = message.message_id.clone().unwrap_or_default();
            response.batch_item_failures.push(failure);
        }
    }
    counts.tell();
    Ok(response)
}

/// A message that cannot be read is not kept for anybody to look at: it may hold a number.
async fn message_end<C: Clock>(receive: &Receiver<C>, message: &SqsMessage, invocation: &Invocation) -> End {
    match read_eum_event(message.body.as_deref().unwrap_or_default()) {
        EumEvent::Ours(report) => one(receive, &report, invocation).await,
        EumEvent::Foreign => End::ForNobody,
        EumEvent::Malformed => End::Malformed,
    }
}

async fn one<C: Clock>(receive: &Receiver<C>, report: &Report, invocation: &Invocation) -> End {
    if !invocation.has_time(receive.clock.now(), RESERVE) {
        return End::Held;
    }
    match receive.receive(report, invocation).await {
        Ok(Received::Merged(_, _)) => End::Merged,
        Ok(Received::ForNobody) => End::ForNobody,
        Err(NotReceived::Held | NotReceived::Unavailable) => End::Held,
    }
}
