//! The whole of it, up and running: functions built, MiniStack, the scripted endpoints, the template deployed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::api::Api;
use crate::aws::{Aws, client};
use crate::deploy::deploy;
use crate::doorbells::Doorbells;
use crate::endpoint::{Endpoint, Script};
use crate::env_file;
use crate::functions::{self, Package};
use crate::ministack::{self, Place};
use crate::processes::{self, Process};
use crate::provider::{Carrier, Provider, Via};
use crate::python;
use crate::reports::{self, Way};
use crate::say::Timeline;
use crate::supervise::Supervised;

const NAME: &str = "sendonce";
const TRIES: u32 = 3;

/// Windows short enough to watch them pass. The template checks them against each other as it does any others.
const PARAMETERS: [(&str, &str); 10] = [
    ("MessageLifetimeMaxSeconds", "600"),
    ("DedupWindowSeconds", "7200"),
    ("ClientRetryWindowSeconds", "600"),
    ("ClockSkewSeconds", "1"),
    ("DoorbellGraceSeconds", "5"),
    ("MinUsefulLifeSeconds", "2"),
    ("DispatchTimeout", "15"),
    ("ProviderConnectTimeoutMs", "1000"),
    ("ProviderOperationTimeoutMs", "3000"),
    ("RetryBackoffBaseMs", "1000"),
];

/// What to bring up.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Build the functions as they are deployed.
    pub release: bool,
    /// Which provider carries the texts.
    pub via: Via,
    /// How the provider behaves unless told otherwise.
    pub provider: Provider,
    /// How long after it took a text the provider reports on it; none, and it never does.
    pub reports_after: Option<Duration>,
    /// Keep MiniStack's log, and the functions', here.
    pub log: Option<PathBuf>,
    /// Template parameters, in place of the usual ones.
    pub parameters: Vec<(&'static str, &'static str)>,
    /// Judges every AWS request of the functions, before the provider's script and the queue's.
    pub gate: Option<Arc<dyn Script>>,
}

/// A running stack. Dropping it leaves nothing behind.
#[derive(Debug)]
pub struct Stack {
    /// The provider's script and memory.
    pub carrier: Arc<Carrier>,
    /// The way to the queue.
    pub doorbells: Arc<Doorbells>,
    /// Which provider carries the texts.
    pub via: Via,
    /// When the schedule began to count its minutes.
    pub deployed_at: Timestamp,
    /// Where MiniStack answers.
    pub endpoint: String,
    /// The template's outputs.
    pub outputs: BTreeMap<String, String>,
    api_id: String,
    log: PathBuf,
    // In the order in which they end: first those who call, then those who are called.
    _reports: JoinSet<()>,
    ministack: Supervised,
    ways: Ways,
}

impl Stack {
    /// Brings a stack up, and tells about it as it goes.
    pub async fn up(options: &Options, timeline: &Timeline) -> Result<Self> {
        let target = functions::target_directory().await?;
        timeline.event("functions: cargo builds them");
        // At the same time: the one waits for the network, the other for the processor.
        let python = python::environment(&target, timeline);
        let (python, functions) = tokio::try_join!(python, functions::build(options.release, functions::SERVICE))?;
        timeline.event(&format!("functions: {}", sizes(&functions)));
        let mut tries = 0;
        loop {
            tries += 1;
            match Self::start(options, timeline, &python, &functions).await {
                Err(error) if tries < TRIES && error.to_string().contains("already in use") => {}
                result => return result,
            }
        }
    }

    /// A client of the service. Each runtime needs its own.
    pub fn api(&self) -> Result<Api> {
        Ok(Api::new(self.aws()?, &self.api_id))
    }

    /// AWS, with the rights of its root. Each runtime needs its own.
    pub fn aws(&self) -> Result<Aws> {
        Aws::new(&self.endpoint)
    }

    /// The processes of the stack: MiniStack, its supervisor, and the functions that are warm.
    pub fn processes(&self) -> Result<Vec<Process>> {
        processes::below(self.ministack.id())
    }

    /// The texts that reached a handset.
    pub async fn texts(&self, number: &str) -> Result<usize> {
        if let Via::Eum = self.via {
            return Ok(self.carrier.texts(number));
        }
        let all = client()?.get(format!("{}/_ministack/sns/sms-messages", self.endpoint)).send().await?;
        let all: Value = all.json().await?;
        let texts = all.get("sms_messages").and_then(|by_number| by_number.get(number)?.as_array());
        Ok(texts.map_or(0, Vec::len))
    }

    /// Writes the functions' environment into a file, for `cargo lambda watch`; where it is.
    pub async fn write_env_file(&self) -> Result<PathBuf> {
        let names = self.outputs.iter().filter(|(output, _)| output.ends_with("FunctionName")).map(|(_, name)| name);
        env_file::write(&self.aws()?, names, &self.ways.variables()).await
    }

    /// What MiniStack and the functions have logged so far.
    pub fn logged(&self) -> Result<String> {
        std::fs::read_to_string(&self.log).context("cannot read MiniStack's log")
    }

