//! What is played on the stage.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use local::api::{kinds, member};
use local::aws::Answer;
use local::provider::Provider;
use local::stack::Stack;
use serde_json::Value;

use crate::stage::{Played, accepted, evidence, order, said, state, until};

pub const RACED: &str = "+12025550110";
pub const UNANSWERED: &str = "+12025550111";
pub const KILLED: &str = "+12025550112";
pub const UNRUNG: &str = "+12025550113";

/// The tokens in the texts, which nothing but a handset may show.
pub const TOKENS: [&str; 4] = ["730194", "841205", "952316", "163427"];

/// The schedule fires 60 to 70 s after the deployment, and then again as long after that.
const ONE_TICK: Duration = Duration::from_secs(90);
/// The queue's visibility timeout under the local parameters, and a little more.
const REDELIVERY: Duration = Duration::from_secs(94);

/// How a notification ended.
#[derive(Clone, Debug)]
pub struct Ended {
    pub states: Vec<String>,
    pub kinds: Vec<String>,
    pub evidence: Value,
    pub calls: usize,
    pub texts: usize,
}

/// What twenty requests at once were answered.
#[derive(Clone, Debug)]
pub struct Raced {
    pub answers: Vec<Answer>,
    pub id: String,
    pub end: Ended,
}

/// A notification in the middle of things.
#[derive(Clone, Debug)]
pub struct Open {
    id: String,
    since: Instant,
}

/// A dispatcher is killed while the provider, which has taken the text, keeps it waiting.
pub async fn kill_in_mid_call(stack: &Stack) -> Played<Open> {
    stack.carrier.behave(KILLED, Provider::Hang);
    let since = Instant::now();
    let id = accepted(&stack.api()?, &order("killed", KILLED, TOKENS[0], 400)).await?;
    while stack.carrier.calls(KILLED) == 0 {
        if since.elapsed() > Duration::from_secs(20) {
            return Err("the provider is never called".into());
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    for process in stack.processes()?.iter().filter(|process| process.is_function("dispatch")) {
        process.kill()?;
    }
    let now = state(&stack.api()?, &id).await?;
    if now != "sending" {
        return Err(format!("killed in mid-call, and yet {now}").into());
    }
    Ok(Open { id, since })
}

/// The lease ends, and later the doorbell is delivered again.
pub async fn after_the_kill(stack: Arc<Stack>, open: Open) -> Played<Ended> {
    let api = stack.api()?;
    let states = until(&api, &open.id, "dispatch_unknown", ONE_TICK).await?;
    tokio::time::sleep(REDELIVERY.saturating_sub(open.since.elapsed())).await;
    ended(&stack, &open.id, KILLED, states).await
}

/// Every request to ring is lost.
pub async fn lose_the_doorbell(stack: &Stack) -> Played<Open> {
    let since = Instant::now();
    stack.doorbells.lose(true);
    let id = accepted(&stack.api()?, &order("unrung", UNRUNG, TOKENS[1], 400)).await;
    stack.doorbells.lose(false);
    match stack.doorbells.lost() {
        0 => Err("no doorbell was lost".into()),
        _ => Ok(Open { id: id?, since }),
    }
}

pub async fn after_the_loss(stack: Arc<Stack>, open: Open) -> Played<Ended> {
    let states = until(&stack.api()?, &open.id, "sent", ONE_TICK).await?;
    ended(&stack, &open.id, UNRUNG, states).await
}

/// The provider takes the text and never answers, and the message expires.
pub async fn never_answered(stack: Arc<Stack>) -> Played<Ended> {
    let api = stack.api()?;
    stack.carrier.behave(UNANSWERED, Provider::Hang);
    let id = accepted(&api, &order("unanswered", UNANSWERED, TOKENS[2], 25)).await?;
    let states = until(&api, &id, "stopped: expired_unresolved", ONE_TICK).await?;
    ended(&stack, &id, UNANSWERED, states).await
}

/// Twenty requests under one key, none of which waits for another.
pub async fn twenty_at_once(stack: Arc<Stack>) -> Played<Raced> {
    let api = stack.api()?;
    let order = order("raced", RACED, TOKENS[3], 400);
    let answers = join_all((0..20).map(|_| api.post("key-raced", &order))).await;
    let answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
    let first = answers.iter().find(|answer| answer.status == 202).ok_or_else(|| said(&answers[0]))?;
    let id = member(first, "id");
    let states = until(&api, &id, "sent", ONE_TICK).await?;
    let end = ended(&stack, &id, RACED, states).await?;
    Ok(Raced { answers, id, end })
}

async fn ended(stack: &Stack, id: &str, number: &str, states: Vec<String>) -> Played<Ended> {
    let evidence = evidence(&stack.api()?, id).await?;
    let kinds = kinds(&evidence);
    Ok(Ended { states, kinds, evidence, calls: stack.carrier.calls(number), texts: stack.texts(number).await? })
}
