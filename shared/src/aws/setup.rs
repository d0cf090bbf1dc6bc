//! Whether evidence can arrive: what the account must be set to, beside the template, looked at once a day.
//!
//! SNS's delivery logging is a setting of the account that no template can make and anybody may change. Without it an
//! unknown stays one until it expires, and nobody would notice.

use aws_sdk_cloudwatchlogs::Client as Logs;
use aws_sdk_sns::Client as Sns;

use super::delivery_log::groups;
use super::failure::{Failure, log};
use crate::ports::Unreadable;

/// One reason why evidence does not arrive, or not all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// SNS has no role to write its log with: `DeliveryStatusIAMRole`.
    NoLogRole,
    /// Not every success is logged: `DeliveryStatusSuccessSamplingRate` is not 100.
    SuccessesSampled,
    /// The account is in the SMS sandbox: texts go to verified numbers only.
    Sandbox,
    /// Successes are not pushed to this function.
    SuccessesNotPushed,
    /// Failures are not pushed to this function.
    FailuresNotPushed,
}

impl Finding {
    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoLogRole => "no_log_role",
            Self::SuccessesSampled => "successes_sampled",
            Self::Sandbox => "sandbox",
            Self::SuccessesNotPushed => "successes_not_pushed",
            Self::FailuresNotPushed => "failures_not_pushed",
        }
    }
}

/// What the account is set to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    log_role: Option<String>,
    sampling_rate: Option<String>,
    is_in_sandbox: bool,
    /// Where each group's rows are pushed; successes first.
    pushed_to: [Vec<String>; 2],
}

/// Looks.
#[derive(Clone, Debug)]
pub struct SnsSetup {
    sns: Sns,
    logs: Logs,
    groups: [String; 2],
}

impl SnsSetup {
    /// Looks at this account and region; the group of successes is called `group`.
    pub fn new(sns: Sns, logs: Logs, group: &str) -> Self {
        Self { sns, logs, groups: groups(group) }
    }

    /// What is in the way of evidence for the function of this ARN.
    ///
    /// # Errors
    /// [`Unreadable`] when not all of it could be looked at.
    pub async fn findings(&self, function_arn: &str) -> Result<Vec<Finding>, Unreadable> {
        Ok(judge(&self.look().await?, function_arn))
    }

    async fn look(&self) -> Result<Seen, Unreadable> {
        let settings = self.sns.get_sms_attributes().send().await;
        let settings = settings.map_err(|error| unreadable("sns:GetSMSAttributes", &Failure::of(&error)))?;
        let setting = |name: &str| settings.attributes().and_then(|all| all.get(name)).cloned();
        let sandbox = self.sns.get_sms_sandbox_account_status().send().await;
        let sandbox = sandbox.map_err(|error| unreadable("sns:GetSMSSandboxAccountStatus", &Failure::of(&error)))?;
        let [successes, failures] = &self.groups;
        Ok(Seen {
            log_role: setting("DeliveryStatusIAMRole"),
            sampling_rate: setting("DeliveryStatusSuccessSamplingRate"),
            is_in_sandbox: sandbox.is_in_sandbox(),
            pushed_to: [self.pushed_to(successes).await?, self.pushed_to(failures).await?],
        })
    }

    /// Where a group's rows are pushed. Nowhere, when there is no such group: SNS makes it with its first row.
    async fn pushed_to(&self, group: &str) -> Result<Vec<String>, Unreadable> {
        match self.logs.describe_subscription_filters().log_group_name(group).send().await {
            // A group has two filters at most: one page.
            Ok(found) => Ok(found
                .subscription_filters()
                .iter()
                .filter_map(|filter| filter.destination_arn().map(ToOwned::to_owned))
                .collect()),
            Err(error) if error.as_service_error().is_some_and(|error| error.is_resource_not_found_exception()) => {
                Ok(Vec::new())
            }
            Err(error) => Err(unreadable("logs:DescribeSubscriptionFilters", &Failure::of(&error))),
        }
    }
}

fn unreadable(operation: &'static str, failure: &Failure<'_>) -> Unreadable {
    log(operation, failure, "unreadable");
    Unreadable
}

/// What of all that is in the way of evidence.
fn judge(seen: &Seen, function_arn: &str) -> Vec<Finding> {
    let [successes, failures] = &seen.pushed_to;
    let is_pushed = |to: &[String]| to.iter().any(|arn| is_function(arn, function_arn));
    let claims = [
        (seen.log_role.as_ref().is_some_and(|role| !role.is_empty()), Finding::NoLogRole),
        (seen.sampling_rate.as_deref() == Some("100"), Finding::SuccessesSampled),
        (!seen.is_in_sandbox, Finding::Sandbox),
        (is_pushed(successes), Finding::SuccessesNotPushed),
        (is_pushed(failures), Finding::FailuresNotPushed),
    ];
    claims.into_iter().filter(|(holds, _)| !holds).map(|(_, finding)| finding).collect()
}

/// A filter may name a function with or without a version or alias, and so may the platform.
fn is_function(arn: &str, function_arn: &str) -> bool {
    let name = |arn: &str| arn.split(':').take(7).map(ToOwned::to_owned).collect::<Vec<_>>();
    name(arn) == name(function_arn)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUNCTION: &str = "arn:aws:lambda:eu-central-1:111122223333:function:sendonce-reconciliation";

    fn right() -> Seen {
        Seen {
            log_role: Some(String::from("arn:aws:iam::111122223333:role/sns-logs")),
            sampling_rate: Some(String::from("100")),
            is_in_sandbox: false,
            pushed_to: [vec![String::from(FUNCTION)], vec![format!("{FUNCTION}:live")]],
        }
    }

    #[test]
    fn nothing_is_found_where_evidence_can_arrive() {
        assert_eq!(judge(&right(), FUNCTION), []);
        assert_eq!(judge(&right(), &format!("{FUNCTION}:1")), []);
    }

    #[test]
    fn each_thing_in_the_way_is_found() {
        let mut other = right();
        other.pushed_to = [vec![FUNCTION.replace("reconciliation", "other")], Vec::new()];
        for (seen, found) in [
            (Seen { log_role: None, ..right() }, vec![Finding::NoLogRole]),
            (Seen { log_role: Some(String::new()), ..right() }, vec![Finding::NoLogRole]),
            (Seen { sampling_rate: None, ..right() }, vec![Finding::SuccessesSampled]),
            (Seen { sampling_rate: Some(String::from("10")), ..right() }, vec![Finding::SuccessesSampled]),
            (Seen { is_in_sandbox: true, ..right() }, vec![Finding::Sandbox]),
            (other, vec![Finding::SuccessesNotPushed, Finding::FailuresNotPushed]),
        ] {
            assert_eq!(judge(&seen, FUNCTION), found);
        }
        assert_eq!(judge(&Seen::default(), FUNCTION).len(), 4);
    }
}