    async fn start(
        options: &Options,
        timeline: &Timeline,
        python: &std::path::Path,
        functions: &[Package],
    ) -> Result<Self> {
        let port = ministack::free_port()?;
        let endpoint = format!("http://127.0.0.1:{port}");
        let carrier = Arc::new(Carrier::new(options.via, options.provider).reporting(options.reports_after));
        let doorbells = Arc::new(Doorbells::default());
        let ways = Ways::open(&endpoint, options.via, &carrier, &doorbells, options.gate.as_ref())?;
        let scratch = tempfile::Builder::new().prefix("sendonce-local-").tempdir();
        let scratch = scratch.context("cannot create a temporary directory")?;
        let directory = scratch.path().to_owned();
        let log = options.log.clone().unwrap_or_else(|| directory.join("ministack.log"));
        let place = Place { python, scratch: &directory, port, variables: &ways.variables(), log: &log };
        let process = ministack::start(&place, scratch).await?;
        let provider = format!("provider ({}): {}", options.via.parameter(), ways.provider);
        timeline.event(&format!("MiniStack: {endpoint}, roles enforced; {provider}; queue: {}", ways.sqs));
        let template = functions::workspace().join("infra/template.yaml");
        let template =
            std::fs::read_to_string(&template).with_context(|| format!("cannot read {}", template.display()))?;
        let mut parameters = BTreeMap::from(PARAMETERS);
        parameters.extend([("Architecture", architecture()?), ("Provider", options.via.parameter())]);
        let aws = Aws::new(&endpoint)?;
        if options.reports_after.is_some() {
            reports::prepare(&aws, options.via).await?;
            parameters.extend(reports::parameters(options.via));
        }
        parameters.extend(options.parameters.iter().copied());
        let deployed = deploy(&aws, NAME, &template, functions, &parameters).await?;
        if options.reports_after.is_some() {
            let function = deployed.outputs.get("ReconciliationFunctionName");
            let function = function.context("the template has no output ReconciliationFunctionName")?;
            reports::restate_rights(&aws, options.via, function).await?;
        }
        timeline.event(&format!("infra/template.yaml: deployed, {} resources", deployed.resources));
        let api_id = deployed.outputs.get("ApiId").context("the template has no output ApiId")?.clone();
        let reports = match options.reports_after {
            Some(_) => {
                reports::report(aws, endpoint.clone(), Arc::clone(&carrier), way(options.via, &deployed.outputs)?)
            }
            None => JoinSet::new(),
        };
        Ok(Self {
            _reports: reports,
            via: options.via,
            carrier,
            doorbells,
            deployed_at: Timestamp::now(),
            endpoint,
            outputs: deployed.outputs,
            api_id,
            log,
            ministack: process,
            ways,
        })
    }
}

/// The way of a provider's reports into this stack.
fn way(via: Via, outputs: &BTreeMap<String, String>) -> Result<Way> {
    match via {
        Via::Sns => Ok(Way::DeliveryLog),
        Via::Eum => Ok(Way::Topic(
            outputs.get("ReceiptsTopicArn").context("the template has no output ReceiptsTopicArn")?.clone(),
        )),
    }
}

/// How the functions' requests reach MiniStack.
#[derive(Debug)]
struct Ways {
    gateway: String,
    via: Via,
    provider: String,
    sqs: String,
    _endpoints: Vec<Endpoint>,
}

impl Ways {
    fn open(
        ministack: &str,
        via: Via,
        carrier: &Arc<Carrier>,
        doorbells: &Arc<Doorbells>,
        gate: Option<&Arc<dyn Script>>,
    ) -> Result<Self> {
        let provider = Endpoint::start(ministack, carrier.clone())?;
        let sqs = Endpoint::start(ministack, doorbells.clone())?;
        let [mut gateway, mut provider_url, mut sqs_url] = [ministack, &provider.url, &sqs.url].map(str::to_owned);
        let mut endpoints = vec![provider, sqs];
        if let Some(gate) = gate {
            for way in [&mut gateway, &mut provider_url, &mut sqs_url] {
                let endpoint = Endpoint::start(way, gate.clone())?;
                way.clone_from(&endpoint.url);
                endpoints.push(endpoint);
            }
        }
        Ok(Self { gateway, via, provider: provider_url, sqs: sqs_url, _endpoints: endpoints })
    }

    /// As the SDK reads them.
    fn variables(&self) -> [(&'static str, &str); 3] {
        [
            ("AWS_ENDPOINT_URL", &self.gateway),
            (self.via.endpoint_variable(), &self.provider),
            ("AWS_ENDPOINT_URL_SQS", &self.sqs),
        ]
    }
}

/// The functions run as processes of this machine, so they are built for it.
pub(crate) fn architecture() -> Result<&'static str> {
    match std::env::consts::ARCH {
        "x86_64" => Ok("x86_64"),
        "aarch64" => Ok("arm64"),
        other => bail!("the template knows arm64 and x86_64, and this machine is {other}"),
    }
}

pub(crate) fn sizes(functions: &[Package]) -> String {
    let size = |package: &Package| format!("{} {} KB", package.name, package.zip.len().div_ceil(1000));
    functions.iter().map(size).collect::<Vec<_>>().join(", ")
}
