//! A stack in which nothing moves unless a test makes it, and whose functions can be killed at any of their requests.

use std::io::Write;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::Method;
use jiff::Timestamp;
use local::api::{Api, Order, member};
use local::aws::{Answer, Aws, Request};
use local::provider::Provider;
use local::say::Timeline;
use local::stack::{Options, Stack};
use serde_json::{Value, json};

use crate::gate::{Gate, Point};
use crate::scenes::TOKENS;
use crate::stage::{Played, json_action, order, said};

const SCHEDULES: &str = "/schedules";
const MAPPINGS: &str = "/2015-03-31/event-source-mappings";
/// How long the queue may take to become empty.
const PATIENCE: Duration = Duration::from_secs(30);

pub struct Rig {
    pub stack: Stack,
    pub api: Api,
    gate: Arc<Gate>,
    aws: Aws,
    orders: usize,
}

/// What one notification is about: an order, and the number that is nobody else's.
pub struct Accepted {
    pub id: String,
    pub number: String,
}

impl Rig {
    /// No schedule, and nobody at the queue.
    pub async fn new() -> Played<Self> {
        let gate = Arc::<Gate>::default();
        let parameters = vec![("DoorbellGraceSeconds", "1")];
        let options = Options { parameters, gate: Some(gate.clone()), ..Options::default() };
        let stack = Stack::up(&options, &Timeline::quiet()).await?;
        let rig = Self { api: stack.api()?, aws: stack.aws()?, stack, gate, orders: 0 };
        for schedule in rig.list(SCHEDULES, "Schedules").await? {
            let name = schedule["Name"].as_str().unwrap_or_default();
            rig.ask("scheduler", Method::DELETE, &format!("{SCHEDULES}/{name}"), "").await?;
        }
        rig.deliver_doorbells(false).await?;
        Ok(rig)
    }

    /// Whether the queue's doorbells are brought to dispatch.
    pub async fn deliver_doorbells(&self, enabled: bool) -> Played<()> {
        for mapping in self.list(MAPPINGS, "EventSourceMappings").await? {
            let path = format!("{MAPPINGS}/{}", mapping["UUID"].as_str().unwrap_or_default());
            self.ask("lambda", Method::PUT, &path, &json!({ "Enabled": enabled }).to_string()).await?;
        }
        Ok(())
    }

    /// Waits until each doorbell has been answered.
    pub async fn until_no_doorbell_is_left(&self) -> Played<()> {
        let attributes = json!({ "QueueUrl": self.stack.outputs["DoorbellQueueUrl"], "AttributeNames": ["All"] });
        let since = Instant::now();
        loop {
            let all = json_action(&self.aws, "sqs", "AmazonSQS.GetQueueAttributes", &attributes).await?;
            let left = ["", "NotVisible", "Delayed"].map(|which| {
                all["Attributes"][format!("ApproximateNumberOfMessages{which}")].as_str().unwrap_or("?").to_owned()
            });
            match left.iter().all(|count| count == "0") {
                true => return Ok(()),
                false if since.elapsed() > PATIENCE => return Err(format!("doorbells are left: {left:?}").into()),
                false => tokio::time::sleep(Duration::from_millis(200)).await,
            }
        }
    }

    /// Runs a function from a cold start to its answer; its requests.
    pub async fn undisturbed(&self, function: &str, run: impl Future<Output = Played<Answer>>) -> Played<Vec<String>> {
        self.end(function)?;
        self.gate.count();
        went_well(&run.await?)?;
        Ok(self.gate.seen())
    }

    /// Runs a function from a cold start and kills it at this point; whether it came there.
    pub async fn strike(&self, function: &str, at: &Point, run: impl Future<Output = Played<Answer>>) -> Played<bool> {
        self.end(function)?;
        let (reached, mut run) = (self.gate.hold(at), pin!(run));
        tokio::select! {
            Ok(()) = reached => {}
            answer = &mut run => return went_well(&answer?).map(|()| false),
        }
        let killed = self.end(function)?;
        let answer = run.await?;
        self.gate.count();
        match went_well(&answer) {
            Err(_) if killed == 1 => Ok(true),
            _ => Err(format!("{function}, {at}: {killed} processes killed, and answered {}", answer.status).into()),
        }
    }

    /// Kills what runs of a function in this stack, and waits until it is gone: MiniStack would still give an event to
    /// a process that is about to end. How many processes that were.
    fn end(&self, function: &str) -> Played<usize> {
        let mut running = self.stack.processes()?;
        running.retain(|process| process.is_function(function));
        for process in &running {
            process.kill()?;
            while process.is_running()? {}
        }
        Ok(running.len())
    }

