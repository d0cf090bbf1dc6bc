//! What the template promises beside rights. Each check returns the faults it found.

use serde_json::{Value, json};

use crate::document::{Parameters, Template, environment, list, number, target, text};

const BATCHING_WINDOW: &str = "MaximumBatchingWindowInSeconds";

/// The conditions under which SQS and Lambda neither lose a doorbell nor hand it to two consumers at once.
pub fn doorbells_are_not_redelivered_while_they_are_answered(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    let mapping = template.properties("DoorbellMapping");
    let choices = list(&template.0["Parameters"]["DispatchTimeout"]["AllowedValues"]);
    if choices.is_empty() {
        faults.push("DispatchTimeout takes any value".into());
    }
    for choice in choices {
        let parameters = template.defaults_but(&[("DispatchTimeout", &text(choice))]);
        let resolve = |value: &Value| number(&template.resolve(value, &parameters));
        let timeout = resolve(template.function_property("DispatchFunction", "Timeout"));
        let visibility = resolve(&template.properties("DoorbellQueue")["VisibilityTimeout"]);
        let needed = 6 * timeout + mapping[BATCHING_WINDOW].as_u64().unwrap_or(0);
        if visibility < needed {
            faults.push(format!("DispatchTimeout {choice}: visible again after {visibility} s, {needed} s needed"));
        }
    }
    if target(&mapping["EventSourceArn"]) != "DoorbellQueue" || target(&mapping["FunctionName"]) != "DispatchFunction" {
        faults.push("the mapping does not lead from the doorbell to dispatch".into());
    }
    if list(&mapping["FunctionResponseTypes"]) != [&json!("ReportBatchItemFailures")] {
        faults.push("ReportBatchItemFailures is off: Lambda takes every answer for success of the whole batch".into());
    }
    faults
}

pub fn a_doorbell_that_fails_is_kept(template: &Template) -> Vec<String> {
    let parameters = template.defaults();
    let redrive = &template.properties("DoorbellQueue")["RedrivePolicy"];
    let receives = &redrive["maxReceiveCount"];
    let least = receives["Ref"].as_str().map_or(receives, |name| &template.0["Parameters"][name]["MinValue"]);
    let mut faults = Vec::new();
    if number(&template.resolve(receives, &parameters)).min(number(least)) < 5 {
        faults.push("fewer than 5 receives".into());
    }
    if target(&redrive["deadLetterTargetArn"]) != "DoorbellDeadLetterQueue" {
        faults.push("no dead-letter queue".into());
    }
    if template.properties("DoorbellDeadLetterQueue")["MessageRetentionPeriod"] != 1_209_600 {
        faults.push("the dead-letter queue keeps less than 14 days".into());
    }
    for queue in template.of_type("AWS::SQS::Queue") {
        let properties = template.properties(queue);
        if properties["SqsManagedSseEnabled"] != true && target(&properties["KmsMasterKeyId"]) != "ReceiptsKey" {
            faults.push(format!("{queue} is not encrypted"));
        }
    }
    faults
}

