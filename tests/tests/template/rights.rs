//! Who may do what: the rights that the template gives, read from the roles *and* from the key policies.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::document::{Parameters, Template, list, target, text};
use crate::{arn, holds_and_can_fail, properties};

/// A resource of End User Messaging, of this account and region alone.
macro_rules! of_eum {
    ($resource:literal) => {
        concat!("arn:${AWS::Partition}:sms-voice:${AWS::Region}:${AWS::AccountId}:", $resource)
    };
}

/// One IAM action on one resource, by one role.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Right {
    role: String,
    effect: String,
    action: String,
    resource: String,
}

/// SNS's delivery log. An ARN of a log group ends like this, and means that group alone.
const SUCCESSES: &str = "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:\
                         sns/${AWS::Region}/${AWS::AccountId}/DirectPublishToPhoneNumber:*";
const FAILURES: &str = "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:\
                        sns/${AWS::Region}/${AWS::AccountId}/DirectPublishToPhoneNumber/Failure:*";

/// The whole of it. One action stands for one kind of AWS request that the function makes.
const RIGHTS: &[(&str, &str, &[&str])] = &[
    ("AdmissionRole", "NotificationsTable", &["dynamodb:GetItem", "dynamodb:PutItem"]),
    ("AdmissionRole", "EvidenceTable", &["dynamodb:PutItem"]),
    ("AdmissionRole", "DoorbellQueue", &["sqs:SendMessage"]),
    ("AdmissionRole", "SealKey", &["kms:GenerateDataKey"]),
    ("AdmissionRole", "MacKey", &["kms:GenerateMac"]),
    ("AdmissionRole", "AdmissionLogGroup", &["logs:CreateLogStream", "logs:PutLogEvents"]),
    ("DispatchRole", "NotificationsTable", &["dynamodb:GetItem", "dynamodb:PutItem"]),
    ("DispatchRole", "EvidenceTable", &["dynamodb:PutItem"]),
    (
        "DispatchRole",
        "DoorbellQueue",
        &["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:SendMessage"],
    ),
    ("DispatchRole", "SealKey", &["kms:Decrypt"]),
    ("DispatchRole", "DispatchLogGroup", &["logs:CreateLogStream", "logs:PutLogEvents"]),
    ("ReconciliationRole", "NotificationsTable/index/due", &["dynamodb:Query"]),
    ("ReconciliationRole", "NotificationsTable/index/by_destination", &["dynamodb:Query"]),
    ("ReconciliationRole", "NotificationsTable", &["dynamodb:GetItem", "dynamodb:PutItem"]),
    ("ReconciliationRole", "EvidenceTable", &["dynamodb:PutItem", "dynamodb:Query"]),
    ("ReconciliationRole", "DoorbellQueue", &["sqs:SendMessage"]),
    ("ReconciliationRole", "MacKey", &["kms:GenerateMac"]),
    ("ReconciliationRole", SUCCESSES, &["logs:FilterLogEvents", "logs:DescribeSubscriptionFilters"]),
    ("ReconciliationRole", FAILURES, &["logs:FilterLogEvents", "logs:DescribeSubscriptionFilters"]),
    ("ReconciliationRole", "*", &["sns:GetSMSAttributes", "sns:GetSMSSandboxAccountStatus"]),
    (
        "ReconciliationRole",
        "arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${AWS::StackName}-receipts",
        &["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"],
    ),
    ("ReconciliationRole", "ReceiptsKey", &["kms:Decrypt"]),
    ("ReconciliationRole", "ReconciliationLogGroup", &["logs:CreateLogStream", "logs:PutLogEvents"]),
    ("ReconciliationScheduleRole", "ReconciliationFunction", &["lambda:InvokeFunction"]),
    ("StatusRole", "NotificationsTable", &["dynamodb:GetItem"]),
    ("StatusRole", "EvidenceTable", &["dynamodb:Query"]),
    ("StatusRole", "StatusLogGroup", &["logs:CreateLogStream", "logs:PutLogEvents"]),
];

