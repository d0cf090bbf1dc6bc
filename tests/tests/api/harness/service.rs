//! The functions, started cold and called with events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use lambda_runtime::{Config, Context, LambdaEvent};
use sendonce::aws::Aws;
use sendonce::aws::warm::NoMacRoot;
use sendonce::config::{AdmissionConfig, DispatchConfig, ReconciliationConfig, StatusConfig};
use sendonce::ports::Clock;
use sendonce::time::Millis;
use serde_json::Value;
use tests::aws_seam::{EVIDENCE, MAC_KEY, Message, NOTIFICATIONS, QUEUE_URL, SEAL_KEY, SNS_LOG_GROUP, Seam, SeamClock};

use super::ask::raw;
use super::{Answer, Ask, Watch, doorbells};

/// The time-outs of the template.
pub const HTTP_TIMEOUT: Millis = Millis::from_secs(10);
pub const DISPATCH_TIMEOUT: Millis = Millis::from_secs(30);
pub const RECONCILIATION_TIMEOUT: Millis = Millis::from_secs(50);

/// What the platform calls the function that runs.
pub const FUNCTION_ARN: &str = "arn:aws:lambda:eu-central-1:111122223333:function:sendonce-function";

/// What functions are started from. Variables are the template's; what has a default there is left to the defaults of
/// the configuration, which a test of the template holds to be the same.
pub struct Setting {
    aws: Aws,
    variables: HashMap<String, String>,
}

impl Setting {
    pub async fn of(seam: &Seam, changes: &[(&str, &str)]) -> Self {
        let tables = [("NOTIFICATIONS_TABLE", NOTIFICATIONS), ("EVIDENCE_TABLE", EVIDENCE)];
        let others = [("DOORBELL_QUEUE_URL", QUEUE_URL), ("SEAL_KEY_ID", SEAL_KEY), ("MAC_KEY_ID", MAC_KEY)];
        let log = [("SNS_LOG_GROUP", SNS_LOG_GROUP)];
        let all = tables.iter().chain(&others).chain(&log).chain(changes);
        let variables = all.map(|(name, value)| (String::from(*name), String::from(*value))).collect();
        Self { aws: seam.aws().await, variables }
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    pub async fn admission(&self, clock: Watch) -> Result<admission::Handler<Watch>, NoMacRoot> {
        let config = AdmissionConfig::read(|name| self.variable(name)).expect("configured");
        admission::Handler::start(&self.aws, config, clock).await
    }

    pub async fn dispatch(&self, clock: Watch) -> dispatch::Handler<Watch> {
        let config = DispatchConfig::read(|name| self.variable(name)).expect("configured");
        dispatch::Handler::start(&self.aws, config, clock).await
    }

    pub async fn reconciliation(&self, clock: Watch) -> reconciliation::Handler<Watch> {
        let config = ReconciliationConfig::read(|name| self.variable(name)).expect("configured");
        reconciliation::Handler::start(&self.aws, config, clock).await.expect("KMS makes a MAC")
    }

    pub async fn status(&self) -> status::Handler {
        let config = StatusConfig::read(|name| self.variable(name)).expect("configured");
        status::Handler::start(&self.aws, config).await
    }
}

/// One deployment, with one environment of each function.
pub struct Service {
    pub seam: Seam,
    pub clock: SeamClock,
    pub setting: Setting,
    pub admission: admission::Handler<Watch>,
    pub dispatch: dispatch::Handler<Watch>,
    pub reconciliation: reconciliation::Handler<Watch>,
    pub status: status::Handler,
    running: Mutex<Running>,
}

/// What the platform says of a function, and what functions have answered so far.
#[derive(Default)]
struct Running {
    invocations: u64,
    name: Option<String>,
    version: Option<String>,
    said: String,
}

impl Service {
    pub async fn start() -> Self {
        Self::with(&[]).await
    }

    /// With these variables changed.
    pub async fn with(changes: &[(&str, &str)]) -> Self {
        let seam = Seam::new();
        let watch = Watch::new(seam.clock());
        let setting = Setting::of(&seam, changes).await;
        Self::of(seam, setting, watch).await
    }

    /// Whose functions see the runtime's time pass.
    pub async fn flowing() -> Self {
        let seam = Seam::new();
        let watch = Watch::new(seam.clock()).flowing();
        let setting = Setting::of(&seam, &[]).await;
        Self::of(seam, setting, watch).await
    }

    /// New environments, cold, on what this deployment has stored.
    pub async fn cold(&self) -> Self {
        let setting = Setting { aws: self.seam.aws().await, variables: self.setting.variables.clone() };
        Self::of(self.seam.clone(), setting, self.watch()).await
    }

    async fn of(seam: Seam, setting: Setting, watch: Watch) -> Self {
        Self {
            clock: seam.clock(),
            admission: setting.admission(watch.clone()).await.expect("KMS makes a MAC"),
            dispatch: setting.dispatch(watch.clone()).await,
            reconciliation: setting.reconciliation(watch).await,
            status: setting.status().await,
            seam,
            setting,
            running: Mutex::default(),
        }
    }

    /// A clock that is right.
    pub fn watch(&self) -> Watch {
        Watch::new(self.clock.clone())
    }

    /// From here on the platform gives functions this name and version.
    pub fn rename(&self, name: &str, version: &str) {
        let mut running = self.running.lock().expect("no test panics here");
        (running.name, running.version) = (Some(name.into()), Some(version.into()));
    }