/// What End User Messaging reports comes to reconciliation, comes again when it could not be taken in, and is encrypted
/// and soon forgotten on its way, for it holds numbers.
pub fn receipts_arrive_and_are_soon_forgotten(template: &Template) -> Vec<String> {
    let (queue, mapping) = (template.properties("ReceiptsQueue"), template.properties("ReceiptsMapping"));
    let (dead, topic) = (template.properties("ReceiptsDeadLetterQueue"), template.properties("ReceiptsTopic"));
    let subscription = template.properties("ReceiptsSubscription");
    let publish = &template.properties("ReceiptsTopicPolicy")["PolicyDocument"]["Statement"][0];
    let send = &template.properties("ReceiptsQueuePolicy")["PolicyDocument"]["Statement"][0];
    let timeout = number(template.function_property("ReconciliationFunction", "Timeout"));
    let visibility = number(&queue["VisibilityTimeout"]);
    let four_days = |queue: &Value| queue["MessageRetentionPeriod"] == 345_600;
    let sealed = |what: &Value| target(&what["KmsMasterKeyId"]) == "ReceiptsKey";
    let here = json!({"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}});
    let claims = [
        (publish["Principal"] == json!({"Service": "sms-voice.amazonaws.com"}), "another may publish"),
        (publish["Action"] == "sns:Publish" && publish["Condition"] == here, "the topic takes from any account"),
        (target(&subscription["TopicArn"]) == "ReceiptsTopic", "nothing leaves the topic"),
        (target(&subscription["Endpoint"]) == "ReceiptsQueue", "the topic leads elsewhere"),
        (send["Principal"] == json!({"Service": "sns.amazonaws.com"}), "another may send"),
        (target(&send["Condition"]["ArnEquals"]["aws:SourceArn"]) == "ReceiptsTopic", "any topic may send"),
        (target(&mapping["EventSourceArn"]) == "ReceiptsQueue", "the mapping leads from elsewhere"),
        (target(&mapping["FunctionName"]) == "ReconciliationFunction", "the mapping leads elsewhere"),
        (list(&mapping["FunctionResponseTypes"]) == [&json!("ReportBatchItemFailures")], "failures are not told apart"),
        (visibility >= 6 * timeout, "visible again while it is taken in"),
        (target(&queue["RedrivePolicy"]["deadLetterTargetArn"]) == "ReceiptsDeadLetterQueue", "no dead-letter queue"),
        (four_days(queue) && four_days(dead), "numbers are kept for more than four days"),
        (sealed(queue) && sealed(dead) && sealed(topic), "not encrypted under the key of receipts"),
    ];
    let wrong = claims.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| format!("receipts: {fault}"));
    let always = ["ReceiptsQueue", "ReceiptsDeadLetterQueue", "ReceiptsTopic", "ReceiptsMapping", "ReceiptsKey"]
        .into_iter()
        .filter(|id| template.0["Resources"][*id]["Condition"] != "UseEum")
        .map(|id| format!("{id} is made for SNS too"));
    wrong.chain(always).collect()
}

/// Rows of SNS's delivery log come to reconciliation, from this account's groups alone, and twice more if need be.
pub fn delivery_logs_are_pushed_once_they_are_on(template: &Template) -> Vec<String> {
    const GROUP: &str = "sns/${AWS::Region}/${AWS::AccountId}/DirectPublishToPhoneNumber";
    let permission = template.properties("LogsMayPush");
    let invoke = template.function_property("ReconciliationFunction", "EventInvokeConfig");
    let pushed = [("SuccessesPushed", GROUP.to_owned()), ("FailuresPushed", format!("{GROUP}/Failure"))];
    let mut faults = Vec::new();
    for (filter, group) in pushed {
        let properties = template.properties(filter);
        let is_guarded = template.0["Resources"][filter]["Condition"] == "PushDeliveryLogs";
        let leads = target(&properties["DestinationArn"]) == "ReconciliationFunction";
        if properties["LogGroupName"]["Fn::Sub"] != group || properties["FilterPattern"] != "" || !leads || !is_guarded
        {
            faults.push(format!("{filter} does not push {group}"));
        }
    }
    let told = &environment(template, "ReconciliationFunction")["SNS_LOG_GROUP"];
    let from = format!("arn:${{AWS::Partition}}:logs:${{AWS::Region}}:${{AWS::AccountId}}:log-group:{GROUP}*");
    let claims = [
        (template.0["Parameters"]["SnsDeliveryLogs"]["Default"] == "false", "pushed before there are groups"),
        (told["Fn::Sub"] == GROUP, "reconciliation looks elsewhere"),
        (permission["Principal"] == "logs.amazonaws.com", "CloudWatch Logs may not push"),
        (permission["SourceArn"]["Fn::Sub"] == from, "other groups may push"),
        (permission["SourceAccount"] == json!({"Ref": "AWS::AccountId"}), "other accounts may push"),
        (invoke["MaximumRetryAttempts"] == 2, "a row that is held does not come again"),
        (number(&invoke["MaximumEventAgeInSeconds"]) >= 300, "a row that is held does not come again in time"),
    ];
    faults.extend(claims.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| format!("delivery logs: {fault}")));
    faults
}