/// What dispatch may do with each provider, chosen by these parameters. With one, nothing of the other.
const BY_PROVIDER: &[(&[(&str, &str)], &str, &str, &[&str])] = &[
    // SNS has no ARN for a phone number: "*" is allowed, and everything that does have one is denied.
    (&[("Provider", "sns")], "Allow", "sns:Publish", &["*"]),
    (&[("Provider", "sns")], "Deny", "sns:Publish", &["arn:${AWS::Partition}:sns:*:*:*"]),
    (&[("Provider", "eum")], "Allow", "sms-voice:SendTextMessage", ORIGINS),
    (
        &[("Provider", "eum"), ("EumConfigurationSet", "receipts")],
        "Allow",
        "sms-voice:SendTextMessage",
        &[of_eum!("configuration-set/receipts")],
    ),
    (
        &[("Provider", "eum"), ("EumProtectConfigurationId", "protect-1")],
        "Allow",
        "sms-voice:SendTextMessage",
        &[of_eum!("protect-configuration/protect-1")],
    ),
];

/// What a text may be sent from; a text can bring a sender id of its own.
const ORIGINS: &[&str] = &[of_eum!("phone-number/*"), of_eum!("pool/*"), of_eum!("sender-id/*")];

/// Whatever gives or takes away a right.
const CHOICES: &[&[(&str, &str)]] = &[
    &[],
    &[("EumConfigurationSet", "receipts"), ("EumProtectConfigurationId", "protect-1")],
    &[("Provider", "eum")],
    &[("Provider", "eum"), ("EumConfigurationSet", "receipts")],
    &[("Provider", "eum"), ("EumProtectConfigurationId", "protect-1")],
    &[("Provider", "eum"), ("EumConfigurationSet", "receipts"), ("EumProtectConfigurationId", "protect-1")],
];

/// What makes a key's policy more than a matter of managing it.
const KEY_MANAGEMENT: &[&str] = &[
    "CancelKeyDeletion",
    "CreateAlias",
    "DeleteAlias",
    "DescribeKey",
    "DisableKey",
    "DisableKeyRotation",
    "EnableKey",
    "EnableKeyRotation",
    "GetKeyPolicy",
    "GetKeyRotationStatus",
    "ListGrants",
    "ListKeyPolicies",
    "ListKeyRotations",
    "ListResourceTags",
    "PutKeyPolicy",
    "RevokeGrant",
    "RotateKeyOnDemand",
    "ScheduleKeyDeletion",
    "TagResource",
    "UntagResource",
    "UpdateAlias",
    "UpdateKeyDescription",
];

fn roles_hold_exactly_their_rights(template: &Template) -> Vec<String> {
    let right = |role: &str, effect: &str, action: &str, resource: &str| Right {
        role: role.into(),
        effect: effect.into(),
        action: action.into(),
        resource: resource.into(),
    };
    let always = RIGHTS
        .iter()
        .flat_map(|(role, resource, actions)| actions.iter().map(|action| right(role, "Allow", action, resource)));
    let always: BTreeSet<Right> = always.collect();
    let mut faults = Vec::new();
    for choice in CHOICES {
        let parameters = template.defaults_but(choice);
        let chosen = BY_PROVIDER
            .iter()
            .filter(|(when, ..)| when.iter().all(|(name, value)| parameters[*name] == *value))
            .flat_map(|(_, effect, action, resources)| {
                resources.iter().map(|resource| right("DispatchRole", effect, action, resource))
            });
        let wanted: BTreeSet<Right> = chosen.chain(always.clone()).collect();
        let given = given(template, &parameters);
        faults.extend(given.difference(&wanted).map(|right| format!("{choice:?}: surplus: {right:?}")));
        faults.extend(wanted.difference(&given).map(|right| format!("{choice:?}: missing: {right:?}")));
    }
    faults
}

fn evidence_is_only_added_and_read(template: &Template) -> Vec<String> {
    faults(template, |right| {
        right.resource.starts_with("EvidenceTable")
            && !matches!(right.action.as_str(), "dynamodb:PutItem" | "dynamodb:Query")
    })
}

fn only_dispatch_opens_the_seal(template: &Template) -> Vec<String> {
    faults(template, |right| {
        let opens = matches!(right.action.as_str(), "kms:Decrypt" | "kms:ReEncryptFrom");
        let a_receipt = right.role == "ReconciliationRole" && right.resource == "ReceiptsKey";
        right.role != "DispatchRole" && opens && !a_receipt
    })
}

fn status_only_reads(template: &Template) -> Vec<String> {
    let reads = ["dynamodb:GetItem", "dynamodb:Query", "logs:CreateLogStream", "logs:PutLogEvents"];
    faults(template, |right| right.role == "StatusRole" && !reads.contains(&right.action.as_str()))
}

