//! Requests that are not what they should be: a clear problem, and nothing done.

use data_encoding::BASE64;
use serde_json::{Value, json};
use tests::aws_seam::NOTIFICATIONS;

use crate::harness::{Answer, Ask, Service, reset};

fn create() -> Ask {
    Ask::create("k-1", &reset("evt-1"))
}

fn some_id() -> String {
    format!("ntf_{}", "a".repeat(32))
}

/// Problems have one form: RFC 9457, a stable code, nothing of the request in them.
fn is_well_formed_problem(answer: &Answer) -> bool {
    let problem = answer.json();
    answer.header("content-type") == Some("application/problem+json")
        && answer.header("cache-control") == Some("no-store")
        && problem["status"] == answer.status
        && problem["type"] == "about:blank"
        && ["title", "code", "detail"].iter().all(|name| problem[name].as_str().is_some_and(|text| !text.is_empty()))
}

#[tokio::test(start_paused = true)]
async fn wrong_methods_paths_and_types_are_told_apart() {
    let service = Service::start().await;
    service.seam.forget_requests();
    let id = some_id();
    let at = |suffix: &str| format!("/v1/notifications/{id}{suffix}");
    let cases = [
        (create().method("GET"), "405 method_not_allowed", Some("POST")),
        (create().method("DELETE"), "405 method_not_allowed", Some("POST")),
        (create().method("OPTIONS"), "405 method_not_allowed", Some("POST")),
        (Ask::cancel(&id).method("GET"), "405 method_not_allowed", Some("POST")),
        (create().path("/v1/notifications/"), "404 not_found", None),
        (create().path(&at("")), "405 method_not_allowed", Some("GET")),
        (create().path("/v1/notifications/ntf_short"), "404 not_found", None),
        (create().path("/v2/notifications"), "404 not_found", None),
        (create().path("/V1/notifications"), "404 not_found", None),
        (create().path("/"), "404 not_found", None),
        (create().path(""), "404 not_found", None),
        (create().path("/v1/notifications/../notifications"), "404 not_found", None),
        (create().path(&at("/cancel/x")), "404 not_found", None),
        (create().path(&at("/resend")), "404 not_found", None),
        (create().path("/v1/notifications/%6Etf_a/cancel"), "404 not_found", None),
        (Ask::cancel("ntf_SHORT"), "404 not_found", None),
        (Ask::status(&id), "404 not_found", None), // known, but not to this function
        (create().header("content-type", "text/plain"), "415 media_type_unsupported", None),
        (create().header("content-type", "application/x-www-form-urlencoded"), "415 media_type_unsupported", None),
        (create().header("content-type", "application/json, text/plain"), "415 media_type_unsupported", None),
        (create().header("content-type", "application/json; charset=utf-16"), "415 media_type_unsupported", None),
        (create().without_header("content-type"), "415 media_type_unsupported", None),
        (create().header("content-type", ""), "415 media_type_unsupported", None),
    ];
    for (n, (ask, expected, allow)) in cases.into_iter().enumerate() {
        let answer = service.post(&ask).await;
        assert_eq!((answer.word(), answer.header("allow")), (expected.into(), allow), "case {n}");
        assert!(is_well_formed_problem(&answer), "case {n}");
    }
    let cases = [
        (Ask::status(&id).method("POST"), "405 method_not_allowed", Some("GET")),
        (Ask::evidence(&id).method("DELETE"), "405 method_not_allowed", Some("GET")),
        (Ask::status("ntf_SHORT"), "404 not_found", None),
        (Ask::status(&id).path(&at("/cancel")).method("POST"), "404 not_found", None),
        (Ask::status(&id).path("/v1/notifications").method("POST"), "404 not_found", None),
    ];
    for (n, (ask, expected, allow)) in cases.into_iter().enumerate() {
        let answer = service.get(&ask).await;
        assert_eq!((answer.word(), answer.header("allow")), (expected.into(), allow), "status, case {n}");
    }
    assert!(service.seam.counts().is_empty(), "nothing was asked of any service");
}

