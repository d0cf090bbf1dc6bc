//! The way to the queue, on which a doorbell can be lost: SQS as MiniStack answers it, or no answer at all.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use http::HeaderMap;
use tokio::sync::broadcast;

use crate::endpoint::{Script, Verdict};

/// The scripted endpoint's memory.
#[derive(Debug)]
pub struct Doorbells {
    losing: AtomicBool,
    lost: AtomicU32,
    rung: broadcast::Sender<String>,
}

impl Default for Doorbells {
    fn default() -> Self {
        Self { losing: AtomicBool::new(false), lost: AtomicU32::new(0), rung: broadcast::channel(256).0 }
    }
}

impl Doorbells {
    /// From now on each doorbell is lost (`true`) or passed on.
    pub fn lose(&self, losing: bool) {
        self.losing.store(losing, Ordering::SeqCst);
    }

    /// How many requests to ring were lost, retries included.
    pub fn lost(&self) -> u32 {
        self.lost.load(Ordering::SeqCst)
    }

    /// Hears the body of each doorbell that is passed on.
    pub fn listen(&self) -> broadcast::Receiver<String> {
        self.rung.subscribe()
    }
}

impl Script for Doorbells {
    fn judge(&self, headers: &HeaderMap, body: &[u8]) -> Verdict {
        let target = headers.get("x-amz-target").and_then(|target| target.to_str().ok());
        if !target.is_some_and(|target| target.starts_with("AmazonSQS.SendMessage")) {
            return Verdict::Forward;
        }
        if self.losing.load(Ordering::SeqCst) {
            self.lost.fetch_add(1, Ordering::SeqCst);
            return Verdict::Close;
        }
        let message: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let text = message.get("MessageBody").and_then(|body| body.as_str()).unwrap_or_default();
        // Nobody may be listening.
        let _ = self.rung.send(text.to_owned());
        Verdict::Forward
    }
}
