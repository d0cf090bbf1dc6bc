//! Token, text and number: in the provider call, in the seal, and nowhere else.

use data_encoding::BASE64;
use sendonce::aws::read_event;
use sendonce::config::CallerRule;
use sendonce::http::{Request, read_command};
use sendonce::idempotency::{FingerprintKey, IdempotencyKey};
use sendonce::notification::{DataKey, NotificationId, Payload, Sealed};
use sendonce::ports::{Clock, EvidenceLog, Records};
use sendonce::tenant::TenantId;
use sendonce::time::Millis;
use serde_json::{Value, json};
use tests::aws_seam::{Fault, NOTIFICATIONS, SNS_LOG_GROUP};
use tracing::Level;

use crate::harness::{
    Ask, DATA_KEY, DECRYPT, DISPATCH_TIMEOUT, EXPIRES_AT, GET, Lines, LogRow, NUMBER, PUBLISH, RING, SEND_TEXT,
    Service, THROUGH_EUM, TOKEN, TRANSACT, eum_event, message, pushed, queued, reset, traces,
};

#[test]
fn p1_the_search_finds_what_it_should() {
    let body = reset("evt-1").to_string();
    let carried = [
        format!("to={NUMBER}"),
        String::from("%2B15550142973"),
        String::from("code 4829"),
        String::from("x2973x"),
        String::from("5550142"),
        format!("17{TOKEN}00000"),
        String::from("Your code is"),
        BASE64.encode(body.as_bytes()),
        BASE64.encode(&body.as_bytes()[1..]),
        BASE64.encode(&body.as_bytes()[2..]),
        format!("{body:?}"),
        data_encoding::HEXLOWER.encode(body.as_bytes()),
    ];
    for (n, text) in carried.iter().enumerate() {
        assert!(traces(text) > 0, "form {n}");
    }
    let clean =
        "{\"at\":1796069400123,\"nonce\":\"01234829012345678901234567890123\",\"to\":\"+1••••••••73\"} 2026-11-30";
    assert_eq!(traces(clean), 0);
}

/// Requests with number, token and text in every place where a client could put them.
fn refused_requests() -> Vec<Ask> {
    let raw = |body: String| Ask::create_raw("k-bad", &body);
    let with = |name: &str, value: Value| {
        let mut body = reset("evt-bad");
        body[name] = value;
        Ask::create("k-bad", &body)
    };
    let good = || Ask::create("k-bad", &reset("evt-bad"));
    let mut broken_base64 = good();
    broken_base64.0["isBase64Encoded"] = json!(true);
    vec![
        raw(format!("{} {TOKEN}", reset("evt-bad"))),
        raw(format!("{{\"to\":\"{NUMBER}\",\"to\":\"{NUMBER}\"}}")),
        raw(format!("\"{}\"", TOKEN.repeat(10_000))),
        raw(format!("{NUMBER}{TOKEN}")),
        with(TOKEN, json!(NUMBER)),
        with("to", json!(NUMBER.replace('+', "00"))),
        with("to", json!([NUMBER, TOKEN])),
        with("message", json!(format!("{TOKEN}\u{0}"))),
        with("sender_id", json!(TOKEN)),
        with("kind", json!(TOKEN)),
        with("expires_at", json!(TOKEN)),
        with("event", json!({"type": TOKEN, "id": &NUMBER[1..]})),
        with("event", json!({"type": NUMBER, "id": {(TOKEN): NUMBER}})),
        good().header("idempotency-key", &format!("{NUMBER} {TOKEN}")),
        good().header("content-type", &format!("text/{TOKEN}")),
        good().path(&format!("/v1/{TOKEN}")),
        good().method("PATCH"),
        good().authorizer(json!({"iam": {"userArn": format!("{NUMBER}{TOKEN}")}})),
        broken_base64,
        Ask::cancel(TOKEN),
        Ask::cancel(&format!("ntf_{}", "a".repeat(32))).header("if-match", TOKEN),
        Ask(json!({"version": "2.0", "body": reset("evt-bad")})),
        Ask(json!(format!("{NUMBER}{TOKEN}"))),
    ]
}

