//! Steps that post something, and what the answer must be.

use anyhow::{Result, bail};

use crate::api::{Order, member};
use crate::aws::Answer;
use crate::say::mask;

use super::tale::{Notification, Tale, seen, time_of};

impl Tale<'_> {
    pub(crate) async fn refuse_unsigned(&self, key: &str, order: &Order) -> Result<()> {
        let answer = self.api.post_unsigned(key, order).await?;
        self.timeline.event(&format!("POST without a signature: {}", answer.status));
        self.timeline.claim(answer.status == 403, "nobody gets in without a signature", &seen(&answer));
        Ok(())
    }

    /// Posts an order twice at once and then once more, and answers with the id.
    pub(crate) async fn post_three_times(&self, key: &str, order: &Order) -> Result<String> {
        let (first, second) = tokio::join!(self.api.post(key, order), self.api.post(key, order));
        let (first, second) = (first?, second?);
        self.timeline.event(&format!("POST twice at once, key {key}: {} and {}", first.status, second.status));
        let third = self.api.post(key, order).await?;
        self.timeline.event(&format!("POST once more: {}", third.status));
        let id = self.accepted(&first)?;
        self.timeline.detail(&format!("{id} to {}", mask(&order.to)));
        let same = [&second, &third].iter().all(|answer| (answer.status, &answer.body) == (first.status, &first.body));
        let bodies = [&first, &second, &third].map(seen).join(" | ");
        self.timeline.claim(same, "three equal answers: status and body, byte for byte", &bodies);
        let replayed = [&first, &second, &third].iter().filter(|answer| replayed(answer)).count();
        self.timeline.claim(replayed == 2, "two of them say that they are replays", &format!("{replayed} do"));
        Ok(id)
    }

    /// Posts an order under a key of its own, and answers with the id.
    pub(crate) async fn post_once(&self, order: &Order) -> Result<String> {
        let answer = self.api.post(&order.event, order).await?;
        self.timeline.event(&format!("POST: {}", answer.status));
        let id = self.accepted(&answer)?;
        self.timeline.detail(&format!("{id} to {}, expires {}", mask(&order.to), time_of(&order.expires_at)));
        Ok(id)
    }

    pub(crate) async fn refuse_other_body(&self, key: &str, order: &Order) -> Result<()> {
        let other = Order { message: "Something else.".to_owned(), ..order.clone() };
        let answer = self.api.post(key, &other).await?;
        let code = member(&answer, "code");
        self.timeline.event(&format!("POST: {} {code}", answer.status));
        let holds = answer.status == 409 && code == "idempotency_key_reused";
        self.timeline.claim(holds, "a key keeps its meaning: 409, and nothing is applied", &seen(&answer));
        Ok(())
    }

    /// The same event and command under another key is the same notification.
    pub(crate) async fn converge(&self, order: &Order, notification: &Notification) -> Result<()> {
        let answer = self.api.post(&format!("app-{}", order.event), order).await?;
        self.timeline.event(&format!("POST of the same event under another key: {}", answer.status));
        let holds = answer.status == 202 && member(&answer, "id") == notification.id && replayed(&answer);
        self.timeline.claim(holds, "one event is one notification, whichever path it came by", &seen(&answer));
        Ok(())
    }

    fn accepted(&self, answer: &Answer) -> Result<String> {
        let id = member(answer, "id");
        let location = format!("/v1/notifications/{id}");
        if answer.status != 202 || id.is_empty() {
            bail!("the order was not accepted: {}", seen(answer));
        }
        self.timeline.claim(
            answer.header("location") == Some(&location),
            "202, and where to ask about it",
            &seen(answer),
        );
        Ok(id)
    }
}

fn replayed(answer: &Answer) -> bool {
    answer.header("idempotency-replayed") == Some("true")
}
