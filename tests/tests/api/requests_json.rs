//! Bodies that are no commands: all faults at once, nothing stored, nothing of them said back.

use serde_json::{Value, json};

use crate::harness::{Ask, NUMBER, Service, TOKEN, reset};

/// An ordinary body with one piece of its text replaced.
fn with(piece: &str, by: &str) -> String {
    let body = reset("evt-1").to_string();
    assert_eq!(body.matches(piece).count(), 1, "the piece is there, once");
    body.replace(piece, by)
}

fn with_member(member: &str) -> String {
    with("{\"event\"", &format!("{{{member},\"event\""))
}

async fn refuses(cases: impl IntoIterator<Item = String>, expected: &str) {
    let service = Service::start().await;
    service.seam.forget_requests();
    for (n, body) in cases.into_iter().enumerate() {
        let answer = service.post(&Ask::create_raw("k-1", &body)).await;
        assert_eq!(answer.word(), expected, "case {n}");
        assert!(!answer.body.contains(TOKEN) && !answer.body.contains(&NUMBER[1..]), "case {n} is said back");
    }
    assert!(service.seam.counts().is_empty(), "nothing was asked of any service");
    assert_eq!(service.post(&Ask::create("k-1", &reset("evt-1"))).await.status, 202, "the key is still free");
}

