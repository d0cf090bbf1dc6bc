//! What each provider says, in its own protocol: SNS in XML, End User Messaging in JSON.

use sendonce::notification::Provider;

use crate::endpoint::Script;

pub const BOTH: [Provider; 2] = [Provider::Sns, Provider::Eum];

pub const MESSAGE_ID: &str = "8d3b4d5e-0000-1111-2222-333344445555";
pub const REQUEST_ID: &str = "8d3b4d5e-0000-1111-2222-666677778888";

/// An answer with this status line and body.
pub fn http(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nx-amzn-requestid: {REQUEST_ID}\r\ncontent-length: {length}\r\n\r\n{body}")
}

/// A provider takes a text, under this name.
pub fn named(provider: Provider, message_id: &str) -> String {
    let body = match provider {
        Provider::Sns => publish_response(&format!("<MessageId>{message_id}</MessageId>")),
        Provider::Eum => format!("{{\"MessageId\":\"{message_id}\"}}"),
    };
    http("200 OK", &body)
}

/// A provider takes a text, and gives it no name.
pub fn nameless(provider: Provider) -> String {
    let body = match provider {
        Provider::Sns => publish_response(""),
        Provider::Eum => String::from("{}"),
    };
    http("200 OK", &body)
}

/// What a provider says when it takes a text.
pub fn accepted(provider: Provider) -> String {
    named(provider, MESSAGE_ID)
}

/// It says so, and keeps the connection for more.
pub fn accept(provider: Provider) -> Script {
    Script::SayOn(accepted(provider))
}

/// What a provider says when it does not: like the real ones, the message quotes the number.
pub fn error(provider: Provider, status: u16, code: &str) -> String {
    let body = match provider {
        Provider::Sns => format!(
            "<ErrorResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><Error><Type>Sender</Type><Code>{code}\
             </Code><Message>Invalid parameter: PhoneNumber Reason: +15550142973 is not valid</Message></Error>\
             <RequestId>{REQUEST_ID}</RequestId></ErrorResponse>"
        ),
        Provider::Eum => exception(code, "\"OTHER\""),
    };
    http(&format!("{status} Answer"), &body)
}

/// The body of an exception of End User Messaging with this reason, as JSON.
pub fn exception(code: &str, reason: &str) -> String {
    format!(
        "{{\"__type\":\"com.amazonaws.pinpointsmsvoicev2#{code}\",\"Message\":\"+15550142973 is not valid\",\
         \"ResourceId\":\"+15550142973\",\"Reason\":{reason}}}"
    )
}

fn publish_response(result: &str) -> String {
    format!(
        "<PublishResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><PublishResult>{result}</PublishResult>\
         <ResponseMetadata><RequestId>{REQUEST_ID}</RequestId></ResponseMetadata></PublishResponse>"
    )
}