fn each_right_names_what_it_is_for(template: &Template) -> Vec<String> {
    faults(template, |right| {
        let text_to_a_phone = right.role == "DispatchRole" && right.action == "sns:Publish";
        let text_from_the_account = right.role == "DispatchRole"
            && right.action == "sms-voice:SendTextMessage"
            && ORIGINS.contains(&right.resource.as_str());
        let settings = ["sns:GetSMSAttributes", "sns:GetSMSSandboxAccountStatus"].contains(&right.action.as_str());
        let delivery_log = [SUCCESSES, FAILURES].contains(&right.resource.as_str());
        let by_need = text_to_a_phone || text_from_the_account || settings || delivery_log;
        right.action.contains('*') || (right.resource.contains('*') && !by_need)
    })
}

/// Every role is there for one service and takes its rights from this template alone; every function has its own.
fn no_role_is_shared_or_filled_from_outside(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    for role in template.of_type("AWS::IAM::Role") {
        let properties = template.properties(role);
        for outside in ["ManagedPolicyArns", "PermissionsBoundary"] {
            if !properties[outside].is_null() {
                faults.push(format!("{role} takes rights from outside: {outside}"));
            }
        }
        let service =
            if role == "ReconciliationScheduleRole" { "scheduler.amazonaws.com" } else { "lambda.amazonaws.com" };
        for statement in list(&properties["AssumeRolePolicyDocument"]["Statement"]) {
            if statement["Principal"] != json!({"Service": service}) {
                faults.push(format!("{role} can be assumed by {}", statement["Principal"]));
            }
        }
    }
    for function in template.functions() {
        let role = target(template.function_property(function, "Role"));
        if role != function.replace("Function", "Role") {
            faults.push(format!("{function} runs as {role}"));
        }
        if !template.function_property(function, "Policies").is_null() {
            faults.push(format!("{function} brings policies of its own"));
        }
    }
    // These would grant rights that `given` does not see.
    for kind in [
        "AWS::IAM::Policy",
        "AWS::IAM::ManagedPolicy",
        "AWS::IAM::RolePolicy",
        "AWS::IAM::User",
        "AWS::IAM::Group",
        "AWS::KMS::Grant",
    ] {
        faults.extend(template.of_type(kind).iter().map(|id| format!("{id} is a {kind}")));
    }
    faults
}

/// The account's administrators may manage a key; that an IAM policy could hand out its use would undo the above.
fn the_account_may_manage_keys_but_not_use_them(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    for key in template.of_type("AWS::KMS::Key") {
        let passes_on = |statement: &Value| key == "ReceiptsKey" && passes_receipts_on(statement);
        let others = key_statements(template, key).filter(|one| role_of(one).is_none() && !passes_on(one));
        for statement in others {
            let actions = list(&statement["Action"]).into_iter().map(text);
            let uses = actions.filter(|action| !KEY_MANAGEMENT.contains(&action.trim_start_matches("kms:")));
            faults.extend(uses.map(|action| format!("{key}: {} may {action}", statement["Principal"])));
        }
    }
    faults
}

/// The two services that carry receipts, on behalf of this account alone.
fn passes_receipts_on(statement: &Value) -> bool {
    statement["Principal"] == json!({"Service": ["sms-voice.amazonaws.com", "sns.amazonaws.com"]})
        && statement["Action"] == json!(["kms:GenerateDataKey", "kms:Decrypt"])
        && statement["Condition"] == json!({"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}})
}

fn faults(template: &Template, wrong: impl Fn(&Right) -> bool) -> Vec<String> {
    let given = CHOICES.iter().flat_map(|choice| given(template, &template.defaults_but(choice)));
    let wrong: BTreeSet<Right> = given.filter(|right| right.effect == "Allow" && wrong(right)).collect();
    wrong.iter().map(|right| format!("{right:?}")).collect()
}

/// All rights of a deployment with these parameters.
fn given(template: &Template, parameters: &Parameters) -> BTreeSet<Right> {
    let mut rights = BTreeSet::new();
    for role in template.of_type("AWS::IAM::Role") {
        for policy in list(&template.resolve(&template.properties(role)["Policies"], parameters)) {
            for statement in list(&policy["PolicyDocument"]["Statement"]) {
                let resources: Vec<String> = list(&statement["Resource"]).into_iter().map(target).collect();
                rights.extend(rights_of(role, statement, &resources));
            }
        }
    }
    for key in template.of_type("AWS::KMS::Key") {
        for statement in key_statements(template, key) {
            if let Some(role) = role_of(statement) {
                rights.extend(rights_of(&role, statement, &[key.into()]));
            }
        }
    }
    rights
}

fn rights_of(role: &str, statement: &Value, resources: &[String]) -> Vec<Right> {
    // NotAction and NotResource grant whatever they do not name.
    let inverted = ["NotAction", "NotResource"].into_iter().filter(|name| !statement[*name].is_null());
    let inverted = inverted.map(|name| (format!("* but {}", statement[name]), "*".to_owned()));
    let actions = list(&statement["Action"]).into_iter().map(text);
    let named = actions.flat_map(|action| resources.iter().map(move |resource| (action.clone(), resource.clone())));
    let effect = text(&statement["Effect"]);
    named
        .chain(inverted)
        .map(|(action, resource)| Right { role: role.into(), effect: effect.clone(), action, resource })
        .collect()
}

fn key_statements<'a>(template: &'a Template, key: &str) -> impl Iterator<Item = &'a Value> {
    list(&template.properties(key)["KeyPolicy"]["Statement"]).into_iter()
}

