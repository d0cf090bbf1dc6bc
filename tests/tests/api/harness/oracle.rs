//! What a test may look at beside the answers: the tables, and whether they add up.

use sendonce::notification::{NotificationId, verify_chain};
use sendonce::ports::{EvidenceLog, Records};
use serde_json::Value;
use tests::aws_seam::{EVIDENCE, NOTIFICATIONS};

use super::{CALLS, Service};

impl Service {
    /// The ids of all records.
    pub fn ids(&self) -> Vec<String> {
        let keys =
            self.seam.items(NOTIFICATIONS).into_iter().filter_map(|item| item["pk"]["S"].as_str().map(Into::into));
        keys.filter_map(|key: String| key.strip_prefix("ntf#").map(Into::into)).collect()
    }

    pub fn record(&self, id: &str) -> Value {
        self.seam.item(&format!("ntf#{id}")).expect("a record")
    }

    /// A record's state, and why it was stopped: `stopped:expired_unresolved`.
    pub fn state(&self, id: &str) -> String {
        let record = self.record(id);
        let word = |name: &str| record[name]["S"].as_str().map(ToOwned::to_owned);
        [word("st"), word("why")].into_iter().flatten().collect::<Vec<_>>().join(":")
    }

    /// How many guards there are.
    pub fn guards(&self) -> usize {
        let is_guard = |item: &&Value| item["pk"]["S"].as_str().is_some_and(|pk| pk.starts_with("key#"));
        self.seam.items(NOTIFICATIONS).iter().filter(is_guard).count()
    }

    /// The bodies of a notification's evidence, in order.
    pub fn rows(&self, id: &str) -> Vec<Value> {
        let items = self.seam.items(EVIDENCE).into_iter().filter(|item| item["notification_id"]["S"] == id);
        let body = |item: Value| serde_json::from_str(item["body"]["S"].as_str().expect("a body")).expect("JSON");
        let mut rows: Vec<Value> = items.map(body).collect();
        rows.sort_by_key(|row| row["seq"].as_u64());
        rows
    }

    /// The facts of a notification's evidence in a word each: `attempt_unknown:timeout`.
    pub fn facts(&self, id: &str) -> Vec<String> {
        let word = |row: &Value| {
            let parts = ["kind", "basis", "code", "reason", "source"].map(|name| row[name].as_str());
            parts.into_iter().flatten().collect::<Vec<_>>().join(":")
        };
        self.rows(id).iter().map(word).collect()
    }

    /// Replaying each notification's evidence rebuilds its record, and no provider call was made without a row that
    /// said so first.
    pub async fn assert_sound(&self) {
        let published: usize = CALLS.iter().map(|call| self.seam.count(call)).sum();
        let ledger = self.seam.adapters().await.ledger;
        for id in self.ids() {
            let id = NotificationId::parse(&id).expect("an id");
            let record = ledger.record(&id).await.expect("readable").expect("a record");
            let rows = ledger.rows(&id).await.expect("readable");
            let replayed = verify_chain(&id, &rows, Some(&record)).map_err(|fault| format!("{id}: {fault}"));
            assert!(replayed == Ok(record.progress.clone()), "the evidence of {id} does not rebuild its record");
            assert_eq!(record.state().is_settled(), record.sealed.is_none(), "a seal lives until {id} settles");
            assert_eq!(record.state().is_settled(), record.due_at.is_none(), "{id} is due until it settles");
        }
        let rows = self.seam.items(EVIDENCE);
        let is_start =
            |row: &&Value| row["body"]["S"].as_str().is_some_and(|body| body.contains(r#""attempt_started""#));
        let started = rows.iter().filter(is_start).count();
        assert!(published <= started, "a provider call without a recorded attempt");
        assert!(self.seam.texts().len() <= started, "a text without a recorded attempt");
    }
}
