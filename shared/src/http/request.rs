//! One HTTP request, as far as this service looks at it.

use core::fmt;

/// Method, path, headers and body. Who called is not part of it: that is the gateway's word, never the request's.
#[derive(Clone, Default)]
pub struct Request {
    /// In capitals.
    pub method: String,
    /// Without query and stage.
    pub path: String,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    /// As bytes; empty when there is none.
    pub body: Vec<u8>,
}

impl Request {
    /// All values of a header.
    pub fn header<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether the body is declared as JSON, or as nothing in particular.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.header("content-type").all(|value| {
            let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
            essence == "application/json" || essence.starts_with("application/") && essence.ends_with("+json")
        })
    }
}

/// Headers and body hold keys, numbers and tokens: none of them is printed.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} headers, {} bytes)", self.headers.len(), self.body.len())
    }
}
