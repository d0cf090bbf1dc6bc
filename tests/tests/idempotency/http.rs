//! `POST /charges` of the examples, over the seam: the HTTP contract of the leased mode.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use examples::charges::handler;
use examples::payments::{Charged, Known, Paid, Payments};
use lambda_http::tower::Service;
use lambda_http::{Body, Request, RequestExt, Response};
use lambda_runtime::Context;
use sendonce::aws::idempotency::DynamoExecutions;
use sendonce::idempotency::{ExecutionId, FingerprintKey, Leased};
use sendonce::ports::Clock;
use sendonce::time::Millis;
use serde_json::{Value, json};
use tests::aws_seam::{Fault, NOTIFICATIONS, Seam};

const PUT: &str = "dynamodb:PutItem";

/// How the payment service takes the next charge.
#[derive(Clone, Copy, Debug)]
enum Takes {
    Declines,
    NotSent,
    TakenAndSilent,
    AnswerLost,
    NeverSees,
}

/// A payment service that charges as often as it is asked to.
#[derive(Clone, Debug, Default)]
struct Desk {
    next: Arc<Mutex<VecDeque<Takes>>>,
    made: Arc<Mutex<Vec<(String, u64)>>>,
}

impl Desk {
    fn will(&self, takes: Takes) {
        self.next.lock().unwrap().push_back(takes);
    }

    fn made(&self) -> Vec<(String, u64)> {
        self.made.lock().unwrap().clone()
    }

    fn make(&self, reference: &ExecutionId, cents: u64) -> Paid {
        let mut made = self.made.lock().unwrap();
        made.push((reference.as_str().into(), cents));
        Paid { charge: format!("ch-{}", made.len()) }
    }
}

impl Payments for Desk {
    async fn charge(&self, reference: &ExecutionId, cents: u64) -> Charged {
        let takes = self.next.lock().unwrap().pop_front();
        tokio::task::yield_now().await;
        match takes {
            None => Charged::Paid(self.make(reference, cents)),
            Some(Takes::Declines) => Charged::Declined,
            Some(Takes::NotSent) => Charged::NotSent,
            Some(Takes::NeverSees) => Charged::Unknown,
            Some(Takes::AnswerLost) => {
                self.make(reference, cents);
                Charged::Unknown
            }
            Some(Takes::TakenAndSilent) => {
                self.make(reference, cents);
                std::future::pending().await
            }
        }
    }

    async fn find(&self, reference: &ExecutionId) -> Known {
        let made = self.made.lock().unwrap();
        match made.iter().position(|(known, _)| known == reference.as_str()) {
            Some(n) => Known::Paid(Paid { charge: format!("ch-{}", n + 1) }),
            None => Known::Nothing,
        }
    }
}

/// One environment of the function.
struct Shop {
    seam: Seam,
    desk: Desk,
}

struct Answer {
    status: u16,
    replayed: bool,
    retry_after: Option<String>,
    body: String,
}

impl Answer {
    fn code(&self) -> Value {
        serde_json::from_str::<Value>(&self.body).unwrap()["code"].clone()
    }
}

impl Shop {
    fn new() -> Self {
        Self { seam: Seam::new(), desk: Desk::default() }
    }

    /// Every request meets a cold function.
    async fn ask(&self, request: Request) -> Answer {
        let store = DynamoExecutions::new(self.seam.aws().await.dynamodb(), NOTIFICATIONS);
        let leased = Leased::new(store, self.seam.clock(), examples::rules());
        let mut service = handler(leased, FingerprintKey::new([8; 32]), self.desk.clone());
        read(service.call(request).await.unwrap())
    }

    async fn post(&self, key: &str, body: &str) -> Answer {
        self.ask(self.request(&[key], body, "user-1", "charges")).await
    }

    fn request(&self, keys: &[&str], body: &str, user: &str, function: &str) -> Request {
        let event = json!({
            "version": "2.0", "routeKey": "POST /charges", "rawPath": "/charges", "rawQueryString": "",
            "headers": {"content-type": "application/json"},
            "requestContext": {
                "accountId": "111122223333", "apiId": "api", "domainName": "x", "domainPrefix": "x", "requestId": "r",
                "routeKey": "POST /charges", "stage": "$default", "time": "x", "timeEpoch": 0,
                "http": {"method": "POST", "path": "/charges", "protocol": "HTTP/1.1", "sourceIp": "x", "userAgent": "x"},
                "authorizer": {"iam": {"accountId": "111122223333", "userId": format!("{user}:session"), "callerId": user,
                    "accessKey": "AKIDEXAMPLE", "userArn": "arn:aws:iam::111122223333:user/x"}},
            },
            "body": body, "isBase64Encoded": false,
        });
        let mut request = lambda_http::request::from_str(&event.to_string()).unwrap();
        for key in keys {
            request.headers_mut().append("idempotency-key", key.parse().unwrap());
        }
        let mut context = Context::default();
        context.deadline = self.seam.clock().now().plus(Millis::from_secs(30)).get().unsigned_abs();
        context.invoked_function_arn = format!("arn:aws:lambda:eu-central-1:111122223333:function:{function}");
        request.with_lambda_context(context)
    }
}