fn role_of(statement: &Value) -> Option<String> {
    let path = statement["Principal"]["AWS"]["Fn::GetAtt"].as_array()?;
    Some(text(path.first()?))
}

/// Gives a role one more right.
fn allow(template: &mut Value, role: &str, action: Value, resource: Value) {
    let statements = &mut properties(template, role)["Policies"][0]["PolicyDocument"]["Statement"];
    let statement = json!({"Effect": "Allow", "Action": action, "Resource": resource});
    statements.as_array_mut().expect("statements").push(statement);
}

/// The policy by which dispatch texts through a provider.
fn texting<'a>(template: &'a mut Value, provider: &str) -> &'a mut Value {
    let branch = if provider == "eum" { 1 } else { 2 };
    &mut properties(template, "DispatchRole")["Policies"][1]["Fn::If"][branch]
}

fn origin() -> Value {
    json!({"Fn::Sub": ORIGINS[0]})
}

#[test]
fn roles_hold_exactly_the_rights_of_their_functions() {
    holds_and_can_fail(
        roles_hold_exactly_their_rights,
        &[
            (|t| allow(t, "ReconciliationRole", json!("sns:Publish"), json!("*")), "surplus"),
            (|t| allow(t, "AdmissionRole", json!("dynamodb:Query"), arn("NotificationsTable")), "surplus"),
            (|t| properties(t, "StatusRole")["Policies"] = json!([]), "missing"),
            (|t| properties(t, "MacKey")["KeyPolicy"]["Statement"][1]["Action"] = json!("kms:VerifyMac"), "missing"),
            (|t| allow(t, "ReconciliationRole", json!("sns:SetSMSAttributes"), json!("*")), "surplus"),
            (|t| allow(t, "ReconciliationRole", json!("logs:FilterLogEvents"), json!("*")), "surplus"),
            (
                |t| {
                    let statements = &mut texting(t, "sns")["PolicyDocument"]["Statement"];
                    statements.as_array_mut().expect("statements").retain(|statement| statement["Effect"] != "Deny");
                },
                "Deny",
            ),
            (|t| allow(t, "DispatchRole", json!("sns:Publish"), json!("*")), r#"("Provider", "eum")]: surplus"#),
            (|t| allow(t, "DispatchRole", json!("sms-voice:SendTextMessage"), origin()), "[]: surplus"),
            (|t| *texting(t, "eum") = texting(t, "sns").clone(), "SendTextMessage"),
            (|t| t["Conditions"]["UseEum"] = json!({"Fn::Equals": [{"Ref": "Provider"}, "sns"]}), "surplus"),
            (
                |t| {
                    let resources = &mut texting(t, "eum")["PolicyDocument"]["Statement"][0]["Resource"];
                    resources.as_array_mut().expect("resources").truncate(4);
                },
                "protect-configuration/protect-1",
            ),
            (|t| texting(t, "eum")["PolicyDocument"]["Statement"][0]["Resource"][3] = json!("*"), r#"resource: "*""#),
            (|t| t["Resources"]["NewRole"] = t["Resources"]["StatusRole"].clone(), "NewRole"),
        ],
    );
}

#[test]
fn nobody_updates_or_deletes_evidence() {
    holds_and_can_fail(
        evidence_is_only_added_and_read,
        &[
            (|t| allow(t, "DispatchRole", json!("dynamodb:UpdateItem"), arn("EvidenceTable")), "UpdateItem"),
            (
                |t| allow(t, "ReconciliationRole", json!(["dynamodb:DeleteItem"]), json!([arn("EvidenceTable")])),
                "DeleteItem",
            ),
            (
                |t| {
                    allow(
                        t,
                        "AdmissionRole",
                        json!("dynamodb:BatchWriteItem"),
                        json!({"Fn::Sub": "${EvidenceTable.Arn}"}),
                    )
                },
                "Batch",
            ),
        ],
    );
}

#[test]
fn admission_cannot_open_what_it_sealed() {
    holds_and_can_fail(
        only_dispatch_opens_the_seal,
        &[
            (|t| allow(t, "AdmissionRole", json!("kms:Decrypt"), arn("SealKey")), "AdmissionRole"),
            (
                |t| {
                    properties(t, "SealKey")["KeyPolicy"]["Statement"][1]["Action"] =
                        json!(["kms:GenerateDataKey", "kms:Decrypt"])
                },
                "AdmissionRole",
            ),
            (
                |t| {
                    properties(t, "SealKey")["KeyPolicy"]["Statement"][2]["Principal"]["AWS"] =
                        arn("ReconciliationRole")
                },
                "ReconciliationRole",
            ),
        ],
    );
}

#[test]
fn status_cannot_write() {
    holds_and_can_fail(
        status_only_reads,
        &[
            (|t| allow(t, "StatusRole", json!("dynamodb:PutItem"), arn("NotificationsTable")), "PutItem"),
            (|t| allow(t, "StatusRole", json!("sqs:SendMessage"), arn("DoorbellQueue")), "SendMessage"),
        ],
    );
}

#[test]
fn nothing_is_granted_by_wildcard() {
    holds_and_can_fail(
        each_right_names_what_it_is_for,
        &[
            (|t| allow(t, "StatusRole", json!("dynamodb:*"), arn("EvidenceTable")), "dynamodb:*"),
            (|t| allow(t, "AdmissionRole", json!("sqs:SendMessage"), json!("*")), "SendMessage"),
            (|t| allow(t, "StatusRole", json!("sms-voice:SendTextMessage"), origin()), "StatusRole"),
            (
                |t| {
                    let all = json!({"Fn::Sub": of_eum!("*")});
                    texting(t, "eum")["PolicyDocument"]["Statement"][0]["Resource"] = all;
                },
                "SendTextMessage",
            ),
            (
                |t| allow(t, "ReconciliationRole", json!("logs:FilterLogEvents"), json!(SUCCESSES.replace('/', "*"))),
                "FilterLogEvents",
            ),
            (
                |t| {
                    let statements = &mut properties(t, "StatusRole")["Policies"][0]["PolicyDocument"]["Statement"];
                    let grant = json!({"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"});
                    statements.as_array_mut().expect("statements").push(grant);
                },
                "* but",
            ),
        ],
    );
}

#[test]
fn each_function_has_a_role_of_its_own() {
    holds_and_can_fail(
        no_role_is_shared_or_filled_from_outside,
        &[
            (|t| properties(t, "StatusFunction")["Role"] = arn("DispatchRole"), "runs as DispatchRole"),
            (|t| properties(t, "StatusFunction")["Policies"] = json!(["AmazonDynamoDBFullAccess"]), "of its own"),
            (|t| properties(t, "StatusRole")["ManagedPolicyArns"] = json!(["arn"]), "from outside"),
            (
                |t| properties(t, "DispatchRole")["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] = json!("*"),
                "assumed by",
            ),
            (|t| t["Resources"]["Extra"] = json!({"Type": "AWS::IAM::Policy", "Properties": {}}), "AWS::IAM::Policy"),
        ],
    );
}

#[test]
fn no_iam_policy_can_hand_out_the_use_of_a_key() {
    holds_and_can_fail(
        the_account_may_manage_keys_but_not_use_them,
        &[
            (|t| properties(t, "SealKey")["KeyPolicy"]["Statement"][0]["Action"] = json!("kms:*"), "kms:*"),
            (|t| properties(t, "ReceiptsKey")["KeyPolicy"]["Statement"][1]["Condition"] = Value::Null, "ReceiptsKey"),
            (
                |t| {
                    properties(t, "ReceiptsKey")["KeyPolicy"]["Statement"][1]["Principal"]["Service"] =
                        json!("lambda.amazonaws.com")
                },
                "ReceiptsKey",
            ),
            (
                |t| properties(t, "MacKey")["KeyPolicy"]["Statement"][0]["Action"] = json!(["kms:CreateGrant"]),
                "CreateGrant",
            ),
        ],
    );
}
