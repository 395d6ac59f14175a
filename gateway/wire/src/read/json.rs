//! Parses a body into a small tree with simd-json, and with serde_json where simd-json fails.
//!
//! simd-json parses a copy, because it changes its input. It supports no integers above 64 bits,
//! but a salt may have 256 bits; of a number with a point or exponent it keeps the value, but an
//! error shows what was sent. serde_json therefore parses again every body that simd-json rejects or
//! that has such a number, and keeps numbers as text. So simd-json alone may accept a body but never
//! reject it.
//!
//! Only the upper [`KEPT_LEVELS`] levels are kept, because no request has fields below them.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use simd_json::{Node, StaticNode, Tape};

use crate::errors::api_error::quoted;
use crate::markets::depth::is_too_deep;

/// Levels of the tree: an object with an array of elements that contain an order.
const KEPT_LEVELS: usize = 4;

/// The body is not JSON or nests too deep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonProblem {
    NotJson,
    TooDeep,
}

impl JsonProblem {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::NotJson => "not JSON",
            Self::TooDeep => "more than 32 levels of arrays and objects",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Number(Number<'a>),
    Text(Cow<'a, str>),
    Array(Vec<Value<'a>>),
    Object(Object<'a>),
    /// An array or object below the kept levels.
    Deep,
}

/// A JSON number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number<'a> {
    /// Digits only, fits 64 bits.
    Whole(u64),
    /// Negative, or any other number, as written.
    Other(Cow<'a, str>),
}

/// The entries of an object in their original order, duplicates included.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, Value<'a>)>);

/// Parses `body`; `copy` is scratch memory that the result borrows from.
pub(crate) fn read<'a>(body: &'a [u8], copy: &'a mut Vec<u8>) -> Result<Value<'a>, JsonProblem> {
    if is_too_deep(body) {
        return Err(JsonProblem::TooDeep);
    }
    copy.clear();
    copy.extend_from_slice(body);
    match simd_json::to_tape(copy) {
        Ok(tape) if !tape.0.iter().any(is_float) => Ok(of_tape(&tape)),
        _ => read_exactly(body),
    }
}

/// Parses with serde_json: slower, and exact for numbers of any size.
pub(crate) fn read_exactly(body: &[u8]) -> Result<Value<'_>, JsonProblem> {
    let text = std::str::from_utf8(body).map_err(|_| JsonProblem::NotJson)?;
    let raw: &RawValue = serde_json::from_str(text).map_err(|_| JsonProblem::NotJson)?;
    of_raw(raw.get(), KEPT_LEVELS)
}

const fn is_float(node: &Node<'_>) -> bool {
    matches!(node, Node::Static(StaticNode::F64(_)))
}

fn of_tape<'a>(tape: &Tape<'a>) -> Value<'a> {
    let mut nodes = tape.0.iter();
    next_value(&mut nodes, KEPT_LEVELS)
}

/// Takes one value off the tape. `levels` bounds the recursion.
fn next_value<'a>(nodes: &mut core::slice::Iter<'_, Node<'a>>, levels: usize) -> Value<'a> {
    match nodes.next() {
        None | Some(Node::Static(StaticNode::Null)) => Value::Null,
        Some(Node::Static(StaticNode::Bool(flag))) => Value::Bool(*flag),
        Some(Node::Static(StaticNode::U64(number))) => Value::Number(Number::Whole(*number)),
        // simd-json gives a signed integer only for a written minus, so a zero here was `-0`.
        Some(Node::Static(StaticNode::I64(number))) => {
            Value::Number(Number::Other(format!("-{}", number.unsigned_abs()).into()))
        }
        // Unreachable: `read` takes a tape without floats.
        Some(Node::Static(StaticNode::F64(number))) => {
            Value::Number(Number::Other(number.to_string().into()))
        }
        Some(Node::String(text)) => Value::Text(Cow::Borrowed(text)),
        Some(Node::Array { count, .. } | Node::Object { count, .. }) if levels == 0 => {
            // Skip the `count` nodes of this value.
            *nodes = nodes.as_slice()[*count..].iter();
            Value::Deep
        }
        Some(Node::Array { len, .. }) => {
            Value::Array((0..*len).map(|_| next_value(nodes, levels - 1)).collect())
        }
        Some(Node::Object { len, .. }) => {
            let entry = |_| {
                let key = match nodes.next() {
                    Some(Node::String(key)) => Cow::Borrowed(*key),
                    _ => Cow::Borrowed(""), // unreachable: every key on a tape is a text
                };
                (key, next_value(nodes, levels - 1))
            };
            Value::Object(Object((0..*len).map(entry).collect()))
        }
    }
}

/// Parses one value of a text known to be JSON. `levels` bounds the recursion.
fn of_raw(raw: &str, levels: usize) -> Result<Value<'_>, JsonProblem> {
    let raw = raw.trim_matches([' ', '\t', '\n', '\r']);
    let not_json = |_| JsonProblem::NotJson;
    Ok(match raw.as_bytes().first() {
        Some(b'n') => Value::Null,
        Some(b't') => Value::Bool(true),
        Some(b'f') => Value::Bool(false),
        Some(b'"') => Value::Text(serde_json::from_str::<Text<'_>>(raw).map_err(not_json)?.0),
        Some(b'[' | b'{') if levels == 0 => Value::Deep,
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(raw).map_err(not_json)?;
            let values = elements.iter().map(|raw| of_raw(raw.get(), levels - 1));
            Value::Array(values.collect::<Result<_, _>>()?)
        }
        Some(b'{') => {
            let entries: Entries<'_> = serde_json::from_str(raw).map_err(not_json)?;
            let entries = entries
                .0
                .into_iter()
                .map(|(key, raw)| Ok((key.0, of_raw(raw.get(), levels - 1)?)));
            Value::Object(Object(entries.collect::<Result<_, _>>()?))
        }
        _ => Value::Number(number_of_text(raw)),
    })
}

