//! What arrives, and what is planned to go wrong with it.

use std::collections::{HashMap, VecDeque};

use aws_smithy_runtime_api::client::orchestrator::HttpRequest;

use super::Fault;

/// One request as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Service and operation: `dynamodb:GetItem`.
    pub operation: String,
    /// All headers, one a line.
    pub headers: String,
    /// The exact body.
    pub body: String,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) arrived: Vec<Request>,
    planned: HashMap<String, VecDeque<Fault>>,
}

impl Log {
    pub(super) fn plan(&mut self, operation: &str, times: usize, fault: Fault) {
        self.planned.entry(operation.into()).or_default().extend(std::iter::repeat_n(fault, times));
    }

    pub(super) fn unplan(&mut self) {
        self.planned.clear();
    }

    /// Notes a request, and says what is to go wrong with it.
    pub(super) fn arrive(&mut self, request: &Request) -> Option<Fault> {
        let fault = self.planned.get_mut(&request.operation).and_then(VecDeque::pop_front);
        if fault != Some(Fault::NeverConnected) {
            self.arrived.push(request.clone());
        }
        fault
    }
}

impl Request {
    pub(super) fn read(request: &HttpRequest) -> Self {
        let body = request.body().bytes().map(String::from_utf8_lossy).unwrap_or_default().into_owned();
        let headers: Vec<_> = request.headers().iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let operation = operation(request.headers().get("x-amz-target"), &body);
        Self { operation, headers: headers.join("\n"), body }
    }

    /// The operation's name without its service.
    pub(super) fn name(&self) -> &str {
        self.operation.split_once(':').map_or("", |(_, name)| name)
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

/// Service and operation of a request, by the header that names them in the JSON protocols, or by its form.
pub fn operation(target: Option<&str>, body: &str) -> String {
    match target.and_then(|target| target.split_once('.')) {
        Some((service, name)) => format!("{}:{name}", service_of(service)),
        None => format!("sns:{}", field(body, "Action").unwrap_or_default()),
    }
}

fn service_of(target: &str) -> &str {
    match target {
        "TrentService" => "kms",
        "AmazonSQS" => "sqs",
        "PinpointSMSVoiceV2" => "sms-voice",
        "Logs_20140328" => "logs",
        dynamodb if dynamodb.starts_with("DynamoDB_") => "dynamodb",
        other => other,
    }
}

/// One field of a form, decoded.
pub(super) fn field(body: &str, name: &str) -> Option<String> {
    form_urlencoded::parse(body.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
