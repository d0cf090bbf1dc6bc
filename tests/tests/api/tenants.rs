//! Tenants never meet, and nobody is one by their own word.

use sendonce::notification::{Event, EventId, EventType, NotificationId};
use sendonce::tenant::TenantId;
use serde_json::{Value, json};
use tests::aws_seam::{EVIDENCE, NOTIFICATIONS};

use crate::harness::{Ask, Service, reset};

const APP: &str = "arn:aws:sts::123456789012:assumed-role/app/session-1";
const JOB: &str = "arn:aws:sts::123456789012:assumed-role/job/session-1";

#[tokio::test(start_paused = true)]
async fn one_key_and_one_event_of_two_tenants_are_two_notifications() {
    let service = Service::start().await;
    let ask = Ask::create("k-1", &reset("evt-1"));
    let app = service.post(&ask.clone().by(APP)).await;
    let job = service.post(&ask.clone().by(JOB)).await;
    assert!(!app.is_replay() && !job.is_replay());
    assert_ne!(app.id(), job.id());
    // Another command under a key that only the other tenant has used is nobody's reuse.
    let other = service.post(&Ask::create("k-2", &reset("evt-2")).by(APP)).await;
    let theirs = service.post(&Ask::create("k-2", &reset("evt-3")).by(JOB)).await;
    assert_eq!([other.status, theirs.status], [202, 202]);
    service.deliver().await;
    assert_eq!(service.seam.texts().len(), 4);
    service.assert_sound().await;
}

#[tokio::test(start_paused = true)]
async fn another_tenants_id_and_an_unknown_one_are_the_same_404_bytes_everywhere() {
    let service = Service::start().await;
    let id = service.post(&Ask::create("k-1", &reset("evt-1")).by(APP)).await.id();
    let unknown = format!("ntf_{}", "a".repeat(32));
    let before = (service.seam.items(NOTIFICATIONS), service.seam.items(EVIDENCE));
    for make in [Ask::status, Ask::evidence] {
        let theirs = service.get(&make(&id).by(JOB)).await;
        assert_eq!(theirs.word(), "404 not_found");
        assert!(theirs == service.get(&make(&unknown).by(JOB)).await, "the same bytes and headers");
        assert!(theirs == service.get(&make("ntf_short").by(JOB)).await, "for ids that cannot be, too");
        assert_eq!(service.get(&make(&id).by(APP)).await.status, 200);
    }
    for if_match in [None, Some("*"), Some("\"r0\""), Some("\"r9\"")] {
        let ask = |id: &str| match if_match {
            Some(tag) => Ask::cancel(id).by(JOB).header("if-match", tag),
            None => Ask::cancel(id).by(JOB),
        };
        let theirs = service.post(&ask(&id)).await;
        assert_eq!(theirs.word(), "404 not_found");
        assert!(theirs == service.post(&ask(&unknown)).await, "the same bytes and headers");
    }
    assert!(before == (service.seam.items(NOTIFICATIONS), service.seam.items(EVIDENCE)), "nothing of it was done");

    // The same holds when only the evidence is left.
    service.deliver().await;
    service.clock.advance(sendonce::time::Millis::from_secs(31 * 86_400));
    service.seam.sweep_ttl();
    assert_eq!(service.ids().len(), 0);
    assert_eq!(service.get(&Ask::evidence(&id).by(APP)).await.status, 200);
    let theirs = service.get(&Ask::evidence(&id).by(JOB)).await;
    assert!(theirs == service.get(&Ask::evidence(&unknown).by(JOB)).await, "the same bytes and headers");
}

#[tokio::test(start_paused = true)]
async fn a_role_is_one_tenant_whatever_its_sessions_are_called() {
    let service = Service::start().await;
    let ask = Ask::create("k-1", &reset("evt-1"));
    let first = service.post(&ask.clone().by(APP)).await;
    let session = "arn:aws:sts::123456789012:assumed-role/app/some.other@session";
    assert!(service.post(&ask.clone().by(session)).await.says_the_same_as(&first));
    let strangers = [
        "arn:aws:sts::210987654321:assumed-role/app/session-1",
        "arn:aws-cn:sts::123456789012:assumed-role/app/session-1",
        "arn:aws:sts::123456789012:assumed-role/app2/session-1",
        "arn:aws:iam::123456789012:user/app",
        "arn:aws:iam::123456789012:root",
    ];
    for stranger in strangers {
        let answer = service.post(&ask.clone().by(stranger)).await;
        assert!(answer.id() != first.id() && !answer.is_replay(), "{stranger}");
    }
    assert_eq!(service.ids().len(), 1 + strangers.len());
}

