//! The simulated SMS provider, in the words of SNS or of End User Messaging, as it behaves on a good day or on a worse one.

mod eum;
mod sns;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use http::HeaderMap;
use jiff::Timestamp;
use tokio::sync::broadcast;

use crate::endpoint::{Script, Verdict};

/// How often a number is told to slow down before it is let through.
pub const THROTTLED: usize = 2;

/// Which service carries the texts: the template's `Provider`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Via {
    /// Amazon SNS
    #[default]
    Sns,
    /// AWS End User Messaging SMS
    Eum,
}

/// How the provider behaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Provider {
    /// Takes the text and says so
    #[default]
    Ok,
    /// Takes the text and never answers
    Hang,
    /// Takes the text and resets the connection
    Reset,
    /// Takes nothing and answers 500
    #[value(name = "500")]
    Error,
    /// Refuses twice with Throttling, then takes the text
    Throttle,
    /// Refuses the text for good
    Reject,
}

/// What a request asks for, whichever service it is written for.
#[derive(Debug)]
struct Asked {
    number: String,
    message: String,
    /// What the caller wants to hear again in each report about the text; none if it wants no reports.
    context: Option<serde_json::Value>,
}

/// What becomes of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Taken,
    TakenInSilence,
    TakenAndReset,
    Failed,
    Throttled,
    Rejected,
}

/// One call of the provider, as it arrived.
#[derive(Debug, Clone)]
pub struct Call {
    /// Whom the text is for.
    pub number: String,
    /// The text.
    pub message: String,
    /// What becomes of it.
    pub behaviour: Provider,
    /// Whether a handset gets it.
    pub taken: bool,
    /// When it came.
    pub at: Timestamp,
    /// How many texts this number had got before.
    pub earlier: usize,
    /// The provider's name for it.
    pub message_id: String,
    /// What its reports repeat; none if it is to have no reports that name it.
    pub context: Option<serde_json::Value>,
}

/// The scripted endpoint's memory.
#[derive(Debug)]
pub struct Carrier {
    via: Via,
    state: Mutex<State>,
    calls: broadcast::Sender<Call>,
}

#[derive(Debug)]
struct State {
    usual: Provider,
    reports_after: Option<Duration>,
    by_number: HashMap<String, Number>,
}

#[derive(Debug, Default)]
struct Number {
    behaviour: Option<Provider>,
    unreported: bool,
    calls: usize,
    texts: usize,
}

impl Carrier {
    /// Behaves as `usual` towards every number not told otherwise, and says nothing about a text once it has answered.
    pub fn new(via: Via, usual: Provider) -> Self {
        let state = State { usual, reports_after: None, by_number: HashMap::new() };
        Self { via, state: Mutex::new(state), calls: broadcast::channel(256).0 }
    }

    /// Reports what became of a text this long after it took it.
    #[must_use]
    pub fn reporting(self, after: Option<Duration>) -> Self {
        self.lock().reports_after = after;
        self
    }

    /// Behaves as `provider` towards `number`.
    pub fn behave(&self, number: &str, provider: Provider) {
        self.lock().number(number).behaviour = Some(provider);
    }

    /// Reports nothing about texts to `number`.
    pub fn keep_quiet_about(&self, number: &str) {
        self.lock().number(number).unreported = true;
    }

    /// How often it was asked to send a text to `number`.
    pub fn calls(&self, number: &str) -> usize {
        self.lock().by_number.get(number).map_or(0, |number| number.calls)
    }

    /// How often it was asked to send any text.
    pub fn calls_in_all(&self) -> usize {
        self.lock().by_number.values().map(|number| number.calls).sum()
    }

    /// How many texts to `number` it took.
    pub fn texts(&self, number: &str) -> usize {
        self.lock().by_number.get(number).map_or(0, |number| number.texts)
    }

    /// Hears of calls as they arrive.
    pub fn listen(&self) -> broadcast::Receiver<Call> {
        self.calls.subscribe()
    }

    /// How long after a text to `number` it is reported on; never, if none.
    pub(crate) fn reports_after(&self, number: &str) -> Option<Duration> {
        let state = self.lock();
        let unreported = state.by_number.get(number).is_some_and(|number| number.unreported);
        state.reports_after.filter(|_| !unreported)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn number(&mut self, number: &str) -> &mut Number {
        self.by_number.entry(number.to_owned()).or_default()
    }

    /// Counts a call, and decides about it.
    fn decide(&mut self, asked: Asked) -> (Fate, Call) {
        let (usual, sequence) = (self.usual, self.by_number.values().map(|number| number.calls).sum::<usize>() + 1);
        let number = self.number(&asked.number);
        let behaviour = number.behaviour.unwrap_or(usual);
        number.calls += 1;
        let (fate, earlier) = (Fate::of(behaviour, number.calls), number.texts);
        number.texts += usize::from(fate.is_taken());
        let call = Call {
            number: asked.number,
            message: asked.message,
            behaviour,
            taken: fate.is_taken(),
            at: Timestamp::now(),
            earlier,
            message_id: format!("5e4d04ce-0000-4000-8000-{sequence:012x}"),
            context: asked.context,
        };
        (fate, call)
    }
}

impl Fate {
    fn of(behaviour: Provider, calls: usize) -> Self {
        match behaviour {
            Provider::Throttle if calls <= THROTTLED => Self::Throttled,
            Provider::Ok | Provider::Throttle => Self::Taken,
            Provider::Hang => Self::TakenInSilence,
            Provider::Reset => Self::TakenAndReset,
            Provider::Error => Self::Failed,
            Provider::Reject => Self::Rejected,
        }
    }

