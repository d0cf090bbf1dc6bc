//! `examples`: the two handlers of `examples/`, deployed beside the service by their own template, and what a retry of each
//! is told.

mod payments;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use http::Method;
use serde_json::{Value, json};

use crate::api::member;
use crate::aws::{Answer, Aws, Request};
use crate::deploy::deploy;
use crate::endpoint::Endpoint;
use crate::functions;
use crate::say::Timeline;
use crate::stack::{Options, Stack, architecture, sizes};
use payments::Payments;

const NAME: &str = "sendonce-examples";
const POLL: Duration = Duration::from_millis(500);
/// The function's timeout, twice the skew of both clocks, and time to spare.
const PATIENCE: Duration = Duration::from_secs(45);

/// Tells it and checks each claim. Success means that every claim held.
pub async fn tell(options: &Options, timeline: &Timeline) -> Result<ExitCode> {
    let started = Instant::now();
    timeline.plain("Two handlers that are safe to retry. Times are UTC.");
    timeline.chapter("Setting up");
    let shop = Shop::open(options, timeline).await?;
    shop.one_charge().await?;
    shop.killed_in_mid_charge().await?;
    shop.one_shipment().await?;
    let (held, failed) = timeline.tally();
    timeline.plain(&format!("\n{held} claims hold, {failed} do not. {} s.", started.elapsed().as_secs()));
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The deployed handlers, and the payment service that one of them calls.
struct Shop<'a> {
    timeline: &'a Timeline,
    aws: Aws,
    host: String,
    outputs: BTreeMap<String, String>,
    payments: Arc<Payments>,
    // In the order in which they end: first those who call, then those who are called.
    stack: Stack,
    _payments: Endpoint,
}

impl<'a> Shop<'a> {
    /// Brings the service up, and the examples beside it.
    async fn open(options: &Options, timeline: &'a Timeline) -> Result<Self> {
        let stack = Stack::up(options, timeline).await?;
        let functions = functions::build(options.release, functions::EXAMPLES).await?;
        timeline.event(&format!("functions: {}", sizes(&functions)));
        let payments = Arc::<Payments>::default();
        let endpoint = Endpoint::start(&stack.endpoint, payments.clone())?;
        timeline.event(&format!("payment service: {}", endpoint.url));
        let aws = stack.aws()?;
        let template = functions::workspace().join("examples/template.yaml");
        let template =
            std::fs::read_to_string(&template).with_context(|| format!("cannot read {}", template.display()))?;
        let parameters = BTreeMap::from([("Architecture", architecture()?), ("PaymentsUrl", &endpoint.url)]);
        let deployed = deploy(&aws, NAME, &template, &functions, &parameters).await?;
        timeline.event(&format!("examples/template.yaml: deployed, {} resources", deployed.resources));
        let id = deployed.outputs.get("ApiId").context("the template has no output ApiId")?;
        let host = format!("{id}.execute-api.localhost");
        Ok(Self { timeline, aws, host, outputs: deployed.outputs, payments, stack, _payments: endpoint })
    }

    async fn one_charge(&self) -> Result<()> {
        self.timeline.chapter("1  One charge, asked for twice under one key, and then another under it");
        let first = self.post("order-7", 100).await?;
        let again = self.post("order-7", 100).await?;
        let other = self.post("order-7", 999).await?;
        self.claim(first.status == 201, "charged: 201", &first);
        let equal = (again.status, &again.body) == (first.status, &first.body);
        let replayed = again.header("idempotency-replayed") == Some("true");
        self.claim(equal && replayed, "the stored answer, byte for byte, which says that it is a replay", &again);
        let refused = other.status == 409 && member(&other, "code") == "idempotency_key_reused";
        self.claim(refused, "a key keeps its meaning: 409, and nothing is charged", &other);
        self.claim_charges(1);
        Ok(())
    }

    async fn killed_in_mid_charge(&self) -> Result<()> {
        self.timeline
            .chapter("2  A payment service that charges and never answers, and a handler that is killed meanwhile");
        self.payments.hang(true);
        let (killed, ()) = tokio::try_join!(self.post("order-8", 200), self.retry_and_kill())?;
        self.claim(killed.status >= 500, "whoever asked is told of a failure", &killed);
        self.payments.hang(false);
        let unknown = self.post_until("order-8", 200, |answer| member(answer, "code") != "in_flight").await?;
        let is_unknown = unknown.status == 409 && member(&unknown, "code") == "outcome_unknown";
        self.claim(is_unknown, "the lease is over and nobody can say: 409, and nothing is charged again", &unknown);
        self.claim_charges(2);
        self.timeline.event("the payment service answers questions again");
        self.payments.find(true);
        let resolved = self.post_until("order-8", 200, |answer| answer.status != 409).await?;
        self.claim(resolved.status == 201, "asked by its reference, it knows of the charge: 201", &resolved);
        self.claim_charges(2);
        Ok(())
    }