    /// An order about an event of its own, to a number of its own towards which the provider behaves like this.
    pub fn order(&mut self, provider: Provider, life: i64) -> Order {
        self.orders += 1;
        let order = order(&format!("event-{}", self.orders), &format!("+1202556{:04}", self.orders), TOKENS[0], life);
        self.stack.carrier.behave(&order.to, provider);
        order
    }

    pub async fn post(&self, order: &Order) -> Played<Answer> {
        Ok(self.api.post(&format!("key-{}", order.event), order).await?)
    }

    /// An accepted order, and what the queue hands over for it.
    pub async fn rung(&self, order: &Order) -> Played<(Accepted, Value)> {
        let mut doorbells = self.stack.doorbells.listen();
        let accepted = self.accepted(order).await?;
        let record = json!({
            "messageId": order.event, "receiptHandle": "receipt", "body": doorbells.recv().await?, "attributes": {},
            "messageAttributes": {}, "eventSource": "aws:sqs", "awsRegion": "us-east-1",
            "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:doorbells",
        });
        Ok((accepted, json!({ "Records": [record] })))
    }

    /// An accepted order whose doorbell is lost.
    pub async fn unrung(&self, order: &Order) -> Played<Accepted> {
        self.stack.doorbells.lose(true);
        let accepted = self.accepted(order).await;
        self.stack.doorbells.lose(false);
        accepted
    }

    async fn accepted(&self, order: &Order) -> Played<Accepted> {
        let answer = self.post(order).await?;
        match answer.status {
            202 => Ok(Accepted { id: member(&answer, "id"), number: order.to.clone() }),
            _ => Err(said(&answer)),
        }
    }

    pub async fn cancel(&self, id: &str) -> Played<Answer> {
        Ok(self.api.cancel(id).await?)
    }

    /// Closes an unknown at the revision at which its only attempt left it.
    pub async fn close(&self, id: &str) -> Played<Answer> {
        Ok(self.api.close(id, "\"r2\"").await?)
    }

    /// Invokes reconciliation, as CloudWatch Logs would with this row.
    pub async fn push(&self, row: &Value) -> Played<Answer> {
        let event = json!({ "id": "1", "timestamp": Timestamp::now().as_millisecond(), "message": row.to_string() });
        let data = json!({
            "messageType": "DATA_MESSAGE", "owner": "000000000000", "logGroup": "sns/us-east-1/000000000000/DirectPublishToPhoneNumber",
            "logStream": "1", "subscriptionFilters": ["all"], "logEvents": [event],
        });
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(data.to_string().as_bytes())?;
        let data = BASE64.encode(&packed.finish()?);
        self.invoke("reconciliation", &json!({ "awslogs": { "data": data } }).to_string()).await
    }

    /// Invokes reconciliation, as its schedule would.
    pub async fn tick(&self) -> Played<Answer> {
        self.invoke("reconciliation", "{}").await
    }

    /// Invokes dispatch, as the queue would.
    pub async fn deliver(&self, doorbell: &Value) -> Played<Answer> {
        self.invoke("dispatch", &doorbell.to_string()).await
    }

    async fn invoke(&self, function: &str, event: &str) -> Played<Answer> {
        self.ask("lambda", Method::POST, &format!("/2015-03-31/functions/sendonce-{function}/invocations"), event).await
    }

    async fn list(&self, path: &str, member: &str) -> Played<Vec<Value>> {
        let service = if path == SCHEDULES { "scheduler" } else { "lambda" };
        let all: Value = serde_json::from_slice(&self.ask(service, Method::GET, path, "").await?.body)?;
        Ok(all[member].as_array().cloned().unwrap_or_default())
    }

    async fn ask(&self, service: &str, method: Method, path: &str, body: &str) -> Played<Answer> {
        let request = Request { service, method, path, headers: Vec::new(), body: body.to_owned().into() };
        let answer = self.aws.send(request).await?;
        if answer.status < 300 { Ok(answer) } else { Err(said(&answer)) }
    }
}

/// An error if this was answered in the place of a function that failed.
pub fn went_well(answer: &Answer) -> Played<()> {
    match (answer.status, answer.header("x-amz-function-error")) {
        (200..=299, None) => Ok(()),
        _ => Err(said(answer)),
    }
}