    fn is_taken(self) -> bool {
        matches!(self, Self::Taken | Self::TakenInSilence | Self::TakenAndReset)
    }
}

impl Via {
    /// The template's word for it.
    pub(crate) fn parameter(self) -> &'static str {
        match self {
            Self::Sns => "sns",
            Self::Eum => "eum",
        }
    }

    /// The variable in which the SDK looks for this service's endpoint.
    pub(crate) fn endpoint_variable(self) -> &'static str {
        match self {
            Self::Sns => "AWS_ENDPOINT_URL_SNS",
            Self::Eum => "AWS_ENDPOINT_URL_PINPOINT_SMS_VOICE_V2",
        }
    }
}

impl Script for Carrier {
    fn judge(&self, headers: &HeaderMap, body: &[u8]) -> Verdict {
        let asked = match self.via {
            Via::Sns => sns::asked(body),
            Via::Eum => eum::asked(headers, body),
        };
        let Some(asked) = asked else { return Verdict::Forward };
        let (fate, call) = self.lock().decide(asked);
        let verdict = match self.via {
            Via::Sns => sns::verdict(fate),
            Via::Eum => eum::verdict(fate, &call.message_id),
        };
        // Nobody may be listening.
        let _ = self.calls.send(call);
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publish(carrier: &Carrier, number: &str) -> Verdict {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("Action", "Publish").append_pair("PhoneNumber", number).append_pair("Message", "hello");
        carrier.judge(&HeaderMap::new(), form.finish().as_bytes())
    }

    fn send_text_message(carrier: &Carrier, number: &str) -> Verdict {
        let headers = HeaderMap::from_iter([(
            http::HeaderName::from_static("x-amz-target"),
            http::HeaderValue::from_static("PinpointSMSVoiceV2.SendTextMessage"),
        )]);
        let body =
            serde_json::json!({ "DestinationPhoneNumber": number, "MessageBody": "hello", "Context": { "a": "b" } });
        carrier.judge(&headers, body.to_string().as_bytes())
    }

    #[test]
    fn calls_are_counted_by_number_and_numbers_can_be_treated_differently() {
        let carrier = Carrier::new(Via::Sns, Provider::Throttle);
        carrier.behave("+2", Provider::Hang);
        for _ in 0..THROTTLED {
            assert!(
                matches!(publish(&carrier, "+1"), Verdict::Answer(400, _, body) if body.contains("<Code>Throttling</Code>"))
            );
        }
        assert!(matches!(publish(&carrier, "+1"), Verdict::Forward));
        assert!(matches!(publish(&carrier, "+2"), Verdict::ForwardThenHang));
        assert_eq!((carrier.calls("+1"), carrier.calls("+2"), carrier.calls("+3")), (THROTTLED + 1, 1, 0));
        assert_eq!((carrier.texts("+1"), carrier.texts("+2"), carrier.texts("+3")), (1, 1, 0));
        assert_eq!(carrier.calls_in_all(), THROTTLED + 2);
    }

    #[test]
    fn end_user_messaging_behaves_the_same_in_its_own_words() {
        let carrier = Carrier::new(Via::Eum, Provider::Throttle);
        for (number, behaviour) in [("+2", Provider::Hang), ("+3", Provider::Reset), ("+4", Provider::Reject)] {
            carrier.behave(number, behaviour);
        }
        for _ in 0..THROTTLED {
            let refused = send_text_message(&carrier, "+1");
            assert!(matches!(refused, Verdict::Answer(400, _, body) if body.contains("ThrottlingException")));
        }
        let mut calls = carrier.listen();
        let taken = send_text_message(&carrier, "+1");
        let call = calls.try_recv().expect("a call");
        assert!(matches!(taken, Verdict::Answer(200, _, body) if body.contains(&call.message_id)));
        assert!(matches!(send_text_message(&carrier, "+2"), Verdict::Hang));
        assert!(matches!(send_text_message(&carrier, "+3"), Verdict::Reset));
        assert!(matches!(send_text_message(&carrier, "+4"), Verdict::Answer(400, _, _)));
        assert_eq!(["+1", "+2", "+3", "+4"].map(|number| carrier.texts(number)), [1, 1, 1, 0]);
        assert_eq!(call.context, None, "no configuration set, no events");
    }

    #[test]
    fn only_what_is_to_be_reported_is() {
        let after = Some(Duration::from_secs(1));
        let carrier = Carrier::new(Via::Sns, Provider::Ok).reporting(after);
        carrier.keep_quiet_about("+2");
        assert_eq!((carrier.reports_after("+1"), carrier.reports_after("+2")), (after, None));
        assert_eq!(Carrier::new(Via::Sns, Provider::Ok).reports_after("+1"), None);
    }

    #[test]
    fn other_actions_pass() {
        let carrier = Carrier::new(Via::Sns, Provider::Reject);
        assert!(matches!(carrier.judge(&HeaderMap::new(), b"Action=ListTopics"), Verdict::Forward));
        assert_eq!(carrier.calls_in_all(), 0);
    }
}
