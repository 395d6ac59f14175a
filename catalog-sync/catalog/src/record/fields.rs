//! Lenient parsing of a record's fields, with a warning for each unreadable one.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::date::read_date;
use super::{Flags, MAX_ENTRIES, Problems, RecordKind, Skip, SkipReason, Warning};
use foretell_wire::errors::api_error::double_quoted;

/// Ids are JSON numbers and SQLite integers: 63 bits.
const MAX_ID: u64 = i64::MAX.unsigned_abs();

/// A record's fields, with its kind and id.
pub(super) struct RecordFields {
    pub(super) kind: RecordKind,
    pub(super) id: u64,
    map: Map<String, Value>,
}

impl RecordFields {
    /// Takes the fields of a record; it must have an id.
    pub(super) fn new(kind: RecordKind, map: Map<String, Value>) -> Result<Self, Skip> {
        let shown = shown_id(&map);
        match id_of(map.get("id")) {
            Some(id) => Ok(Self { kind, id, map }),
            None => Err(Skip {
                kind: Some(kind),
                reason: SkipReason::BadId(shown.clone()),
                id: shown,
            }),
        }
    }

    /// A skip of this record.
    pub(super) fn skip(&self, reason: SkipReason) -> Skip {
        Skip {
            kind: Some(self.kind),
            id: self.id.to_string(),
            reason,
        }
    }

    fn warn(&self, problems: &mut Problems, field: &'static str, problem: String) {
        problems.warnings.push(Warning {
            kind: self.kind,
            id: self.id,
            field,
            problem,
        });
    }

    fn get(&self, field: &str) -> Option<&Value> {
        self.map.get(field).filter(|value| !value.is_null())
    }

    /// A text unchanged, or the digits of a number; empty when missing.
    pub(super) fn text(&self, field: &'static str, problems: &mut Problems) -> String {
        match self.get(field) {
            None => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(other) => {
                self.warn(problems, field, format!("{} is no text", shown(other)));
                String::new()
            }
        }
    }

    /// The required slug.
    pub(super) fn slug(&self, problems: &mut Problems) -> Result<String, Skip> {
        let slug = self.text("slug", problems);
        if slug.trim().is_empty() {
            return Err(self.skip(SkipReason::NoSlug));
        }
        Ok(slug)
    }

    /// `true`, `false`, 1 or 0, also as text; `None` when missing.
    pub(super) fn flag(&self, field: &'static str, problems: &mut Problems) -> Option<bool> {
        let value = self.get(field)?;
        let read = match value {
            Value::Bool(flag) => Some(*flag),
            Value::Number(number) => zero_or_one(&number.to_string()),
            Value::String(text) => zero_or_one(text),
            _ => None,
        };
        if read.is_none() {
            self.warn(problems, field, format!("{} is no boolean", shown(value)));
        }
        read
    }

    /// `active`, `closed`, `archived`; false when missing.
    pub(super) fn flags(&self, problems: &mut Problems) -> Flags {
        let mut flag = |field| self.flag(field, problems).unwrap_or(false);
        Flags {
            active: flag("active"),
            closed: flag("closed"),
            archived: flag("archived"),
        }
    }

    /// A date; an unreadable one is dropped with a warning.
    pub(super) fn date(&self, field: &'static str, problems: &mut Problems) -> Option<Timestamp> {
        let value = self.get(field)?;
        let text = value.as_str().unwrap_or("not a text");
        if value.as_str().is_some_and(|text| text.trim().is_empty()) {
            return None;
        }
        let read = read_date(text);
        if read.is_none() {
            self.warn(problems, field, format!("{} is no date", shown(value)));
        }
        read
    }

    /// A number, also as text.
    pub(super) fn number(&self, field: &'static str, problems: &mut Problems) -> Option<f64> {
        let value = self.get(field)?;
        let digits = digits_of(value)?;
        let read = digits
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite());
        if read.is_none() {
            self.warn(problems, field, format!("{} is no number", shown(value)));
        }
        read
    }

    /// The unchanged digits of a number or text; `None` when missing or empty.
    pub(super) fn digits(&self, field: &str) -> Option<String> {
        digits_of(self.get(field)?)
    }

    /// An array, also given as text, as compact or original JSON; `[]` when missing or broken.
    pub(super) fn array_text(&self, field: &'static str, problems: &mut Problems) -> String {
        match self.get(field) {
            None => "[]".to_owned(),
            Some(value @ Value::Array(_)) => value.to_string(),
            Some(Value::String(text)) if text.trim().is_empty() => "[]".to_owned(),
            Some(Value::String(text))
                if serde_json::from_str::<Vec<serde::de::IgnoredAny>>(text).is_ok() =>
            {
                text.clone()
            }
            Some(other) => {
                self.warn(problems, field, format!("{} is no array", shown(other)));
                "[]".to_owned()
            }
        }
    }

    /// An object, unchanged; empty when missing.
    pub(super) fn object(
        &self,
        field: &'static str,
        problems: &mut Problems,
    ) -> Map<String, Value> {
        match self.get(field) {
            None => Map::new(),
            Some(Value::Object(object)) => object.clone(),
            Some(other) => {
                self.warn(problems, field, format!("{} is no object", shown(other)));
                Map::new()
            }
        }
    }

    /// Drops a field, also from the original record.
    pub(super) fn drop(&mut self, field: &str) {
        self.map.remove(field);
    }

    /// Removes and parses the records of a field; `None` when missing. Skips entries that are not
    /// objects or cannot be parsed.
    pub(super) fn take_records<T>(
        &mut self,
        field: &'static str,
        kind: RecordKind,
        problems: &mut Problems,
        read: fn(RecordFields, &mut Problems) -> Result<T, Skip>,
    ) -> Result<Option<Vec<T>>, Skip> {
        let entries = match self.map.remove(field) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Array(entries)) => entries,
            Some(other) => {
                self.warn(problems, field, format!("{} is no array", shown(&other)));
                return Ok(None);
            }
        };
        if entries.len() > MAX_ENTRIES {
            return Err(self.skip(SkipReason::TooManyEntries(field)));
        }
        let mut records = Vec::with_capacity(entries.len());
        for entry in entries {
            let read = match entry {
                Value::Object(map) => {
                    Self::new(kind, map).and_then(|fields| read(fields, problems))
                }
                _ => Err(Skip {
                    kind: Some(kind),
                    id: String::new(),
                    reason: SkipReason::NotAnObject,
                }),
            };
            match read {
                Ok(record) => records.push(record),
                Err(skip) => problems.skipped.push(skip),
            }
        }
        Ok(Some(records))
    }

    /// The original record as compact JSON, with unchanged digits and key order.
    pub(super) fn raw(&self) -> String {
        serde_json::to_string(&self.map).expect("keys are texts")
    }
}

fn zero_or_one(text: &str) -> Option<bool> {
    match text.trim() {
        "true" | "True" | "1" => Some(true),
        "false" | "False" | "0" => Some(false),
        _ => None,
    }
}

fn digits_of(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        other => Some(shown(other)),
    }
}

/// An id: a whole number above 0, also as text.
fn id_of(value: Option<&Value>) -> Option<u64> {
    let digits = match value? {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    let id = digits.parse().ok().filter(|_| all_digits)?;
    (1..=MAX_ID).contains(&id).then_some(id)
}

/// A record's id for a report.
pub(super) fn shown_id(map: &Map<String, Value>) -> String {
    map.get("id").map(shown).unwrap_or_default()
}

/// An upstream's value in a report.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => double_quoted(text),
        other => double_quoted(&other.to_string()),
    }
}