    async fn retry_and_kill(&self) -> Result<()> {
        let since = Instant::now();
        while self.payments.charges() < 2 {
            if since.elapsed() > PATIENCE {
                bail!("the payment service is never called");
            }
            tokio::time::sleep(POLL / 5).await;
        }
        let meanwhile = self.post("order-8", 200).await?;
        let in_flight = meanwhile.status == 409 && member(&meanwhile, "code") == "in_flight";
        let waits = meanwhile.header("retry-after").is_some();
        self.claim(in_flight && waits, "the first still runs: 409, and when to ask again", &meanwhile);
        for process in self.stack.processes()? {
            if process.is_function("examples-charges") {
                process.kill()?;
            }
        }
        self.timeline.event("the handler's processes are killed");
        Ok(())
    }

    async fn one_shipment(&self) -> Result<()> {
        self.timeline.chapter("3  OrderCreated, delivered twice");
        let queue = self.outputs.get("OrdersQueueUrl").context("the template has no output OrdersQueueUrl")?;
        let order = json!({ "shop": "corner", "order": "7", "items": 2 }).to_string();
        let message = json!({ "QueueUrl": queue, "MessageBody": order });
        // One after the other: a copy that meets the first still running comes again only after the visibility timeout.
        let mut consumed = true;
        for told in ["a message is in the queue", "the same message is in the queue once more"] {
            self.aws.json("sqs", "AmazonSQS.SendMessage", &message).await?;
            self.timeline.event(told);
            consumed &= self.becomes_empty(queue).await?;
        }
        self.timeline.claim(consumed, "both are consumed", "messages are left");
        let shipped = self.shipped().await?;
        self.timeline.claim(shipped == 1, "the order is shipped once", &format!("{shipped} shipments"));
        Ok(())
    }

    async fn becomes_empty(&self, queue: &str) -> Result<bool> {
        let since = Instant::now();
        loop {
            let empty = self.is_empty(queue).await?;
            if empty || since.elapsed() > PATIENCE {
                return Ok(empty);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn is_empty(&self, queue: &str) -> Result<bool> {
        let attributes = json!({ "QueueUrl": queue, "AttributeNames": ["All"] });
        let all = self.aws.json("sqs", "AmazonSQS.GetQueueAttributes", &attributes).await?;
        let count = |name: &str| all.get("Attributes").and_then(|all| all.get(name)?.as_str());
        Ok(["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"].map(count) == [Some("0"); 2])
    }

    /// How many shipments the consumer's log tells of.
    async fn shipped(&self) -> Result<usize> {
        let group = json!({ "logGroupName": format!("/aws/lambda/{NAME}-orders") });
        let log = self.aws.json("logs", "Logs_20140328.FilterLogEvents", &group).await?;
        let lines = log.get("events").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let messages = lines.iter().filter_map(|line| line.get("message")?.as_str());
        Ok(messages.filter(|message| message.contains("\"shipped\"")).count())
    }

    /// Posts until the answer is one that was waited for.
    async fn post_until(&self, key: &str, cents: u64, wanted: impl Fn(&Answer) -> bool) -> Result<Answer> {
        let since = Instant::now();
        loop {
            let answer = self.ask(key, cents).await?;
            if wanted(&answer) || since.elapsed() > PATIENCE {
                self.tell_post(key, &answer);
                return Ok(answer);
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn post(&self, key: &str, cents: u64) -> Result<Answer> {
        let answer = self.ask(key, cents).await?;
        self.tell_post(key, &answer);
        Ok(answer)
    }

    async fn ask(&self, key: &str, cents: u64) -> Result<Answer> {
        let headers = vec![
            ("host", self.host.clone()),
            ("content-type", "application/json".to_owned()),
            ("idempotency-key", key.to_owned()),
        ];
        let body = json!({ "order": 7, "cents": cents }).to_string().into();
        let request = Request { service: "execute-api", method: Method::POST, path: "/charges", headers, body };
        self.aws.send(request).await
    }

    fn tell_post(&self, key: &str, answer: &Answer) {
        let what = format!("POST /charges, key {key}: {} {}", answer.status, member(answer, "code"));
        self.timeline.event(what.trim_end());
    }

    fn claim(&self, holds: bool, claim: &str, seen: &Answer) {
        self.timeline.claim(holds, claim, &format!("{} {}", seen.status, seen.text()));
    }

    fn claim_charges(&self, charges: usize) {
        let claim = format!("charges made by the payment service, in all: {charges}");
        self.timeline.claim(self.payments.charges() == charges, &claim, &self.payments.charges().to_string());
    }
}
