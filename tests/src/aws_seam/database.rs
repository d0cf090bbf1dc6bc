//! DynamoDB: dynoxide, with the tables of the template.

use dynoxide::{Database, DynoxideError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::connector::{Answer, Served};
use super::{Request, Seam, SeamClock};

pub const NOTIFICATIONS: &str = "notifications";
pub const EVIDENCE: &str = "evidence";

/// Both tables as requests to make them, in the words of `infra/template.yaml`. A test holds them to it.
pub const TABLES: [(&str, &str); 2] = [
    (
        NOTIFICATIONS,
        r#"{
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "due_shard", "AttributeType": "N"},
            {"AttributeName": "due_at", "AttributeType": "N"},
            {"AttributeName": "to", "AttributeType": "S"},
            {"AttributeName": "acc", "AttributeType": "N"}
        ],
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [{
            "IndexName": "due",
            "KeySchema": [
                {"AttributeName": "due_shard", "KeyType": "HASH"},
                {"AttributeName": "due_at", "KeyType": "RANGE"}
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"}
        }, {
            "IndexName": "by_destination",
            "KeySchema": [
                {"AttributeName": "to", "KeyType": "HASH"},
                {"AttributeName": "acc", "KeyType": "RANGE"}
            ],
            "Projection": {"ProjectionType": "KEYS_ONLY"}
        }],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}]
    }"#,
    ),
    (
        EVIDENCE,
        r#"{
        "AttributeDefinitions": [
            {"AttributeName": "notification_id", "AttributeType": "S"},
            {"AttributeName": "seq", "AttributeType": "N"}
        ],
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [
            {"AttributeName": "notification_id", "KeyType": "HASH"},
            {"AttributeName": "seq", "KeyType": "RANGE"}
        ]
    }"#,
    ),
];

pub(super) struct Tables(Database);

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tables")
    }
}

impl Default for Tables {
    fn default() -> Self {
        Self::new(&SeamClock::default())
    }
}

impl Tables {
    pub(super) fn new(clock: &SeamClock) -> Self {
        let tables = Self(Database::memory_with_clock(std::sync::Arc::new(clock.clone())).expect("a database"));
        for (name, table) in TABLES {
            let mut request: Value = serde_json::from_str(table).expect("JSON");
            request["TableName"] = json!(name);
            tables.must("CreateTable", &request);
            let ttl = json!({"AttributeName": "ttl", "Enabled": true});
            tables.must("UpdateTimeToLive", &json!({"TableName": name, "TimeToLiveSpecification": ttl}));
        }
        tables
    }

    fn run(&self, operation: &str, body: &str) -> Result<String, DynoxideError> {
        let db = &self.0;
        match operation {
            "CreateTable" => with(body, |request| db.create_table(request)),
            "UpdateTimeToLive" => with(body, |request| db.update_time_to_live(request)),
            "DescribeTimeToLive" => with(body, |request| db.describe_time_to_live(request)),
            "GetItem" => with(body, |request| db.get_item(request)),
            "PutItem" => with(body, |request| db.put_item(request)),
            "DeleteItem" => with(body, |request| db.delete_item(request)),
            "Query" => with(body, |request| db.query(request)),
            "Scan" => with(body, |request| db.scan(request)),
            "TransactWriteItems" => with(body, |request| db.transact_write_items(request)),
            other => Err(DynoxideError::ValidationException(format!("{other} is not used here"))),
        }
    }

    fn must(&self, operation: &str, request: &Value) -> Value {
        let answer = self.run(operation, &request.to_string()).expect("the database does it");
        serde_json::from_str(&answer).expect("JSON")
    }
}

fn with<I: DeserializeOwned, O: Serialize>(
    body: &str,
    run: impl FnOnce(I) -> Result<O, DynoxideError>,
) -> Result<String, DynoxideError> {
    let request = serde_json::from_str(body).map_err(|e| DynoxideError::SerializationException(e.to_string()))?;
    let answer = run(request)?;
    serde_json::to_string(&answer).map_err(|e| DynoxideError::InternalServerError(e.to_string()))
}

pub(super) fn serve(seam: &Seam, request: &Request) -> Served {
    Ok(match seam.0.database.run(request.name(), &request.body) {
        Ok(body) => Answer::ok(body),
        Err(error) => Answer { status: error.status_code(), body: error.to_json() },
    })
}

impl Seam {
    /// All items of a table, as DynamoDB's JSON.
    pub fn items(&self, table: &str) -> Vec<Value> {
        let answer = self.0.database.must("Scan", &json!({"TableName": table}));
        answer["Items"].as_array().cloned().unwrap_or_default()
    }

    /// One item of the notifications table.
    pub fn item(&self, pk: &str) -> Option<Value> {
        let request = json!({"TableName": NOTIFICATIONS, "Key": {"pk": {"S": pk}}});
        self.0.database.must("GetItem", &request).get("Item").cloned()
    }

    /// Puts an item as it is, past every adapter.
    pub fn plant(&self, table: &str, item: &Value) {
        self.0.database.must("PutItem", &json!({"TableName": table, "Item": item}));
    }

    /// Deletes what has outlived its TTL, and says how much that was. DynamoDB does so some day.
    pub fn sweep_ttl(&self) -> usize {
        self.0.database.0.sweep_ttl().expect("a sweep")
    }
}

/// An item's size as DynamoDB counts it: names and values; a number one byte, and one more for each two digits.
pub fn item_size(item: &Value) -> usize {
    let members = item.as_object().expect("an item").iter();
    members.map(|(name, value)| name.len() + value_size(value)).sum()
}

fn value_size(value: &Value) -> usize {
    let (kind, content) = value.as_object().and_then(|value| value.iter().next()).expect("a typed value");
    let text = content.as_str().expect("text, number or bytes");
    match kind.as_str() {
        "S" => text.len(),
        "N" => 1 + text.trim_start_matches('-').len().div_ceil(2) + usize::from(text.starts_with('-')),
        "B" => data_encoding::BASE64.decode(text.as_bytes()).expect("base64").len(),
        other => panic!("{other} is no type of ours"),
    }
}
