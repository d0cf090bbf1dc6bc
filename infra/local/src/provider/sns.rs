//! SNS `Publish`: a form, and XML. MiniStack knows it, so what is taken is passed on, and its answer is MiniStack's.

use std::collections::HashMap;

use super::{Asked, Fate};
use crate::endpoint::Verdict;

/// What a request asks for, if it is a text to a number.
pub(super) fn asked(body: &[u8]) -> Option<Asked> {
    let mut form: HashMap<String, String> = form_urlencoded::parse(body).into_owned().collect();
    if form.get("Action").is_none_or(|action| action != "Publish") {
        return None;
    }
    let mut member = |name: &str| form.remove(name);
    Some(Asked { number: member("PhoneNumber")?, message: member("Message").unwrap_or_default(), context: None })
}

/// The request's end.
pub(super) fn verdict(fate: Fate) -> Verdict {
    match fate {
        Fate::Taken => Verdict::Forward,
        Fate::TakenInSilence => Verdict::ForwardThenHang,
        Fate::TakenAndReset => Verdict::ForwardThenReset,
        Fate::Failed => fault(500, "Receiver", "InternalError", "An internal error occurred"),
        Fate::Throttled => fault(400, "Sender", "Throttling", "Rate exceeded"),
        Fate::Rejected => fault(400, "Sender", "InvalidParameter", "Invalid parameter: PhoneNumber"),
    }
}

fn fault(status: u16, side: &str, code: &str, message: &str) -> Verdict {
    let body = format!(
        "<ErrorResponse xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><Error><Type>{side}</Type><Code>{code}</Code>\
         <Message>{message}</Message></Error><RequestId>00000000-0000-0000-0000-000000000000</RequestId></ErrorResponse>"
    );
    Verdict::Answer(status, "text/xml", body)
}
