//! The functions as they are deployed, killed at each of their AWS requests in turn: before it has an effect, and when
//! it has had it and the function has not heard. Whatever happens, one text at most, and everything settles.

use std::time::{Duration, Instant};

use futures_util::future::try_join_all;
use jiff::Timestamp;
use local::api::{kinds, member};
use local::aws::Answer;
use local::provider::Provider;
use serde_json::{Value, json};

use crate::gate::{Point, Side, points};
use crate::rig::{Accepted, Rig, went_well};
use crate::scenes::TOKENS;
use crate::stage::{Played, evidence, stage, state};

/// What admission asks for, from a cold start to its answer, in order; but the first three at once.
const ADMISSION: [&str; 5] = [READ, "kms:GenerateDataKey", "kms:GenerateMac", TRANSACTION, "sqs:SendMessage"];
/// What dispatch asks for, from a cold start to its answer, in order.
const DISPATCH: [&str; 6] = [READ, READ, "kms:Decrypt", TRANSACTION, PUBLISH, TRANSACTION];
/// What reconciliation asks for with one notification due, from a cold start to its answer, in order, and the shards
/// that it looks into meanwhile, beginning with any; but the first two at once.
const RECONCILIATION: [&str; 5] = [READ, "kms:GenerateMac", READ, TRANSACTION, "sqs:SendMessage"];
const SHARDS: [&str; 16] = [QUERY; 16];
/// What admission asks for to cancel or to close, likewise.
const DECISION: [&str; 5] = [READ, "kms:GenerateDataKey", "kms:GenerateMac", READ, TRANSACTION];
/// What reconciliation asks for when the provider's log pushes a row, likewise; but the first two at once.
const REPORT: [&str; 5] = [READ, "kms:GenerateMac", QUERY, READ, TRANSACTION];

const READ: &str = "dynamodb:GetItem";
const QUERY: &str = "dynamodb:Query";
const TRANSACTION: &str = "dynamodb:TransactWriteItems";
const PUBLISH: &str = "sns:Publish";

/// Seconds; so much longer than the lease of a dispatcher that was killed, that another text would still be useful.
const SHORT_LIFE: i64 = 30;
/// Seconds; longer than the sweep.
const LONG_LIFE: i64 = 500;
/// The grace after which a doorbell counts as lost, and a little more.
const GRACE: Duration = Duration::from_millis(1_200);
/// How long a tick may take to come to something that is due.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long all of it may take to settle.
const SETTLING: Duration = Duration::from_secs(60);
/// As many as are looked at at once.
const AT_ONCE: usize = 8;

