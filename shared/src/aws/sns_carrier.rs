//! SNS: one `Publish` to a phone number for one attempt.

use aws_sdk_sns::Client;
use aws_sdk_sns::config::Builder;
use aws_sdk_sns::error::BuildError;
use aws_sdk_sns::operation::RequestId;
use aws_sdk_sns::operation::publish::builders::PublishFluentBuilder;
use aws_sdk_sns::types::MessageAttributeValue;

use super::carrier::{accepted, begin, logged};
use super::clients::carrier_timeouts;
use super::failure::{Failure, FailureKind};
use super::sns_outcome::sns_outcome;
use crate::notification::{Kind, Outcome};
use crate::ports::{Carrier, Clock, Text};

/// What the deployment says about texts.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SnsSettings {
    /// The most that one text may cost, in US dollars, as a decimal.
    pub max_price_usd: Option<String>,
    /// The number that texts are sent from.
    pub origination_number: Option<String>,
}

/// Sends texts through SNS.
#[derive(Clone, Debug)]
pub struct SnsCarrier<C> {
    client: Client,
    clock: C,
    settings: SnsSettings,
}

impl<C: Clock> SnsCarrier<C> {
    /// A carrier over a client that never retries: [`super::Aws::sns`] makes such clients, and nothing else does.
    pub const fn new(client: Client, clock: C, settings: SnsSettings) -> Self {
        Self { client, clock, settings }
    }

    fn request(&self, text: &Text) -> Result<PublishFluentBuilder, BuildError> {
        let sms_type = match text.kind {
            Kind::Transactional => "Transactional",
            Kind::Promotional => "Promotional",
        };
        let attributes = [
            ("AWS.SNS.SMS.SMSType", "String", Some(sms_type)),
            ("AWS.SNS.SMS.SenderID", "String", text.sender_id.as_ref().map(|sender| sender.as_str())),
            ("AWS.SNS.SMS.MaxPrice", "Number", self.settings.max_price_usd.as_deref()),
            ("AWS.MM.SMS.OriginationNumber", "String", self.settings.origination_number.as_deref()),
        ];
        let mut request =
            self.client.publish().phone_number(text.payload.to.expose()).message(text.payload.message.expose());
        for (name, data_type, value) in attributes {
            if let Some(value) = value {
                let attribute = MessageAttributeValue::builder().data_type(data_type).string_value(value).build()?;
                request = request.message_attributes(name, attribute);
            }
        }
        Ok(request)
    }
}

impl<C: Clock> Carrier for SnsCarrier<C> {
    async fn send(&self, text: &Text) -> Outcome {
        let Ok(request) = self.request(text) else {
            return failed(text, &Failure { kind: FailureKind::NotBuilt, code: "" });
        };
        let limits = Builder::new().timeout_config(carrier_timeouts(text.time_allowed).build());
        let request = request.customize().config_override(limits);
        if let Err(too_late) = begin(&self.clock, text) {
            return too_late;
        }
        // Awaited to its own end, never raced against a timer: a future that is dropped classifies nothing.
        match request.send().await {
            Ok(answer) => accepted(answer.message_id(), answer.request_id()),
            Err(error) => failed(text, &Failure::of(&error)),
        }
    }
}

fn failed(text: &Text, failure: &Failure<'_>) -> Outcome {
    logged("sns:Publish", text, failure, sns_outcome(failure))
}
