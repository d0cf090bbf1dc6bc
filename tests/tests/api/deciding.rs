//! What an operator decides about an unknown: on what was seen, once, and under their own name.

use sendonce::notification::PrincipalId;
use sendonce::time::{EpochMillis, Millis};
use serde_json::{Value, json};
use tests::aws_seam::Fault;

use crate::harness::{Ask, EXPIRES_AT_MS, GET, PUBLISH, Service, TRANSACT};

/// Whose notifications they are, in the example events.
const OWNER: &str = "arn:aws:sts::123456789012:assumed-role/checkout/checkout";
/// Whom the example event of a decision comes from.
const SUPPORT: &str = "arn:aws:sts::123456789012:assumed-role/support/jo";

/// From when on an attempt that began now is surely over.
const OVER: Millis = Millis::from_secs(40);

fn resend() -> Value {
    json!({"decision": "resend", "basis": "risk_accepted"})
}

fn close() -> Value {
    json!({"decision": "close", "basis": "received_per_recipient"})
}

fn ask(id: &str, tag: &str, body: &Value) -> Ask {
    Ask::resolution(id, tag, body).by(OWNER)
}

/// A notification in `dispatch_unknown`, at revision 2.
async fn unknown(service: &Service) -> String {
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::SilentAfter);
    service.deliver().await;
    assert_eq!(service.state(&id), "dispatch_unknown");
    id
}

