//! What `infra/template.yaml` promises, held: each promise is a check over the parsed template, and each check is shown
//! to fail on a copy with that one thing broken.

mod checks;
mod configuration;
mod document;
mod rights;

use document::Template;
use serde_json::{Value, json};

type Check = fn(&Template) -> Vec<String>;
type Change = fn(&mut Value);

/// The check holds for the template as it is, and each change makes it speak of what was changed.
fn holds_and_can_fail(check: Check, broken: &[(Change, &str)]) {
    let template = Template::load();
    assert_eq!(check(&template), Vec::<String>::new());
    for (change, fault) in broken {
        let found = check(&template.with(*change));
        assert!(found.iter().any(|line| line.contains(fault)), "expected a fault about {fault:?}, found {found:?}");
    }
}

fn properties<'a>(template: &'a mut Value, id: &str) -> &'a mut Value {
    &mut template["Resources"][id]["Properties"]
}

fn variables<'a>(template: &'a mut Value, function: &str) -> &'a mut Value {
    &mut properties(template, function)["Environment"]["Variables"]
}

fn arn(id: &str) -> Value {
    json!({"Fn::GetAtt": [id, "Arn"]})
}

#[test]
fn s10_a_doorbell_stays_invisible_for_six_timeouts_of_the_function() {
    holds_and_can_fail(
        checks::doorbells_are_not_redelivered_while_they_are_answered,
        &[
            (|t| t["Mappings"]["DispatchTimes"]["30"]["VisibilityTimeout"] = json!("179"), "DispatchTimeout 30"),
            (|t| t["Mappings"]["DispatchTimes"]["60"]["VisibilityTimeout"] = json!(300), "DispatchTimeout 60"),
            (|t| properties(t, "DoorbellQueue")["VisibilityTimeout"] = json!(30), "visible again after 30 s"),
            (|t| properties(t, "DispatchFunction")["Timeout"] = json!(61), "366 s needed"),
            (|t| properties(t, "DoorbellMapping")["MaximumBatchingWindowInSeconds"] = json!(1), "181 s needed"),
            (|t| t["Parameters"]["DispatchTimeout"]["AllowedValues"] = json!([]), "any value"),
            (|t| properties(t, "DoorbellMapping")["FunctionName"] = json!({"Ref": "StatusFunction"}), "does not lead"),
        ],
    );
}

#[test]
fn s10_failures_in_a_batch_are_reported_one_by_one() {
    holds_and_can_fail(
        checks::doorbells_are_not_redelivered_while_they_are_answered,
        &[(
            |t| properties(t, "DoorbellMapping")["FunctionResponseTypes"] = json!([]),
            "ReportBatchItemFailures is off",
        )],
    );
}

#[test]
fn s10_a_doorbell_that_fails_is_kept_for_redrive() {
    holds_and_can_fail(
        checks::a_doorbell_that_fails_is_kept,
        &[
            (|t| t["Parameters"]["DoorbellMaxReceiveCount"]["MinValue"] = json!(1), "fewer than 5"),
            (|t| properties(t, "DoorbellQueue")["RedrivePolicy"]["maxReceiveCount"] = json!(3), "fewer than 5"),
            (
                |t| properties(t, "DoorbellQueue")["RedrivePolicy"]["deadLetterTargetArn"] = json!("arn"),
                "no dead-letter",
            ),
            (|t| properties(t, "DoorbellDeadLetterQueue")["MessageRetentionPeriod"] = json!(345_600), "14 days"),
            (|t| properties(t, "DoorbellQueue")["SqsManagedSseEnabled"] = json!(false), "not encrypted"),
        ],
    );
}

#[test]
fn the_send_rate_is_bounded() {
    holds_and_can_fail(
        checks::the_send_rate_is_bounded,
        &[
            (|t| properties(t, "DoorbellMapping")["ScalingConfig"] = Value::Null, "not set"),
            (|t| t["Parameters"]["DispatchMaximumConcurrency"]["Default"] = json!(1), "MaximumConcurrency 1"),
        ],
    );
}

#[test]
fn admission_checks_its_window_against_the_values_of_the_queue() {
    holds_and_can_fail(
        checks::admission_knows_the_queue,
        &[
            (|t| variables(t, "AdmissionFunction")["DOORBELL_VISIBILITY_TIMEOUT_SECONDS"] = json!("30"), "VISIBILITY"),
            (|t| properties(t, "DoorbellQueue")["RedrivePolicy"]["maxReceiveCount"] = json!(9), "RECEIVE_COUNT"),
        ],
    );
}

