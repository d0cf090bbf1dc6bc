//! The stack that all tests here share, and the scenes that are played on it at the same time: each test waits for its own.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, try_join};
use http::Method;
use jiff::{SignedDuration, Timestamp};
use local::api::{Api, Order, member};
use local::aws::{Answer, Aws, Request};
use local::say::Timeline;
use local::stack::{Options, Stack};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::kill_sweep;
use crate::rig::Rig;
use crate::scenes::{self, Ended, Raced};

pub type Fault = Box<dyn std::error::Error + Send + Sync>;
pub type Played<T> = Result<T, Fault>;
type Scene<T> = Shared<BoxFuture<'static, Result<T, String>>>;

const POLL: Duration = Duration::from_millis(500);

/// The shared stack, and the scenes on it.
pub struct Stage {
    pub stack: Arc<Stack>,
    runtime: Runtime,
    pub raced: Scene<Raced>,
    pub unanswered: Scene<Ended>,
    pub killed: Scene<Ended>,
    pub unrung: Scene<Ended>,
    pub swept: Scene<()>,
}

/// The stage. The first to ask sets it up, and all scenes begin.
pub fn stage() -> &'static Stage {
    // Never dropped; but whatever ends this process closes the pipe that the stack's supervisor watches.
    static STAGE: OnceLock<Result<Stage, String>> = OnceLock::new();
    match STAGE.get_or_init(|| Stage::set().map_err(|fault| fault.to_string())) {
        Ok(stage) => stage,
        Err(fault) => panic!("the stack did not come up: {fault}"),
    }
}

impl Stage {
    fn set() -> Played<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let (stack, rig) = runtime.block_on(try_join(another_stack(), Rig::new()))?;
        let (stack, swept) = (Arc::new(stack), play(&runtime, kill_sweep::sweep(rig)));
        // One after the other, because the first takes every dispatcher's life and the second every doorbell.
        let victim = runtime.block_on(scenes::kill_in_mid_call(&stack))?;
        let silent = runtime.block_on(scenes::lose_the_doorbell(&stack))?;
        let killed = play(&runtime, scenes::after_the_kill(Arc::clone(&stack), victim));
        let unrung = play(&runtime, scenes::after_the_loss(Arc::clone(&stack), silent));
        let unanswered = play(&runtime, scenes::never_answered(Arc::clone(&stack)));
        let raced = play(&runtime, scenes::twenty_at_once(Arc::clone(&stack)));
        Ok(Self { stack, runtime, raced, unanswered, killed, unrung, swept })
    }

    /// How a scene ended.
    pub fn see<T: Clone>(&self, scene: &Scene<T>) -> T {
        match self.runtime.block_on(scene.clone()) {
            Ok(end) => end,
            Err(fault) => panic!("{fault}"),
        }
    }

    pub fn block_on<T>(&self, future: impl Future<Output = Played<T>>) -> T {
        self.runtime.block_on(future).unwrap_or_else(|fault| panic!("{fault}"))
    }
}

/// A stack of its own.
pub async fn another_stack() -> Played<Stack> {
    let options = Options::default();
    Ok(Stack::up(&options, &Timeline::quiet()).await?)
}

fn play<T: Clone + Send + Sync + 'static>(
    runtime: &Runtime,
    scene: impl Future<Output = Played<T>> + Send + 'static,
) -> Scene<T> {
    let playing = runtime.spawn(scene);
    let end = async {
        match playing.await {
            Ok(Ok(end)) => Ok(end),
            Ok(Err(fault)) => Err(fault.to_string()),
            Err(panic) => Err(panic.to_string()),
        }
    };
    end.boxed().shared()
}

/// An order for the event `event`, good for `seconds`.
pub fn order(event: &str, to: &str, token: &str, seconds: i64) -> Order {
    let expires_at = Timestamp::now() + SignedDuration::from_secs(seconds);
    Order {
        event: event.to_owned(),
        to: to.to_owned(),
        message: format!("Your code is {token}."),
        expires_at: expires_at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    }
}

/// Posts an order under a key of its own and answers with the notification's id.
pub async fn accepted(api: &Api, order: &Order) -> Played<String> {
    let answer = api.post(&format!("key-{}", order.event), order).await?;
    match answer.status {
        202 => Ok(member(&answer, "id")),
        _ => Err(said(&answer)),
    }
}

/// Status and, if there is one, reason.
pub async fn state(api: &Api, id: &str) -> Played<String> {
    let answer = api.status(id, None).await?;
    match (answer.status, member(&answer, "reason").as_str()) {
        (200, "") => Ok(member(&answer, "status")),
        (200, reason) => Ok(format!("{}: {reason}", member(&answer, "status"))),
        _ => Err(said(&answer)),
    }
}

/// Waits until the state is `wanted`, and answers with the states seen on the way.
pub async fn until(api: &Api, id: &str, wanted: &str, patience: Duration) -> Played<Vec<String>> {
    let started = Instant::now();
    let mut seen: Vec<String> = Vec::new();
    while seen.last().is_none_or(|last| last != wanted) {
        if started.elapsed() > patience {
            return Err(format!("after {patience:?} not {wanted}, but {seen:?}").into());
        }
        let now = state(api, id).await?;
        if seen.last() != Some(&now) {
            seen.push(now);
        }
        tokio::time::sleep(POLL).await;
    }
    Ok(seen)
}

/// The evidence; an error if its chain does not verify.
pub async fn evidence(api: &Api, id: &str) -> Played<Value> {
    let evidence = api.evidence(id).await?;
    match evidence.get("verified") {
        Some(Value::Bool(true)) => Ok(evidence),
        _ => Err(format!("the evidence does not verify: {evidence}").into()),
    }
}

pub fn said(answer: &Answer) -> Fault {
    format!("answered {}: {}", answer.status, answer.text()).into()
}

/// An action of one of the services that speak JSON.
pub async fn json_action(aws: &Aws, service: &str, target: &str, body: &Value) -> Played<Value> {
    let headers = vec![("content-type", "application/x-amz-json-1.0".to_owned()), ("x-amz-target", target.to_owned())];
    let body = body.to_string().into();
    let answer = aws.send(Request { service, method: Method::POST, path: "/", headers, body }).await?;
    if answer.status == 200 { Ok(serde_json::from_slice(&answer.body)?) } else { Err(said(&answer)) }
}