async fn admissions(service: &Service) {
    for ask in refused_requests() {
        assert!((400..500).contains(&service.post(&ask).await.status));
        service.get(&ask).await;
    }
    // Keys are made of what clients have at hand.
    let ask = Ask::create(&format!("{}:{TOKEN}", &NUMBER[1..]), &reset("evt-0"));
    for (operation, fault) in [
        (TRANSACT, Fault::SilentAfter),
        (TRANSACT, Fault::CodeBefore(400, "ValidationException")),
        (TRANSACT, Fault::LostBefore),
        (RING, Fault::CodeBefore(500, "InternalFailure")),
    ] {
        service.seam.fail_next(operation, fault);
        service.post(&ask).await;
    }
    assert_eq!(service.post(&ask).await.status, 202);
    assert_eq!(service.post(&Ask::create("k-other", &reset("evt-0"))).await.status, 202);
    let mut other = reset("evt-0");
    other["message"] = json!(format!("{TOKEN} is your code"));
    for key in ["k-other", "k-new"] {
        assert_eq!(service.post(&Ask::create(key, &other)).await.status, 409);
    }
    service.clock.advance(Millis::from_secs(300));
    service.seam.fail_times(DATA_KEY, 2, Fault::SilentBefore);
    let mut late = reset("evt-late");
    late["expires_at"] = json!("2026-11-30T20:25:00Z");
    assert_eq!(service.post(&Ask::create("k-late", &late)).await.status, 503);
    let mut over = reset("evt-over");
    over["expires_at"] = json!(EXPIRES_AT.replace("2026", "2020"));
    assert_eq!(service.post(&Ask::create("k-over", &over)).await.status, 400);
}

/// Every way in which a call of SNS can end.
fn ends_of_publish() -> Vec<Fault> {
    let quoting = format!("<Error><Code>Refused</Code><Message>{NUMBER} was not told {TOKEN}</Message></Error>");
    vec![
        Fault::CodeBefore(400, "InvalidParameter"),
        Fault::CodeBefore(403, "OptedOut"),
        Fault::CodeBefore(400, "Throttled"),
        Fault::CodeBefore(400, "Unheard.Of"),
        Fault::CodeAfter(500, "InternalError"),
        Fault::SilentAfter,
        Fault::LostAfter,
        Fault::NeverConnected,
        Fault::BodyAfter(200, quoting.clone()),
        Fault::BodyBefore(400, quoting.clone()),
        Fault::BodyBefore(500, quoting),
        Fault::BodyAfter(200, String::new()),
    ]
}

/// Every way in which a call of End User Messaging can end.
fn ends_of_send_text() -> Vec<Fault> {
    let quoting = |exception: &str| {
        let said = format!("{NUMBER} was not told {TOKEN}");
        json!({"__type": exception, "Message": said, "Reason": said, "ResourceId": NUMBER, "MessageId": said})
            .to_string()
    };
    vec![
        Fault::eum("ValidationException", "DESTINATION_COUNTRY_BLOCKED"),
        Fault::eum("ConflictException", "DESTINATION_PHONE_NUMBER_OPTED_OUT"),
        Fault::CodeBefore(400, "ThrottlingException"),
        Fault::CodeBefore(400, "UnheardOfException"),
        Fault::CodeAfter(500, "InternalServerException"),
        Fault::SilentAfter,
        Fault::LostAfter,
        Fault::NeverConnected,
        Fault::BodyAfter(200, quoting("")),
        Fault::BodyBefore(400, quoting("ValidationException")),
        Fault::BodyBefore(400, quoting("ConflictException")),
        Fault::BodyBefore(400, quoting(TOKEN)),
        Fault::BodyBefore(500, quoting("InternalServerException")),
        Fault::BodyAfter(200, format!("{NUMBER} {TOKEN}")),
    ]
}

/// One notification for each way in which a provider call can end, and for each way in which it is not made.
async fn dispatches(service: &Service, call: &str, ends: Vec<Fault>) {
    for (n, fault) in ends.into_iter().enumerate() {
        service.admit(&format!("evt-d{n}")).await;
        service.seam.fail_next(call, fault);
        service.deliver().await;
        service.clock.advance(Millis::from_secs(3));
        service.deliver().await;
    }
    for (operation, times, fault) in [
        (GET, 3, Fault::SilentBefore),
        (DECRYPT, 2, Fault::CodeBefore(400, "InvalidCiphertextException")),
        (TRANSACT, 12, Fault::LostBefore),
    ] {
        let cold = service.cold().await;
        service.admit(&format!("evt-{operation}").replace(':', "-")).await;
        service.seam.fail_times(operation, times, fault);
        let event = crate::harness::doorbells(&service.seam.receive(10));
        service.batch_to(&cold.dispatch, &event, DISPATCH_TIMEOUT).await.expect("the batch is answered");
    }
    let bodies = [format!("{NUMBER} {TOKEN}"), reset("evt-1").to_string(), format!("{{\"v\":1,\"id\":\"{TOKEN}\"}}")];
    for body in bodies {
        let event = json!({"Records": [message("m-1", &body, 1)]});
        let failed = service.batch_to(&service.dispatch, &event, DISPATCH_TIMEOUT).await;
        assert_eq!(failed.map(|failed| failed.len()), Ok(1));
        assert!(service.batch_to(&service.dispatch, &json!({"Records": body}), DISPATCH_TIMEOUT).await.is_err());
    }
}