#[tokio::test(start_paused = true)]
async fn a7_what_two_parsers_may_read_differently_is_not_json() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let deep_objects = format!("{}1{}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    let text = reset("evt-1").to_string();
    refuses(
        [
            with("\"evt-1\"", "NaN"),
            with("\"evt-1\"", "Infinity"),
            with("\"evt-1\"", "1e400"),
            with("\"evt-1\"", "-1e400"),
            with("evt-1", "evt-\\ud800"),
            with("evt-1", "evt-\\udc00\\ud800"),
            with("evt-1", "evt-\\ud83d x"),
            with_member(&format!("\"to\":\"{NUMBER}\"")),
            with_member("\"mess\\u0061ge\":\"hidden\""),
            with("\"id\":", "\"id\":\"evt-0\",\"id\":"),
            format!("{text} x"),
            format!("{text}{text}"),
            format!("{text}\0"),
            format!("\u{feff}{text}"),
            format!("// {TOKEN}\n{text}"),
            with("evt-1\"", "evt-1\","),
            text[..text.len() - 1].to_owned(),
            with("evt-1", "evt-\n1"),
            with_member(&format!("\"x\":{deep}")),
            with_member(&format!("\"x\":{deep_objects}")),
            deep.clone(),
            with_member("\"x\":01"),
            with_member("'x':1"),
            String::new(),
            String::from(" "),
            String::from("{"),
        ],
        "400 body_not_json",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn wrong_types_and_unknown_members_are_faults_of_members() {
    refuses(
        [
            String::from("null"),
            String::from("[]"),
            String::from("7"),
            format!("\"{TOKEN}\""),
            String::from("{}"),
            with_member("\"x\":1e308"),
            with_member(&format!("\"{TOKEN}\":true")),
            with_member("\"idempotency_key\":\"k-1\""),
            with_member("\"sender_id\":null"),
            with_member("\"kind\":\"urgent\""),
            with_member("\"kind\":7"),
            with(&format!("\"{NUMBER}\""), "15550142973"),
            with(&format!("\"{NUMBER}\""), &format!("[\"{NUMBER}\"]")),
            with("\"evt-1\"", "null"),
            with("\"evt-1\"", "true"),
            with("evt-1", "evt 1"),
            with("evt-1", &format!("evt-{}", &NUMBER[1..])),
        ],
        "400 body_invalid",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn bodies_that_no_command_can_fill_are_413_and_the_largest_command_is_taken() {
    let padded = |length: usize| format!("{}{}", reset("evt-1"), " ".repeat(length - reset("evt-1").to_string().len()));
    refuses(
        [padded(32 * 1_024 + 1), "[".repeat(1_000_000), format!("\"{}\"", TOKEN.repeat(100_000))],
        "413 body_too_large",
    )
    .await;
    let service = Service::start().await;
    let mut largest = reset("evt-1");
    largest["message"] = json!("X".repeat(1_600));
    // Each character as a surrogate pair, escaped: the longest spelling there is.
    let body = largest.to_string().replace('X', "\\ud83d\\ude00");
    assert_eq!(service.post(&Ask::create_raw("k-1", &body)).await.status, 202);
    assert!(service.post(&Ask::create_raw("k-1", &body)).await.is_replay());
    assert!(service.deliver().await.is_empty());
    assert!(service.seam.texts()[0].message == "\u{1f600}".repeat(1_600), "the text arrives whole");
}

#[tokio::test(start_paused = true)]
async fn a11_only_canonical_e164_is_a_number_and_nothing_is_repaired_into_one() {
    let numbers = [
        "+3367a829916",
        "someone1110@example.com",
        "003-836-4618x3001",
        "+1 650-253-0000",
        "+0123456789",
        "+1234567890123456",
        "+123456",
        "15550142973",
        "0015550142973",
        "++15550142973",
        "+15550142973 ",
        " +15550142973",
        "+1555014\u{a0}2973",
        "+1(555)0142973",
        "\u{ff0b}15550142973",
        "+\u{661}\u{662}\u{663}\u{664}\u{665}\u{666}\u{667}\u{668}",
        "tel:+15550142973",
        "+15550142973;ext=1",
        "",
        "+",
    ];
    let service = Service::start().await;
    service.seam.forget_requests();
    for (n, number) in numbers.iter().enumerate() {
        let mut body = reset("evt-1");
        body["to"] = json!(number);
        let answer = service.post(&Ask::create("k-1", &body)).await;
        assert_eq!((answer.word(), answer.faults()), ("400 body_invalid".into(), vec!["/to".into()]), "number {n}");
        assert!(number.len() < 3 || !answer.body.contains(number), "number {n} is said back");
    }
    assert!(service.seam.counts().is_empty());
}

#[tokio::test(start_paused = true)]
async fn all_faults_are_listed_at_once_by_pointer() {
    let service = Service::start().await;
    let body = json!({
        "event": {"type": "Bad Type", "id": 7, "extra": 1}, "to": NUMBER.replace('+', "00"), "message": "",
        "expires_at": "in ten minutes", "sender_id": "TWELVELETTERS", "kind": "urgent", "priority": 1, (TOKEN): true,
    });
    let answer = service.post(&Ask::create("k-1", &body)).await;
    assert_eq!(answer.word(), "400 body_invalid");
    let mut faults = answer.faults();
    faults.sort();
    let expected = [
        "/?",
        "/event/extra",
        "/event/id",
        "/event/type",
        "/expires_at",
        "/kind",
        "/message",
        "/priority",
        "/sender_id",
        "/to",
    ];
    assert_eq!(faults, expected);
    let errors = answer.json()["errors"].clone();
    let has_rule = |error: &Value| error["detail"].as_str().is_some_and(|rule| rule.len() > 10);
    assert!(errors.as_array().is_some_and(|errors| errors.iter().all(has_rule)), "each says what it must be");
}

#[tokio::test(start_paused = true)]
async fn times_are_rfc_3339_with_a_zone_and_nothing_else() {
    let service = Service::start().await;
    for text in [
        "2026-11-30T20:15:00",
        "2026-11-30 20:15:00Z",
        "2026-11-30t20:15:00z",
        "20261130T201500Z",
        "2026-11-30",
        "2026-11-30T20:15Z",
        "2026-11-30T24:00:00Z",
        "2026-11-31T20:15:00Z",
        "2026-02-29T20:15:00Z",
        "2026-11-30T20:15:00+0000",
        "2026-11-30T20:15:00[UTC]",
        "1796069700",
        "+002026-11-30T20:15:00Z",
        "2026-11-30T20:15:00.Z",
        "2026-11-30T20:15:00Z ",
        "PT5M",
    ] {
        let mut body = reset("evt-1");
        body["expires_at"] = json!(text);
        let answer = service.post(&Ask::create("k-1", &body)).await;
        assert_eq!((answer.word(), answer.faults()), ("400 body_invalid".into(), vec!["/expires_at".into()]), "{text}");
    }
    let mut as_number = reset("evt-1");
    as_number["expires_at"] = json!(1_796_069_700);
    assert_eq!(service.post(&Ask::create("k-1", &as_number)).await.faults(), ["/expires_at"]);
}