/// Records are written by three functions, and each works out when its record is due next: all from the same numbers.
pub fn all_who_write_records_decide_alike(template: &Template) -> Vec<String> {
    const POLICY: [&str; 8] = [
        "MIN_USEFUL_LIFE_SECONDS",
        "ATTEMPTS_MAX",
        "DOORBELL_GRACE_SECONDS",
        "CLOCK_SKEW_SECONDS",
        "INDEX_LAG_SECONDS",
        "SILENCE_POLICY",
        "SILENCE_AFTER_SECONDS",
        "PROVIDER",
    ];
    let parts = ["AdmissionFunction", "DispatchFunction", "ReconciliationFunction"];
    let [first, others @ ..] = parts.map(|function| (function, environment(template, function)));
    let differ =
        |name: &&&str| first.1[**name].is_null() || others.iter().any(|other| other.1[**name] != first.1[**name]);
    POLICY.iter().filter(differ).map(|name| format!("{name} is not the same for all who write records")).collect()
}

pub fn the_send_rate_is_bounded(template: &Template) -> Vec<String> {
    let most = &template.properties("DoorbellMapping")["ScalingConfig"]["MaximumConcurrency"];
    if most.is_null() {
        return vec!["MaximumConcurrency is not set".into()];
    }
    let most = number(&template.resolve(most, &template.defaults()));
    if (2..=1000).contains(&most) { Vec::new() } else { vec![format!("MaximumConcurrency {most}")] }
}

/// Admission checks the window against the queue's values; it must be told the true ones.
pub fn admission_knows_the_queue(template: &Template) -> Vec<String> {
    let environment = environment(template, "AdmissionFunction");
    let queue = template.properties("DoorbellQueue");
    let pairs = [
        ("DOORBELL_VISIBILITY_TIMEOUT_SECONDS", &queue["VisibilityTimeout"]),
        ("DOORBELL_MAX_RECEIVE_COUNT", &queue["RedrivePolicy"]["maxReceiveCount"]),
    ];
    let wrong = pairs.into_iter().filter(|(name, value)| environment[*name] != **value);
    wrong.map(|(name, value)| format!("{name} is {}, the queue has {value}", environment[name])).collect()
}

pub fn every_function_logs_to_a_group_with_retention(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    for function in template.functions() {
        let group = target(&template.function_property(function, "LoggingConfig")["LogGroup"]);
        if group != function.replace("Function", "LogGroup") {
            faults.push(format!("{function} logs to {group}"));
        }
    }
    for group in template.of_type("AWS::Logs::LogGroup") {
        let retention = template.resolve(&template.properties(group)["RetentionInDays"], &template.defaults());
        if retention.is_null() {
            faults.push(format!("{group} is kept for ever"));
        }
    }
    // Below info, the runtime prints whole events.
    let levels = list(&template.0["Parameters"]["LogLevel"]["AllowedValues"]);
    if levels.is_empty() || levels.iter().any(|level| !matches!(text(level).as_str(), "error" | "warn" | "info")) {
        faults.push("LogLevel admits more than info".into());
    }
    faults
}

/// The access log holds nothing that a caller wrote: variables from a list, and fixed words.
pub fn the_access_log_holds_nothing_of_the_caller(template: &Template) -> Vec<String> {
    const HARMLESS: &[&str] = &[
        "$context.requestId",
        "$context.requestTimeEpoch",
        "$context.routeKey",
        "$context.status",
        "$context.error.responseType",
        "$context.integrationStatus",
        "$context.responseLatency",
        "$context.integrationLatency",
        "$context.responseLength",
    ];
    let settings = &template.properties("ApiStage")["AccessLogSettings"];
    let mut faults = Vec::new();
    if target(&settings["DestinationArn"]) != "ApiLogGroup" {
        faults.push("no access log".into());
    }
    match serde_json::from_str::<Value>(&text(&settings["Format"])) {
        Ok(Value::Object(members)) => {
            let doubtful = members.iter().filter(|(_, value)| !HARMLESS.contains(&text(value).as_str()));
            faults.extend(doubtful.map(|(name, value)| format!("{name}: {value}")));
        }
        other => faults.push(format!("the format is not a JSON object: {other:?}")),
    }
    faults
}

