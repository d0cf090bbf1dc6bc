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

    /// Whether the body is declared as JSON, once and in UTF-8.
    #[must_use]
    pub fn is_json(&self) -> bool {
        let mut declared = self.header("content-type");
        matches!((declared.next(), declared.next()), (Some(value), None) if is_json_type(&value.to_ascii_lowercase()))
    }
}

fn is_json_type(value: &str) -> bool {
    let mut parts = value.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    let suffixed = essence.strip_prefix("application/").and_then(|subtype| subtype.strip_suffix("+json"));
    let is_json = essence == "application/json" || suffixed.is_some_and(|name| !name.is_empty());
    let charsets = parts.filter_map(|parameter| parameter.strip_prefix("charset="));
    is_json && charsets.map(|charset| charset.trim_matches('"')).all(|charset| charset == "utf-8")
}

/// Headers and body hold keys, numbers and tokens: none of them is printed.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} headers, {} bytes)", self.headers.len(), self.body.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declares(types: &[&str]) -> bool {
        let headers = types.iter().map(|value| (String::from("content-type"), (*value).to_owned())).collect();
        Request { headers, ..Request::default() }.is_json()
    }

    #[test]
    fn a_body_is_json_when_it_says_so_once_and_in_utf_8() {
        for value in [
            "application/json",
            "Application/JSON; charset=UTF-8",
            "application/json;charset=\"utf-8\"",
            "application/a+json",
        ] {
            assert!(declares(&[value]), "{value}");
        }
        for value in
            ["", "text/plain", "text/json", "application/jsonx", "application/+json", "application/json;charset=utf-16"]
        {
            assert!(!declares(&[value]), "{value}");
        }
        assert!(!declares(&[]));
        assert!(!declares(&["application/json", "application/json"]));
    }
}