fn number_of_text(text: &str) -> Number<'_> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(number) if digits => Number::Whole(number),
        _ => Number::Other(Cow::Borrowed(text)),
    }
}

/// A text, borrowed unless it has escapes.
struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// The entries of an object with unparsed values, duplicates included.
struct Entries<'a>(Vec<(Text<'a>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;
        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(EntriesVisitor)
    }
}

/// Also the value of an absent key.
const NULL: &Value<'static> = &Value::Null;

impl<'a> Object<'a> {
    /// The value under `key`; `Null` when there is none. Reject duplicates first: see
    /// [`Self::duplicate`].
    pub(crate) fn get(&self, key: &str) -> &Value<'a> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map_or(NULL, |(_, value)| value)
    }

    /// As [`Self::get`], of a key that is likely at `place`; moves `place` behind it. Clients send
    /// the fields of a request in one order, so that most keys are where they are expected.
    pub(crate) fn get_near(&self, key: &str, place: &mut usize) -> &Value<'a> {
        let is_named = |(name, _): &(Cow<'a, str>, _)| name == key;
        let found = match self.0.get(*place).is_some_and(is_named) {
            true => Some(*place),
            false => self.0.iter().position(is_named),
        };
        found.map_or(NULL, |found| {
            *place = found + 1;
            &self.0[found].1
        })
    }

    /// The keys in their original order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| key.as_ref())
    }

    /// Whether `key` has a value other than null.
    pub(crate) fn has(&self, key: &str) -> bool {
        *self.get(key) != Value::Null
    }

    /// The first duplicate key, quoted for an answer.
    pub(crate) fn duplicate(&self) -> Option<String> {
        const FEW: usize = 32;
        if self.0.len() <= FEW {
            return self.duplicate_of_few();
        }
        let keys = self.keys();
        let mut sorted: Vec<&str> = keys.collect();
        sorted.sort_unstable();
        sorted
            .windows(2)
            .find(|pair| pair[0] == pair[1])
            .map(|pair| quoted(pair[0]))
    }

    /// Compares a key with those before it only where one of them has its length and last letter.
    fn duplicate_of_few(&self) -> Option<String> {
        let mut buckets = 0_u64;
        for (index, (key, _)) in self.0.iter().enumerate() {
            let last = key.bytes().next_back().unwrap_or_default();
            let bucket = 1 << ((5 * key.len() + usize::from(last)) % 64);
            let is_key = |(other, _): &(Cow<'_, str>, _)| other == key;
            if buckets & bucket > 0 && self.0[..index].iter().any(is_key) {
                return Some(quoted(key));
            }
            buckets |= bucket;
        }
        None
    }
}