pub fn tables_expire_recover_and_are_encrypted(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    for table in template.of_type("AWS::DynamoDB::Table") {
        let properties = template.properties(table);
        let wanted = [
            ("TimeToLiveSpecification", json!({"AttributeName": "ttl", "Enabled": true})),
            ("PointInTimeRecoverySpecification", json!({"PointInTimeRecoveryEnabled": true})),
            ("SSESpecification", json!({"SSEEnabled": true, "SSEType": "KMS"})),
            ("BillingMode", json!("PAY_PER_REQUEST")),
        ];
        let wrong = wanted.into_iter().filter(|(name, value)| properties[*name] != *value);
        faults.extend(wrong.map(|(name, _)| format!("{table}: {name}")));
        if template.0["Resources"][table]["UpdateReplacePolicy"] != "Retain" {
            faults.push(format!("{table} is deleted when it is replaced"));
        }
    }
    let kept = ["EvidenceTable", "MacKey"];
    let lost = kept.into_iter().filter(|id| template.0["Resources"][*id]["DeletionPolicy"] != "Retain");
    faults.extend(lost.map(|id| format!("{id} is deleted with the stack")));
    faults
}

pub fn tables_have_the_keys_that_the_code_uses(template: &Template) -> Vec<String> {
    let key = |schema: &Value| list(schema).iter().map(|part| text(&part["AttributeName"])).collect::<Vec<_>>();
    let notifications = template.properties("NotificationsTable");
    let index = &notifications["GlobalSecondaryIndexes"][0];
    let by_destination = &notifications["GlobalSecondaryIndexes"][1];
    let numbers = ["due_shard", "due_at", "acc", "seq"];
    let attributes = ["NotificationsTable", "EvidenceTable"]
        .map(|table| list(&template.properties(table)["AttributeDefinitions"]))
        .concat();
    let typed = attributes.iter().all(|attribute| {
        let kind = if numbers.contains(&text(&attribute["AttributeName"]).as_str()) { "N" } else { "S" };
        attribute["AttributeType"] == kind
    });
    let claims = [
        (key(&notifications["KeySchema"]) == ["pk"], "notifications: key"),
        (key(&template.properties("EvidenceTable")["KeySchema"]) == ["notification_id", "seq"], "evidence: key"),
        (index["IndexName"] == "due" && key(&index["KeySchema"]) == ["due_shard", "due_at"], "due: key"),
        (index["Projection"] == json!({"ProjectionType": "KEYS_ONLY"}), "due: projection"),
        (
            by_destination["IndexName"] == "by_destination" && key(&by_destination["KeySchema"]) == ["to", "acc"],
            "by_destination: key",
        ),
        (by_destination["Projection"] == json!({"ProjectionType": "KEYS_ONLY"}), "by_destination: projection"),
        (typed, "types of attributes"),
    ];
    claims.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault.into()).collect()
}

pub fn keys_are_what_the_code_asks_of_them(template: &Template) -> Vec<String> {
    let seal = template.properties("SealKey");
    let mac = template.properties("MacKey");
    let claims = [
        (seal["KeySpec"] == "SYMMETRIC_DEFAULT" && seal["KeyUsage"] == "ENCRYPT_DECRYPT", "the seal's key cannot seal"),
        (seal["EnableKeyRotation"] == true, "the seal's key does not rotate"),
        (mac["KeySpec"] == "HMAC_256" && mac["KeyUsage"] == "GENERATE_VERIFY_MAC", "the MAC key makes no MAC"),
    ];
    claims.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| fault.into()).collect()
}