fn read(response: Response<Body>) -> Answer {
    let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    Answer {
        status: response.status().as_u16(),
        replayed: header("idempotency-replayed").as_deref() == Some("true"),
        retry_after: header("retry-after"),
        body: String::from_utf8(response.body().to_vec()).unwrap(),
    }
}

const CHARGE: &str = r#"{"order":7,"cents":100}"#;

#[tokio::test(start_paused = true)]
async fn the_first_answer_is_given_again_byte_for_byte_with_its_mark() {
    let shop = Shop::new();
    let first = shop.post("k-1", CHARGE).await;
    assert_eq!((first.status, first.replayed, first.body.as_str()), (201, false, r#"{"charge":"ch-1"}"#));
    assert_eq!(shop.seam.counts(), [(PUT.into(), 2)].into());
    shop.seam.forget_requests();
    let again = shop.post("\"k-1\"", CHARGE).await;
    assert_eq!((again.status, again.replayed, again.body), (201, true, first.body));
    assert_eq!(shop.seam.counts(), [(PUT.into(), 1)].into());
    assert_eq!(shop.desk.made().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_final_failure_is_given_again_and_what_was_not_sent_is_not_kept() {
    let shop = Shop::new();
    shop.desk.will(Takes::NotSent);
    assert_eq!(shop.post("k-1", CHARGE).await.status, 503);
    shop.desk.will(Takes::Declines);
    let declined = shop.post("k-1", CHARGE).await;
    assert_eq!((declined.status, declined.replayed), (402, false));
    let again = shop.post("k-1", CHARGE).await;
    assert_eq!((again.status, again.replayed, again.body), (402, true, declined.body));
    assert!(shop.desk.made().is_empty());
}

#[tokio::test(start_paused = true)]
async fn in_flight_reused_and_unknown_are_three_conflicts() {
    let shop = Shop::new();
    shop.desk.will(Takes::TakenAndSilent);
    let killed = tokio::time::timeout(Duration::from_secs(1), shop.post("k-1", CHARGE)).await;
    assert!(killed.is_err(), "the sandbox is gone with it");
    let running = shop.post("k-1", CHARGE).await;
    assert_eq!((running.status, running.code(), running.retry_after), (409, json!("in_flight"), Some("5".into())));
    let other = shop.post("k-1", r#"{"order":7,"cents":999}"#).await;
    assert_eq!((other.status, other.code()), (409, json!("idempotency_key_reused")), "A3: not in flight");

    // From the lease's end to where the charge must be over, nobody may be asked yet.
    shop.seam.clock().advance(Millis::from_secs(28 + 5));
    let unknown = shop.post("k-1", CHARGE).await;
    assert_eq!((unknown.status, unknown.code()), (409, json!("outcome_unknown")));
    shop.seam.clock().advance(Millis::from_secs(2));
    let resolved = shop.post("k-1", CHARGE).await;
    assert_eq!((resolved.status, resolved.replayed, resolved.body.as_str()), (201, true, r#"{"charge":"ch-1"}"#));
    assert_eq!(shop.desk.made().len(), 1, "it was asked, not charged again");
}

#[tokio::test(start_paused = true)]
async fn a_charge_that_the_service_never_saw_is_made_after_all() {
    let shop = Shop::new();
    shop.desk.will(Takes::NeverSees);
    assert_eq!(shop.post("k-1", CHARGE).await.code(), json!("outcome_unknown"));
    shop.seam.clock().advance(Millis::from_secs(60));
    let made = shop.post("k-1", CHARGE).await;
    assert_eq!((made.status, made.replayed), (201, false));
    shop.desk.will(Takes::AnswerLost);
    assert_eq!(shop.post("k-2", CHARGE).await.code(), json!("outcome_unknown"));
    shop.seam.clock().advance(Millis::from_secs(60));
    assert_eq!(shop.post("k-2", CHARGE).await.body, r#"{"charge":"ch-2"}"#);
    assert_eq!(shop.desk.made().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_hangs_is_cut_off_in_time_to_write_it_down() {
    let shop = Shop::new();
    shop.desk.will(Takes::TakenAndSilent);
    let cut = shop.post("k-1", CHARGE).await;
    assert_eq!((cut.status, cut.code()), (409, json!("outcome_unknown")));
    assert_eq!(shop.seam.items(NOTIFICATIONS)[0]["st"], json!({"S": "unknown"}));
}

#[tokio::test(start_paused = true)]
async fn a2_keys_that_are_missing_blank_or_repeated_leave_no_record() {
    let shop = Shop::new();
    for user in ["user-1", "user-2"] {
        for (keys, code) in [
            (&[][..], "idempotency_key_missing"),
            (&[""], "idempotency_key_missing"),
            (&[" "], "idempotency_key_missing"),
            (&["a", "b"], "idempotency_key_invalid"),
        ] {
            let answer = shop.ask(shop.request(keys, CHARGE, user, "charges")).await;
            assert_eq!((answer.status, answer.code()), (400, json!(code)), "{keys:?}");
        }
    }
    assert!(shop.seam.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn tenants_never_meet_and_a_session_is_no_tenant() {
    let shop = Shop::new();
    shop.post("k-1", CHARGE).await;
    let stranger = shop.ask(shop.request(&["k-1"], r#"{"order":1,"cents":1}"#, "user-2", "charges")).await;
    assert_eq!((stranger.status, stranger.replayed), (201, false));
    assert_eq!(shop.desk.made().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a5_member_order_and_white_space_are_the_same_command() {
    let shop = Shop::new();
    shop.post("k-1", CHARGE).await;
    assert!(shop.post("k-1", " {\n \"cents\" : 100 ,\t\"order\":7 }").await.replayed);
}

#[tokio::test(start_paused = true)]
async fn a6_numbers_beyond_the_doubles_stay_apart() {
    let shop = Shop::new();
    shop.post("k-1", r#"{"order":9007199254740993,"cents":1}"#).await;
    let near = shop.post("k-1", r#"{"order":9007199254740992,"cents":1}"#).await;
    assert_eq!((near.status, near.code()), (409, json!("idempotency_key_reused")));
}

#[tokio::test(start_paused = true)]
async fn a7_what_parsers_disagree_about_is_refused_and_leaves_no_record() {
    let shop = Shop::new();
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for body in [
        r#"{"order":NaN,"cents":1}"#,
        r#"{"order":"\ud800","cents":1}"#,
        r#"{"order":1,"order":2,"cents":1}"#,
        r#"{"order":1e400,"cents":1}"#,
        r#"{"order":1,"cents":1}x"#,
        r#"{"order":1.5,"cents":1}"#,
        r#"{"order":1,"cents":-1}"#,
        r#"{"order":1,"cents":1,"tip":1}"#,
        "",
        &deep,
    ] {
        let answer = shop.post("k-1", body).await;
        assert_eq!(answer.status, 400, "{}", body.get(..40).unwrap_or(body));
    }
    assert!(shop.seam.requests().is_empty());
}

#[tokio::test(start_paused = true)]
async fn a8_a_lost_answer_of_the_store_is_no_conflict() {
    for n in [1, 2] {
        let shop = Shop::new();
        shop.seam.fail_times(PUT, n, Fault::LostAfter);
        let first = shop.post("k-1", CHARGE).await;
        assert_eq!((first.status, first.replayed), (201, false));
        assert_eq!(shop.desk.made().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a10_a_renamed_function_replays() {
    let shop = Shop::new();
    shop.post("k-1", CHARGE).await;
    assert!(shop.ask(shop.request(&["k-1"], CHARGE, "user-1", "charges-v2")).await.replayed);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_or_an_answer_that_was_not_written_is_503_and_never_a_second_charge() {
    let shop = Shop::new();
    shop.seam.fail_times(PUT, 3, Fault::CodeBefore(400, "ThrottlingException"));
    let away = shop.post("k-1", CHARGE).await;
    assert_eq!((away.status, away.retry_after.as_deref()), (503, Some("1")));
    assert!(shop.desk.made().is_empty());
    let mut context_less = shop.request(&["k-1"], CHARGE, "user-1", "charges");
    context_less.extensions_mut().remove::<Context>();
    assert_eq!(shop.ask(context_less).await.status, 503, "no deadline, no run");
}
