//! Where the clients take their settings from, and that the seam's tables are the template's.

use std::process::Command;

use sendonce::aws::{Aws, CarrierTimeouts, SetupFault};
use sendonce::ports::Clock;
use sendonce::time::Millis;
use serde_json::{Value, json};
use tests::aws_seam::{Seam, TABLES};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

#[allow(dead_code, reason = "shared with the tests of the template")]
#[path = "../template/document.rs"]
mod document;

#[test]
fn the_tables_are_those_of_the_template() {
    let template = document::Template::load();
    for ((_, table), id) in TABLES.iter().zip(["NotificationsTable", "EvidenceTable"]) {
        let properties = template.properties(id);
        let table: Value = serde_json::from_str(table).unwrap();
        let mut expected: Value = properties.clone();
        for cloud_only in
            ["TimeToLiveSpecification", "PointInTimeRecoverySpecification", "SSESpecification", "TableName"]
        {
            expected.as_object_mut().unwrap().remove(cloud_only);
        }
        assert_eq!(table, expected, "{id}");
        assert_eq!(properties["TimeToLiveSpecification"], json!({"AttributeName": "ttl", "Enabled": true}), "{id}");
    }
}

/// Runs one ignored test of this file in a process whose environment holds these variables and no other of AWS.
fn run_with(test: &str, variables: &[(&str, &str)]) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", &format!("clients::{test}"), "--ignored", "--nocapture"]);
    child.env_clear().envs(variables.iter().copied());
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

const CREDENTIALS: [(&str, &str); 3] =
    [("AWS_REGION", "eu-central-1"), ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "example")];

/// Answers each connection with an error of its own, so that a client shows whom it asked.
async fn endpoint(code: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 65_536]).await;
            let body = format!(r#"{{"__type":"{code}"}}"#);
            let head =
                format!("HTTP/1.1 400 Bad Request\r\nx-amzn-errortype: {code}\r\ncontent-length: {}", body.len());
            let _ = stream.write_all(format!("{head}\r\nconnection: close\r\n\r\n{body}").as_bytes()).await;
        }
    });
    url
}

#[tokio::test]
async fn endpoints_come_from_the_environment_for_all_services_and_for_one() {
    let (general, sns, eum) = (endpoint("General").await, endpoint("ForSns").await, endpoint("ForEum").await);
    let mut variables = CREDENTIALS.to_vec();
    variables.extend([("AWS_ENDPOINT_URL", general.as_str()), ("AWS_ENDPOINT_URL_SNS", sns.as_str())]);
    variables.push(("AWS_ENDPOINT_URL_PINPOINT_SMS_VOICE_V2", eum.as_str()));
    let variables: Vec<_> = variables.iter().map(|(k, v)| (String::from(*k), String::from(*v))).collect();
    let run = move || {
        let variables: Vec<_> = variables.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        run_with("in_a_child_each_client_asks_its_endpoint", &variables);
    };
    tokio::task::spawn_blocking(run).await.unwrap();
}

#[tokio::test]
#[ignore = "run by the test above, in an environment of its own"]
async fn in_a_child_each_client_asks_its_endpoint() {
    use aws_sdk_sns::error::ProvideErrorMetadata;
    let aws = Aws::from_env().await.unwrap();
    let limits = CarrierTimeouts { connect: Millis::from_secs(2), operation: Millis::from_secs(10) };
    let dynamodb = aws.dynamodb().list_tables().send().await.unwrap_err();
    assert_eq!(dynamodb.code(), Some("General"));
    let sqs = aws.sqs().list_queues().send().await.unwrap_err();
    assert_eq!(sqs.code(), Some("General"));
    let kms = aws.kms().list_keys().send().await.unwrap_err();
    assert_eq!(kms.code(), Some("General"));
    let eum = aws.eum(limits).describe_pools().send().await.unwrap_err();
    assert_eq!(eum.code(), Some("ForEum"));
    // SNS speaks XML and does not read this body; that it heard from its own endpoint shows in the header.
    let sns = aws.sns(limits).list_topics().send().await.unwrap_err();
    let header = sns.raw_response().and_then(|answer| answer.headers().get("x-amzn-errortype"));
    assert_eq!(header, Some("ForSns"));
}

#[test]
fn a_missing_region_or_credential_is_named_at_once() {
    run_with("in_a_child_nothing_is_set", &CREDENTIALS[..1]);
    run_with("in_a_child_there_is_no_region", &CREDENTIALS[1..]);
}

#[tokio::test]
#[ignore = "run by the test above, in an environment of its own"]
async fn in_a_child_nothing_is_set() {
    assert_eq!(Aws::from_env().await.unwrap_err(), SetupFault::NoCredentials);
}

#[tokio::test]
#[ignore = "run by the test above, in an environment of its own"]
async fn in_a_child_there_is_no_region() {
    assert_eq!(Aws::from_env().await.unwrap_err(), SetupFault::NoRegion);
}

#[test]
fn chance_on_a_seam_repeats_from_run_to_run_and_not_within_one() {
    let (one, two) = (Seam::new(), Seam::new());
    let draws: Vec<_> = (0..100).map(|_| one.clock().random()).collect();
    assert!(draws.iter().all(|draw| draws.iter().filter(|other| *other == draw).count() == 1));
    assert_eq!(draws[0], two.clock().random());
}