/// Every route asks who is calling: IAM, or a JSON Web Token where an issuer is given.
pub fn every_route_is_authorised(template: &Template) -> Vec<String> {
    let by_token = template.defaults_but(&[("JwtIssuer", "https://issuer.example"), ("JwtAudience", "a,b")]);
    let mut faults = Vec::new();
    for route in template.of_type("AWS::ApiGatewayV2::Route") {
        let signed = template.resolve(template.properties(route), &template.defaults());
        if signed["AuthorizationType"] != "AWS_IAM" {
            faults.push(format!("{route} is not signed"));
        }
        let bearing = template.resolve(template.properties(route), &by_token);
        if bearing["AuthorizationType"] != "JWT" || target(&bearing["AuthorizerId"]) != "JwtAuthorizer" {
            faults.push(format!("{route} takes no token"));
        }
    }
    let decides = template.properties("ResolutionRoute");
    let scoped = [("JwtIssuer", "https://issuer.example"), ("JwtAudience", "a"), ("OperatorScope", "resolve")];
    let scoped = template.resolve(decides, &template.defaults_but(&scoped));
    let unscoped = template.resolve(decides, &template.defaults_but(&[("OperatorScope", "resolve")]));
    if scoped["AuthorizationScopes"] != json!(["resolve"]) || !unscoped["AuthorizationScopes"].is_null() {
        faults.push("ResolutionRoute does not ask for the scope of operators".into());
    }
    let token = template.resolve(&template.properties("JwtAuthorizer")["JwtConfiguration"], &by_token);
    if token != json!({"Issuer": "https://issuer.example", "Audience": ["a", "b"]}) {
        faults.push(format!("tokens are checked against {token}"));
    }
    for function in ["AdmissionFunction", "StatusFunction"] {
        let told =
            |parameters: &Parameters| template.resolve(&environment(template, function)["AUTHORIZATION"], parameters);
        if told(&template.defaults()) != "iam" || told(&by_token) != "jwt" {
            faults.push(format!("{function} reads the caller from elsewhere than the API puts it"));
        }
    }
    faults
}

pub fn routes_lead_where_they_should(template: &Template) -> Vec<String> {
    let wanted = [
        ("$default", "AdmissionFunction"),
        ("GET /v1/notifications/{id}", "StatusFunction"),
        ("GET /v1/notifications/{id}/evidence", "StatusFunction"),
        ("POST /v1/notifications", "AdmissionFunction"),
        ("POST /v1/notifications/{id}/cancel", "AdmissionFunction"),
        ("POST /v1/notifications/{id}/resolution", "AdmissionFunction"),
    ];
    let mut faults = Vec::new();
    let mut routes: Vec<(String, String)> = Vec::new();
    for route in template.of_type("AWS::ApiGatewayV2::Route") {
        let properties = template.properties(route);
        let integration = target(&properties["Target"]).replace("integrations/${", "").replace('}', "");
        let integration = template.properties(&integration);
        if integration["PayloadFormatVersion"] != "2.0" {
            faults.push(format!("{route} speaks another payload format"));
        }
        routes.push((text(&properties["RouteKey"]), target(&integration["IntegrationUri"])));
    }
    routes.sort();
    if routes.iter().map(|(key, function)| (key.as_str(), function.as_str())).ne(wanted) {
        faults.push(format!("routes: {routes:?}"));
    }
    let throttled = &template.properties("ApiStage")["DefaultRouteSettings"];
    let limits =
        ["ThrottlingRateLimit", "ThrottlingBurstLimit"].into_iter().filter(|limit| throttled[*limit].is_null());
    faults.extend(limits.map(|limit| format!("no {limit}")));
    faults
}

