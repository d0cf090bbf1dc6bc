//! SNS: takes texts, and says so.

use std::collections::BTreeMap;

use super::connector::{Answer, Served};
use super::request::field;
use super::{Request, Seam, lock};

/// A text that the provider took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    pub to: String,
    pub message: String,
    /// Message attributes by name.
    pub attributes: BTreeMap<String, String>,
    pub message_id: String,
}

pub(super) fn serve(seam: &Seam, request: &Request) -> Served {
    if request.name() != "Publish" {
        return Err((400, "InvalidAction"));
    }
    let to = field(&request.body, "PhoneNumber").ok_or((400, "InvalidParameter"))?;
    let message = field(&request.body, "Message").ok_or((400, "InvalidParameter"))?;
    let mut taken = lock(&seam.0.taken);
    let message_id = format!("00000000-0000-4000-8000-{:012}", taken.len() + 1);
    taken.push(Taken { to, message, attributes: attributes(&request.body), message_id: message_id.clone() });
    Ok(Answer::ok(format!(
        "<PublishResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><PublishResult><MessageId>{message_id}\
         </MessageId></PublishResult><ResponseMetadata><RequestId>{message_id}</RequestId></ResponseMetadata>\
         </PublishResponse>"
    )))
}

fn attributes(body: &str) -> BTreeMap<String, String> {
    let entry = |at: usize, part: &str| field(body, &format!("MessageAttributes.entry.{at}.{part}"));
    (1..).map_while(|at| Some((entry(at, "Name")?, entry(at, "Value.StringValue")?))).collect()
}

/// The real one's messages quote the number too, which is why nobody may print them.
pub(super) fn error(request: &Request, status: u16, code: &str) -> Answer {
    let number = field(&request.body, "PhoneNumber").unwrap_or_default();
    let body = format!(
        "<ErrorResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><Error><Type>Sender</Type><Code>{code}\
         </Code><Message>Invalid parameter: PhoneNumber Reason: {number} is not valid to publish to</Message></Error>\
         <RequestId>00000000-0000-4000-8000-000000000000</RequestId></ErrorResponse>"
    );
    Answer { status, body }
}
