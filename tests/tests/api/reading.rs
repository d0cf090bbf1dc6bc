//! Status and evidence: from local state alone, and never a write.

use data_encoding::{BASE64, BASE64URL_NOPAD};
use sendonce::time::Millis;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tests::aws_seam::{EVIDENCE, Fault};

use crate::harness::{Ask, GET, PUBLISH, Service};

#[tokio::test(start_paused = true)]
async fn status_shows_the_state_its_tag_and_when_to_look_again() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    let open = service.get(&Ask::status(&id)).await;
    let place = format!("/v1/notifications/{id}");
    assert_eq!(
        open.json(),
        json!({
            "id": id, "status": "accepted", "settled": false,
            "event": {"type": "password_reset.requested", "id": "evt-1"}, "kind": "transactional",
            "to": "+1••••••••73", "accepted_at": "2026-11-30T20:10:00.123Z", "expires_at": "2026-11-30T20:20:00.000Z",
            "updated_at": "2026-11-30T20:10:00.123Z", "attempts": 0,
            "links": {"self": place, "evidence": format!("{place}/evidence"), "cancel": format!("{place}/cancel")},
        })
    );
    assert_eq!((open.header("etag"), open.header("retry-after")), (Some("\"r0\""), Some("2")));
    assert_eq!(open.header("cache-control"), Some("no-store"));

    service.deliver().await;
    let settled = service.get(&Ask::status(&id)).await;
    assert_eq!((settled.header("etag"), settled.header("retry-after")), (Some("\"r2\""), None));
    let shown = settled.json();
    assert_eq!((&shown["status"], &shown["settled"], &shown["attempts"]), (&json!("sent"), &json!(true), &json!(1)));
    assert_eq!((&shown["last_attempt"]["number"], &shown["last_attempt"]["provider"]), (&json!(1), &json!("sns")));
    assert_eq!(shown["message_id"], service.seam.texts()[0].message_id.as_str());
}

#[tokio::test(start_paused = true)]
async fn each_open_state_asks_to_look_again_and_each_settled_one_does_not() {
    for (fault, status, reason, open) in [
        (Some(Fault::SilentBefore), "dispatch_unknown", Value::Null, true),
        (Some(Fault::CodeBefore(400, "Throttled")), "accepted", Value::Null, true),
        (Some(Fault::CodeBefore(400, "OptedOut")), "failed", Value::Null, false),
        (None, "sent", Value::Null, false),
    ] {
        let service = Service::start().await;
        let id = service.admit("evt-1").await;
        fault.into_iter().for_each(|fault| service.seam.fail_next(PUBLISH, fault));
        service.deliver().await;
        let answer = service.get(&Ask::status(&id)).await;
        let shown = answer.json();
        assert_eq!((&shown["status"], &shown["reason"], &shown["settled"]), (&json!(status), &reason, &json!(!open)));
        assert_eq!(answer.header("retry-after").is_some(), open, "{status}");
    }
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.clock.advance(Millis::from_secs(600));
    service.deliver().await;
    let shown = service.get(&Ask::status(&id)).await.json();
    assert_eq!((&shown["status"], &shown["reason"]), (&json!("stopped"), &json!("expired_before_attempt")));
}

#[tokio::test(start_paused = true)]
async fn an_unchanged_notification_is_304_without_a_body() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    for tag in ["\"r0\"", "W/\"r0\"", "\"r7\", \"r0\"", "*"] {
        let answer = service.get(&Ask::status(&id).header("if-none-match", tag)).await;
        assert_eq!((answer.status, answer.body.as_str(), answer.header("etag")), (304, "", Some("\"r0\"")), "{tag}");
    }
    for tag in ["\"r1\"", "r0", "", "\"r00\"", "\"R0\""] {
        assert_eq!(service.get(&Ask::status(&id).header("if-none-match", tag)).await.status, 200, "{tag}");
    }
    service.deliver().await;
    assert_eq!(service.get(&Ask::status(&id).header("if-none-match", "\"r0\"")).await.status, 200, "it has changed");
}

#[tokio::test(start_paused = true)]
async fn evidence_tells_the_whole_story_and_anyone_can_check_its_chain() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::CodeBefore(400, "Throttled"));
    service.deliver().await;
    service.clock.advance(Millis::from_secs(3));
    service.deliver().await;
    let shown = service.get(&Ask::evidence(&id)).await.json();
    assert_eq!((&shown["id"], &shown["verified"], shown.get("fault")), (&json!(id), &json!(true), None));
    let rows = shown["rows"].as_array().expect("rows");
    let kinds: Vec<_> = rows.iter().map(|row| row["kind"].as_str().expect("a kind")).collect();
    assert_eq!(kinds, ["accepted", "attempt_started", "attempt_refused", "attempt_started", "attempt_accepted"]);

    // With nothing but SHA-256: each row's text has its hash, and holds the one before.
    let mut before = BASE64URL_NOPAD.encode(&Sha256::digest(&id));
    for (seq, row) in rows.iter().enumerate() {
        let text = row["hashed"].as_str().expect("the text that is hashed");
        let body: Value = serde_json::from_str(text).expect("JSON");
        assert_eq!((&body["seq"], &body["prev_hash"]), (&json!(seq), &json!(before)));
        before = BASE64URL_NOPAD.encode(&Sha256::digest(text));
        assert_eq!(row["hash"], before.as_str());
    }
    let request = |row: &Value| row["actor"].as_str().expect("text").split('/').next().map(ToOwned::to_owned);
    let actors: Vec<_> = rows.iter().filter_map(request).collect();
    assert_eq!(actors, ["admission", "dispatch", "dispatch", "dispatch", "dispatch"]);
}