/// The names that the configuration reads, per function: no more, so that no function knows what it has no use for.
pub fn each_function_gets_its_own_environment(template: &Template) -> Vec<String> {
    const ALL: &[&str] = &["NOTIFICATIONS_TABLE", "EVIDENCE_TABLE", "LOG_LEVEL"];
    const EACH: &[(&str, &[&str])] = &[
        (
            "AdmissionFunction",
            &[
                "DOORBELL_QUEUE_URL",
                "SEAL_KEY_ID",
                "MAC_KEY_ID",
                "AUTHORIZATION",
                "TENANT_CLAIM",
                "JWT_ISSUER",
                "OPERATOR_PRINCIPALS",
                "MESSAGE_LIFETIME_MAX_SECONDS",
                "DEDUP_WINDOW_SECONDS",
                "CLIENT_RETRY_WINDOW_SECONDS",
                "DOORBELL_VISIBILITY_TIMEOUT_SECONDS",
                "DOORBELL_MAX_RECEIVE_COUNT",
                "CLOCK_SKEW_SECONDS",
                "DOORBELL_GRACE_SECONDS",
                "MIN_USEFUL_LIFE_SECONDS",
                "ATTEMPTS_MAX",
                "INDEX_LAG_SECONDS",
                "SILENCE_POLICY",
                "SILENCE_AFTER_SECONDS",
                "PROVIDER",
            ],
        ),
        (
            "DispatchFunction",
            &[
                "DOORBELL_QUEUE_URL",
                "ATTEMPTS_MAX",
                "MIN_USEFUL_LIFE_SECONDS",
                "CLOCK_SKEW_SECONDS",
                "DOORBELL_GRACE_SECONDS",
                "INDEX_LAG_SECONDS",
                "SILENCE_POLICY",
                "SILENCE_AFTER_SECONDS",
                "PROVIDER",
                "PROVIDER_CONNECT_TIMEOUT_MS",
                "PROVIDER_OPERATION_TIMEOUT_MS",
                "FUNCTION_TIMEOUT_SECONDS",
                "RETRY_BACKOFF_BASE_MS",
                "RETRY_BACKOFF_MAX_MS",
                "SMS_MAX_PRICE_USD",
                "SMS_ORIGINATION_NUMBER",
                "EUM_CONFIGURATION_SET",
                "EUM_ORIGINATION_IDENTITY",
                "EUM_PROTECT_CONFIGURATION_ID",
            ],
        ),
        (
            "ReconciliationFunction",
            &[
                "DOORBELL_QUEUE_URL",
                "ATTEMPTS_MAX",
                "MIN_USEFUL_LIFE_SECONDS",
                "CLOCK_SKEW_SECONDS",
                "DOORBELL_GRACE_SECONDS",
                "INDEX_LAG_SECONDS",
                "SILENCE_POLICY",
                "SILENCE_AFTER_SECONDS",
                "PROVIDER",
                "MAC_KEY_ID",
                "MESSAGE_LIFETIME_MAX_SECONDS",
                "SNS_LOG_GROUP",
            ],
        ),
        ("StatusFunction", &["AUTHORIZATION", "TENANT_CLAIM", "JWT_ISSUER", "OPERATOR_PRINCIPALS"]),
    ];
    let mut faults = Vec::new();
    for (function, own) in EACH {
        let given = environment(template, function).as_object().expect("an environment");
        let wanted = |name: &str| ALL.contains(&name) || own.contains(&name);
        faults.extend(given.keys().filter(|name| !wanted(name)).map(|name| format!("{function} is told {name}")));
        let missing = ALL.iter().chain(*own).filter(|name| !given.contains_key(**name));
        faults.extend(missing.map(|name| format!("{function} is not told {name}")));
    }
    if !template.0["Globals"]["Function"]["Environment"].is_null() {
        faults.push("all functions are told the same".into());
    }
    faults
}

pub fn functions_run_the_binaries_on_arm_unless_told_otherwise(template: &Template) -> Vec<String> {
    let mut faults = Vec::new();
    for function in template.functions() {
        let name = function.trim_end_matches("Function").to_lowercase();
        let of = |property: &str, parameters: &Parameters| {
            template.resolve(template.function_property(function, property), parameters)
        };
        let by_default = template.defaults();
        let wanted = [
            ("Architectures", json!(["arm64"])),
            ("Runtime", json!("provided.al2023")),
            ("Handler", json!("bootstrap")),
            ("MemorySize", json!(256)),
            ("CodeUri", json!(format!("../target/lambda/{name}/"))),
        ];
        let wrong = wanted.into_iter().filter(|(property, value)| of(property, &by_default) != *value);
        faults.extend(wrong.map(|(property, _)| format!("{function}: {property}")));
        if of("Architectures", &template.defaults_but(&[("Architecture", "x86_64")])) != json!(["x86_64"]) {
            faults.push(format!("{function} cannot run on x86_64"));
        }
    }
    faults
}