#[test]
fn keys_seal_and_make_macs() {
    holds_and_can_fail(
        checks::keys_are_what_the_code_asks_of_them,
        &[
            (|t| properties(t, "SealKey")["KeySpec"] = json!("RSA_2048"), "cannot seal"),
            (|t| properties(t, "SealKey")["EnableKeyRotation"] = json!(false), "rotate"),
            (|t| properties(t, "MacKey")["KeyUsage"] = json!("SIGN_VERIFY"), "no MAC"),
        ],
    );
}

#[test]
fn every_function_logs_to_its_own_group_with_retention() {
    holds_and_can_fail(
        checks::every_function_logs_to_a_group_with_retention,
        &[
            (
                |t| properties(t, "DispatchFunction")["LoggingConfig"]["LogGroup"] = json!({"Ref": "StatusLogGroup"}),
                "logs to",
            ),
            (|t| properties(t, "ApiLogGroup")["RetentionInDays"] = Value::Null, "for ever"),
            (|t| t["Parameters"]["LogLevel"]["AllowedValues"] = json!(["info", "debug"]), "more than info"),
        ],
    );
}

#[test]
fn the_access_log_holds_nothing_that_a_caller_wrote() {
    holds_and_can_fail(
        checks::the_access_log_holds_nothing_of_the_caller,
        &[
            (|t| format(t, "$context.path"), "$context.path"),
            (|t| format(t, "$context.authorizer.claims.phone_number"), "claims"),
            (|t| format(t, "$request.header.Authorization"), "Authorization"),
            (|t| format(t, "$context.requestId $input.body"), "body"),
            (|t| properties(t, "ApiStage")["AccessLogSettings"]["Format"] = json!("$context.requestId"), "not a JSON"),
            (|t| properties(t, "ApiStage")["AccessLogSettings"] = Value::Null, "no access log"),
        ],
    );

    fn format(template: &mut Value, variable: &str) {
        properties(template, "ApiStage")["AccessLogSettings"]["Format"] = json!(json!({"x": variable}).to_string());
    }
}

#[test]
fn tables_expire_recover_and_are_encrypted() {
    holds_and_can_fail(
        checks::tables_expire_recover_and_are_encrypted,
        &[
            (|t| properties(t, "EvidenceTable")["TimeToLiveSpecification"] = Value::Null, "EvidenceTable: TimeToLive"),
            (
                |t| properties(t, "NotificationsTable")["TimeToLiveSpecification"]["AttributeName"] = json!("due_at"),
                "TimeToLive",
            ),
            (|t| properties(t, "NotificationsTable")["PointInTimeRecoverySpecification"] = Value::Null, "PointInTime"),
            (|t| properties(t, "EvidenceTable")["SSESpecification"] = Value::Null, "SSE"),
            (|t| properties(t, "EvidenceTable")["BillingMode"] = json!("PROVISIONED"), "BillingMode"),
            (|t| t["Resources"]["EvidenceTable"]["DeletionPolicy"] = json!("Delete"), "with the stack"),
            (|t| t["Resources"]["NotificationsTable"]["UpdateReplacePolicy"] = json!("Delete"), "when it is replaced"),
        ],
    );
}

#[test]
fn tables_have_the_keys_that_the_code_uses() {
    holds_and_can_fail(
        checks::tables_have_the_keys_that_the_code_uses,
        &[
            (|t| properties(t, "NotificationsTable")["KeySchema"][0]["AttributeName"] = json!("id"), "notifications"),
            (
                |t| properties(t, "EvidenceTable")["KeySchema"] = json!([{"AttributeName": "notification_id"}]),
                "evidence",
            ),
            (
                |t| properties(t, "NotificationsTable")["GlobalSecondaryIndexes"][0]["IndexName"] = json!("open"),
                "due: key",
            ),
            (
                |t| {
                    properties(t, "NotificationsTable")["GlobalSecondaryIndexes"][0]["Projection"]["ProjectionType"] =
                        json!("ALL")
                },
                "projection",
            ),
            (
                |t| {
                    let index = &mut properties(t, "NotificationsTable")["GlobalSecondaryIndexes"][1];
                    index["KeySchema"][1]["AttributeName"] = json!("due_at");
                },
                "by_destination: key",
            ),
            (|t| properties(t, "EvidenceTable")["AttributeDefinitions"][1]["AttributeType"] = json!("S"), "types"),
        ],
    );
}

#[test]
fn every_route_is_authorised() {
    holds_and_can_fail(
        checks::every_route_is_authorised,
        &[
            (|t| properties(t, "DefaultRoute")["AuthorizationType"] = json!("NONE"), "DefaultRoute is not signed"),
            (|t| properties(t, "CreateRoute")["AuthorizationType"] = json!("AWS_IAM"), "CreateRoute takes no token"),
            (|t| properties(t, "ResolutionRoute")["AuthorizationScopes"] = Value::Null, "scope of operators"),
            (|t| properties(t, "JwtAuthorizer")["JwtConfiguration"]["Audience"] = json!([]), "checked against"),
            (|t| variables(t, "StatusFunction")["AUTHORIZATION"] = json!("iam"), "StatusFunction reads"),
        ],
    );
}

