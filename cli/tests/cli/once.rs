//! JSON in which no object has a name twice: what comes of such a name is up to whoever reads it.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Any};
use std::fmt;

/// Any JSON; reading it fails if an object has a name twice.
pub struct Value(pub Any);

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Once).map(Value)
    }
}

struct Once;

impl<'de> Visitor<'de> for Once {
    type Value = Any;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }
    fn visit_unit<E>(self) -> Result<Any, E> {
        Ok(Any::Null)
    }
    fn visit_bool<E>(self, value: bool) -> Result<Any, E> {
        Ok(value.into())
    }
    fn visit_i64<E>(self, value: i64) -> Result<Any, E> {
        Ok(value.into())
    }
    fn visit_u64<E>(self, value: u64) -> Result<Any, E> {
        Ok(value.into())
    }
    fn visit_f64<E>(self, value: f64) -> Result<Any, E> {
        Ok(value.into())
    }
    fn visit_str<E>(self, value: &str) -> Result<Any, E> {
        Ok(value.into())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Any, A::Error> {
        let mut values = Vec::new();
        while let Some(Value(value)) = from.next_element()? {
            values.push(value);
        }
        Ok(values.into())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Any, A::Error> {
        let mut fields = Map::new();
        while let Some((name, Value(value))) = from.next_entry::<String, Value>()? {
            if fields.contains_key(&name) {
                return Err(A::Error::custom(format!("`{name}` is there twice")));
            }
            fields.insert(name, value);
        }
        Ok(fields.into())
    }
}

#[test]
fn a_name_that_is_there_twice_is_no_answer() {
    let read = |text: &str| serde_json::from_str::<Value>(text).map(|value| value.0);
    let text = r#"{"a": [null, true, -1, 2, 0.5, "x", {"a": 1}], "b": {"a": 2}}"#;
    assert_eq!(read(text).expect("all JSON is read"), {
        let same: Any = serde_json::from_str(text).expect("it is JSON");
        same
    });
    let why = read(r#"[{"a": 1, "b": {"c": 1, "c": 1}}]"#).expect_err("twice");
    assert!(why.to_string().contains("`c` is there twice"), "{why}");
}