#[tokio::test(start_paused = true)]
async fn whoever_knows_event_and_principal_can_find_the_notification() {
    let service = Service::start().await;
    let id = service.post(&Ask::create("k-1", &reset("evt-1")).by(APP)).await.id();
    let tenant = TenantId::derive(&["iam", "aws", "123456789012", "role/app"]);
    let r#type = EventType::parse("password_reset.requested").expect("a type");
    let event = Event { r#type, id: EventId::parse("evt-1").expect("an id") };
    assert_eq!(NotificationId::of(&tenant, &event).as_str(), id);
}

#[tokio::test(start_paused = true)]
async fn callers_by_jwt_are_told_apart_by_issuer_and_claim() {
    let service = Service::with(&[("AUTHORIZATION", "jwt")]).await;
    let claims = |iss: &str, sub: &str| json!({"iss": iss, "sub": sub, "aud": "api", "exp": "1796073000"});
    let ask = |claims: Value| Ask::create("k-1", &reset("evt-1")).with_claims(claims);
    let first = service.post(&ask(claims("https://id.example", "alice@example.com"))).await;
    let renewed = json!({"iss": "https://id.example", "sub": "alice@example.com", "exp": "1796079999"});
    assert!(service.post(&ask(renewed)).await.says_the_same_as(&first), "a new token is the same caller");
    for (iss, sub) in [("https://id.example", "bob"), ("https://other.example", "alice@example.com")] {
        assert_ne!(service.post(&ask(claims(iss, sub))).await.id(), first.id());
    }
    let asked = Ask::status(&first.id());
    assert_eq!(
        service.get(&asked.clone().with_claims(claims("https://id.example", "alice@example.com"))).await.status,
        200
    );
    assert_eq!(service.get(&asked.with_claims(claims("https://id.example", "bob"))).await.word(), "404 not_found");

    let by_client = Service::with(&[("AUTHORIZATION", "jwt"), ("TENANT_CLAIM", "client_id")]).await;
    let with_client = json!({"iss": "https://id.example", "sub": "alice@example.com", "client_id": "c-1"});
    assert_eq!(by_client.post(&ask(with_client)).await.status, 202);
    let without = by_client.post(&ask(claims("https://id.example", "alice@example.com"))).await;
    assert_eq!(without.word(), "401 caller_unknown");
}

#[tokio::test(start_paused = true)]
async fn a_request_whose_authoriser_names_nobody_is_401_and_touches_nothing() {
    let iam = Service::start().await;
    let jwt = Service::with(&[("AUTHORIZATION", "jwt")]).await;
    [&iam, &jwt].iter().for_each(|service| service.seam.forget_requests());
    let with_arn = |arn: Value| json!({"iam": {"accountId": "123456789012", "userArn": arn}});
    let nobody = [
        Value::Null,
        json!({}),
        json!({"iam": null}),
        json!({"iam": {}}),
        with_arn(Value::Null),
        with_arn(json!("")),
        with_arn(json!("app")),
        with_arn(json!("arn:aws:s3:::bucket")),
        with_arn(json!("arn:aws:sts::123456789012:assumed-role/app")),
        with_arn(json!("arn:aws:iam:::user/app")),
        json!({"jwt": {"claims": {"sub": "alice"}, "scopes": null}}),
        json!({"lambda": {"tenant": "app"}}),
    ];
    let no_claims = [
        json!({"jwt": {"claims": {}, "scopes": null}}),
        json!({"jwt": {"claims": {"sub": "alice"}, "scopes": null}}),
        json!({"jwt": {"claims": {"iss": "https://id.example"}, "scopes": null}}),
        json!({"jwt": {"claims": {"iss": "https://id.example", "sub": ""}, "scopes": null}}),
        with_arn(json!(APP)),
    ];
    let id = format!("ntf_{}", "a".repeat(32));
    let cases = nobody.iter().map(|one| (&iam, one)).chain(no_claims.iter().map(|one| (&jwt, one)));
    for (n, (service, authorizer)) in cases.enumerate() {
        let asks = [Ask::create("k-1", &reset("evt-1")), Ask::cancel(&id)];
        for ask in asks {
            // Neither body nor header makes anybody a tenant.
            let ask = ask.authorizer(authorizer.clone()).header("x-tenant", "app").header("authorization", "Bearer x");
            assert_eq!(service.post(&ask).await.word(), "401 caller_unknown", "case {n}");
        }
        for ask in [Ask::status(&id), Ask::evidence(&id)] {
            assert_eq!(service.get(&ask.authorizer(authorizer.clone())).await.word(), "401 caller_unknown", "case {n}");
        }
    }
    assert!(iam.seam.counts().is_empty() && jwt.seam.counts().is_empty());
}
