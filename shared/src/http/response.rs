//! One HTTP answer.

/// Status, headers and body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// Exact text.
    pub body: String,
}

impl Response {
    /// An answer of this status with a JSON body.
    #[must_use]
    pub fn json(status: u16, body: String) -> Self {
        Self { status, headers: Vec::new(), body }
            .with("content-type", "application/json")
            .with("cache-control", "no-store")
    }

    /// 304: what the client has is still so.
    #[must_use]
    pub fn not_modified(etag: String) -> Self {
        Self { status: 304, headers: Vec::new(), body: String::new() }.with("etag", etag)
    }

    /// The same with one more header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }
}
