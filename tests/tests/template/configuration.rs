//! The template against the code that reads its variables: the same readers that the functions start with.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use sendonce::config::{AdmissionConfig, Carriage, ConfigFaults, DispatchConfig, ReconciliationConfig, StatusConfig};
use serde_json::json;

use crate::document::{Parameters, Template, environment, list, target, text};
use crate::{arn, holds_and_can_fail, variables};

type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;
type Reader = fn(Lookup<'_>) -> Result<(), ConfigFaults>;

const READERS: [(&str, Reader); 4] = [
    ("AdmissionFunction", |lookup| AdmissionConfig::read(lookup).map(drop)),
    ("DispatchFunction", |lookup| DispatchConfig::read(lookup).map(drop)),
    ("ReconciliationFunction", |lookup| ReconciliationConfig::read(lookup).map(drop)),
    ("StatusFunction", |lookup| StatusConfig::read(lookup).map(drop)),
];

const PROVIDER_CHOICES: [&[(&str, &str)]; 3] = [
    &[("Provider", "sns"), ("SmsOriginationNumber", "+15550199999"), ("SmsMaxPriceUsd", "1")],
    &[("Provider", "eum"), ("SmsMaxPriceUsd", "0.50"), ("EumOriginationIdentity", "+15550199999")],
    &[
        ("Provider", "eum"),
        ("EumConfigurationSet", "receipts"),
        ("EumOriginationIdentity", "pool-0123abcd"),
        ("EumProtectConfigurationId", "protect-0123abcd"),
    ],
];

/// Whatever may be chosen: no function refuses to start (the formula of the dedup window is among what could make one),
/// and none is told what it never reads.
fn functions_start_with_what_they_are_told(template: &Template) -> Vec<String> {
    let timeouts = list(&template.0["Parameters"]["DispatchTimeout"]["AllowedValues"]);
    let by_timeout = timeouts.iter().map(|seconds| {
        template.defaults_but(&[("DispatchTimeout", &text(seconds)), ("ProviderOperationTimeoutMs", "8000")])
    });
    let by_token = template.defaults_but(&[("JwtIssuer", "https://issuer.example"), ("JwtAudience", "a")]);
    let by_provider = PROVIDER_CHOICES.iter().map(|choice| template.defaults_but(choice));
    let silence = template.defaults_but(&[("Provider", "eum"), ("SilencePolicy", "resend_once")]);
    let choices: Vec<Parameters> = by_timeout.chain([by_token, silence]).chain(by_provider).collect();
    let mut faults = BTreeSet::new();
    for (function, read) in READERS {
        let asked = RefCell::new(BTreeSet::from(["LOG_LEVEL".to_owned()]));
        let mut given = BTreeSet::new();
        for parameters in &choices {
            let told = told(template, function, parameters);
            let outcome = read(&|name| {
                asked.borrow_mut().insert(name.to_owned());
                told.get(name).cloned()
            });
            faults.extend(outcome.err().map(|fault| format!("{function} does not start: {fault}")));
            given.extend(told.into_keys());
        }
        faults.extend(given.difference(&asked.into_inner()).map(|name| format!("{function} does not read {name}")));
    }
    faults.into_iter().collect()
}

/// Dispatch is told how long it may take, so that it does not start where no attempt could.
fn dispatch_is_told_its_timeout(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    for choice in list(&template.0["Parameters"]["DispatchTimeout"]["AllowedValues"]) {
        let parameters = template.defaults_but(&[("DispatchTimeout", &text(choice))]);
        let told = told(template, "DispatchFunction", &parameters);
        let told = told.get("FUNCTION_TIMEOUT_SECONDS").cloned().unwrap_or_default();
        let given = text(&template.resolve(template.function_property("DispatchFunction", "Timeout"), &parameters));
        if told != given {
            faults.push(format!("dispatch has {given} s and is told {told:?}"));
        }
    }
    faults
}

fn told(template: &Template, function: &str, parameters: &Parameters) -> BTreeMap<String, String> {
    let variables = template.resolve(environment(template, function), parameters);
    let variables = variables.as_object().expect("variables");
    // What names a resource stands for its address.
    variables.iter().map(|(name, value)| (name.clone(), target(value))).collect()
}

/// The choice of a provider reaches the code, and with it what belongs to it.
fn the_chosen_provider_gets_its_settings(template: &Template) -> Vec<String> {
    let some = |text: &str| Some(text.to_owned());
    let expected = [
        (Carriage::Sns { origination_number: some("+15550199999") }, some("1")),
        (
            Carriage::Eum {
                configuration_set: None,
                origination_identity: some("+15550199999"),
                protect_configuration_id: None,
            },
            some("0.50"),
        ),
        (
            Carriage::Eum {
                configuration_set: some("receipts"),
                origination_identity: some("pool-0123abcd"),
                protect_configuration_id: some("protect-0123abcd"),
            },
            None,
        ),
    ];
    let mut faults = Vec::new();
    for (choice, expected) in PROVIDER_CHOICES.iter().zip(expected) {
        let told = told(template, "DispatchFunction", &template.defaults_but(choice));
        let config = DispatchConfig::read(|name| told.get(name).cloned()).expect("a configuration");
        let read = (config.carriage, config.max_price_usd);
        if read != expected {
            faults.push(format!("{choice:?} became {read:?}"));
        }
    }
    faults
}

#[test]
fn dispatch_sends_through_the_provider_that_was_chosen() {
    holds_and_can_fail(
        the_chosen_provider_gets_its_settings,
        &[
            (|t| variables(t, "DispatchFunction")["PROVIDER"] = json!("sns"), "became (Sns"),
            (
                |t| {
                    variables(t, "DispatchFunction")["EUM_CONFIGURATION_SET"] = json!({"Ref": "EumOriginationIdentity"})
                },
                "became",
            ),
            (|t| variables(t, "DispatchFunction")["SMS_MAX_PRICE_USD"] = json!(""), "became"),
        ],
    );
}

#[test]
fn functions_start_with_whatever_the_template_lets_one_choose() {
    holds_and_can_fail(
        functions_start_with_what_they_are_told,
        &[
            (|t| t["Parameters"]["DedupWindowSeconds"]["Default"] = json!(5_109), "AdmissionFunction does not start"),
            (
                |t| t["Parameters"]["ProviderConnectTimeoutMs"]["Default"] = json!(10_000),
                "DispatchFunction does not start",
            ),
            (
                |t| variables(t, "DispatchFunction")["PROVIDER_OPERATION_TIMEOUT_MS"] = json!(10_000),
                "DispatchFunction does not start",
            ),
            (|t| variables(t, "StatusFunction")["AUTHORIZATION"] = json!("basic"), "StatusFunction does not start"),
            (|t| variables(t, "DispatchFunction")["PROVIDER"] = json!("both"), "DispatchFunction does not start"),
            (
                |t| t["Parameters"]["OperatorPrincipals"]["Default"] = json!("somebody"),
                "AdmissionFunction does not start",
            ),
            (|t| variables(t, "ReconciliationFunction")["DOORBELL_QUEUE_URL"] = json!(""), "does not start"),
            (|t| variables(t, "StatusFunction")["SEAL_KEY_ID"] = arn("SealKey"), "does not read SEAL_KEY_ID"),
        ],
    );
}

#[test]
fn dispatch_knows_its_timeout_whichever_is_chosen() {
    holds_and_can_fail(
        dispatch_is_told_its_timeout,
        &[
            (
                |t| variables(t, "DispatchFunction")["FUNCTION_TIMEOUT_SECONDS"] = json!(30),
                "has 15 s and is told \"30\"",
            ),
            (
                |t| t["Resources"]["DispatchFunction"]["Properties"]["Timeout"] = json!(20),
                "has 20 s and is told \"15\"",
            ),
        ],
    );
}
