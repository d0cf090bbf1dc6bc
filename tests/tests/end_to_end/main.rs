//! End to end: the functions as they are deployed, on MiniStack, with its roles enforced and a provider that can misbehave.

mod contract;
mod gate;
mod kill_sweep;
mod rig;
mod scenes;
mod stage;

use scenes::{KILLED, RACED, TOKENS, UNANSWERED, UNRUNG};
use serde_json::{Value, json};
use stage::{Played, accepted, another_stack, json_action, order, stage, until};
use std::time::Duration;

#[test]
fn twenty_concurrent_requests_of_one_key_are_one_record_and_one_text() {
    let raced = stage().see(&stage().raced);
    let replays = raced.answers.iter().filter(|answer| answer.header("idempotency-replayed") == Some("true")).count();
    for answer in &raced.answers {
        assert_eq!((answer.status, &answer.body), (202, &raced.answers[0].body));
    }
    assert_eq!(replays, 19);
    assert_eq!((raced.end.calls, raced.end.texts), (1, 1));
    assert_eq!(raced.end.kinds, ["accepted", "attempt_started", "attempt_accepted"]);
    let items = stage().block_on(items_that_name(&raced.id));
    assert_eq!(items, ["key#", "ntf#"], "one guard and one record");
}

#[test]
fn a_provider_that_never_answers_is_asked_once() {
    let end = stage().see(&stage().unanswered);
    assert!(end.states.contains(&"dispatch_unknown".to_owned()), "{:?}", end.states);
    assert_eq!(end.kinds, ["accepted", "attempt_started", "attempt_unknown", "stopped"]);
    assert_eq!((end.calls, end.texts), (1, 1));
}

#[test]
fn a_function_killed_in_mid_call_has_sent_at_most_once() {
    let end = stage().see(&stage().killed);
    // The doorbell that came back after the lease was over found nothing to do.
    assert_eq!(end.kinds, ["accepted", "attempt_started", "attempt_unknown"]);
    assert_eq!(end.evidence.pointer("/rows/2/basis"), Some(&json!("lease_ended")), "{}", end.evidence);
    assert_eq!((end.calls, end.texts), (1, 1));
}

#[test]
fn a_lost_doorbell_is_rung_by_reconciliation() {
    let end = stage().see(&stage().unrung);
    assert_eq!(end.kinds, ["accepted", "doorbell_rung", "attempt_started", "attempt_accepted"]);
    assert_eq!((end.calls, end.texts), (1, 1));
}

#[test]
fn no_number_and_no_token_is_in_a_table_or_a_log() {
    let stage = stage();
    stage.see(&stage.raced);
    for scene in [&stage.unanswered, &stage.killed, &stage.unrung] {
        stage.see(scene);
    }
    let mut places = stage.block_on(everything_stored());
    // MiniStack's own log shows what a handset shows; the rest of it is the functions' output.
    let logged = stage.stack.logged().expect("the log");
    places.push(("log", logged.lines().filter(|line| !line.contains("SNS SMS to")).collect()));
    for (place, text) in &places {
        assert!(text.len() > 200, "{place} holds nothing at all");
        for secret in TOKENS.iter().chain(&[RACED, UNANSWERED, KILLED, UNRUNG]) {
            assert!(!text.contains(secret), "{place} holds {secret}");
        }
    }
}

#[test]
fn two_stacks_do_not_collide_and_neither_leaves_a_process_behind() {
    let first = stage();
    let order = order("twice", "+12025550114", TOKENS[0], 300);
    let processes = first.block_on(async {
        let second = another_stack().await?;
        for stack in [&*first.stack, &second] {
            let id = accepted(&stack.api()?, &order).await?;
            until(&stack.api()?, &id, "sent", Duration::from_secs(20)).await?;
        }
        assert_eq!((first.stack.texts(&order.to).await?, second.texts(&order.to).await?), (1, 1));
        Ok(second.processes()?)
    });
    assert!(processes.iter().any(|process| process.is_function("dispatch")), "{} processes", processes.len());
    for process in processes {
        assert!(!process.is_running().expect("ps"), "{process:?} still runs");
    }
}

/// The kinds of items in the notifications table that name a notification, sorted.
async fn items_that_name(id: &str) -> Played<Vec<String>> {
    let items = scan("NotificationsTableName").await?;
    let items = items.get("Items").and_then(Value::as_array).cloned().unwrap_or_default();
    let named = items.iter().filter(|item| item.to_string().contains(id));
    let mut kinds: Vec<String> =
        named.filter_map(|item| Some(item.pointer("/pk/S")?.as_str()?[..4].to_owned())).collect();
    kinds.sort();
    Ok(kinds)
}

/// All that the stack keeps, as text.
async fn everything_stored() -> Played<Vec<(&'static str, String)>> {
    let (aws, mut places) = (stage().stack.aws()?, Vec::new());
    for table in ["NotificationsTableName", "EvidenceTableName"] {
        places.push((table, scan(table).await?.to_string()));
    }
    for function in ["admission", "dispatch", "reconciliation", "status"] {
        let group = json!({ "logGroupName": format!("/aws/lambda/sendonce-{function}") });
        places.push((function, json_action(&aws, "logs", "Logs_20140328.FilterLogEvents", &group).await?.to_string()));
    }
    Ok(places)
}

async fn scan(output: &str) -> Played<Value> {
    let table = json!({ "TableName": stage().stack.outputs[output] });
    json_action(&stage().stack.aws()?, "dynamodb", "DynamoDB_20120810.Scan", &table).await
}
