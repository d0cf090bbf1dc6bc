//! The simulated SMS provider: SNS `Publish` as MiniStack answers it, or as a worse day would.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clap::ValueEnum;
use http::HeaderMap;
use tokio::sync::broadcast;

use crate::endpoint::{Script, Verdict};

/// How often a number is told to slow down before it is let through.
pub const THROTTLED: usize = 2;

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
}

/// The scripted endpoint's memory.
#[derive(Debug)]
pub struct Carrier {
    state: Mutex<State>,
    calls: broadcast::Sender<Call>,
}

#[derive(Debug)]
struct State {
    usual: Provider,
    by_number: HashMap<String, Provider>,
    counts: HashMap<String, usize>,
}

impl Carrier {
    /// Behaves as `usual` towards every number not told otherwise.
    pub fn new(usual: Provider) -> Self {
        let state = State { usual, by_number: HashMap::new(), counts: HashMap::new() };
        Self { state: Mutex::new(state), calls: broadcast::channel(256).0 }
    }

    /// Behaves as `provider` towards `number`.
    pub fn behave(&self, number: &str, provider: Provider) {
        self.lock().by_number.insert(number.to_owned(), provider);
    }

    /// How often it was asked to send a text to `number`.
    pub fn calls(&self, number: &str) -> usize {
        self.lock().counts.get(number).copied().unwrap_or(0)
    }

    /// How often it was asked to send any text.
    pub fn calls_in_all(&self) -> usize {
        self.lock().counts.values().sum()
    }

    /// Hears of calls as they arrive.
    pub fn listen(&self) -> broadcast::Receiver<Call> {
        self.calls.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts the call, and answers with the behaviour and how many calls there have been for this number.
    fn count(&self, number: &str) -> (Provider, usize) {
        let mut state = self.lock();
        let behaviour = state.by_number.get(number).copied().unwrap_or(state.usual);
        let count = state.counts.entry(number.to_owned()).or_default();
        *count += 1;
        (behaviour, *count)
    }
}

impl Script for Carrier {
    fn judge(&self, _: &HeaderMap, body: &[u8]) -> Verdict {
        let form: HashMap<String, String> = form_urlencoded::parse(body).into_owned().collect();
        let member = |name: &str| form.get(name).cloned().unwrap_or_default();
        if member("Action") != "Publish" {
            return Verdict::Forward;
        }
        let number = member("PhoneNumber");
        let (behaviour, count) = self.count(&number);
        let verdict = verdict(behaviour, count);
        let taken = matches!(verdict, Verdict::Forward | Verdict::ForwardThenHang | Verdict::ForwardThenReset);
        // Nobody may be listening.
        let _ = self.calls.send(Call { number, message: member("Message"), behaviour, taken });
        verdict
    }
}

fn verdict(behaviour: Provider, count: usize) -> Verdict {
    match behaviour {
        Provider::Throttle if count <= THROTTLED => fault(400, "Sender", "Throttling", "Rate exceeded"),
        Provider::Ok | Provider::Throttle => Verdict::Forward,
        Provider::Hang => Verdict::ForwardThenHang,
        Provider::Reset => Verdict::ForwardThenReset,
        Provider::Error => fault(500, "Receiver", "InternalError", "An internal error occurred"),
        Provider::Reject => fault(400, "Sender", "InvalidParameter", "Invalid parameter: PhoneNumber"),
    }
}

fn fault(status: u16, side: &str, code: &str, message: &str) -> Verdict {
    let body = format!(
        "<ErrorResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><Error><Type>{side}</Type><Code>{code}</Code>\
         <Message>{message}</Message></Error><RequestId>00000000-0000-0000-0000-000000000000</RequestId></ErrorResponse>"
    );
    Verdict::Answer(status, "text/xml", body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publish(carrier: &Carrier, number: &str) -> Verdict {
        let mut form = form_urlencoded::Serializer::new(String::new());
        form.append_pair("Action", "Publish").append_pair("PhoneNumber", number).append_pair("Message", "hello");
        carrier.judge(&HeaderMap::new(), form.finish().as_bytes())
    }

    #[test]
    fn calls_are_counted_by_number_and_numbers_can_be_treated_differently() {
        let carrier = Carrier::new(Provider::Throttle);
        carrier.behave("+2", Provider::Hang);
        for _ in 0..THROTTLED {
            assert!(
                matches!(publish(&carrier, "+1"), Verdict::Answer(400, _, body) if body.contains("<Code>Throttling</Code>"))
            );
        }
        assert!(matches!(publish(&carrier, "+1"), Verdict::Forward));
        assert!(matches!(publish(&carrier, "+2"), Verdict::ForwardThenHang));
        assert_eq!((carrier.calls("+1"), carrier.calls("+2"), carrier.calls("+3")), (THROTTLED + 1, 1, 0));
        assert_eq!(carrier.calls_in_all(), THROTTLED + 2);
    }

    #[test]
    fn other_actions_pass() {
        let carrier = Carrier::new(Provider::Reject);
        assert!(matches!(carrier.judge(&HeaderMap::new(), b"Action=ListTopics"), Verdict::Forward));
        assert_eq!(carrier.calls_in_all(), 0);
    }
}
