//! Whether evidence can arrive at all, looked at each day.

use serde_json::{Value, json};
use tests::aws_seam::{Fault, SNS_LOG_GROUP};
use tracing::Level;

use crate::harness::{FUNCTION_ARN, Lines, Service};

fn check() -> Value {
    serde_json::from_str(include_str!("../../../functions/reconciliation/events/setup.json")).expect("an example event")
}

fn set_right(service: &Service) {
    service.seam.set_sms_attribute("DeliveryStatusIAMRole", "arn:aws:iam::111122223333:role/sns-logs");
    service.seam.set_sms_attribute("DeliveryStatusSuccessSamplingRate", "100");
    service.seam.leave_sandbox();
    service.seam.subscribe(SNS_LOG_GROUP, FUNCTION_ARN);
    service.seam.subscribe(&format!("{SNS_LOG_GROUP}/Failure"), FUNCTION_ARN);
}

#[tokio::test(start_paused = true)]
async fn a_new_account_is_told_all_that_is_in_the_way_each_in_a_line_that_rings() {
    let service = Service::start().await;
    let (lines, _caught) = Lines::catch(Level::INFO);
    let answer = service.reconcile(&check()).await.expect("looked at");
    let all = ["no_log_role", "successes_sampled", "sandbox", "successes_not_pushed", "failures_not_pushed"];
    assert_eq!(answer, json!({"findings": all}));
    let lines = lines.text();
    let rings: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(rings.iter().all(|line| line["alarm"] == "evidence" && line["level"] == "ERROR"));
    assert_eq!(rings.iter().map(|line| line["finding"].clone()).collect::<Vec<_>>(), all);
}

#[tokio::test(start_paused = true)]
async fn where_evidence_can_arrive_nothing_is_said() {
    let service = Service::start().await;
    set_right(&service);
    let (lines, _caught) = Lines::catch(Level::INFO);
    assert_eq!(service.reconcile(&check()).await, Ok(json!({"findings": []})));
    assert!(lines.text().is_empty());
    service.seam.set_sms_attribute("DeliveryStatusSuccessSamplingRate", "10");
    assert_eq!(service.reconcile(&check()).await, Ok(json!({"findings": ["successes_sampled"]})));
}

#[tokio::test(start_paused = true)]
async fn what_could_not_be_looked_at_is_no_finding_but_fails() {
    for operation in ["sns:GetSMSAttributes", "sns:GetSMSSandboxAccountStatus", "logs:DescribeSubscriptionFilters"] {
        let service = Service::start().await;
        set_right(&service);
        service.seam.fail_times(operation, 2, Fault::CodeBefore(403, "AccessDeniedException"));
        let error = service.reconcile(&check()).await.expect_err("not looked at");
        assert!(error.contains("could not be looked at"), "{operation}");
    }
}

#[tokio::test(start_paused = true)]
async fn with_end_user_messaging_nothing_of_sns_is_looked_at() {
    let service = Service::with(&[("PROVIDER", "eum")]).await;
    service.seam.forget_requests();
    assert_eq!(service.reconcile(&check()).await, Ok(json!({"findings": []})));
    assert!(service.seam.counts().is_empty());
}