#[test]
fn routes_lead_where_they_should() {
    holds_and_can_fail(
        checks::routes_lead_where_they_should,
        &[
            (|t| properties(t, "StatusRoute")["RouteKey"] = json!("ANY /{proxy+}"), "proxy"),
            (|t| t["Resources"]["ResolutionRoute"] = Value::Null, "routes"),
            (|t| properties(t, "StatusIntegration")["IntegrationUri"] = arn("AdmissionFunction"), "routes"),
            (|t| properties(t, "AdmissionIntegration")["PayloadFormatVersion"] = json!("1.0"), "payload"),
            (|t| properties(t, "ApiStage")["DefaultRouteSettings"] = Value::Null, "ThrottlingRateLimit"),
        ],
    );
}

#[test]
fn each_function_is_told_what_it_reads_and_no_more() {
    holds_and_can_fail(
        checks::each_function_gets_its_own_environment,
        &[
            (|t| variables(t, "StatusFunction")["SEAL_KEY_ID"] = arn("SealKey"), "StatusFunction is told SEAL_KEY_ID"),
            (
                |t| {
                    variables(t, "DispatchFunction").as_object_mut().expect("variables").remove("ATTEMPTS_MAX");
                },
                "not told ATTEMPTS_MAX",
            ),
            (|t| t["Globals"]["Function"]["Environment"] = json!({"Variables": {"A": "b"}}), "the same"),
        ],
    );
}

#[test]
fn functions_run_the_binaries_on_arm_unless_told_otherwise() {
    holds_and_can_fail(
        checks::functions_run_the_binaries_on_arm_unless_told_otherwise,
        &[
            (|t| t["Parameters"]["Architecture"]["Default"] = json!("x86_64"), "Architectures"),
            (|t| t["Globals"]["Function"]["Architectures"] = json!(["arm64"]), "cannot run on x86_64"),
            (|t| properties(t, "StatusFunction")["Runtime"] = json!("provided.al2"), "StatusFunction: Runtime"),
            (|t| properties(t, "StatusFunction")["CodeUri"] = json!("../target/lambda/dispatch/"), "CodeUri"),
        ],
    );
}

#[test]
fn reconciliation_ticks_each_minute() {
    holds_and_can_fail(
        checks::reconciliation_ticks_each_minute,
        &[
            (|t| properties(t, "ReconciliationSchedule")["ScheduleExpression"] = json!("rate(1 hour)"), "each minute"),
            (|t| properties(t, "ReconciliationFunction")["Timeout"] = json!(60), "outlast its minute"),
            (|t| properties(t, "ReconciliationSchedule")["State"] = json!("DISABLED"), "switched off"),
            (|t| properties(t, "ReconciliationSchedule")["FlexibleTimeWindow"]["Mode"] = json!("FLEXIBLE"), "on time"),
            (|t| properties(t, "ReconciliationSchedule")["Target"]["Arn"] = arn("DispatchFunction"), "target"),
            (|t| properties(t, "ReconciliationSchedule")["Target"]["RoleArn"] = arn("DispatchRole"), "role"),
        ],
    );
}

#[test]
fn trouble_rings_an_alarm() {
    holds_and_can_fail(
        checks::trouble_rings_an_alarm,
        &[
            (|t| t["Resources"]["DeadLetterAlarm"] = Value::Null, "DoorbellDeadLetterQueue"),
            (|t| t["Resources"]["StatusThrottlesAlarm"] = Value::Null, "Throttles of StatusFunction"),
            (|t| t["Resources"]["UnknownOutcomesAlarm"] = Value::Null, "UnknownOutcomes in DispatchLogGroup"),
            (|t| t["Resources"]["ReconciliationUnknownFilter"] = Value::Null, "UnknownOutcomes in Reconciliation"),
            (|t| t["Resources"]["EvidenceFaultFilter"] = Value::Null, "EvidenceCannotArrive in Reconciliation"),
            (|t| t["Resources"]["EvidenceCannotArriveAlarm"] = Value::Null, "EvidenceCannotArrive in Reconciliation"),
            (|t| t["Resources"]["ReceiptsDeadLetterAlarm"] = Value::Null, "ReceiptsDeadLetterQueue"),
            (|t| t["Resources"]["ProviderFaultFilter"] = Value::Null, "ProviderFaults in DispatchLogGroup"),
        ],
    );
}

