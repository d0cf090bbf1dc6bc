//! Faults come together, and rules between variables hold.

use std::collections::HashMap;

use super::*;

fn admission(changes: &[(&str, &str)]) -> Result<AdmissionConfig, ConfigFaults> {
    let mut variables = HashMap::from([
        ("NOTIFICATIONS_TABLE", "n"),
        ("EVIDENCE_TABLE", "e"),
        ("DOORBELL_QUEUE_URL", "q"),
        ("SEAL_KEY_ID", "s"),
        ("MAC_KEY_ID", "m"),
    ]);
    variables.extend(changes.iter().copied());
    AdmissionConfig::read(|name| variables.get(name).map(ToString::to_string))
}

#[test]
fn defaults_are_those_of_the_template() {
    let config = admission(&[]).unwrap();
    assert_eq!(config.lifetime_max, Millis::from_secs(600));
    assert_eq!(config.window.length(), Millis::from_secs(86_400));
    assert_eq!(config.caller, CallerRule::Iam);
    assert_eq!(config.policy.min_useful_life, Millis::from_secs(30));
}

#[test]
fn all_faults_are_reported_together_and_name_their_variable() {
    let faults = AdmissionConfig::read(|name| match name {
        "EVIDENCE_TABLE" => Some(String::new()),
        "AUTHORIZATION" => Some(String::from("basic")),
        "DEDUP_WINDOW_SECONDS" => Some(String::from("60")),
        "CLOCK_SKEW_SECONDS" => Some(String::from("five")),
        "DOORBELL_GRACE_SECONDS" => Some(String::from("0")),
        _ => None,
    })
    .unwrap_err();
    let text = faults.to_string();
    for variable in [
        "NOTIFICATIONS_TABLE",
        "EVIDENCE_TABLE",
        "DOORBELL_QUEUE_URL",
        "SEAL_KEY_ID",
        "MAC_KEY_ID",
        "AUTHORIZATION",
        "DEDUP_WINDOW_SECONDS",
        "CLOCK_SKEW_SECONDS",
        "DOORBELL_GRACE_SECONDS",
    ] {
        assert!(text.contains(variable), "{variable} is not in: {text}");
    }
    assert_eq!(faults.iter().count(), 9);
}

#[test]
fn invariant_10_a_window_shorter_than_its_formula_does_not_start() {
    let text = admission(&[("DEDUP_WINDOW_SECONDS", "5109")]).unwrap_err().to_string();
    assert!(text.contains("5110 s = message lifetime 600 s + client retry window 3600 s"), "{text}");
    assert!(admission(&[("DEDUP_WINDOW_SECONDS", "5110")]).is_ok());
}

fn dispatch(changes: &[(&str, &str)]) -> Result<DispatchConfig, ConfigFaults> {
    let mut variables = HashMap::from([("NOTIFICATIONS_TABLE", "n"), ("EVIDENCE_TABLE", "e")]);
    variables.insert("DOORBELL_QUEUE_URL", "q");
    variables.extend(changes.iter().copied());
    DispatchConfig::read(|name| variables.get(name).map(ToString::to_string))
}

#[test]
fn texts_go_through_sns_unless_eum_is_chosen() {
    let settings = [
        ("SMS_ORIGINATION_NUMBER", "+15550199999"),
        ("EUM_CONFIGURATION_SET", "receipts"),
        ("EUM_ORIGINATION_IDENTITY", "pool-0123abcd"),
    ];
    let carriage = |provider| dispatch(&[&settings[..], &[("PROVIDER", provider)]].concat()).unwrap().carriage;
    for provider in ["", "sns"] {
        let origination_number = Some(String::from("+15550199999"));
        assert_eq!(carriage(provider), Carriage::Sns { origination_number });
    }
    let expected = Carriage::Eum {
        configuration_set: Some(String::from("receipts")),
        origination_identity: Some(String::from("pool-0123abcd")),
        protect_configuration_id: None,
    };
    assert_eq!((carriage("eum").provider(), carriage("eum")), (Provider::Eum, expected));
}

#[test]
fn faults_of_both_providers_are_reported_together() {
    let faults = dispatch(&[
        ("PROVIDER", "twilio"),
        ("SMS_ORIGINATION_NUMBER", "ACME"),
        ("SMS_MAX_PRICE_USD", "cheap"),
        ("EUM_CONFIGURATION_SET", "a b"),
        ("EUM_ORIGINATION_IDENTITY", "é"),
        ("EUM_PROTECT_CONFIGURATION_ID", "a.b"),
    ])
    .unwrap_err();
    assert_eq!(faults.iter().count(), 6, "{faults}");
}

