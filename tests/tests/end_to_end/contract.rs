//! The ports' contract on the whole of MiniStack, through the real SDK and sockets, beside the same on the simulated world.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use aws_credential_types::Credentials;
use aws_sdk_sns::config::Region;
use http::{HeaderMap, Method};
use local::aws::{ACCESS_KEY, Aws as Gateway, Request, SECRET_KEY};
use local::endpoint::{Endpoint, Script as Judge, Verdict};
use sendonce::aws::{
    Aws, CarrierTimeouts, KmsOpener, KmsSealer, Ledger, Parts, SnsCarrier, SnsSettings, SqsDoorbell, parse_doorbell,
};
use sendonce::notification::{NotificationId, Provider as Carriage};
use sendonce::time::{EpochMillis, Millis};
use serde_json::{Value, json};
use tests::aws_seam::{EVIDENCE, Fault, NOTIFICATIONS, SeamClock, TABLES, operation};
use tests::contract::suite::{Column, House, Outcome, differences, play_all, table};
use tests::contract::{Backend, Cannot, Case, How, Port, Script, WorldHouse, planned};

use crate::stage::{json_action, stage};

/// Whom the cases' texts are for.
const NUMBER: &str = "+15550100000";
/// The longest that a case is waited for.
const WAIT_MAX: Millis = Millis::from_secs(5);

const TOO_LONG: Cannot = Cannot("it takes longer than anybody waits");

/// What is not played here, and why.
const NOT_PLAYED: [(&str, &str); 1] = [("commit::knows_itself_by_its_row_when_the_record_has_moved_on", TOO_LONG.0)];

#[test]
fn ministack_keeps_the_contract_of_the_world() {
    let columns = [play_all(&WorldHouse::default()), play_all(&StackHouse::new())];
    println!("{}", table(&columns));
    assert_eq!(differences(&columns), Vec::<String>::new());
    assert_eq!(not_played(&columns[1]), NOT_PLAYED);
}

fn not_played(column: &Column) -> Vec<(&str, &str)> {
    let why = |outcome: &Outcome| match outcome {
        Outcome::Cannot(why) => Some(*why),
        Outcome::Held(_) | Outcome::Failed(_) => None,
    };
    column.outcomes.iter().filter_map(|(case, outcome)| Some((*case, why(outcome)?))).collect()
}

/// A MiniStack and the way to it. Each case has a region of its own there, in which nobody was before.
struct StackHouse {
    endpoint: Endpoint,
    faults: Arc<Faults>,
    plays: AtomicUsize,
}

struct OnStack {
    faults: Arc<Faults>,
    gateway: Gateway,
    region: String,
    aws: Aws,
    queue_url: String,
    key_id: String,
    clock: SeamClock,
    hurried: AtomicBool,
}

impl StackHouse {
    fn new() -> Self {
        let faults = Arc::<Faults>::default();
        let endpoint = Endpoint::start(&stage().stack.endpoint, faults.clone()).unwrap();
        Self { endpoint, faults, plays: AtomicUsize::new(0) }
    }

    async fn set(&self) -> OnStack {
        let region = format!("case-{}", self.plays.fetch_add(1, Ordering::Relaxed));
        let gateway = Gateway::new(&stage().stack.endpoint).unwrap().in_region(&region);
        for (name, request) in TABLES {
            let mut request: Value = serde_json::from_str(request).unwrap();
            request["TableName"] = json!(name);
            json_action(&gateway, "dynamodb", "DynamoDB_20120810.CreateTable", &request).await.unwrap();
        }
        let queue =
            json_action(&gateway, "sqs", "AmazonSQS.CreateQueue", &json!({"QueueName": "doorbells"})).await.unwrap();
        let key = json_action(&gateway, "kms", "TrentService.CreateKey", &json!({})).await.unwrap();
        let parts = Parts {
            endpoint_url: Some(self.endpoint.url.clone()),
            region: Some(Region::new(region.clone())),
            credentials: Some(Credentials::new(ACCESS_KEY, SECRET_KEY, None, None, "test")),
            ..Parts::default()
        };
        self.faults.lock().clear();
        OnStack {
            faults: Arc::clone(&self.faults),
            gateway,
            region,
            aws: Aws::with(parts).await.unwrap(),
            queue_url: queue["QueueUrl"].as_str().unwrap().into(),
            key_id: key["KeyMetadata"]["KeyId"].as_str().unwrap().into(),
            clock: SeamClock::default(),
            hurried: AtomicBool::new(false),
        }
    }
}

impl House for StackHouse {
    type Backend = OnStack;

    fn name(&self) -> &'static str {
        "ministack"
    }

    fn play(&self, case: &Case<OnStack>, script: &Script) -> Result<(), Cannot> {
        stage().block_on(async {
            let stack = self.set().await;
            let played = (case.play)(&stack, script).await;
            Ok(if stack.hurried.load(Ordering::Relaxed) { Err(TOO_LONG) } else { played })
        })
    }
}