/// How a notification ends: its state, and how many texts there are.
type End = (&'static str, usize);

const SENT: End = ("sent", 1);
const DELIVERED: End = ("delivered", 1);
const CANCELLED: End = ("stopped: cancelled", 0);
const CLOSED: End = ("stopped: closed_by_operator", 1);

/// Nobody can know whether it was sent.
const fn unresolved(texts: usize) -> End {
    ("stopped: expired_unresolved", texts)
}

#[test]
fn whichever_request_a_function_is_killed_at_one_text_at_most_is_sent_and_everything_settles() {
    stage().see(&stage().swept);
}

/// All of it.
pub async fn sweep(rig: Rig) -> Played<()> {
    let mut sweep = Sweep { rig, subjects: Vec::new() };
    sweep.watch_reconciliation().await?;
    sweep.strike_dispatch(Provider::Ok, SENT).await?;
    sweep.strike_dispatch(Provider::Reset, unresolved(1)).await?;
    sweep.strike_reconciliation().await?;
    sweep.strike_admission().await?;
    sweep.strike_cancelling().await?;
    sweep.strike_closing().await?;
    sweep.strike_reporting().await?;
    sweep.settle().await?;
    sweep.check().await
}

/// One notification, what was done to it, and how it must end.
struct Subject {
    story: String,
    of: Accepted,
    end: End,
}

struct Sweep {
    rig: Rig,
    subjects: Vec<Subject>,
}

impl Sweep {
    /// One tick, while nothing else is due.
    async fn watch_reconciliation(&mut self) -> Played<()> {
        self.lose_a_doorbell("reconciliation, undisturbed").await?;
        tokio::time::sleep(GRACE).await;
        let seen = self.rig.undisturbed("reconciliation", self.rig.tick()).await?;
        let (queries, mut others): (Vec<_>, Vec<_>) = seen.into_iter().partition(|request| request == QUERY);
        others[..2].sort();
        assert_eq!((others, queries), (RECONCILIATION.map(Into::into).into(), SHARDS.map(Into::into).into()));
        Ok(())
    }

    /// Ticks, each with a doorbell lost before it; and the leases of the killed dispatchers end.
    async fn strike_reconciliation(&mut self) -> Played<()> {
        for point in points(&[&RECONCILIATION[..], &SHARDS].concat()) {
            self.lose_a_doorbell(&format!("reconciliation, {point}")).await?;
            // A tick that comes before the doorbell counts as lost may not get as far.
            let since = Instant::now();
            while !self.rig.strike("reconciliation", &point, self.rig.tick()).await? {
                if since.elapsed() > PATIENCE {
                    return Err(format!("no tick came to {point}").into());
                }
            }
        }
        Ok(())
    }

    async fn lose_a_doorbell(&mut self, story: &str) -> Played<()> {
        let order = self.rig.order(Provider::Ok, LONG_LIFE);
        let of = self.rig.unrung(&order).await?;
        self.subjects.push(Subject { story: story.to_owned(), of, end: SENT });
        Ok(())
    }

    /// Doorbells, each brought to a dispatcher that is killed and then to one that is not.
    async fn strike_dispatch(&mut self, provider: Provider, undisturbed: End) -> Played<()> {
        let order = self.rig.order(provider, SHORT_LIFE);
        let (of, doorbell) = self.rig.rung(&order).await?;
        let seen = self.rig.undisturbed("dispatch", self.rig.deliver(&doorbell)).await?;
        assert_eq!(seen, DISPATCH);
        self.subjects.push(Subject { story: format!("dispatch, {provider:?}, undisturbed"), of, end: undisturbed });
        for point in points(&DISPATCH) {
            let order = self.rig.order(provider, SHORT_LIFE);
            let (of, doorbell) = self.rig.rung(&order).await?;
            if !self.rig.strike("dispatch", &point, self.rig.deliver(&doorbell)).await? {
                return Err(format!("dispatch did not come to {point}").into());
            }
            went_well(&self.rig.deliver(&doorbell).await?)?;
            let (story, end) = (format!("dispatch, {provider:?}, {point}"), end_of(&point, undisturbed));
            self.subjects.push(Subject { story, of, end });
        }
        Ok(())
    }

    /// Requests whose client hears nothing and asks again under the same key.
    async fn strike_admission(&mut self) -> Played<()> {
        let order = self.rig.order(Provider::Ok, LONG_LIFE);
        let mut seen = self.rig.undisturbed("admission", self.rig.post(&order)).await?;
        seen[..3].sort();
        assert_eq!(seen, ADMISSION);
        for point in points(&ADMISSION) {
            let order = self.rig.order(Provider::Ok, LONG_LIFE);
            if !self.rig.strike("admission", &point, self.rig.post(&order)).await? {
                return Err(format!("admission did not come to {point}").into());
            }
            let [first, again] = [self.rig.post(&order).await?, self.rig.post(&order).await?];
            assert_eq!([first.status, again.status], [202; 2], "admission, {point}");
            assert_eq!(first.body, again.body, "admission, {point}: same key, same answer");
            let of = Accepted { id: member(&first, "id"), number: order.to };
            self.subjects.push(Subject { story: format!("admission, {point}"), of, end: SENT });
        }
        Ok(())
    }

    /// Cancels, before anything was sent, whose client hears nothing and cancels again.
    async fn strike_cancelling(&mut self) -> Played<()> {
        let order = self.rig.order(Provider::Ok, LONG_LIFE);
        let of = self.rig.unrung(&order).await?;
        let mut seen = self.rig.undisturbed("admission", self.rig.cancel(&of.id)).await?;
        seen[..3].sort();
        assert_eq!(seen, DECISION);
        for point in points(&DECISION) {
            let order = self.rig.order(Provider::Ok, LONG_LIFE);
            let of = self.rig.unrung(&order).await?;
            self.strike_decision("cancelling", &point, self.rig.cancel(&of.id)).await?;
            assert_eq!(self.rig.cancel(&of.id).await?.status, 200, "cancelling, {point}: twice is as once");
            self.subjects.push(Subject { story: format!("cancelling, {point}"), of, end: CANCELLED });
        }
        Ok(())
    }

    /// Operators' decisions about unknowns; the operator hears nothing, and decides again about what was seen before.
    async fn strike_closing(&mut self) -> Played<()> {
        for point in points(&DECISION) {
            let order = self.rig.order(Provider::Reset, LONG_LIFE);
            let (of, doorbell) = self.rig.rung(&order).await?;
            went_well(&self.rig.deliver(&doorbell).await?)?;
            self.strike_decision("closing", &point, self.rig.close(&of.id)).await?;
            let again = self.rig.close(&of.id).await?.status;
            let decided = (point.operation, point.side) == (TRANSACTION, Side::After);
            assert_eq!(again, if decided { 412 } else { 200 }, "closing, {point}: decided once");
            self.subjects.push(Subject { story: format!("closing, {point}"), of, end: CLOSED });
        }
        Ok(())
    }

    async fn strike_decision(&self, what: &str, at: &Point, run: impl Future<Output = Played<Answer>>) -> Played<()> {
        if self.rig.strike("admission", at, run).await? {
            Ok(())
        } else {
            Err(format!("{what} did not come to {at}").into())
        }
    }

    /// Rows of the provider's log, pushed to a reconciler that is killed and then, as CloudWatch Logs does, again.
    async fn strike_reporting(&mut self) -> Played<()> {
        let (_, row) = self.reportable().await?;
        let mut seen = self.rig.undisturbed("reconciliation", self.rig.push(&row)).await?;
        seen[..2].sort();
        assert_eq!(seen, REPORT);
        for point in points(&REPORT) {
            let (of, row) = self.reportable().await?;
            if !self.rig.strike("reconciliation", &point, self.rig.push(&row)).await? {
                return Err(format!("a report did not come to {point}").into());
            }
            went_well(&self.rig.push(&row).await?)?;
            self.subjects.push(Subject { story: format!("a report, {point}"), of, end: DELIVERED });
        }
        Ok(())
    }

    /// A text that was sent, and the row that tells of its delivery.
    async fn reportable(&mut self) -> Played<(Accepted, Value)> {
        let order = self.rig.order(Provider::Ok, LONG_LIFE);
        let (of, doorbell) = self.rig.rung(&order).await?;
        went_well(&self.rig.deliver(&doorbell).await?)?;
        let row = delivery_row(&evidence(&self.rig.api, &of.id).await?, &of.number)?;
        Ok((of, row))
    }

    /// The queue delivers, and reconciliation ticks, until nothing is open.
    async fn settle(&self) -> Played<()> {
        self.rig.deliver_doorbells(true).await?;
        let since = Instant::now();
        for subject in &self.subjects {
            while let now = state(&self.rig.api, &subject.of.id).await?
                && ["accepted", "sending", "dispatch_unknown"].contains(&now.as_str())
            {
                if since.elapsed() > SETTLING {
                    return Err(format!("{}: still {now}", subject.story).into());
                }
                went_well(&self.rig.tick().await?)?;
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        }
        self.rig.until_no_doorbell_is_left().await
    }

    async fn check(&self) -> Played<()> {
        for some in self.subjects.chunks(AT_ONCE) {
            try_join_all(some.iter().map(|subject| self.check_one(subject))).await?;
        }
        let logged = self.rig.stack.logged()?;
        // MiniStack's own log shows what a handset shows; the rest of it is the functions' output.
        let told = |secret: &str| logged.lines().any(|line| line.contains(secret) && !line.contains("SNS SMS to"));
        assert!(!told(TOKENS[0]), "a token is in the log");
        assert!(!self.subjects.iter().any(|subject| told(&subject.of.number)), "a number is in the log");
        Ok(())
    }

    /// State, evidence and provider tell the same, and it is what was to be expected.
    async fn check_one(&self, Subject { story, of, end }: &Subject) -> Played<()> {
        let state = state(&self.rig.api, &of.id).await?;
        let texts = self.rig.stack.texts(&of.number).await?;
        assert_eq!((state.as_str(), texts), *end, "{story}: state and texts");
        assert_eq!(self.rig.stack.carrier.calls(&of.number), texts, "{story}: calls of the provider");
        let mut rows = kinds(&evidence(&self.rig.api, &of.id).await?);
        rows.retain(|kind| kind != "doorbell_rung");
        let expected: &[&str] = match *end {
            SENT => &["accepted", "attempt_started", "attempt_accepted"],
            DELIVERED => &["accepted", "attempt_started", "attempt_accepted", "delivered"],
            CANCELLED => &["accepted", "stopped"],
            CLOSED => &["accepted", "attempt_started", "attempt_unknown", "closed"],
            _ => &["accepted", "attempt_started", "attempt_unknown", "stopped"],
        };
        assert_eq!(rows, expected, "{story}: evidence");
        Ok(())
    }
}

/// The row with which the provider's log says that this notification's text has arrived.
fn delivery_row(evidence: &Value, number: &str) -> Played<Value> {
    let row = &evidence["rows"][2];
    let message_id = row["message_id"].as_str().ok_or("the attempt has no message id")?;
    let at = row["at"].as_str().ok_or("the attempt has no time")?.parse::<Timestamp>()?;
    Ok(json!({
        "notification": { "messageId": message_id, "timestamp": at.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string() },
        "delivery": { "destination": number, "providerResponse": "Message has been accepted by phone" },
        "status": "SUCCESS",
    }))
}

/// How it must end when a dispatcher was killed here and another came after it.
fn end_of(point: &Point, undisturbed: End) -> End {
    match (point.operation, point.ordinal, point.side) {
        // The attempt is recorded, and it was not made.
        (TRANSACTION, 1, Side::After) | (PUBLISH, _, Side::Before) => unresolved(0),
        // It was made, and its outcome is not recorded.
        (PUBLISH, _, Side::After) | (TRANSACTION, 2, Side::Before) => unresolved(1),
        _ => undisturbed,
    }
}