#[test]
fn receipts_arrive_and_are_soon_forgotten() {
    holds_and_can_fail(
        checks::receipts_arrive_and_are_soon_forgotten,
        &[
            (|t| t["Resources"]["ReceiptsQueue"]["Condition"] = Value::Null, "for SNS too"),
            (|t| statement(t, "ReceiptsTopicPolicy")["Principal"] = json!("*"), "another may publish"),
            (|t| statement(t, "ReceiptsTopicPolicy")["Condition"] = Value::Null, "any account"),
            (|t| statement(t, "ReceiptsQueuePolicy")["Principal"] = json!("*"), "another may send"),
            (|t| statement(t, "ReceiptsQueuePolicy")["Condition"] = Value::Null, "any topic"),
            (|t| properties(t, "ReceiptsSubscription")["TopicArn"] = json!("arn"), "nothing leaves"),
            (|t| properties(t, "ReceiptsSubscription")["Endpoint"] = arn("DoorbellQueue"), "leads elsewhere"),
            (|t| properties(t, "ReceiptsMapping")["EventSourceArn"] = arn("DoorbellQueue"), "from elsewhere"),
            (
                |t| properties(t, "ReceiptsMapping")["FunctionName"] = json!({"Ref": "StatusFunction"}),
                "leads elsewhere",
            ),
            (|t| properties(t, "ReceiptsMapping")["FunctionResponseTypes"] = json!([]), "told apart"),
            (|t| properties(t, "ReconciliationFunction")["Timeout"] = json!(51), "visible again"),
            (|t| properties(t, "ReceiptsQueue")["RedrivePolicy"] = Value::Null, "no dead-letter"),
            (|t| properties(t, "ReceiptsDeadLetterQueue")["MessageRetentionPeriod"] = json!(1_209_600), "four days"),
            (|t| properties(t, "ReceiptsTopic")["KmsMasterKeyId"] = Value::Null, "not encrypted"),
        ],
    );

    fn statement<'a>(template: &'a mut Value, policy: &str) -> &'a mut Value {
        &mut properties(template, policy)["PolicyDocument"]["Statement"][0]
    }
}

#[test]
fn delivery_logs_are_pushed_once_they_are_on() {
    holds_and_can_fail(
        checks::delivery_logs_are_pushed_once_they_are_on,
        &[
            (|t| t["Parameters"]["SnsDeliveryLogs"]["Default"] = json!("true"), "before there are groups"),
            (|t| t["Resources"]["FailuresPushed"]["Condition"] = Value::Null, "FailuresPushed does not push"),
            (|t| properties(t, "FailuresPushed")["LogGroupName"] = json!("sns"), "FailuresPushed does not push"),
            (|t| properties(t, "SuccessesPushed")["FilterPattern"] = json!("FAILURE"), "SuccessesPushed does not push"),
            (
                |t| properties(t, "SuccessesPushed")["DestinationArn"] = arn("StatusFunction"),
                "SuccessesPushed does not",
            ),
            (|t| variables(t, "ReconciliationFunction")["SNS_LOG_GROUP"] = json!("sns"), "looks elsewhere"),
            (|t| properties(t, "LogsMayPush")["Principal"] = json!("*"), "may not push"),
            (|t| properties(t, "LogsMayPush")["SourceArn"] = Value::Null, "other groups"),
            (|t| properties(t, "LogsMayPush")["SourceAccount"] = Value::Null, "other accounts"),
            (
                |t| properties(t, "ReconciliationFunction")["EventInvokeConfig"]["MaximumRetryAttempts"] = json!(0),
                "does not come again",
            ),
        ],
    );
}

#[test]
fn all_who_write_records_decide_alike() {
    holds_and_can_fail(
        checks::all_who_write_records_decide_alike,
        &[
            (|t| variables(t, "AdmissionFunction")["SILENCE_POLICY"] = json!("stop"), "SILENCE_POLICY"),
            (|t| variables(t, "DispatchFunction")["INDEX_LAG_SECONDS"] = Value::Null, "INDEX_LAG_SECONDS"),
            (|t| variables(t, "ReconciliationFunction")["PROVIDER"] = json!("sns"), "PROVIDER"),
        ],
    );
}

#[test]
fn the_setup_is_checked_each_day() {
    holds_and_can_fail(
        checks::the_setup_is_checked_each_day,
        &[
            (|t| properties(t, "SetupCheckSchedule")["ScheduleExpression"] = json!("rate(7 days)"), "each day"),
            (|t| properties(t, "SetupCheckSchedule")["State"] = json!("DISABLED"), "switched off"),
            (|t| properties(t, "SetupCheckSchedule")["Target"]["Input"] = Value::Null, "another event"),
            (|t| properties(t, "SetupCheckSchedule")["Target"]["Arn"] = arn("StatusFunction"), "target"),
            (|t| properties(t, "SetupCheckSchedule")["Target"]["RoleArn"] = arn("StatusRole"), "role"),
        ],
    );
}
