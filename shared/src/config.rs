//! Configuration: read once, typed, every fault of it reported together.

mod reader;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use crate::dispatch::Timing;
use crate::idempotency::{DedupWindow, WindowTerms};
use crate::notification::{Policy, Provider, Silence};
use crate::tenant::TenantId;
use crate::time::Millis;

use reader::Reader;
pub use reader::{ConfigFault, ConfigFaults};

/// Where things are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tables {
    /// Records and guards.
    pub notifications: String,
    /// Evidence.
    pub evidence: String,
}

/// How the gateway says who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallerRule {
    /// By IAM: the user or role, without the session.
    Iam,
    /// By JWT: the issuer, and this claim.
    Jwt {
        /// The claim that names a tenant.
        claim: String,
    },
}

/// What admission needs.
#[derive(Clone, Debug)]
pub struct AdmissionConfig {
    /// Where things are kept.
    pub tables: Tables,
    /// Where doorbells hang.
    pub doorbell_queue_url: String,
    /// The KMS key that data keys are made under.
    pub seal_key_id: String,
    /// The KMS key that the MAC root is made with.
    pub mac_key_id: String,
    /// How the gateway says who calls.
    pub caller: CallerRule,
    /// Who may decide about unknowns of any tenant.
    pub operators: BTreeSet<TenantId>,
    /// How long a key is remembered.
    pub window: DedupWindow,
    /// The longest life a command may ask for.
    pub lifetime_max: Millis,
    /// The numbers decisions depend on.
    pub policy: Policy,
}

/// Through whom texts go, and what that one is told with each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carriage {
    /// Amazon SNS.
    Sns {
        /// The number that texts are sent from.
        origination_number: Option<String>,
    },
    /// AWS End User Messaging SMS.
    Eum {
        /// Where the service says what became of a text.
        configuration_set: Option<String>,
        /// What texts are sent from that bring no sender id of their own.
        origination_identity: Option<String>,
        /// Which countries and numbers may be texted.
        protect_configuration_id: Option<String>,
    },
}

impl Carriage {
    /// The provider's name, as evidence has it.
    #[must_use]
    pub const fn provider(&self) -> Provider {
        match self {
            Self::Sns { .. } => Provider::Sns,
            Self::Eum { .. } => Provider::Eum,
        }
    }
}

/// What dispatch needs.
#[derive(Clone, Debug)]
pub struct DispatchConfig {
    /// Where things are kept.
    pub tables: Tables,
    /// Where doorbells hang.
    pub doorbell_queue_url: String,
    /// The numbers decisions depend on.
    pub policy: Policy,
    /// What connecting to the provider may take.
    pub connect_timeout: Millis,
    /// How long the steps of an attempt take.
    pub timing: Timing,
    /// Through whom texts go.
    pub carriage: Carriage,
    /// The most that one text may cost, in US dollars.
    pub max_price_usd: Option<String>,
}

/// What reconciliation needs.
#[derive(Clone, Debug)]
pub struct ReconciliationConfig {
    /// Where things are kept.
    pub tables: Tables,
    /// Where doorbells hang.
    pub doorbell_queue_url: String,
    /// The KMS key that the MAC root is made with.
    pub mac_key_id: String,
    /// The log group that SNS writes of successes; that of failures is named after it.
    pub sns_log_group: String,
    /// Through whom texts go.
    pub provider: Provider,
    /// The longest life a command may ask for.
    pub lifetime_max: Millis,
    /// The numbers decisions depend on.
    pub policy: Policy,
}

/// What status needs.
#[derive(Clone, Debug)]
pub struct StatusConfig {
    /// Where things are kept.
    pub tables: Tables,
    /// How the gateway says who calls.
    pub caller: CallerRule,
    /// Who may see every tenant's notifications.
    pub operators: BTreeSet<TenantId>,
}

/// Left after a provider call to write its outcome: one DynamoDB request with its retries.
const WRITE_BACK: Millis = Millis::new(6_000);
/// Left before a provider call to record its attempt.
const RECORD: Millis = Millis::new(500);
/// Gone before that: the record is read, its envelope opened.
const LEAD: Millis = Millis::new(500);

impl AdmissionConfig {
    /// Reads it.
    ///
    /// # Errors
    /// All [`ConfigFaults`] at once.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigFaults> {
        let mut from = Reader::new(&lookup);
        let (policy, lifetime_max) = (policy(&mut from), lifetime_max(&mut from));
        let caller = caller(&mut from);
        let config = Self {
            tables: tables(&mut from),
            doorbell_queue_url: from.required("DOORBELL_QUEUE_URL"),
            seal_key_id: from.required("SEAL_KEY_ID"),
            mac_key_id: from.required("MAC_KEY_ID"),
            operators: operators(&mut from, &caller),
            caller,
            window: window(&mut from, lifetime_max, policy.clock_skew),
            lifetime_max,
            policy,
        };
        if config.policy.min_useful_life >= lifetime_max {
            from.fault("MIN_USEFUL_LIFE_SECONDS", "must be below MESSAGE_LIFETIME_MAX_SECONDS");
        }
        from.finish(config)
    }
}