    /// Everything that functions have answered.
    pub fn said(&self) -> String {
        self.running.lock().expect("no test panics here").said.clone()
    }

    fn say(&self, what: &str) {
        let mut running = self.running.lock().expect("no test panics here");
        running.said.push_str(what);
        running.said.push('\n');
    }

    /// The runtime's context of one invocation that has this long to run.
    pub fn context(&self, left: Millis) -> Context {
        let mut running = self.running.lock().expect("no test panics here");
        running.invocations += 1;
        let mut context = Context::default();
        context.request_id = format!("8d3b4d5e-77aa-4bcd-9eef-{:012x}", 0xabc_def0_0000 + running.invocations);
        context.invoked_function_arn = String::from(FUNCTION_ARN);
        context.deadline = self.clock.now().plus(left).get().unsigned_abs();
        context.env_config = Arc::new(Config {
            function_name: running.name.clone().unwrap_or_else(|| String::from("sendonce-function")),
            memory: 256,
            version: running.version.clone().unwrap_or_else(|| String::from("$LATEST")),
            log_stream: String::from("2026/11/30/[$LATEST]0123456789abcdef"),
            log_group: String::from("/aws/lambda/sendonce-function"),
        });
        context
    }

    /// Asks admission.
    pub async fn post(&self, ask: &Ask) -> Answer {
        self.post_to(&self.admission, ask).await
    }

    pub async fn post_to(&self, function: &admission::Handler<Watch>, ask: &Ask) -> Answer {
        let event = LambdaEvent::new(ask.payload(), self.context(HTTP_TIMEOUT));
        self.heard(&function.handle(event).await.expect("every failure is an answer"))
    }

    /// Admits an ordinary command, and gives its id.
    pub async fn admit(&self, event_id: &str) -> String {
        self.post(&Ask::create(&format!("key-of-{event_id}"), &super::reset(event_id))).await.id()
    }

    /// Asks status.
    pub async fn get(&self, ask: &Ask) -> Answer {
        let event = LambdaEvent::new(ask.payload(), self.context(HTTP_TIMEOUT));
        self.heard(&self.status.handle(event).await.expect("every failure is an answer"))
    }

    fn heard(&self, reply: &impl serde::Serialize) -> Answer {
        let answer = Answer::read(reply);
        self.say(&format!("{} {:?} {}", answer.status, answer.headers, answer.body));
        answer
    }

    /// Hands one batch to dispatch; the ids of the items that failed.
    pub async fn batch(&self, messages: &[Message]) -> Vec<String> {
        let event = doorbells(messages);
        self.batch_to(&self.dispatch, &event, DISPATCH_TIMEOUT).await.expect("the batch is one")
    }

    pub async fn batch_to(
        &self,
        function: &dispatch::Handler<Watch>,
        event: &Value,
        left: Millis,
    ) -> Result<Vec<String>, String> {
        let answer = function.handle(LambdaEvent::new(raw(event), self.context(left))).await;
        // As the runtime logs it.
        let answer = answer.map_err(|error| format!("{error:?}")).inspect_err(|error| self.say(error))?;
        let answer = serde_json::to_value(&answer).expect("an answer is JSON");
        self.say(&answer.to_string());
        let failures = answer["batchItemFailures"].as_array().expect("a list").iter();
        Ok(failures.map(|failure| failure["itemIdentifier"].as_str().expect("an id").to_owned()).collect())
    }

    /// Delivers every visible doorbell, ten at a time, and deletes those that were answered, as the mapping does. The
    /// ids of the others.
    pub async fn deliver(&self) -> Vec<String> {
        let mut failed = Vec::new();
        loop {
            let messages = self.seam.receive(10);
            if messages.is_empty() {
                return failed;
            }
            let failures = self.batch(&messages).await;
            messages.iter().filter(|one| !failures.contains(&one.id)).for_each(|one| self.seam.delete(&one.id));
            failed.extend(failures);
        }
    }

    /// One tick of the schedule; its tally.
    pub async fn tick(&self) -> Value {
        self.tick_on(&self.reconciliation, RECONCILIATION_TIMEOUT).await
    }

    pub async fn tick_on(&self, function: &reconciliation::Handler<Watch>, left: Millis) -> Value {
        let tick: Value = serde_json::from_str(include_str!("../../../../functions/reconciliation/events/tick.json"))
            .expect("an example event");
        self.tick_with(function, &tick, left).await
    }

    pub async fn tick_with(&self, function: &reconciliation::Handler<Watch>, event: &Value, left: Millis) -> Value {
        self.reconciliation_on(function, event, left).await.expect("a tick is never an error")
    }

    /// Hands any event to reconciliation; its answer, or its error as the runtime logs it.
    pub async fn reconciliation_on(
        &self,
        function: &reconciliation::Handler<Watch>,
        event: &Value,
        left: Millis,
    ) -> Result<Value, String> {
        let answer = function.handle(LambdaEvent::new(raw(event), self.context(left))).await;
        let answer = answer.map_err(|error| format!("{error:?}")).inspect_err(|error| self.say(error))?;
        let answer = serde_json::to_value(answer).expect("an answer is JSON");
        self.say(&answer.to_string());
        Ok(answer)
    }

    /// As [`Self::reconciliation_on`], with all the time there is.
    pub async fn reconcile(&self, event: &Value) -> Result<Value, String> {
        self.reconciliation_on(&self.reconciliation, event, RECONCILIATION_TIMEOUT).await
    }
}