#[test]
fn a_price_that_eum_would_refuse_each_text_for_does_not_start() {
    for (price, eum_starts) in [("0.5", true), ("99.99999", true), ("1", false), ("100.0", false), ("0.123456", false)]
    {
        assert!(dispatch(&[("SMS_MAX_PRICE_USD", price)]).is_ok(), "{price} for sns");
        let eum = dispatch(&[("SMS_MAX_PRICE_USD", price), ("PROVIDER", "eum")]);
        assert_eq!(eum.is_ok(), eum_starts, "{price} for eum");
    }
}

#[test]
fn silence_may_be_taken_for_a_no_only_where_each_attempt_is_named_in_its_receipts() {
    let once = Silence::ResendOnce { after: Millis::from_secs(120) };
    let silence = |changes: &[_]| admission(changes).map(|config| config.policy.silence);
    assert_eq!(silence(&[]), Ok(Silence::Stop));
    assert_eq!(silence(&[("SILENCE_POLICY", "resend_once"), ("PROVIDER", "eum")]), Ok(once));
    for changes in [&[("SILENCE_POLICY", "resend_once")][..], &[("SILENCE_POLICY", "resend"), ("PROVIDER", "eum")]] {
        assert!(silence(changes).unwrap_err().to_string().contains("SILENCE_POLICY"));
    }
}

#[test]
fn operators_are_known_as_callers_are() {
    let operators = |changes: &[(&str, &str)]| admission(changes).map(|config| config.operators);
    assert_eq!(operators(&[]).unwrap(), BTreeSet::new());
    let named =
        operators(&[("OPERATOR_PRINCIPALS", "arn:aws:iam::111122223333:role/ops, arn:aws:iam::111122223333:user/jo")]);
    let known = ["arn:aws:sts::111122223333:assumed-role/ops/s", "arn:aws:iam::111122223333:user/jo"];
    assert_eq!(named.unwrap(), known.into_iter().filter_map(TenantId::of_iam).collect());
    assert!(operators(&[("OPERATOR_PRINCIPALS", "ops")]).is_err());
    let jwt = [("AUTHORIZATION", "jwt"), ("OPERATOR_PRINCIPALS", "jo")];
    assert!(operators(&jwt).is_err());
    let told = [jwt.as_slice(), &[("JWT_ISSUER", "https://issuer.example")]].concat();
    assert_eq!(operators(&told).unwrap(), BTreeSet::from([TenantId::of_jwt("https://issuer.example", "jo")]));
}

#[test]
fn dispatch_does_not_start_when_no_attempt_could() {
    let told = |timeout, call| {
        dispatch(&[("FUNCTION_TIMEOUT_SECONDS", timeout), ("PROVIDER_OPERATION_TIMEOUT_MS", call)]).map(drop)
    };
    assert!(told("15", "8000").is_ok());
    let text = told("15", "8001").unwrap_err().to_string();
    assert!(text.contains("PROVIDER_OPERATION_TIMEOUT_MS must leave 7 s"), "{text}");
    assert!(dispatch(&[("FUNCTION_TIMEOUT_SECONDS", "15")]).is_err(), "with the default");
}

#[test]
fn rules_between_fields_hold() {
    assert!(admission(&[("MIN_USEFUL_LIFE_SECONDS", "600")]).is_err());
    assert!(admission(&[("RETRY_BACKOFF_MAX_MS", "1")]).is_err());
    let dispatch = |connect: &'static str| {
        DispatchConfig::read(move |name| match name {
            "PROVIDER_CONNECT_TIMEOUT_MS" => Some(String::from(connect)),
            "PROVIDER_OPERATION_TIMEOUT_MS" => Some(String::from("1000")),
            "FUNCTION_TIMEOUT_SECONDS" => Some(String::from("15")),
            "SMS_MAX_PRICE_USD" | "SILENCE_POLICY" | "PROVIDER" => Some(String::new()),
            _ => Some(String::from("1")),
        })
    };
    assert!(dispatch("949").is_ok());
    assert!(dispatch("950").is_err());
}