impl DispatchConfig {
    /// Reads it.
    ///
    /// # Errors
    /// All [`ConfigFaults`] at once.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigFaults> {
        let mut from = Reader::new(&lookup);
        let config = Self {
            tables: tables(&mut from),
            doorbell_queue_url: from.required("DOORBELL_QUEUE_URL"),
            policy: policy(&mut from),
            connect_timeout: from.milliseconds("PROVIDER_CONNECT_TIMEOUT_MS", 2_000, 50..=60_000),
            timing: Timing {
                record: RECORD,
                call: from.milliseconds("PROVIDER_OPERATION_TIMEOUT_MS", 10_000, 100..=300_000),
                write_back: WRITE_BACK,
            },
            carriage: carriage(&mut from),
            max_price_usd: from.optional("SMS_MAX_PRICE_USD", "a decimal number", is_decimal),
        };
        if config.carriage.provider() == Provider::Eum && !config.max_price_usd.as_deref().is_none_or(is_eum_price) {
            from.fault("SMS_MAX_PRICE_USD", "must be below 100, with 1 to 5 digits after a point, for PROVIDER eum");
        }
        let needed = LEAD.plus(config.timing.record).plus(config.timing.call).plus(config.timing.write_back);
        if from.seconds("FUNCTION_TIMEOUT_SECONDS", 30, 1..=900) < needed {
            from.fault(
                "PROVIDER_OPERATION_TIMEOUT_MS",
                "must leave 7 s of FUNCTION_TIMEOUT_SECONDS, or no attempt ever has the time to start",
            );
        }
        // What ends first must be known to have been connecting: the attempt's own limit lies 5 % below the call's.
        let connecting = config.connect_timeout.times(100);
        if connecting >= config.timing.call.times(95) {
            from.fault("PROVIDER_CONNECT_TIMEOUT_MS", "must be below 95 % of PROVIDER_OPERATION_TIMEOUT_MS");
        }
        from.finish(config)
    }
}

impl ReconciliationConfig {
    /// Reads it.
    ///
    /// # Errors
    /// All [`ConfigFaults`] at once.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigFaults> {
        let mut from = Reader::new(&lookup);
        let config = Self {
            tables: tables(&mut from),
            doorbell_queue_url: from.required("DOORBELL_QUEUE_URL"),
            mac_key_id: from.required("MAC_KEY_ID"),
            sns_log_group: from.required("SNS_LOG_GROUP"),
            provider: provider(&mut from),
            lifetime_max: lifetime_max(&mut from),
            policy: policy(&mut from),
        };
        from.finish(config)
    }
}

impl StatusConfig {
    /// Reads it.
    ///
    /// # Errors
    /// All [`ConfigFaults`] at once.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigFaults> {
        let mut from = Reader::new(&lookup);
        let (tables, caller) = (tables(&mut from), caller(&mut from));
        let config = Self { tables, operators: operators(&mut from, &caller), caller };
        from.finish(config)
    }
}

fn tables(from: &mut Reader<'_>) -> Tables {
    Tables { notifications: from.required("NOTIFICATIONS_TABLE"), evidence: from.required("EVIDENCE_TABLE") }
}

fn caller(from: &mut Reader<'_>) -> CallerRule {
    match from.text("AUTHORIZATION").as_deref() {
        None | Some("iam") => CallerRule::Iam,
        Some("jwt") => CallerRule::Jwt { claim: from.text("TENANT_CLAIM").unwrap_or_else(|| String::from("sub")) },
        Some(_) => {
            from.fault("AUTHORIZATION", "must be iam or jwt");
            CallerRule::Iam
        }
    }
}

/// Reads the settings of both providers, so that a fault shows before its provider is chosen.
fn carriage(from: &mut Reader<'_>) -> Carriage {
    let sns = Carriage::Sns {
        origination_number: from.optional(
            "SMS_ORIGINATION_NUMBER",
            "digits, at most 20, after an optional +",
            is_origination,
        ),
    };
    let rule = "letters, digits and _ : / + -, at most 256";
    let eum = Carriage::Eum {
        configuration_set: from.optional("EUM_CONFIGURATION_SET", rule, is_eum_name),
        origination_identity: from.optional("EUM_ORIGINATION_IDENTITY", rule, is_eum_name),
        protect_configuration_id: from.optional("EUM_PROTECT_CONFIGURATION_ID", rule, is_eum_name),
    };
    match provider(from) {
        Provider::Sns => sns,
        Provider::Eum => eum,
    }
}

fn lifetime_max(from: &mut Reader<'_>) -> Millis {
    from.seconds("MESSAGE_LIFETIME_MAX_SECONDS", 600, 5..=86_400)
}