#[tokio::test(start_paused = true)]
async fn json_under_another_name_is_taken() {
    let service = Service::start().await;
    let first = service.post(&create()).await;
    let types = ["application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.example+json"];
    for content_type in types {
        let again = service.post(&create().header("content-type", content_type)).await;
        assert!(again.says_the_same_as(&first), "{content_type}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_in_base64_is_the_same_body_and_broken_base64_is_400() {
    let service = Service::start().await;
    let plain = service.post(&create()).await;
    let encode = |text: &str| {
        let mut ask = create().body(text);
        ask.0["isBase64Encoded"] = json!(true);
        ask
    };
    let again = service.post(&encode(&BASE64.encode(reset("evt-1").to_string().as_bytes()))).await;
    assert!(again.is_replay() && again.says_the_same_as(&plain));
    for broken in ["%%%", "eyJ", "eyJ9\n", &reset("evt-2").to_string()] {
        assert_eq!(service.post(&encode(broken)).await.word(), "400 event_unreadable");
    }
    assert_eq!(service.post(&encode(&BASE64.encode(b"\xff\xfe{}"))).await.word(), "400 body_not_json");
}

#[tokio::test(start_paused = true)]
async fn a_named_stage_before_the_path_is_not_part_of_it() {
    let service = Service::start().await;
    let staged = |mut ask: Ask, stage: &str| {
        let path = format!("/{stage}{}", ask.0["rawPath"].as_str().expect("a path"));
        ask.0["requestContext"]["stage"] = json!(stage);
        ask.path(&path)
    };
    let first = service.post(&staged(create(), "prod")).await;
    let id = first.id();
    assert!(service.post(&create()).await.says_the_same_as(&first));
    assert_eq!(service.get(&staged(Ask::status(&id), "prod")).await.status, 200);
    assert_eq!(service.post(&staged(Ask::cancel(&id), "v1")).await.status, 200);
    // A path that only begins like the stage is not under it.
    let mut ask = Ask::status(&id).path(&format!("/production/v1/notifications/{id}"));
    ask.0["requestContext"]["stage"] = json!("prod");
    assert_eq!(service.get(&ask).await.word(), "404 not_found");
}

#[tokio::test(start_paused = true)]
async fn events_of_other_shapes_are_400_and_never_a_panic() {
    let service = Service::start().await;
    service.seam.forget_requests();
    let file = |text: &str| serde_json::from_str::<Value>(text).expect("an example event");
    let mut version_1 = create().0;
    version_1["version"] = json!("1.0");
    let mut no_version = create().0;
    no_version.as_object_mut().expect("an event").remove("version");
    let mut no_path = create().0;
    no_path.as_object_mut().expect("an event").remove("rawPath");
    let mut body_is_an_object = create().0;
    body_is_an_object["body"] = reset("evt-1");
    let mut headers_are_a_list = create().0;
    headers_are_a_list["headers"] = json!([["idempotency-key", "k-1"]]);
    let rest_api = json!({
        "version": "1.0", "resource": "/v1/notifications", "path": "/v1/notifications", "httpMethod": "POST",
        "headers": {"idempotency-key": "k-1"}, "body": reset("evt-1").to_string(), "isBase64Encoded": false,
        "requestContext": {"identity": {"userArn": "arn:aws:iam::123456789012:user/app"}},
    });
    let events = [
        json!(null),
        json!({}),
        json!([]),
        json!("event"),
        json!(7),
        json!({"version": "2.0"}),
        json!({"version": "2.0", "rawPath": "/v1/notifications", "requestContext": {"http": {"method": "P OST"}}}),
        json!({"requestContext": "none"}),
        version_1,
        no_version,
        no_path,
        body_is_an_object,
        headers_are_a_list,
        rest_api,
        file(include_str!("../../../functions/dispatch/events/doorbell.json")),
        file(include_str!("../../../functions/reconciliation/events/tick.json")),
    ];
    for (n, event) in events.into_iter().enumerate() {
        let (posted, got) = (service.post(&Ask(event.clone())).await, service.get(&Ask(event)).await);
        assert_eq!([posted.word(), got.word()], ["400 event_unreadable"; 2], "event {n}");
        assert!(is_well_formed_problem(&posted) && posted == got, "event {n}");
    }
    assert!(service.seam.counts().is_empty());
}

#[tokio::test(start_paused = true)]
async fn headers_that_are_not_text_are_refused_not_lost() {
    let service = Service::start().await;
    let answer = service.post(&create().header("idempotency-key", "k\u{1}")).await;
    assert_eq!(answer.status, 400);
    let answer = service.post(&create().header("bad header name", "x")).await;
    assert!([202, 400].contains(&answer.status), "an answer in any case, {}", answer.status);
    assert!(service.seam.items(NOTIFICATIONS).len() <= 2);
}
