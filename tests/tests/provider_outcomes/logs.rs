//! What the log shows of a text: nothing.

use std::io;
use std::sync::{Arc, Mutex};

use sendonce::aws::telemetry;
use sendonce::notification::Provider;
use tracing::Level;
use tracing_subscriber::fmt::MakeWriter;

use crate::endpoint::Script;
use crate::setup::Bench;
use crate::wire::{BOTH, accept, accepted, error, exception, http};

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Lines {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

impl Lines {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// The number, the token and the body, and what they would be in a form.
const SECRETS: [&str; 7] = ["15550142973", "5550142", "42973", "482913", "4829", "Your code", "Your+code"];

async fn every_kind_of_answer(provider: Provider) {
    let mut bench = Bench::start(provider).await;
    for script in [
        accept(provider),
        Script::Say(error(provider, 500, "InternalError")),
        Script::Say(error(provider, 400, refusal(provider))),
        Script::Say(error(provider, 400, "+15550142973")),
        Script::Say(error(provider, 418, "NeverSeenBefore")),
        Script::Say(http("400 Bad Request", &exception("ConflictException", "\"+15550142973\""))),
        Script::Say(accepted(provider)[..120].to_owned()),
        Script::Say("HTTP/1.1 200 OK\r\ncontent-length: 19\r\n\r\nYour code is 482913".into()),
        Script::Reset,
        Script::SayAndStay(String::new()),
    ] {
        bench.send(script).await;
    }
}

const fn refusal(provider: Provider) -> &'static str {
    match provider {
        Provider::Sns => "InvalidParameter",
        Provider::Eum => "ValidationException",
    }
}

#[tokio::test]
async fn p2_no_log_line_shows_body_or_number_at_any_level() {
    for provider in BOTH {
        let lines = Lines::default();
        let guard = tracing::subscriber::set_default(telemetry::subscriber(Level::TRACE, lines.clone()));
        every_kind_of_answer(provider).await;
        drop(guard);
        let text = lines.text();
        for (n, secret) in SECRETS.iter().enumerate() {
            assert!(!text.contains(secret), "{provider:?}: secret {n} is in the log");
        }
        let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let refused = |line: &serde_json::Value| line["aws.code"] == refusal(provider) && line["class"] == "refused";
        assert!(lines.iter().any(refused), "{text}");
        let is_ours = |line: &serde_json::Value| line["target"].as_str().unwrap().starts_with("sendonce::");
        let is_loud = |line: &serde_json::Value| line["level"] == "WARN" || line["level"] == "ERROR";
        assert!(lines.iter().all(|line| is_ours(line) || is_loud(line)), "{text}");
    }
}

/// The test above can fail: without the cap on other crates, the same run prints it all.
#[tokio::test]
async fn p2_the_sdk_would_print_them() {
    for provider in BOTH {
        let lines = Lines::default();
        let everything = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(lines.clone()).finish();
        let guard = tracing::subscriber::set_default(everything);
        every_kind_of_answer(provider).await;
        drop(guard);
        assert!(lines.text().contains("15550142973"), "{provider:?}");
    }
}
