//! The whole of it, up and running: functions built, MiniStack, the scripted endpoints, the template deployed.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use jiff::Timestamp;
use serde_json::Value;

use crate::api::Api;
use crate::aws::{Aws, client};
use crate::deploy::deploy;
use crate::doorbells::Doorbells;
use crate::endpoint::{Endpoint, Script};
use crate::env_file;
use crate::functions::{self, Package};
use crate::ministack::{self, Place};
use crate::processes::{self, Process};
use crate::provider::{Carrier, Provider};
use crate::python;
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
    /// How the provider behaves unless told otherwise.
    pub provider: Provider,
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
    /// When the schedule began to count its minutes.
    pub deployed_at: Timestamp,
    /// Where MiniStack answers.
    pub endpoint: String,
    /// The template's outputs.
    pub outputs: BTreeMap<String, String>,
    api_id: String,
    log: PathBuf,
    // In the order in which they end: first those who call, then those who are called.
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
        let (python, functions) = tokio::try_join!(python, functions::build(options.release))?;
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
        let (carrier, doorbells) = (Arc::new(Carrier::new(options.provider)), Arc::new(Doorbells::default()));
        let ways = Ways::open(&endpoint, &carrier, &doorbells, options.gate.as_ref())?;
        let scratch = tempfile::Builder::new().prefix("sendonce-local-").tempdir();
        let scratch = scratch.context("cannot create a temporary directory")?;
        let directory = scratch.path().to_owned();
        let log = options.log.clone().unwrap_or_else(|| directory.join("ministack.log"));
        let place = Place { python, scratch: &directory, port, ways: &ways, log: &log };
        let process = ministack::start(&place, scratch).await?;
        timeline.event(&format!("MiniStack: {endpoint}, roles enforced; provider: {}; queue: {}", ways.sns, ways.sqs));
        let template = functions::workspace().join("infra/template.yaml");
        let template =
            std::fs::read_to_string(&template).with_context(|| format!("cannot read {}", template.display()))?;
        let mut parameters = BTreeMap::from(PARAMETERS);
        parameters.extend(options.parameters.iter().copied().chain([("Architecture", architecture()?)]));
        let deployed = deploy(&Aws::new(&endpoint)?, NAME, &template, functions, &parameters).await?;
        timeline.event(&format!("infra/template.yaml: deployed, {} resources", deployed.resources));
        let api_id = deployed.outputs.get("ApiId").context("the template has no output ApiId")?.clone();
        Ok(Self {
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

/// How the functions' requests reach MiniStack.
#[derive(Debug)]
pub(crate) struct Ways {
    gateway: String,
    sns: String,
    sqs: String,
    _endpoints: Vec<Endpoint>,
}

impl Ways {
    fn open(
        ministack: &str,
        carrier: &Arc<Carrier>,
        doorbells: &Arc<Doorbells>,
        gate: Option<&Arc<dyn Script>>,
    ) -> Result<Self> {
        let sns = Endpoint::start(ministack, carrier.clone())?;
        let sqs = Endpoint::start(ministack, doorbells.clone())?;
        let [mut gateway, mut sns_url, mut sqs_url] = [ministack.to_owned(), sns.url.clone(), sqs.url.clone()];
        let mut endpoints = vec![sns, sqs];
        if let Some(gate) = gate {
            for way in [&mut gateway, &mut sns_url, &mut sqs_url] {
                let endpoint = Endpoint::start(way, gate.clone())?;
                way.clone_from(&endpoint.url);
                endpoints.push(endpoint);
            }
        }
        Ok(Self { gateway, sns: sns_url, sqs: sqs_url, _endpoints: endpoints })
    }

    /// As the SDK reads them.
    pub(crate) fn variables(&self) -> [(&'static str, &str); 3] {
        [("AWS_ENDPOINT_URL", &self.gateway), ("AWS_ENDPOINT_URL_SNS", &self.sns), ("AWS_ENDPOINT_URL_SQS", &self.sqs)]
    }
}

/// The functions run as processes of this machine, so they are built for it.
fn architecture() -> Result<&'static str> {
    match std::env::consts::ARCH {
        "x86_64" => Ok("x86_64"),
        "aarch64" => Ok("arm64"),
        other => bail!("the template knows arm64 and x86_64, and this machine is {other}"),
    }
}

fn sizes(functions: &[Package]) -> String {
    let size = |package: &Package| format!("{} {} KB", package.name, package.zip.len().div_ceil(1000));
    functions.iter().map(size).collect::<Vec<_>>().join(", ")
}