impl Value<'_> {
    /// The value as an answer repeats it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(flag) => flag.to_string(),
            Self::Number(Number::Whole(number)) => number.to_string(),
            Self::Number(Number::Other(text)) => text.chars().take(48).collect(),
            Self::Text(text) => quoted(text),
            Self::Array(_) => "an array".to_owned(),
            Self::Object(_) => "an object".to_owned(),
            Self::Deep => "an array or object".to_owned(),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn text(text: &str) -> Value<'_> {
        Value::Text(Cow::Borrowed(text))
    }

    #[rstest]
    #[case("null", Value::Null)]
    #[case(" true ", Value::Bool(true))]
    #[case("18446744073709551615", Value::Number(Number::Whole(u64::MAX)))]
    #[case("18446744073709551616", Value::Number(Number::Other("18446744073709551616".into())))]
    #[case("-1", Value::Number(Number::Other("-1".into())))]
    #[case("-0", Value::Number(Number::Other("-0".into())))]
    #[case("1e18", Value::Number(Number::Other("1e18".into())))]
    #[case("[1.50]", Value::Array(vec![Value::Number(Number::Other("1.50".into()))]))]
    #[case("-9223372036854775808", Value::Number(Number::Other("-9223372036854775808".into())))]
    #[case(r#""a\u0062""#, text("ab"))]
    #[case(r#"[1,"x"]"#, Value::Array(vec![Value::Number(Number::Whole(1)), text("x")]))]
    #[case("[[[[[1]]]]]", Value::Array(vec![Value::Array(vec![Value::Array(vec![Value::Array(vec![Value::Deep])])])]))]
    fn both_readers_see_the_same(#[case] body: &str, #[case] expected: Value<'_>) {
        assert_eq!(read(body.as_bytes(), &mut Vec::new()), Ok(expected.clone()));
        assert_eq!(read_exactly(body.as_bytes()), Ok(expected));
    }

    #[test]
    fn what_follows_a_deep_value_is_still_read() {
        let body = br#"{"x":[[[[1,2],3]],4],"y":{"a":{"b":{"c":{"d":1}}}},"z":7}"#;
        for value in [read(body, &mut Vec::new()), read_exactly(body)] {
            let Ok(Value::Object(object)) = value else {
                panic!("an object was written")
            };
            assert_eq!(*object.get("z"), Value::Number(Number::Whole(7)));
            assert_eq!(*object.get("w"), Value::Null);
        }
    }

    #[rstest]
    #[case(b"")]
    #[case(b"{")]
    #[case(b"{} {}")]
    #[case(b"{'a':1}")]
    #[case(b"[1,]")]
    #[case(b"01")]
    #[case(b"+1")]
    #[case(b"NaN")]
    #[case(b"\"\xff\"")]
    #[case(b"\"\\ud800\"")]
    fn what_is_not_json_is_refused(#[case] body: &[u8]) {
        assert_eq!(read(body, &mut Vec::new()), Err(JsonProblem::NotJson));
    }

    #[test]
    fn a_hundred_thousand_levels_are_refused_without_a_deep_stack() {
        for opening in ["[", "{\"a\":"] {
            let body = opening.repeat(100_000);
            assert_eq!(
                read(body.as_bytes(), &mut Vec::new()),
                Err(JsonProblem::TooDeep)
            );
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_found_among_few_and_among_many() {
        for extra in [0, 100] {
            let filler: String = (0..extra).map(|n| format!(r#""f{n}":0,"#)).collect();
            let twice = format!(r#"{{"a":1,{filler}"b":2,"a":3}}"#);
            let once = format!(r#"{{"a":1,{filler}"b":2,"c":3}}"#);
            let mut copy = Vec::new();
            let Ok(Value::Object(object)) = read(twice.as_bytes(), &mut copy) else {
                panic!("an object was written")
            };
            assert_eq!(object.duplicate().as_deref(), Some("'a'"));
            let mut copy = Vec::new();
            let Ok(Value::Object(object)) = read(once.as_bytes(), &mut copy) else {
                panic!("an object was written")
            };
            assert_eq!(object.duplicate(), None);
        }
    }

    /// Small JSON texts with content that the two parsers might treat differently.
    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            any::<bool>().prop_map(|flag| flag.to_string()),
            any::<u64>().prop_map(|number| number.to_string()),
            any::<i64>().prop_map(|number| number.to_string()),
            "[0-9]{1,80}".prop_map(|digits| format!("1{digits}")),
            any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6)
                    .prop_map(|values| format!("[{}]", values.join(" , "))),
                prop::collection::vec(("[a-c]{0,2}", inner), 0..6).prop_map(|entries| {
                    let entries: Vec<_> = entries
                        .iter()
                        .map(|(key, value)| format!("\"{key}\": {value}"))
                        .collect();
                    format!("{{{}}}", entries.join(","))
                }),
            ]
        })
    }

    /// A byte that is likely to have a meaning in JSON.
    pub(crate) fn damage() -> impl Strategy<Value = u8> {
        let telling = b"eE.+-0199\"\\u{}[],: tfn\n\0\x1f\x7f\xc3";
        prop_oneof![prop::sample::select(telling.to_vec()), any::<u8>()]
    }

    proptest! {
        #[test]
        fn simd_json_and_serde_json_read_the_same_tree(body in json()) {
            let mut copy = Vec::new();
            prop_assert_eq!(read(body.as_bytes(), &mut copy), read_exactly(body.as_bytes()));
        }

        #[test]
        fn damaged_json_is_read_the_same_or_refused_by_both(body in json(), at: prop::sample::Index, byte in damage()) {
            let mut body = body.into_bytes();
            let at = at.index(body.len());
            body[at] = byte;
            let mut copy = Vec::new();
            let (fast, exact) = (read(&body, &mut copy), read_exactly(&body));
            prop_assert_eq!(fast.is_ok(), exact.is_ok());
            prop_assert!(fast.is_err() || fast == exact);
        }

        #[test]
        fn arbitrary_bytes_never_panic(body: Vec<u8>) {
            let _ = read(&body, &mut Vec::new());
        }
    }
}
