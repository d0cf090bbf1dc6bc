//! What the provider says about texts once it has taken them, on the way on which each service says it: SNS by a row in its
//! delivery log, which CloudWatch Logs keeps and pushes; End User Messaging by events to the stack's topic.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use bytes::Bytes;
use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;

use crate::aws::{ACCOUNT, Aws, REGION, Request, client};
use crate::provider::{Call, Carrier, Via};
use crate::say::complain;

/// The name of the one stream in each of SNS's groups.
const STREAM: &str = "local";
/// Between the two events of one text.
const TO_THE_HANDSET: Duration = Duration::from_secs(1);

/// How and where to report.
#[derive(Debug)]
pub(crate) enum Way {
    /// To SNS's delivery log.
    DeliveryLog,
    /// To this topic.
    Topic(String),
}

/// What must be there before the template is deployed: SNS's two log groups, as after its first text of each kind.
pub(crate) async fn prepare(aws: &Aws, via: Via) -> Result<()> {
    let Via::Sns = via else { return Ok(()) };
    for group in [group(), format!("{}/Failure", group())] {
        let group_name = json!({ "logGroupName": group });
        aws.json("logs", "Logs_20140328.CreateLogGroup", &group_name).await?;
        let stream_name = json!({ "logGroupName": group, "logStreamName": STREAM });
        aws.json("logs", "Logs_20140328.CreateLogStream", &stream_name).await?;
    }
    Ok(())
}

/// The template's parameters with which reports are heard, and soon.
pub(crate) fn parameters(via: Via) -> Vec<(&'static str, &'static str)> {
    match via {
        Via::Sns => vec![("SnsDeliveryLogs", "true"), ("IndexLagSeconds", "1")],
        Via::Eum => vec![("EumConfigurationSet", "sendonce")],
    }
}

/// Lets reconciliation read SNS's log groups under the name that MiniStack asks about. AWS asks about `log-group:NAME:*`, which
/// is what the template grants; MiniStack leaves the `:*` away.
pub(crate) async fn restate_rights(aws: &Aws, via: Via, function: &str) -> Result<()> {
    let Via::Sns = via else { return Ok(()) };
    let path = format!("/2015-03-31/functions/{function}/configuration");
    let request =
        Request { service: "lambda", method: Method::GET, path: &path, headers: Vec::new(), body: Bytes::new() };
    let configuration: Value = serde_json::from_slice(&aws.send(request).await?.body)?;
    let role = configuration.get("Role").and_then(|role| role.as_str()?.rsplit('/').next());
    let groups = ["", "/Failure"].map(|end| format!("arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{}{end}", group()));
    let actions = ["logs:FilterLogEvents", "logs:DescribeSubscriptionFilters"];
    let statement = json!({ "Effect": "Allow", "Action": actions, "Resource": groups });
    let policy = json!({ "Version": "2012-10-17", "Statement": [statement] }).to_string();
    let members = [
        ("RoleName".to_owned(), role.context("reconciliation has no role")?.to_owned()),
        ("PolicyName".to_owned(), "log-groups-by-their-other-name".to_owned()),
        ("PolicyDocument".to_owned(), policy),
    ];
    aws.query("iam", "2010-05-08", "PutRolePolicy", &members).await.map(drop)
}

/// Reports on each text that the carrier takes, until the answer is dropped.
pub(crate) fn report(aws: Aws, endpoint: String, carrier: Arc<Carrier>, way: Way) -> JoinSet<()> {
    let mut calls = carrier.listen();
    let reporter = Arc::new(Reporter { aws, endpoint, way });
    let mut task = JoinSet::new();
    task.spawn(async move {
        let mut reports = JoinSet::new();
        loop {
            tokio::select! {
                call = calls.recv() => match call {
                    Ok(call) => if let Some(after) = carrier.reports_after(&call.number).filter(|_| call.taken) {
                        reports.spawn(make(Arc::clone(&reporter), call, after));
                    },
                    Err(RecvError::Lagged(missed)) => complain(&format!("local: {missed} calls go unreported")),
                    Err(RecvError::Closed) => return,
                },
                Some(_) = reports.join_next() => {}
            }
        }
    });
    task
}

