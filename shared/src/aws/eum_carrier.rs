//! AWS End User Messaging SMS: one `SendTextMessage` for one attempt.

use aws_sdk_pinpointsmsvoicev2::Client;
use aws_sdk_pinpointsmsvoicev2::config::Builder;
use aws_sdk_pinpointsmsvoicev2::operation::RequestId;
use aws_sdk_pinpointsmsvoicev2::operation::send_text_message::builders::SendTextMessageFluentBuilder;
use aws_sdk_pinpointsmsvoicev2::types::MessageType;

use super::carrier::{accepted, begin, logged};
use super::clients::carrier_timeouts;
use super::eum_outcome::{eum_outcome, reason};
use super::failure::Failure;
use crate::notification::{Kind, Outcome};
use crate::ports::{Carrier, Clock, Text};
use crate::time::{EpochMillis, Millis};

/// The service takes no other times to live, in seconds.
const TIME_TO_LIVE: (i64, i64) = (5, 259_200);

/// What the deployment says about texts.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct EumSettings {
    /// Where the service says what became of a text.
    pub configuration_set: Option<String>,
    /// What texts are sent from: a phone number or its id, a pool's id, a sender id. A text that brings a sender id of
    /// its own is sent from that one, for here a sender id *is* an origination identity.
    pub origination_identity: Option<String>,
    /// Which countries and numbers may be texted.
    pub protect_configuration_id: Option<String>,
    /// The most that one text may cost, in US dollars, as a decimal.
    pub max_price_usd: Option<String>,
}

/// Sends texts through AWS End User Messaging SMS.
#[derive(Clone, Debug)]
pub struct EumCarrier<C> {
    client: Client,
    clock: C,
    settings: EumSettings,
}

impl<C: Clock> EumCarrier<C> {
    /// A carrier over a client that never retries: [`super::Aws::eum`] makes such clients, and nothing else does.
    pub const fn new(client: Client, clock: C, settings: EumSettings) -> Self {
        Self { client, clock, settings }
    }

    fn request(&self, text: &Text) -> SendTextMessageFluentBuilder {
        let settings = self.settings.clone();
        let sender_id = text.sender_id.as_ref().map(|sender| sender.as_str().to_owned());
        self.client
            .send_text_message()
            .destination_phone_number(text.payload.to.expose())
            .message_body(text.payload.message.expose())
            .message_type(match text.kind {
                Kind::Transactional => MessageType::Transactional,
                Kind::Promotional => MessageType::Promotional,
            })
            // Comes back in every event about this text, which is how one is known to be about this attempt.
            .context("notification_id", text.id.as_str())
            .context("attempt_id", text.attempt.id.as_str())
            .set_origination_identity(sender_id.or(settings.origination_identity))
            .set_configuration_set_name(settings.configuration_set)
            .set_protect_configuration_id(settings.protect_configuration_id)
            .set_max_price(settings.max_price_usd)
    }
}

impl<C: Clock> Carrier for EumCarrier<C> {
    async fn send(&self, text: &Text) -> Outcome {
        let request = self.request(text);
        let limits = Builder::new().timeout_config(carrier_timeouts(text.time_allowed).build());
        let now = match begin(&self.clock, text) {
            Ok(now) => now,
            Err(too_late) => return too_late,
        };
        let request = request.time_to_live(time_to_live(text, now)).customize().config_override(limits);
        // Awaited to its own end, never raced against a timer: a future that is dropped classifies nothing.
        match request.send().await {
            Ok(answer) => accepted(answer.message_id(), answer.request_id()),
            Err(error) => {
                let failure = Failure::of(&error);
                logged("sms-voice:SendTextMessage", text, &failure, eum_outcome(&failure, reason(&error)))
            }
        }
    }
}

/// The whole seconds that a text has left to live, as far as the service takes them.
fn time_to_live(text: &Text, now: EpochMillis) -> i32 {
    let left: Millis = text.expires_at.since(now);
    let (least, most) = TIME_TO_LIVE;
    i32::try_from(left.secs_floor().clamp(least, most)).unwrap_or(i32::MAX)
}
