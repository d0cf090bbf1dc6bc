//! JSON as RFC 8259 says it should be written: no member twice, nothing after the value.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Reads one value. Two members of one name are refused, for two parsers would read two commands; depth, numbers
/// beyond `f64`, lone surrogates and trailing bytes are refused by the parser below.
pub(crate) fn parse(text: &[u8]) -> Option<Value> {
    serde_json::from_slice::<Strict>(text).ok().map(|strict| strict.0)
}

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StrictVisitor).map(Strict)
    }
}

struct StrictVisitor;

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a finite number"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((name, Strict(value))) = members.next_entry::<String, Strict>()? {
            if map.insert(name, value).is_some() {
                return Err(A::Error::custom("a member stands twice"));
            }
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a7_everything_that_two_parsers_read_differently_is_refused() {
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for text in [
            "NaN",
            "{\"a\":NaN}",
            "{\"a\":Infinity}",
            "{\"a\":\"\\ud800\"}",
            "{\"a\":\"\\udc00\\ud800\"}",
            "{\"a\":1,\"a\":1}",
            "{\"b\":{\"a\":1,\"\\u0061\":2}}",
            "{\"a\":1e400}",
            "{} x",
            "{}{}",
            "{\"a\":1,}",
            "",
            "\u{feff}{}",
            "{'a':1}",
            "{\"a\":01}",
            "{\"a\":\"\n\"}",
            "// x\n{}",
            &deep,
        ] {
            assert!(parse(text.as_bytes()).is_none(), "{:?}", text.get(..40.min(text.len())));
        }
        assert!(parse(b"{\"a\":\"\xff\"}").is_none());
        assert!(parse(b"{\"a\":\"\xed\xa0\x80\"}").is_none());
    }

    #[test]
    fn ordinary_json_is_read() {
        let value = parse(br#" {"a":[1,-2,2.5,true,null,"\ud83d\ude00"],"b":{"a":1}} "#).unwrap();
        assert_eq!(value, serde_json::json!({"a": [1, -2, 2.5, true, null, "😀"], "b": {"a": 1}}));
    }
}
