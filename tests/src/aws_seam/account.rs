//! What an account has SNS set to.

use std::collections::BTreeMap;

use super::connector::{Answer, Served};
use super::{Request, Seam, lock};

/// As a new account is.
#[derive(Debug)]
pub(super) struct Account {
    attributes: BTreeMap<String, String>,
    is_in_sandbox: bool,
}

impl Default for Account {
    fn default() -> Self {
        Self { attributes: BTreeMap::new(), is_in_sandbox: true }
    }
}

pub(super) fn serve(seam: &Seam, request: &Request) -> Served {
    let account = lock(&seam.0.account);
    let (name, result) = match request.name() {
        "GetSMSAttributes" => {
            let entry = |(key, value)| format!("<entry><key>{key}</key><value>{value}</value></entry>");
            let entries: String = account.attributes.iter().map(entry).collect();
            ("GetSMSAttributes", format!("<attributes>{entries}</attributes>"))
        }
        "GetSMSSandboxAccountStatus" => {
            ("GetSMSSandboxAccountStatus", format!("<IsInSandbox>{}</IsInSandbox>", account.is_in_sandbox))
        }
        _ => return Err((400, "InvalidAction")),
    };
    Ok(Answer::ok(format!(
        "<{name}Response xmlns=\"http://sns.amazonaws.com/doc/2010-03-31/\"><{name}Result>{result}</{name}Result>\
         <ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></{name}Response>"
    )))
}

impl Seam {
    /// Sets one of the account's SMS attributes.
    pub fn set_sms_attribute(&self, name: &str, value: &str) {
        lock(&self.0.account).attributes.insert(name.into(), value.into());
    }

    /// Takes the account out of the SMS sandbox.
    pub fn leave_sandbox(&self) {
        lock(&self.0.account).is_in_sandbox = false;
    }
}