#[derive(Debug)]
struct Reporter {
    aws: Aws,
    endpoint: String,
    way: Way,
}

async fn make(reporter: Arc<Reporter>, call: Call, after: Duration) {
    tokio::time::sleep(after).await;
    let told = match &reporter.way {
        Way::DeliveryLog => reporter.log(&call).await,
        Way::Topic(topic) => reporter.publish(topic, &call).await,
    };
    if let Err(error) = told {
        complain(&format!("local: a report could not be made: {error:#}"));
    }
}

impl Reporter {
    /// Writes a row. MiniStack pushes it to reconciliation as the template's subscription says, and shows it to whoever
    /// asks; a JSON filter pattern it takes for one that every row matches, which is more than AWS shows, never less.
    async fn log(&self, call: &Call) -> Result<()> {
        let row = row(call, &self.message_id(call).await?).to_string();
        let event = json!({ "timestamp": Timestamp::now().as_millisecond(), "message": row });
        let events = json!({ "logGroupName": group(), "logStreamName": STREAM, "logEvents": [event] });
        self.aws.json("logs", "Logs_20140328.PutLogEvents", &events).await.map(drop)
    }

    /// The name that MiniStack gave the text.
    async fn message_id(&self, call: &Call) -> Result<String> {
        let all = client()?.get(format!("{}/_ministack/sns/sms-messages", self.endpoint)).send().await?;
        let all: Value = all.json().await?;
        let text = all.get("sms_messages").and_then(|by_number| by_number.get(&call.number)?.get(call.earlier));
        let id = text.and_then(|text| text.get("MessageId")?.as_str()).context("MiniStack does not know the text")?;
        Ok(id.to_owned())
    }

    async fn publish(&self, topic: &str, call: &Call) -> Result<()> {
        let Some(context) = &call.context else { return Ok(()) };
        for (kind, status, is_final) in [("TEXT_SENT", "SENT", false), ("TEXT_DELIVERED", "DELIVERED", true)] {
            let event = event(call, context, kind, status, is_final).to_string();
            let members = [("TopicArn".to_owned(), topic.to_owned()), ("Message".to_owned(), event)];
            self.aws.query("sns", "2010-03-31", "Publish", &members).await?;
            tokio::time::sleep(TO_THE_HANDSET).await;
        }
        Ok(())
    }
}

/// The template's `SNS_LOG_GROUP`.
fn group() -> String {
    format!("sns/{REGION}/{ACCOUNT}/DirectPublishToPhoneNumber")
}

fn row(call: &Call, message_id: &str) -> Value {
    json!({
        "notification": { "messageId": message_id, "timestamp": call.at.strftime("%Y-%m-%d %H:%M:%S%.3f").to_string() },
        "delivery": {
            "phoneCarrier": "A carrier", "mnc": 270, "mcc": 310, "numberOfMessageParts": 1, "destination": call.number,
            "priceInUSD": 0.00645, "smsType": "Transactional", "providerResponse": "Message has been accepted by phone",
            "dwellTimeMs": 599, "dwellTimeMsUntilDeviceAck": 1344,
        },
        "status": "SUCCESS",
    })
}

fn event(call: &Call, context: &Value, kind: &str, status: &str, is_final: bool) -> Value {
    json!({
        "eventType": kind, "eventVersion": "1.0", "eventTimestamp": Timestamp::now().as_millisecond(),
        "isFinal": is_final, "originationPhoneNumber": "+12025550199", "destinationPhoneNumber": call.number,
        "isoCountryCode": "US", "messageId": call.message_id, "messageStatus": status,
        "messageStatusDescription": status, "context": context, "totalMessageParts": 1,
        "totalMessagePrice": 0.00645, "totalCarrierFee": 0.0,
    })
}