fn provider(from: &mut Reader<'_>) -> Provider {
    match from.text("PROVIDER").as_deref() {
        None | Some("sns") => Provider::Sns,
        Some("eum") => Provider::Eum,
        Some(_) => {
            from.fault("PROVIDER", "must be sns or eum");
            Provider::Sns
        }
    }
}

/// Named as people name them, known as callers are: ARNs of users and roles, or what the issuer calls them.
fn operators(from: &mut Reader<'_>, caller: &CallerRule) -> BTreeSet<TenantId> {
    let issuer = match caller {
        CallerRule::Iam => None,
        CallerRule::Jwt { .. } => from.text("JWT_ISSUER"),
    };
    let list = from.text("OPERATOR_PRINCIPALS").unwrap_or_default();
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    let known: Option<BTreeSet<TenantId>> = names
        .map(|name| match caller {
            CallerRule::Iam => TenantId::of_iam(name),
            CallerRule::Jwt { .. } => issuer.as_deref().map(|issuer| TenantId::of_jwt(issuer, name)),
        })
        .collect();
    known.unwrap_or_else(|| {
        let rule = match caller {
            CallerRule::Iam => "must be ARNs of IAM users and roles, with commas between",
            CallerRule::Jwt { .. } => "needs JWT_ISSUER, which says who calls them so",
        };
        from.fault("OPERATOR_PRINCIPALS", rule);
        BTreeSet::new()
    })
}

/// A function reads the numbers that its template sets; those it has no use for keep their defaults.
fn policy(from: &mut Reader<'_>) -> Policy {
    let policy = Policy {
        min_useful_life: from.seconds("MIN_USEFUL_LIFE_SECONDS", 30, 1..=3_600),
        attempts_max: u32::try_from(from.number("ATTEMPTS_MAX", 20, 1..=50)).unwrap_or(1),
        doorbell_grace: from.seconds("DOORBELL_GRACE_SECONDS", 60, 1..=3_600),
        clock_skew: from.seconds("CLOCK_SKEW_SECONDS", 5, 0..=300),
        backoff_base: from.milliseconds("RETRY_BACKOFF_BASE_MS", 2_000, 1..=600_000),
        backoff_max: from.milliseconds("RETRY_BACKOFF_MAX_MS", 60_000, 1..=900_000),
        index_lag: from.seconds("INDEX_LAG_SECONDS", 60, 0..=3_600),
        silence: silence(from),
    };
    if policy.backoff_max < policy.backoff_base {
        from.fault("RETRY_BACKOFF_MAX_MS", "must not be below RETRY_BACKOFF_BASE_MS");
    }
    policy
}

/// Silence may be taken for a no only where every attempt is named in its receipts, and only by those who say so.
fn silence(from: &mut Reader<'_>) -> Silence {
    let after = from.seconds("SILENCE_AFTER_SECONDS", 120, 1..=259_200);
    match from.text("SILENCE_POLICY").as_deref() {
        None | Some("stop") => Silence::Stop,
        Some("resend_once") => {
            if from.text("PROVIDER").as_deref() != Some("eum") {
                from.fault("SILENCE_POLICY", "may be resend_once with PROVIDER=eum only");
            }
            Silence::ResendOnce { after }
        }
        Some(_) => {
            from.fault("SILENCE_POLICY", "must be stop or resend_once");
            Silence::Stop
        }
    }
}

fn window(from: &mut Reader<'_>, message_lifetime: Millis, clock_skew: Millis) -> DedupWindow {
    let terms = WindowTerms {
        message_lifetime,
        client_retry_window: from.seconds("CLIENT_RETRY_WINDOW_SECONDS", 3_600, 0..=2_592_000),
        visibility_timeout: from.seconds("DOORBELL_VISIBILITY_TIMEOUT_SECONDS", 180, 1..=43_200),
        max_receive_count: from.number("DOORBELL_MAX_RECEIVE_COUNT", 5, 1..=1_000),
        clock_skew,
    };
    let length = from.seconds("DEDUP_WINDOW_SECONDS", 86_400, 1..=31_536_000);
    DedupWindow::new(length, terms).unwrap_or_else(|fault| {
        from.fault("DEDUP_WINDOW_SECONDS", fault);
        DedupWindow::shortest(terms)
    })
}

fn is_decimal(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.len() <= 9 && part.bytes().all(|b| b.is_ascii_digit());
    match text.split_once('.') {
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => digits(text),
    }
}

fn is_origination(text: &str) -> bool {
    let digits = text.strip_prefix('+').unwrap_or(text);
    (1..=20).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit())
}

fn is_eum_name(text: &str) -> bool {
    (1..=256).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"_:/+-".contains(&b))
}

/// End User Messaging takes prices of one form only, and refuses every text that comes with another.
fn is_eum_price(text: &str) -> bool {
    text.split_once('.').is_some_and(|(whole, part)| whole.len() <= 2 && (1..=5).contains(&part.len()))
}
