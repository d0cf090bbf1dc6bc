//! What holds for the codes of either provider, whatever they are called.

use sendonce::notification::UnknownBasis::{ServerError, Timeout, UnlistedError};
use sendonce::notification::{Outcome, Provider, ProviderCode, Refusal, RefusalClass};

use crate::endpoint::Script;
use crate::setup::Bench;
use crate::wire::{BOTH, error, http};
use crate::{eum_codes, sns_codes};

/// Codes that say the same.
pub type Refusals = (&'static [&'static str], RefusalClass, ProviderCode);

/// The codes of one provider.
pub struct Table {
    pub provider: Provider,
    pub refusals: &'static [Refusals],
    /// Codes of other services, of the future, and of nobody.
    pub unlisted: &'static [&'static str],
}

const TABLES: [Table; 2] = [sns_codes::TABLE, eum_codes::TABLE];

impl Table {
    fn listed(&self) -> impl Iterator<Item = (&'static str, Outcome)> {
        self.refusals.iter().flat_map(|(codes, class, code)| codes.iter().map(|name| (*name, refused(*class, *code))))
    }

    /// One answer for each status and code, and what it comes to.
    async fn assert_all<const N: usize>(
        &self,
        statuses: [u16; N],
        codes: impl Iterator<Item = (&'static str, Outcome)>,
    ) {
        let say = |status, code| Script::Say(error(self.provider, status, code));
        let cases = codes.flat_map(|(code, outcome)| statuses.map(|status| (say(status, code), outcome.clone())));
        assert_answers(self.provider, cases).await;
    }
}

pub const fn refused(class: RefusalClass, code: ProviderCode) -> Outcome {
    Outcome::Refused(Refusal { class, code })
}

/// Sends one text for each answer, and compares.
pub async fn assert_answers(provider: Provider, cases: impl IntoIterator<Item = (Script, Outcome)>) {
    let mut bench = Bench::start(provider).await;
    for (script, expected) in cases {
        let shown = script.shown();
        assert_eq!(bench.send(script).await, expected, "{provider:?}: {shown}");
    }
    bench.assert_nothing_follows().await;
}

#[tokio::test]
async fn a_listed_code_with_a_4xx_status_is_a_refusal() {
    for table in TABLES {
        table.assert_all([400, 403, 404, 429], table.listed()).await;
    }
}

#[tokio::test]
async fn any_other_code_with_a_4xx_status_is_unknown() {
    for table in TABLES {
        let codes = table.unlisted.iter().map(|code| (*code, Outcome::Unknown(UnlistedError)));
        table.assert_all([400, 403, 413, 429], codes).await;
    }
}

#[tokio::test]
async fn s5_a_5xx_status_is_unknown_whatever_its_code() {
    for table in TABLES {
        let codes = table.listed().map(|(code, _)| code).chain(table.unlisted.iter().copied());
        table.assert_all([500, 503, 504], codes.map(|code| (code, Outcome::Unknown(ServerError)))).await;
    }
}

#[tokio::test]
async fn a_408_is_unknown_whatever_its_code() {
    for table in TABLES {
        let codes = table.listed().map(|(code, _)| code).chain(["RequestTimeout"]);
        table.assert_all([408], codes.map(|code| (code, Outcome::Unknown(Timeout)))).await;
    }
}

#[tokio::test]
async fn errors_without_a_readable_body_are_unknown() {
    for provider in BOTH {
        let answers = [
            ("400 Bad Request", "", UnlistedError),
            ("400 Bad Request", "<html>InvalidParameter</html>", UnlistedError),
            ("400 Bad Request", "ValidationException", UnlistedError),
            ("403 Forbidden", "{\"Code\":\"AccessDenied\"}", UnlistedError),
            ("400 Bad Request", "{\"__type\":\"ThrottlingException\"", UnlistedError),
            ("302 Found", "", UnlistedError),
            ("304 Not Modified", "", UnlistedError),
            ("500 Internal Server Error", "", ServerError),
            ("502 Bad Gateway", "<html>nginx</html>", ServerError),
        ];
        let cases = answers.map(|(status, body, basis)| (Script::Say(http(status, body)), Outcome::Unknown(basis)));
        assert_answers(provider, cases).await;
    }
}
