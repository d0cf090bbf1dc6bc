//! Steps that ask what became of a notification, or wait for it.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use jiff::SignedDuration;
use serde_json::Value;

use crate::api::{kinds, member};
use crate::provider::Via;
use crate::say::{clock, mask};

use super::ending::{Ending, name};
use super::tale::{Notification, Tale, seen, time_of};

const POLL: Duration = Duration::from_millis(500);
/// A schedule that fires each minute and is swept every ten seconds has fired by then, and the work it found is done and
/// reported on.
const PATIENCE: Duration = Duration::from_secs(100);

impl Tale<'_> {
    /// Follows the status until it is `wanted`, and shows each change.
    pub(crate) async fn wait_for(&self, notification: &Notification, wanted: &str, patience: Duration) -> Result<()> {
        let started = Instant::now();
        let mut last = String::new();
        while last != wanted && started.elapsed() < patience {
            last = self.look(notification, last).await?;
            tokio::time::sleep(POLL / 2).await;
        }
        self.timeline.claim(last == wanted, &format!("it comes to {wanted}"), &last);
        Ok(())
    }

    /// A second question with the first one's ETag.
    pub(crate) async fn ask_again_unchanged(&self, notification: &Notification) -> Result<()> {
        let answer = self.api.status(&notification.id, None).await?;
        let etag = answer.header("etag").unwrap_or_default().to_owned();
        let again = self.api.status(&notification.id, Some(&etag)).await?;
        self.timeline.event(&format!("GET with ETag {etag}: {}", again.status));
        let holds = again.status == 304 && again.body.is_empty() && !etag.is_empty();
        self.timeline.claim(holds, "what has not changed is not sent again: 304", &seen(&again));
        Ok(())
    }

    /// Shows the evidence, and checks it and the counts against the ending.
    pub(crate) async fn check_ending(&self, notification: &Notification) -> Result<()> {
        let evidence = self.api.evidence(&notification.id).await?;
        for row in evidence.get("rows").and_then(Value::as_array).into_iter().flatten() {
            self.timeline.detail(&row_text(row));
        }
        let verified = evidence.get("verified") == Some(&Value::Bool(true));
        self.timeline.claim(verified, "the chain of evidence verifies", &format!("{:?}", evidence.get("verified")));
        let found = kinds(&evidence);
        let expected = notification.ending.kinds.join(", ");
        self.timeline.claim(
            found == notification.ending.kinds,
            &format!("the rows say: {expected}"),
            &found.join(", "),
        );
        self.check_proof(&evidence);
        self.check_counts(notification).await
    }

    /// What was reported rests on what the provider can say: a log row that is told by number and time is only probable.
    fn check_proof(&self, evidence: &Value) {
        for row in evidence.get("rows").and_then(Value::as_array).into_iter().flatten() {
            let part = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
            let (source, strength) = match (self.stack.via, part("kind")) {
                (Via::Sns, "reconciled_accepted") => ("sns_log", "probable"),
                (Via::Eum, "reconciled_accepted" | "delivered") => ("eum_event", "exact"),
                _ => continue,
            };
            let claim = format!("{} rests on {source}, and the match is {strength}", part("kind"));
            let seen = format!("{}, {}", part("source"), part("strength"));
            self.timeline.claim((part("source"), part("strength")) == (source, strength), &claim, &seen);
        }
    }

    pub(crate) async fn check_counts(&self, notification: &Notification) -> Result<()> {
        let Ending { texts, calls, .. } = notification.ending;
        let (called, arrived) = self.counts(notification).await?;
        let claim = format!(
            "{}: {} on the handset, {} of the provider",
            mask(&notification.number),
            count(texts, "text"),
            count(calls, "call")
        );
        self.timeline.claim((called, arrived) == (calls, texts), &claim, &format!("{arrived} texts, {called} calls"));
        Ok(())
    }

    pub(crate) fn announce_waits(&self) {
        let tick = |seconds| {
            clock(
                self.stack
                    .deployed_at
                    .saturating_add(SignedDuration::from_secs(seconds))
                    .unwrap_or(self.stack.deployed_at),
            )
        };
        for notification in &self.notifications {
            if notification.ending.needs_expiry() {
                self.timeline.event(&format!("{} expires at {}", notification.id, time_of(&notification.expires_at)));
            }
        }
        self.timeline.event(&format!(
            "waiting for the once-a-minute schedule, which comes between {} and {}",
            tick(58),
            tick(72)
        ));
    }

    /// Waits until all have ended, and shows each change.
    pub(crate) async fn wait_for_the_rest(&self) -> Result<()> {
        let started = Instant::now();
        let mut open: Vec<(&Notification, String)> = Vec::new();
        for notification in &self.notifications {
            open.push((notification, self.state(notification).await?));
        }
        while !open.is_empty() && started.elapsed() < PATIENCE {
            let mut left = Vec::new();
            for (notification, last) in open {
                let state = self.look(notification, last).await?;
                if state != notification.ending.name() {
                    left.push((notification, state));
                }
            }
            open = left;
            tokio::time::sleep(POLL).await;
        }
        for (notification, state) in open {
            self.timeline.claim(false, &format!("{} ends as {}", notification.id, notification.ending.name()), &state);
        }
        Ok(())
    }

    /// Everything once more, now that nothing can follow.
    pub(crate) async fn last_look(&mut self) -> Result<()> {
        for notification in &self.notifications {
            let state = self.state(notification).await?;
            self.timeline.event(&format!("{} is {state}", notification.id));
            self.timeline.claim(
                state == notification.ending.name(),
                &format!("it ended as {}", notification.ending.name()),
                &state,
            );
            if notification.told {
                self.check_counts(notification).await?;
            } else {
                self.check_ending(notification).await?;
            }
            self.texts += self.counts(notification).await?.1;
        }
        Ok(())
    }

    async fn counts(&self, notification: &Notification) -> Result<(usize, usize)> {
        Ok((self.stack.carrier.calls(&notification.number), self.stack.texts(&notification.number).await?))
    }

    /// The state now, shown if it is not `last`.
    async fn look(&self, notification: &Notification, last: String) -> Result<String> {
        let state = self.state(notification).await?;
        if state != last {
            self.timeline.event(&format!("{} is {state}", notification.id));
        }
        Ok(state)
    }

    async fn state(&self, notification: &Notification) -> Result<String> {
        let answer = self.api.status(&notification.id, None).await?;
        match answer.status {
            200 => Ok(name(&member(&answer, "status"), &member(&answer, "reason"))),
            _ => bail!("the status of {} was answered {}", notification.id, seen(&answer)),
        }
    }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn row_text(row: &Value) -> String {
    let part = |name: &str| {
        row.get(name).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned)).unwrap_or_default()
    };
    format!("#{} {} {}", part("seq"), time_of(&part("at")), part("kind"))
}