impl Backend for OnStack {
    type Ledger = Ledger;
    type Doorbell = SqsDoorbell;
    type Sealer = KmsSealer<SeamClock>;
    type Opener = KmsOpener;
    type Carrier = SnsCarrier<SeamClock>;
    type Clock = SeamClock;

    fn ledger(&self) -> Ledger {
        Ledger::new(self.aws.dynamodb(), NOTIFICATIONS, EVIDENCE)
    }

    fn doorbell(&self) -> SqsDoorbell {
        SqsDoorbell::new(self.aws.sqs(), self.queue_url.as_str())
    }

    fn sealer(&self) -> KmsSealer<SeamClock> {
        KmsSealer::new(self.aws.kms(), self.key_id.as_str(), self.clock.clone())
    }

    fn opener(&self) -> KmsOpener {
        KmsOpener::new(self.aws.kms())
    }

    fn carrier(&self) -> SnsCarrier<SeamClock> {
        let limits = CarrierTimeouts { connect: Millis::from_secs(1), operation: Millis::from_secs(3) };
        SnsCarrier::new(self.aws.sns(limits), self.clock.clone(), SnsSettings::default())
    }

    fn clock(&self) -> SeamClock {
        self.clock.clone()
    }

    fn fail_next(&self, port: Port, how: How) -> Result<(), Cannot> {
        let (operation, times, fault) = planned(port, how, Carriage::Sns)?;
        self.faults.lock().entry(operation).or_default().extend(std::iter::repeat_n(fault, times));
        Ok(())
    }

    /// MiniStack has no clock but the system's.
    async fn pass(&self, length: Millis) {
        if length > WAIT_MAX {
            self.hurried.store(true, Ordering::Relaxed);
        } else {
            tokio::time::sleep(length.to_std()).await;
        }
        self.clock.advance(length);
    }

    /// MiniStack's own sweep goes by the system's clock, so what is due is deleted here.
    async fn forget(&self, now: EpochMillis) {
        let dynamodb = self.aws.dynamodb();
        let items = dynamodb.scan().table_name(NOTIFICATIONS).send().await.unwrap();
        for item in items.items() {
            let ttl = item.get("ttl").and_then(|ttl| ttl.as_n().ok()?.parse::<i64>().ok());
            if ttl.is_some_and(|ttl| ttl <= now.get() / 1_000) {
                let delete = dynamodb.delete_item().table_name(NOTIFICATIONS);
                delete.key("pk", item["pk"].clone()).send().await.unwrap();
            }
        }
    }

    async fn rung(&self) -> Vec<NotificationId> {
        let (sqs, mut rung) = (self.aws.sqs(), Vec::new());
        loop {
            let request = sqs.receive_message().queue_url(&self.queue_url).max_number_of_messages(10);
            let received = request.send().await.unwrap();
            if received.messages().is_empty() {
                return rung;
            }
            let bodies = received.messages().iter().filter_map(|message| message.body());
            rung.extend(bodies.map(|body| parse_doorbell(body).expect("a doorbell")));
        }
    }

    async fn texts(&self) -> usize {
        let path = format!("/_ministack/sns/sms-messages?region={}", self.region);
        let request = Request {
            service: "sns",
            method: Method::GET,
            path: &path,
            headers: Vec::new(),
            body: String::new().into(),
        };
        let all: Value = serde_json::from_slice(&self.gateway.send(request).await.unwrap().body).unwrap();
        all["sms_messages"][NUMBER].as_array().map_or(0, Vec::len)
    }
}

/// What is to go wrong on the way to MiniStack, by operation.
#[derive(Default)]
struct Faults(Mutex<HashMap<&'static str, VecDeque<Fault>>>);

impl Faults {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<&'static str, VecDeque<Fault>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Faults")
    }
}

impl Judge for Faults {
    fn judge(&self, headers: &HeaderMap, body: &[u8]) -> Verdict {
        let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok());
        let operation = operation(target, &String::from_utf8_lossy(body));
        match self.lock().get_mut(operation.as_str()).and_then(VecDeque::pop_front) {
            Some(fault) => verdict(fault, operation.starts_with("sns:")),
            None => Verdict::Forward,
        }
    }
}

fn verdict(fault: Fault, is_sns: bool) -> Verdict {
    let content_type = if is_sns { "text/xml" } else { "application/x-amz-json-1.0" };
    match fault {
        Fault::LostBefore => Verdict::Close,
        Fault::LostAfter => Verdict::ForwardThenReset,
        Fault::SilentAfter => Verdict::ForwardThenHang,
        Fault::CodeBefore(status, code) if is_sns => {
            let body = format!("<ErrorResponse><Error><Type>Sender</Type><Code>{code}</Code></Error></ErrorResponse>");
            Verdict::Answer(status, content_type, body)
        }
        Fault::CodeBefore(status, code) => {
            Verdict::Answer(status, content_type, json!({"__type": format!("com.amazonaws#{code}")}).to_string())
        }
        Fault::BodyBefore(status, body) => Verdict::Answer(status, content_type, body),
        Fault::BodyAfter(status, body) => Verdict::ForwardThenAnswer(status, content_type, body),
        other => panic!("no case asks for {other:?}"),
    }
}