async fn endings(service: &Service) {
    let ids = service.ids();
    for id in &ids {
        service.get(&Ask::status(id)).await;
        service.get(&Ask::status(id).header("if-none-match", TOKEN)).await;
        service.get(&Ask::evidence(id)).await;
        service.post(&Ask::cancel(id).header("if-match", &format!("\"{TOKEN}\""))).await;
    }
    service.post(&Ask::cancel(&ids[0])).await;
    // A record that cannot be read, with the number where none belongs.
    let mut poison = service.record(&ids[1]);
    poison["note"] = json!({"S": format!("{NUMBER} {TOKEN}")});
    let before = service.record(&ids[1]);
    service.seam.plant(NOTIFICATIONS, &poison);
    service.get(&Ask::status(&ids[1])).await;
    service.get(&Ask::evidence(&ids[1])).await;
    service.post(&Ask::cancel(&ids[1])).await;
    let doorbell = format!(r#"{{"v":1,"id":"{}"}}"#, ids[1]);
    let event = json!({"Records": [message("m-1", &doorbell, 1)]});
    service.batch_to(&service.dispatch, &event, DISPATCH_TIMEOUT).await.expect("the batch is answered");
    service.seam.plant(NOTIFICATIONS, &before);
    for _ in 0..3 {
        service.tick().await;
        service.clock.advance(Millis::from_secs(400));
    }
    service.tick_with(&service.reconciliation, &json!({"to": NUMBER, "code": TOKEN}), Millis::from_secs(50)).await;
    for id in service.ids() {
        service.get(&Ask::status(&id)).await;
        service.get(&Ask::evidence(&id)).await;
    }
}

/// All that providers report, each with the number in it, and what is no report.
async fn reports(service: &Service) {
    let id = service.admit("evt-reported").await;
    service.deliver().await;
    let attempt = service.record(&id)["att"]["S"].as_str().expect("an attempt").to_owned();
    let message = service.record(&id)["mid"]["S"].as_str().expect("a message").to_owned();
    let now = service.clock.now();
    let reason = format!("{NUMBER} rejected {TOKEN}");
    let rows = [
        LogRow::failed(&message, now, &reason).text(),
        LogRow { message_id: Some(NUMBER[1..].into()), ..LogRow::taken("x", now) }.text(),
        LogRow { message_id: None, ..LogRow::failed("x", now, TOKEN) }.text(),
        LogRow::taken("x", now).text().replace("2026-11-30", TOKEN),
        format!("{{\"delivery\":{{\"destination\":\"{NUMBER}\"}}}}"),
        reason.clone(),
    ];
    let bodies = [
        eum_event("TEXT_SPAM", &id, &attempt, now).to_string(),
        eum_event(TOKEN, &id, &attempt, now).to_string(),
        eum_event("TEXT_DELIVERED", NUMBER, TOKEN, now).to_string(),
        eum_event("TEXT_DELIVERED", &id, &format!("att_{}", "a".repeat(26)), now).to_string(),
        json!({"Message": reason}).to_string(),
        reason,
    ];
    rows.iter().for_each(|row| service.seam.write_log(SNS_LOG_GROUP, now, row));
    for operation in [Some(TRANSACT), Some(GET), Some("dynamodb:Query"), None] {
        if let Some(operation) = operation {
            service.seam.fail_next(operation, Fault::CodeBefore(400, "AccessDeniedException"));
        }
        // Whatever comes of it: what is searched is what is said about it.
        let _ = service.reconcile(&pushed(&rows)).await;
        let _ = service.reconcile(&queued(&bodies)).await;
    }
    for event in [json!({"awslogs": {"data": NUMBER}}), json!({"awslogs": TOKEN}), json!({"Records": NUMBER})] {
        let _ = service.reconcile(&event).await;
    }
    let _ = service.reconcile(&json!({"check": format!("{NUMBER} {TOKEN}")})).await;
    let decision = json!({"decision": NUMBER, "basis": TOKEN, (TOKEN): NUMBER});
    service.post(&Ask::resolution(&id, TOKEN, &decision)).await;
    service.post(&Ask::resolution(&id, "\"r1\"", &decision)).await;
}

#[tokio::test(start_paused = true)]
async fn p1_number_token_and_text_are_in_no_log_item_message_request_or_answer() {
    leaves_no_trace(&[], PUBLISH, ends_of_publish()).await;
}

#[tokio::test(start_paused = true)]
async fn p1_nor_are_they_when_texts_go_through_end_user_messaging() {
    leaves_no_trace(&[THROUGH_EUM], SEND_TEXT, ends_of_send_text()).await;
}

async fn leaves_no_trace(changes: &[(&str, &str)], call: &str, ends: Vec<Fault>) {
    let (lines, _caught) = Lines::catch(Level::TRACE);
    let service = Service::with(changes).await;
    admissions(&service).await;
    let nothing_yet = service.written_down(&lines);
    reports(&service).await;
    dispatches(&service, call, ends).await;
    endings(&service).await;

    assert!(service.seam.texts().len() > 3, "texts were sent");
    let calls = service.seam.requests().into_iter().filter(|request| request.operation == call);
    assert!(calls.map(|call| call.body).all(|body| traces(&body) > 5), "the search finds them in the provider call");
    for (place, text) in service.written_down(&lines).into_iter().chain(nothing_yet) {
        assert!(text.len() > 100, "{place} was there to be searched: {} bytes", text.len());
        assert_eq!(traces(&text), 0, "{place} holds a piece of number, token or text");
    }
    let kinds = ["transition", "a message is not a doorbell", "an AWS request did not succeed", "cannot be read"];
    assert!(kinds.iter().all(|kind| lines.text().contains(kind)), "the log was at work");
}

#[tokio::test(start_paused = true)]
async fn p2_a_provider_that_answers_500_leaves_no_body_and_no_number_in_the_log_at_trace() {
    for fault in [
        Fault::CodeBefore(500, "InternalError"),
        Fault::BodyBefore(500, format!("<Error><Code>{TOKEN}</Code><Message>{NUMBER}</Message></Error>")),
        Fault::BodyBefore(500, format!("{NUMBER}: {TOKEN}")),
    ] {
        let (lines, _caught) = Lines::catch(Level::TRACE);
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        service.seam.fail_next(PUBLISH, fault);
        service.deliver().await;
        assert_eq!(service.state(&id), "dispatch_unknown");
        let log = lines.text();
        assert!(log.contains("sns:Publish") && log.contains("\"class\":\"unknown\""), "the failure is in the log");
        for (place, text) in service.written_down(&lines) {
            assert_eq!(traces(&text), 0, "{place}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn p1_at_info_there_is_one_line_a_transition_and_nothing_else() {
    let (lines, _caught) = Lines::catch(Level::INFO);
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.admit("evt-1").await;
    service.deliver().await;
    service.tick().await;
    service.get(&Ask::status(&id)).await;
    let lines = lines.text();
    let said: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let states: Vec<_> = said.iter().map(|line| line["state"].as_str().expect("a state")).collect();
    assert_eq!(states, ["accepted", "sending", "sent"]);
    assert!(said.iter().all(|line| line["notification.id"] == id && line["message"] == "transition"));
}

#[tokio::test(start_paused = true)]
async fn p1_nothing_that_can_be_printed_for_debugging_prints_them() {
    let service = Service::start().await;
    let body = reset("evt-1").to_string();
    let id = service.admit("evt-1").await;
    service.deliver().await;
    let id = NotificationId::parse(&id).expect("an id");
    let ledger = service.seam.adapters().await.ledger;

    let command = read_command(body.as_bytes()).expect("a command");
    let payload = Payload { to: command.to.clone(), message: command.message.clone() };
    let tenant = TenantId::derive(&["a"]);
    let key = DataKey::new([7; 32]);
    let sealed = Sealed::seal(&payload, &tenant, &id, &key, &[9; 184], [1; 12]).expect("sealed");
    let opened = sealed.open(&tenant, &id, &key).expect("opened");
    let headers = vec![(String::from("idempotency-key"), format!("{NUMBER}{TOKEN}"))];
    let request = Request { method: String::from("POST"), path: String::from("/"), headers, body: body.into_bytes() };
    let ask = Ask::create(&format!("{}-{TOKEN}", &NUMBER[1..]), &reset("evt-1"));
    let shown = [
        format!("{command:?} {payload:?} {opened:?} {sealed:?} {key:?} {request:?}"),
        format!("{:?}", read_event(&ask.payload(), &CallerRule::Iam).expect("a request")),
        format!("{:?}", IdempotencyKey::parse(&format!("{}-{TOKEN}", &NUMBER[1..]))),
        format!("{:?}", IdempotencyKey::parse(&format!("{NUMBER} {TOKEN}"))),
        format!("{:?} {:?}", command.to.mask(), command.to.mac(&FingerprintKey::new([1; 32]))),
        format!("{:?} {:?}", ledger.record(&id).await, ledger.rows(&id).await),
        format!("{:?} {:?} {:?} {:?}", service.admission, service.dispatch, service.reconciliation, service.status),
        format!("{:?}", read_command(format!("{{\"to\":\"{NUMBER}\",\"{TOKEN}\":1}}").as_bytes())),
    ];
    for (n, text) in shown.iter().enumerate() {
        assert!(text.len() > 10, "{n} prints something");
        assert_eq!(traces(text), 0, "{n} prints a piece of number, token or text");
    }
}