/// A story of four rows, one of which is then changed behind everybody's back.
async fn tampered(seq: usize, change: impl FnOnce(&mut Value)) -> Value {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.fail_next(PUBLISH, Fault::SilentAfter);
    service.deliver().await;
    service.clock.advance(Millis::from_secs(600));
    service.tick().await;
    assert_eq!(service.rows(&id).len(), 4);
    let mut items = service.seam.items(EVIDENCE);
    let seq = seq.to_string();
    let item = items.iter_mut().find(|item| item["seq"]["N"] == seq).expect("the row");
    change(item);
    service.seam.plant(EVIDENCE, item);
    let answer = service.get(&Ask::evidence(&id)).await;
    assert_eq!(answer.status, 200);
    answer.json()
}

/// Replaces a piece of a row's body; the forger also makes the hash fit, if he is good.
fn forge(item: &mut Value, piece: &str, by: &str, fits: bool) {
    let body = item["body"]["S"].as_str().expect("a body").replace(piece, by);
    if fits {
        item["hash"] = json!({"B": BASE64.encode(&Sha256::digest(&body))});
    }
    item["body"] = json!({"S": body});
}

#[tokio::test(start_paused = true)]
async fn a_row_that_was_tampered_with_is_found_and_named() {
    let altered = tampered(2, |item| forge(item, "timeout", "server_error", false)).await;
    assert_eq!((&altered["verified"], &altered["fault"]), (&json!(false), &json!("row 2 is missing")));
    let rehashed = tampered(2, |item| forge(item, "timeout", "server_error", true)).await;
    assert_eq!(rehashed["fault"], "row 3 is not chained to the row before it");
    let last = tampered(3, |item| forge(item, "expired_unresolved", "cancelled", true)).await;
    assert_eq!(
        (&last["verified"], &last["fault"]),
        (&json!(false), &json!("the record's latest row is not among the rows"))
    );
    let first = tampered(0, |item| forge(item, "transactional", "promotional", true)).await;
    assert_eq!(first["fault"], "row 1 is not chained to the row before it");
    let free_text = tampered(2, |item| forge(item, "\"prev_hash\"", "\"note\":\"hello\",\"prev_hash\"", true)).await;
    assert_eq!(free_text["fault"], "row 2 is missing", "there is no place for free text");
    let moved = tampered(1, |item| item["seq"] = json!({"N": "4"})).await;
    assert_eq!(moved["verified"], true, "a copy at a place of its own is not a row at all");
}

#[tokio::test(start_paused = true)]
async fn evidence_outlives_the_record() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.deliver().await;
    service.clock.advance(Millis::from_secs(31 * 86_400));
    service.seam.sweep_ttl();
    assert_eq!(service.get(&Ask::status(&id)).await.word(), "404 not_found");
    let shown = service.get(&Ask::evidence(&id)).await.json();
    assert_eq!((&shown["verified"], shown["rows"].as_array().map(Vec::len)), (&json!(true), Some(3)));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_answer_is_503_and_says_when_to_ask_again() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    for fault in [Fault::SilentBefore, Fault::LostBefore, Fault::CodeBefore(400, "ThrottlingException")] {
        service.seam.fail_times(GET, 3, fault.clone());
        let answer = service.get(&Ask::status(&id)).await;
        assert_eq!((answer.word().as_str(), answer.header("retry-after")), ("503 unavailable", Some("1")), "{fault:?}");
        assert_eq!(service.get(&Ask::status(&id)).await.status, 200, "{fault:?}");
        service.seam.fail_times("dynamodb:Query", 3, fault.clone());
        assert_eq!(service.get(&Ask::evidence(&id)).await.word(), "503 unavailable", "{fault:?}");
        assert_eq!(service.get(&Ask::evidence(&id)).await.status, 200, "{fault:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn reading_writes_nothing() {
    let service = Service::start().await;
    let id = service.admit("evt-1").await;
    service.seam.forget_requests();
    service.get(&Ask::status(&id)).await;
    service.get(&Ask::evidence(&id)).await;
    service.get(&Ask::evidence("ntf_none")).await;
    let counts = service.seam.counts();
    assert!(counts.keys().eq(["dynamodb:GetItem", "dynamodb:Query"]), "{counts:?}");
}