#[tokio::test(start_paused = true)]
async fn an_unknown_is_closed_and_the_evidence_says_by_whom() {
    let service = Service::start().await;
    let id = unknown(&service).await;
    let answer = service.post(&ask(&id, "\"r2\"", &close())).await;
    let shown = answer.json();
    assert_eq!((answer.status, answer.header("etag")), (200, Some("\"r3\"")));
    assert_eq!((&shown["status"], &shown["reason"]), (&json!("stopped"), &json!("closed_by_operator")));
    assert!(service.get(&Ask::status(&id)).await.body == answer.body, "what status shows");
    let row = &service.rows(&id)[3];
    assert_eq!((&row["kind"], &row["basis"]), (&json!("closed"), &json!("received_per_recipient")));
    assert_eq!(row["principal"], PrincipalId::derive(&["iam", OWNER]).as_str(), "the session included");
    assert!(service.record(&id).get("seal").is_none());
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_is_sent_once_more_on_an_operators_risk() {
    let service = Service::start().await;
    let id = unknown(&service).await;
    service.clock.advance(OVER);
    let answer = service.post(&ask(&id, "\"r2\"", &resend())).await;
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("accepted")));
    assert!(service.deliver().await.is_empty());
    let facts = service.facts(&id);
    assert_eq!(facts[3..], ["resend_authorised:risk_accepted", "attempt_started", "attempt_accepted"]);
    assert_eq!((service.state(&id), service.seam.count(PUBLISH)), ("sent".into(), 2));
    // The same decision again is about a revision that is gone.
    assert_eq!(service.post(&ask(&id, "\"r2\"", &resend())).await.word(), "412 precondition_failed");
    service.deliver().await;
    assert_eq!(service.seam.count(PUBLISH), 2);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn a_decision_names_the_revision_that_was_seen() {
    let service = Service::start().await;
    let id = unknown(&service).await;
    let bare = ask(&id, "", &close()).without_header("if-match");
    assert_eq!(service.post(&bare).await.word(), "428 precondition_required");
    assert_eq!(service.post(&ask(&id, "*", &close())).await.word(), "428 precondition_required");
    for tag in ["\"r1\"", "\"r3\"", "r2", "W/\"r2\"", "\"r02\"", ""] {
        assert_eq!(service.post(&ask(&id, tag, &close())).await.word(), "412 precondition_failed", "{tag}");
    }
    assert_eq!((service.state(&id), service.rows(&id).len()), ("dispatch_unknown".into(), 3));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_unknown_is_nobodys_to_decide() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    for body in [resend(), close()] {
        assert_eq!(service.post(&ask(&id, "\"r0\"", &body)).await.word(), "409 not_unknown");
    }
    service.deliver().await;
    for body in [resend(), close()] {
        assert_eq!(service.post(&ask(&id, "\"r2\"", &body)).await.word(), "409 already_settled");
    }
    assert_eq!(service.rows(&id).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn no_resend_while_the_worker_may_run_nor_at_the_end_of_the_life() {
    let service = Service::start().await;
    let id = unknown(&service).await;
    let early = service.post(&ask(&id, "\"r2\"", &resend())).await;
    assert_eq!((early.word(), early.header("retry-after")), ("409 attempt_may_be_running".into(), Some("40")));
    service.clock.set(EpochMillis::new(EXPIRES_AT_MS - 30_000));
    assert_eq!(service.post(&ask(&id, "\"r2\"", &resend())).await.word(), "409 expired");
    assert_eq!(service.post(&ask(&id, "\"r2\"", &close())).await.status, 200);
    assert_eq!(service.seam.count(PUBLISH), 1);
}

#[tokio::test(start_paused = true)]
async fn no_resend_when_the_attempts_are_used_up() {
    let service = Service::with(&[("ATTEMPTS_MAX", "1")]).await;
    let id = unknown(&service).await;
    service.clock.advance(OVER);
    assert_eq!(service.post(&ask(&id, "\"r2\"", &resend())).await.word(), "409 attempts_used_up");
    assert_eq!(service.post(&ask(&id, "\"r2\"", &close())).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn another_tenant_decides_nothing_unless_it_is_an_operator_of_all() {
    let service = Service::start().await;
    let id = unknown(&service).await;
    let nowhere = service.post(&Ask::resolution(&format!("ntf_{}", "a".repeat(32)), "\"r2\"", &close())).await;
    let others = service.post(&Ask::resolution(&id, "\"r2\"", &close()).by(SUPPORT)).await;
    assert_eq!(others.word(), "404 not_found");
    assert!(others == nowhere, "what is another's and what does not exist are the same");
    assert_eq!(service.state(&id), "dispatch_unknown");

    let operators = [("OPERATOR_PRINCIPALS", "arn:aws:iam::123456789012:role/team/support")];
    let service = Service::with(&operators).await;
    let id = unknown(&service).await;
    let answer = service.post(&Ask::resolution(&id, "\"r2\"", &close()).by(SUPPORT)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(service.rows(&id)[3]["principal"], PrincipalId::derive(&["iam", SUPPORT]).as_str());
    // An operator sees and decides; to cancel and to send for others is not theirs.
    assert_eq!(service.get(&Ask::status(&id).by(SUPPORT)).await.status, 200);
    assert_eq!(service.post(&Ask::cancel(&id).by(SUPPORT)).await.word(), "404 not_found");
}

#[tokio::test(start_paused = true)]
async fn with_tokens_an_operator_is_known_by_claim_and_a_person_by_subject() {
    let tokens = [
        ("AUTHORIZATION", "jwt"),
        ("TENANT_CLAIM", "client_id"),
        ("JWT_ISSUER", "https://issuer.example"),
        ("OPERATOR_PRINCIPALS", "support"),
    ];
    let service = Service::with(&tokens).await;
    let claims = |client: &str| json!({"iss": "https://issuer.example", "client_id": client, "sub": "jo@example.com"});
    let create = Ask::create("k-1", &crate::harness::reset("evt-1")).with_claims(claims("shop"));
    let id = service.post(&create).await.id();
    service.seam.fail_next(PUBLISH, Fault::SilentAfter);
    service.deliver().await;
    let decide = |claims: Value| Ask::resolution(&id, "\"r2\"", &close()).with_claims(claims);
    assert_eq!(service.post(&decide(claims("other"))).await.word(), "404 not_found");
    let mut nameless = claims("support");
    nameless.as_object_mut().expect("claims").remove("sub");
    assert_eq!(service.post(&decide(nameless)).await.word(), "401 caller_unknown");
    assert_eq!(service.post(&decide(claims("support"))).await.status, 200);
    let person = PrincipalId::derive(&["jwt", "https://issuer.example", "jo@example.com"]);
    assert_eq!(service.rows(&id)[3]["principal"], person.as_str());
    assert!(!service.rows(&id)[3].to_string().contains("example.com"));
}

#[tokio::test(start_paused = true)]
async fn a_decision_is_read_strictly_and_all_its_faults_are_told() {
    let service = Service::start().await;
    let id = unknown(&service).await;
    let faults = |answer: crate::harness::Answer| (answer.word(), answer.faults());
    let invalid = |members: &[&str]| ("400 body_invalid".into(), members.iter().map(ToString::to_string).collect());
    let post = async |body: Value| faults(service.post(&ask(&id, "\"r2\"", &body)).await);
    assert_eq!(post(json!({})).await, invalid(&["/decision", "/basis"]));
    assert_eq!(post(json!({"decision": "resend", "basis": "silence"})).await, invalid(&["/basis"]));
    assert_eq!(post(json!({"decision": "close", "basis": "risk_accepted"})).await, invalid(&["/basis"]));
    assert_eq!(
        post(json!({"decision": "no", "basis": 1, "note": "x"})).await,
        invalid(&["/note", "/decision", "/basis"])
    );
    let text = ask(&id, "\"r2\"", &close()).header("content-type", "text/plain");
    assert_eq!(service.post(&text).await.word(), "415 media_type_unsupported");
    assert_eq!(service.post(&ask(&id, "\"r2\"", &close()).body("{")).await.word(), "400 body_not_json");
    assert_eq!(service.post(&ask(&id, "\"r2\"", &close()).method("GET")).await.word(), "405 method_not_allowed");
    assert_eq!(service.rows(&id).len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_do_its_part_is_503_and_asking_again_is_safe() {
    for (operation, times, fault) in [
        (GET, 1, Fault::CodeBefore(400, "AccessDeniedException")),
        (TRANSACT, 1, Fault::CodeBefore(400, "AccessDeniedException")),
    ] {
        let service = Service::start().await;
        let id = unknown(&service).await;
        service.seam.fail_times(operation, times, fault);
        let answer = service.post(&ask(&id, "\"r2\"", &close())).await;
        assert_eq!((answer.word(), answer.header("retry-after")), ("503 unavailable".into(), Some("1")), "{operation}");
        assert_eq!(service.post(&ask(&id, "\"r2\"", &close())).await.status, 200);
        assert_eq!(service.rows(&id).len(), 4);
        service.assert_sound().await;
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_may_decide_about_all_may_see_all_and_so_the_revision_to_name() {
    let service = Service::with(&[("OPERATOR_PRINCIPALS", "arn:aws:iam::123456789012:role/support")]).await;
    let id = unknown(&service).await;
    let seen = service.get(&Ask::status(&id).by(SUPPORT)).await;
    assert_eq!((seen.status, seen.header("etag")), (200, Some("\"r2\"")));
    let evidence = service.get(&Ask::evidence(&id).by(SUPPORT)).await;
    assert_eq!((evidence.status, evidence.json()["rows"].as_array().map(Vec::len)), (200, Some(3)));
    for ask in [Ask::status(&id), Ask::evidence(&id)] {
        let stranger = "arn:aws:sts::123456789012:assumed-role/other/jo";
        assert_eq!(service.get(&ask.by(stranger)).await.word(), "404 not_found");
    }
    // To see is not to own: what is not the operator's decision stays its tenant's.
    assert_eq!(service.post(&Ask::cancel(&id).by(SUPPORT)).await.word(), "404 not_found");
    let decided = service.post(&Ask::resolution(&id, "\"r2\"", &close()).by(SUPPORT)).await;
    assert_eq!(decided.status, 200);
}

#[tokio::test(start_paused = true)]
async fn what_came_by_another_route_was_not_asked_for_the_right() {
    let service = Service::start().await;
    let id = unknown(&service).await;
    let all = |id: &str| {
        [
            ("POST /v1/notifications", Ask::create("k-2", &crate::harness::reset("evt-2"))),
            ("POST /v1/notifications/{id}/cancel", Ask::cancel(id)),
            ("POST /v1/notifications/{id}/resolution", ask(id, "\"r2\"", &close())),
            ("GET /v1/notifications/{id}", Ask::status(id)),
            ("GET /v1/notifications/{id}/evidence", Ask::evidence(id)),
        ]
    };
    let keys = all(&id).map(|(key, _)| key);
    for (own, ask) in all(&id) {
        for key in keys.into_iter().chain(["$default", ""]).filter(|key| *key != own) {
            let ask = ask.clone().by(OWNER).route(key);
            let answer = if own.starts_with("GET") { service.get(&ask).await } else { service.post(&ask).await };
            assert_eq!(answer.word(), "404 not_found", "{own} by {key}");
        }
    }
    assert_eq!((service.state(&id), service.ids().len()), ("dispatch_unknown".into(), 1), "nothing was done");
}
