//! How much of a backlog one tick of reconciliation clears: the deployed handler over the real SDK, with a store in process
//! that takes a while over each request, as DynamoDB does.
//! `cargo run --release -p tests --bin backlog -- [--due N] [--latency-ms N]`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use lambda_runtime::{Context, LambdaEvent};
use reconciliation::{Answer, Handler};
use sendonce::aws::SystemClock;
use sendonce::config::ReconciliationConfig;
use sendonce::ports::{Admissions, Clock, Transitions};
use sendonce::time::{EpochMillis, Millis};
use serde_json::value::RawValue;
use tests::aws_seam::{EVIDENCE, MAC_KEY, NOTIFICATIONS, QUEUE_URL, SNS_LOG_GROUP, Seam};
use tests::contract::fixtures::{NOW, admission, started, unknown};

const USAGE: &str = "usage: backlog [--due N] [--latency-ms N]";

/// What the template gives a tick.
const TICK: Duration = Duration::from_secs(50);

/// What is due, and when it is.
const BACKLOGS: [(&str, bool, Millis); 3] = [
    ("lost doorbells", false, Millis::from_secs(120)),
    ("expiries", false, Millis::from_secs(601)),
    ("unknowns to look up", true, Millis::from_secs(300)),
];

/// The fixtures' time, going on at the pace of real time.
#[derive(Clone, Debug)]
struct Running {
    began: Instant,
    at: EpochMillis,
}

impl Clock for Running {
    fn now(&self) -> EpochMillis {
        let gone = i64::try_from(self.began.elapsed().as_millis()).unwrap_or(i64::MAX);
        self.at.plus(Millis::new(gone))
    }

    fn random(&self) -> [u8; 16] {
        SystemClock.random()
    }

    async fn pause(&self, length: Millis) {
        SystemClock.pause(length).await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let (mut due, mut latency) = (10_000_u32, 8_u32);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match (word.as_str(), words.next().and_then(|number| number.parse().ok())) {
            ("--due", Some(number)) => due = number,
            ("--latency-ms", Some(number)) => latency = number,
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        }
    }
    println!("{due} due, {latency} ms a request, {} s a tick", TICK.as_secs());
    println!(
        "{:<22}{:>6}{:>12}{:>10}{:>14}{:>16}",
        "backlog", "tick", "looked at", "seconds", "a second", "requests each"
    );
    for (what, is_unknown, after) in BACKLOGS {
        if let Err(fault) = clear(what, is_unknown, due, latency, NOW.plus(after)).await {
            eprintln!("{what}: {fault}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// Fills the tables, and ticks until nothing is left.
async fn clear(what: &str, is_unknown: bool, due: u32, latency: u32, at: EpochMillis) -> Result<(), String> {
    let seam = Seam::new();
    fill(&seam, is_unknown, due).await?;
    seam.clock().set(at);
    seam.answer_after(Duration::from_millis(latency.into()));
    let clock = Running { began: Instant::now(), at };
    let handler = Handler::start(&seam.aws().await, config()?, clock.clone()).await;
    let handler = handler.map_err(|fault| fault.to_string())?;
    let mut looked_at = 0;
    for tick in 1..=u32::MAX {
        seam.forget_requests();
        let began = Instant::now();
        let answer = handler.handle(event(&clock)).await.map_err(|fault| fault.to_string())?;
        let seconds = began.elapsed().as_secs_f64();
        let Answer::Ticked(tally) = answer else { return Err(String::from("not a tick")) };
        if tally.failed > 0 {
            return Err(format!("{tally:?}"));
        }
        looked_at += tally.examined;
        let requests: usize = seam.counts().values().sum();
        let (each, pace) = (requests as f64 / f64::from(tally.examined.max(1)), f64::from(tally.examined) / seconds);
        println!("{what:<22}{tick:>6}{:>12}{seconds:>10.1}{pace:>14.0}{each:>16.2}", tally.examined);
        if seconds > TICK.as_secs_f64() {
            return Err(String::from("a tick took longer than it may"));
        }
        if tally.complete {
            break;
        }
    }
    if looked_at >= due { Ok(()) } else { Err(format!("{looked_at} of {due} were looked at")) }
}

async fn fill(seam: &Seam, is_unknown: bool, due: u32) -> Result<(), String> {
    let ledger = seam.adapters().await.ledger;
    for number in 0..due {
        let taken = admission(&format!("evt-{number}"), &format!("k-{number}"), number.into());
        ledger.admit(&taken, NOW).await.map_err(|fault| fault.to_string())?;
        if is_unknown {
            let first = started(&taken.record, 1);
            let second = unknown(&first.record, 1);
            for step in [first, second] {
                ledger.commit(&step).await.map_err(|fault| fault.to_string())?;
            }
        }
        seam.forget_requests();
    }
    Ok(())
}

fn config() -> Result<ReconciliationConfig, String> {
    let variables = [
        ("NOTIFICATIONS_TABLE", NOTIFICATIONS),
        ("EVIDENCE_TABLE", EVIDENCE),
        ("DOORBELL_QUEUE_URL", QUEUE_URL),
        ("MAC_KEY_ID", MAC_KEY),
        ("SNS_LOG_GROUP", SNS_LOG_GROUP),
    ];
    let lookup = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    ReconciliationConfig::read(lookup).map_err(|faults| faults.to_string())
}

fn event(clock: &Running) -> LambdaEvent<Box<RawValue>> {
    let payload = RawValue::from_string(String::from("{}")).unwrap_or_default();
    let mut context = Context::default();
    let deadline = clock.now().get() + i64::try_from(TICK.as_millis()).unwrap_or(0);
    context.deadline = u64::try_from(deadline).unwrap_or(0);
    LambdaEvent { payload, context }
}
