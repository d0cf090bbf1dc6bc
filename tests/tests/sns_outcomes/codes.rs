//! The table of codes. It stands here a second time, on purpose: a change of one must be made in both.

use sendonce::notification::ProviderCode as Code;
use sendonce::notification::RefusalClass::{self, Permanent, PermanentAlarm, Retryable, RetryableAlarm};
use sendonce::notification::UnknownBasis::{ServerError, Timeout, UnlistedError};
use sendonce::notification::{Outcome, Refusal};

use crate::endpoint::{Script, error, http};
use crate::setup::send;

const REFUSALS: [(&[&str], RefusalClass, Code); 7] = [
    (&["InvalidParameter", "ParameterValueInvalid", "ValidationException"], Permanent, Code::InvalidParameter),
    (&["OptedOut"], Permanent, Code::OptedOut),
    (&["AuthorizationError", "AccessDenied", "OptInRequired"], RetryableAlarm, Code::AccessDenied),
    (
        &[
            "InvalidSecurity",
            "SignatureDoesNotMatch",
            "InvalidClientTokenId",
            "ExpiredToken",
            "MissingAuthenticationToken",
        ],
        RetryableAlarm,
        Code::BadCredentials,
    ),
    (&["Throttling", "Throttled", "ThrottledException", "RequestLimitExceeded"], Retryable, Code::Throttled),
    (&["NotFound", "EndpointDisabled", "PlatformApplicationDisabled"], PermanentAlarm, Code::NotFound),
    (
        &["KMSAccessDenied", "KMSDisabled", "KMSInvalidState", "KMSNotFound", "KMSOptInRequired", "KMSThrottling"],
        PermanentAlarm,
        Code::KeyUnusable,
    ),
];

/// Codes of other services, of the future, and of nobody.
const UNLISTED: [&str; 8] = [
    "InternalFailure",
    "InternalError",
    "RequestExpired",
    "FilterPolicyLimitExceeded",
    "Unknown",
    "throttling",
    "",
    "A b",
];

async fn outcome_of(status: u16, code: &str) -> Outcome {
    let (outcome, endpoint) = send(Script::Say(error(status, code))).await;
    assert_eq!((endpoint.requests(), endpoint.connections()), (1, 1), "{status} {code}");
    outcome
}

/// Sends one text for each, at once, and compares.
async fn assert_all(cases: Vec<(u16, &'static str, Outcome)>) {
    let tasks: Vec<_> = cases
        .into_iter()
        .map(|(status, code, expected)| {
            tokio::spawn(async move { (status, code, outcome_of(status, code).await, expected) })
        })
        .collect();
    for task in tasks {
        let (status, code, outcome, expected) = task.await.unwrap();
        assert_eq!(outcome, expected, "{status} {code}");
    }
}

fn listed() -> impl Iterator<Item = (&'static str, Outcome)> {
    REFUSALS.into_iter().flat_map(|(codes, class, code)| {
        codes.iter().map(move |name| (*name, Outcome::Refused(Refusal { class, code })))
    })
}

#[tokio::test]
async fn a_listed_code_with_a_4xx_status_is_a_refusal() {
    let statuses = [400, 403, 404, 429];
    assert_all(listed().flat_map(|(code, outcome)| statuses.map(|status| (status, code, outcome.clone()))).collect())
        .await;
}

#[tokio::test]
async fn any_other_code_with_a_4xx_status_is_unknown() {
    let unknown = Outcome::Unknown(UnlistedError);
    assert_all(
        UNLISTED
            .into_iter()
            .flat_map(|code| [400, 403, 413, 429].map(|status| (status, code, unknown.clone())))
            .collect(),
    )
    .await;
}

#[tokio::test]
async fn s5_a_5xx_status_is_unknown_whatever_its_code() {
    let codes = listed().map(|(code, _)| code).chain(UNLISTED);
    let unknown = Outcome::Unknown(ServerError);
    assert_all(codes.flat_map(|code| [500, 503, 504].map(|status| (status, code, unknown.clone()))).collect()).await;
}

#[tokio::test]
async fn a_408_is_unknown_whatever_its_code() {
    let codes = listed().map(|(code, _)| code).chain(["RequestTimeout"]);
    assert_all(codes.map(|code| (408, code, Outcome::Unknown(Timeout))).collect()).await;
}

#[tokio::test]
async fn errors_without_a_readable_body_are_unknown() {
    for (status, body, basis) in [
        ("400 Bad Request", "", UnlistedError),
        ("400 Bad Request", "<html>InvalidParameter</html>", UnlistedError),
        ("403 Forbidden", "{\"Code\":\"AccessDenied\"}", UnlistedError),
        ("302 Found", "", UnlistedError),
        ("304 Not Modified", "", UnlistedError),
        ("500 Internal Server Error", "", ServerError),
        ("502 Bad Gateway", "<html>nginx</html>", ServerError),
    ] {
        let (outcome, endpoint) = send(Script::Say(http(status, body))).await;
        assert_eq!(outcome, Outcome::Unknown(basis), "{status} {body}");
        assert_eq!(endpoint.requests(), 1, "{status} {body}");
    }
}

#[tokio::test]
async fn s15_five_answers_are_five_outcomes() {
    let refused = |class, code| Outcome::Refused(Refusal { class, code });
    assert_eq!(outcome_of(400, "InvalidParameter").await, refused(Permanent, Code::InvalidParameter));
    assert_eq!(outcome_of(400, "OptedOut").await, refused(Permanent, Code::OptedOut));
    assert_eq!(outcome_of(400, "Throttled").await, refused(Retryable, Code::Throttled));
    assert_eq!(outcome_of(500, "InternalError").await, Outcome::Unknown(ServerError));
    let (silent, _) = send(Script::SayAndStay(String::new())).await;
    assert_eq!(silent, Outcome::Unknown(Timeout));
}
