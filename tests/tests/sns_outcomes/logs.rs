//! What the log shows of a text: nothing.

use std::io;
use std::sync::{Arc, Mutex};

use sendonce::aws::telemetry;
use tracing::Level;
use tracing_subscriber::fmt::MakeWriter;

use crate::endpoint::{Script, accepted, error};
use crate::setup::Bench;

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

async fn every_kind_of_answer() {
    let mut bench = Bench::start().await;
    for script in [
        Script::Accept,
        Script::Say(error(500, "InternalError")),
        Script::Say(error(400, "InvalidParameter")),
        Script::Say(error(400, "+15550142973")),
        Script::Say(error(418, "NeverSeenBefore")),
        Script::Say(accepted()[..120].to_owned()),
        Script::Say("HTTP/1.1 200 OK\r\ncontent-length: 19\r\n\r\nYour code is 482913".into()),
        Script::Reset,
        Script::SayAndStay(String::new()),
    ] {
        bench.send(script).await;
    }
}

#[tokio::test]
async fn p2_no_log_line_shows_body_or_number_at_any_level() {
    let lines = Lines::default();
    let guard = tracing::subscriber::set_default(telemetry::subscriber(Level::TRACE, lines.clone()));
    every_kind_of_answer().await;
    drop(guard);
    let text = lines.text();
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} in\n{text}");
    }
    let ours: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(ours.iter().any(|line| line["aws.code"] == "InvalidParameter" && line["class"] == "refused"), "{text}");
    let is_ours = |line: &serde_json::Value| line["target"].as_str().unwrap().starts_with("sendonce::");
    assert!(ours.iter().all(|line| is_ours(line) || line["level"] == "WARN" || line["level"] == "ERROR"), "{text}");
}

/// The test above can fail: without the cap on other crates, the same run prints it all.
#[tokio::test]
async fn p2_the_sdk_would_print_them() {
    let lines = Lines::default();
    let everything = tracing_subscriber::fmt().with_max_level(Level::TRACE).with_writer(lines.clone()).finish();
    let guard = tracing::subscriber::set_default(everything);
    every_kind_of_answer().await;
    drop(guard);
    assert!(lines.text().contains("15550142973"));
}
