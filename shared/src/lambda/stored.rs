//! An HTTP answer as bytes: one line of JSON for status and headers, then the body exactly as it was.

use lambda_http::http::{HeaderName, HeaderValue, StatusCode};
use lambda_http::{Body, Response};

use crate::idempotency::AsAnswer;

/// A response that is kept and given again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Vec<u8>,
}

impl Stored {
    pub(super) fn of(response: &Response<Body>) -> Self {
        let headers = response.headers().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Self { status: response.status(), headers, body: response.body().to_vec() }
    }

    pub(super) fn response(self) -> Response<Body> {
        let body = match String::from_utf8(self.body) {
            Ok(text) if text.is_empty() => Body::Empty,
            Ok(text) => Body::Text(text),
            Err(error) => Body::Binary(error.into_bytes()),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        for (name, value) in self.headers {
            response.headers_mut().append(name, value);
        }
        response
    }
}

impl AsAnswer for Stored {
    fn to_answer(&self) -> Option<Vec<u8>> {
        let text = |(name, value): &(HeaderName, HeaderValue)| {
            value.to_str().ok().map(|value| (name.as_str().to_owned(), value.to_owned()))
        };
        let headers: Vec<(String, String)> = self.headers.iter().map(text).collect::<Option<_>>()?;
        let mut bytes = serde_json::to_vec(&(self.status.as_u16(), headers)).ok()?;
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.body);
        Some(bytes)
    }

    fn from_answer(bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().position(|b| *b == b'\n')?;
        let (head, body) = bytes.split_at_checked(end)?;
        let (status, headers): (u16, Vec<(String, String)>) = serde_json::from_slice(head).ok()?;
        let header = |(name, value): (String, String)| Some((name.parse().ok()?, value.parse().ok()?));
        let headers = headers.into_iter().map(header).collect::<Option<_>>()?;
        Some(Self { status: StatusCode::from_u16(status).ok()?, headers, body: body.get(1..)?.to_vec() })
    }
}

/// The answer of a service as it is kept, for an [`crate::idempotency::Authority`] that knows what the first caller was
/// to be told. `None` when a header of it is no text.
#[must_use]
pub fn http_answer(response: &Response<Body>) -> Option<Vec<u8>> {
    Stored::of(response).to_answer()
}