pub fn reconciliation_ticks_each_minute(template: &Template) -> Vec<String> {
    let schedule = template.properties("ReconciliationSchedule");
    let claims = [
        (schedule["ScheduleExpression"] == "rate(1 minute)", "not each minute"),
        (schedule["FlexibleTimeWindow"] == json!({"Mode": "OFF"}), "not on time"),
        (target(&schedule["Target"]["Arn"]) == "ReconciliationFunction", "another target"),
        (target(&schedule["Target"]["RoleArn"]) == "ReconciliationScheduleRole", "another role"),
        (number(template.function_property("ReconciliationFunction", "Timeout")) < 60, "a tick may outlast its minute"),
        (schedule["State"].is_null() || schedule["State"] == "ENABLED", "switched off"),
    ];
    claims.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| format!("schedule: {fault}")).collect()
}

pub fn the_setup_is_checked_each_day(template: &Template) -> Vec<String> {
    let schedule = template.properties("SetupCheckSchedule");
    let claims = [
        (schedule["ScheduleExpression"] == "rate(1 day)", "not each day"),
        (target(&schedule["Target"]["Arn"]) == "ReconciliationFunction", "another target"),
        (target(&schedule["Target"]["RoleArn"]) == "ReconciliationScheduleRole", "another role"),
        (schedule["Target"]["Input"] == r#"{"check":"setup"}"#, "another event"),
        (schedule["State"].is_null() || schedule["State"] == "ENABLED", "switched off"),
    ];
    claims.into_iter().filter(|(holds, _)| !holds).map(|(_, fault)| format!("set-up check: {fault}")).collect()
}

pub fn trouble_rings_an_alarm(template: &Template) -> Vec<String> {
    let alarms: Vec<(String, String)> = template
        .of_type("AWS::CloudWatch::Alarm")
        .into_iter()
        .map(|alarm| template.properties(alarm))
        .map(|alarm| (text(&alarm["MetricName"]), target(&alarm["Dimensions"][0]["Value"])))
        .collect();
    let queues = [
        ("ApproximateNumberOfMessagesVisible", "DoorbellDeadLetterQueue"),
        ("ApproximateNumberOfMessagesVisible", "ReceiptsDeadLetterQueue"),
        ("ApproximateAgeOfOldestMessage", "DoorbellQueue"),
        ("Invocations", "ReconciliationFunction"),
    ];
    let functions = template
        .functions()
        .into_iter()
        .flat_map(|function| ["Errors", "Throttles", "Duration"].map(|metric| (metric, function)));
    let wanted = queues.into_iter().chain(functions);
    let missing = wanted.filter(|(metric, of)| !alarms.iter().any(|alarm| alarm.0 == *metric && alarm.1 == *of));
    let unwatched = missing.map(|(metric, of)| format!("no alarm on {metric} of {of}"));
    unwatched.chain(log_lines_without_an_alarm(template, &alarms)).collect()
}

/// What functions say in their logs alone is counted by a filter, and the count rings.
fn log_lines_without_an_alarm(template: &Template, alarms: &[(String, String)]) -> Vec<String> {
    let filters: Vec<_> = template
        .of_type("AWS::Logs::MetricFilter")
        .into_iter()
        .map(|filter| template.properties(filter))
        .map(|filter| {
            let metric = text(&filter["MetricTransformations"][0]["MetricName"]);
            (metric, target(&filter["LogGroupName"]), text(&filter["FilterPattern"]))
        })
        .collect();
    [
        ("UnknownOutcomes", "DispatchLogGroup", r#"{ $.alarm = "unknown" }"#),
        ("UnknownOutcomes", "ReconciliationLogGroup", r#"{ $.alarm = "unknown" }"#),
        ("TextsNotSent", "DispatchLogGroup", r#"{ $.alarm = "unsent" }"#),
        ("TextsNotSent", "ReconciliationLogGroup", r#"{ $.alarm = "unsent" }"#),
        ("ProviderFaults", "DispatchLogGroup", r#"{ $.alarm = "provider" }"#),
        ("EvidenceCannotArrive", "ReconciliationLogGroup", r#"{ $.alarm = "evidence" }"#),
    ]
    .into_iter()
    .filter(|(metric, log, pattern)| {
        let counted = filters.iter().any(|one| one.0 == *metric && one.1 == *log && one.2 == *pattern);
        !counted || !alarms.iter().any(|alarm| alarm.0 == *metric)
    })
    .map(|(metric, log, _)| format!("no alarm on {metric} in {log}"))
    .collect()
}
