//! The table of codes. It stands here a second time, on purpose: a change of one must be made in both.

use sendonce::notification::ProviderCode as Code;
use sendonce::notification::RefusalClass::{self, Permanent, PermanentAlarm, Retryable, RetryableAlarm};
use sendonce::notification::UnknownBasis::{ServerError, Timeout, UnlistedError};
use sendonce::notification::{Outcome, Refusal};

use crate::endpoint::{Script, error, http};
use crate::setup::Bench;

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

/// Sends one text for each case, and compares.
async fn assert_all(cases: impl IntoIterator<Item = (u16, &'static str, Outcome)>) {
    let mut bench = Bench::start().await;
    for (status, code, expected) in cases {
        assert_eq!(bench.send(Script::Say(error(status, code))).await, expected, "{status} {code}");
    }
    bench.assert_nothing_follows().await;
}

fn listed() -> impl Iterator<Item = (&'static str, Outcome)> {
    REFUSALS.into_iter().flat_map(|(codes, class, code)| {
        codes.iter().map(move |name| (*name, Outcome::Refused(Refusal { class, code })))
    })
}

#[tokio::test]
async fn a_listed_code_with_a_4xx_status_is_a_refusal() {
    let statuses = [400, 403, 404, 429];
    assert_all(listed().flat_map(|(code, outcome)| statuses.map(|status| (status, code, outcome.clone())))).await;
}

#[tokio::test]
async fn any_other_code_with_a_4xx_status_is_unknown() {
    let unknown = Outcome::Unknown(UnlistedError);
    let statuses = [400, 403, 413, 429];
    assert_all(UNLISTED.into_iter().flat_map(|code| statuses.map(|status| (status, code, unknown.clone())))).await;
}

#[tokio::test]
async fn s5_a_5xx_status_is_unknown_whatever_its_code() {
    let codes = listed().map(|(code, _)| code).chain(UNLISTED);
    let unknown = Outcome::Unknown(ServerError);
    assert_all(codes.flat_map(|code| [500, 503, 504].map(|status| (status, code, unknown.clone())))).await;
}

#[tokio::test]
async fn a_408_is_unknown_whatever_its_code() {
    let codes = listed().map(|(code, _)| code).chain(["RequestTimeout"]);
    assert_all(codes.map(|code| (408, code, Outcome::Unknown(Timeout)))).await;
}

#[tokio::test]
async fn errors_without_a_readable_body_are_unknown() {
    let mut bench = Bench::start().await;
    for (status, body, basis) in [
        ("400 Bad Request", "", UnlistedError),
        ("400 Bad Request", "<html>InvalidParameter</html>", UnlistedError),
        ("403 Forbidden", "{\"Code\":\"AccessDenied\"}", UnlistedError),
        ("302 Found", "", UnlistedError),
        ("304 Not Modified", "", UnlistedError),
        ("500 Internal Server Error", "", ServerError),
        ("502 Bad Gateway", "<html>nginx</html>", ServerError),
    ] {
        let outcome = bench.send(Script::Say(http(status, body))).await;
        assert_eq!(outcome, Outcome::Unknown(basis), "{status} {body}");
    }
}

#[tokio::test]
async fn s15_five_answers_are_five_outcomes() {
    let mut bench = Bench::start().await;
    let refused = |class, code| Outcome::Refused(Refusal { class, code });
    for (script, expected) in [
        (Script::Say(error(400, "InvalidParameter")), refused(Permanent, Code::InvalidParameter)),
        (Script::Say(error(400, "OptedOut")), refused(Permanent, Code::OptedOut)),
        (Script::Say(error(400, "Throttled")), refused(Retryable, Code::Throttled)),
        (Script::Say(error(500, "InternalError")), Outcome::Unknown(ServerError)),
        (Script::SayAndStay(String::new()), Outcome::Unknown(Timeout)),
    ] {
        assert_eq!(bench.send(script).await, expected);
    }
    bench.assert_nothing_follows().await;
}
