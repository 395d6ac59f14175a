//! The JSON of the catalog surface (docs/api/catalog.md §1), rendered once when a
//! record is stored. It has every field of the interface (texts and booleans always, dates when
//! known, never null), every further field of the source, unchanged, and what every recorded record has
//! (`every_record`). Trading fields are apart.

use foretell_wire::schema::JsonSchema;
use foretell_wire::values::{Digits, Iso};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::every_record;
use crate::record::{EventRecord, MarketRecord, SeriesRecord, TagRecord};
use crate::trading::{EVENT_TRADING, MARKET_TRADING, Rendered};

/// The record of a market.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Market<'r> {
    #[schemars(with = "Digits")]
    id: String,
    question: &'r str,
    /// Condition id; empty for a market without one.
    condition_id: &'r str,
    slug: &'r str,
    resolution_source: &'r str,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    start_date: Option<Timestamp>,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    end_date: Option<Timestamp>,
    image: &'r str,
    icon: &'r str,
    description: &'r str,
    /// Text of a JSON array of labels.
    outcomes: &'r str,
    /// Text of a JSON array of token ids.
    clob_token_ids: &'r str,
    active: bool,
    closed: bool,
    archived: bool,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    created_at: Option<Timestamp>,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    updated_at: Option<Timestamp>,
    #[serde(rename = "questionID", skip_serializing_if = "str::is_empty")]
    question_id: &'r str,
}

/// Fields of a market's record that other columns have: read above, or added when it is shown.
const MARKET_ELSEWHERE: &[&str] = &[
    "events",
    "tags",
    "startDate",
    "endDate",
    "createdAt",
    "updatedAt",
    "questionID",
];

/// A market without `events`, in the form it has inside an event.
pub(crate) fn market(record: &MarketRecord) -> Rendered {
    let fields = Market {
        id: record.id.to_string(),
        question: &record.question,
        condition_id: &record.condition_id,
        slug: &record.slug,
        resolution_source: &record.resolution_source,
        start_date: record.start_date,
        end_date: record.end_date,
        image: &record.image,
        icon: &record.icon,
        description: &record.description,
        outcomes: &record.outcomes,
        clob_token_ids: &record.clob_token_ids,
        active: record.flags.active,
        closed: record.flags.closed,
        archived: record.flags.archived,
        created_at: record.created_at,
        updated_at: record.updated_at,
        question_id: &record.question_id,
    };
    let fill = every_record::fill_market;
    Rendered::of(
        map(&fields),
        &record.raw,
        MARKET_TRADING,
        MARKET_ELSEWHERE,
        fill,
    )
}

/// The names of an event.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ShortEvent<'r> {
    #[schemars(with = "Digits")]
    id: String,
    ticker: &'r str,
    slug: &'r str,
    title: &'r str,
}

/// The short event summary for lists of markets and search results.
pub(crate) fn short_event(record: &EventRecord) -> String {
    json(&ShortEvent {
        id: record.id.to_string(),
        ticker: &record.ticker,
        slug: &record.slug,
        title: &record.title,
    })
}

/// The record of an event.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FullEvent<'r> {
    #[schemars(with = "Digits")]
    id: String,
    ticker: &'r str,
    slug: &'r str,
    title: &'r str,
    description: &'r str,
    resolution_source: &'r str,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    start_date: Option<Timestamp>,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    creation_date: Option<Timestamp>,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    end_date: Option<Timestamp>,
    image: &'r str,
    icon: &'r str,
    active: bool,
    closed: bool,
    archived: bool,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    created_at: Option<Timestamp>,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    updated_at: Option<Timestamp>,
}

/// Fields of an event's record that other columns have: read above, or added when it is shown.
const EVENT_ELSEWHERE: &[&str] = &[
    "tags",
    "markets",
    "series",
    "eventMetadata",
    "chats",
    "templates",
    "startDate",
    "creationDate",
    "endDate",
    "createdAt",
    "updatedAt",
];

/// The full event summary, also the base of the complete event.
pub(crate) fn full_event(record: &EventRecord) -> Rendered {
    let fields = FullEvent {
        id: record.id.to_string(),
        ticker: &record.ticker,
        slug: &record.slug,
        title: &record.title,
        description: &record.description,
        resolution_source: &record.resolution_source,
        start_date: record.start_date,
        creation_date: record.creation_date,
        end_date: record.end_date,
        image: &record.image,
        icon: &record.icon,
        active: record.flags.active,
        closed: record.flags.closed,
        archived: record.flags.archived,
        created_at: record.created_at,
        updated_at: record.updated_at,
    };
    let fill = every_record::fill_event;
    Rendered::of(
        map(&fields),
        &record.raw,
        EVENT_TRADING,
        EVENT_ELSEWHERE,
        fill,
    )
}

/// A series without its events.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "EventSeries")]
pub struct Series<'r> {
    #[schemars(with = "Digits")]
    id: String,
    ticker: &'r str,
    slug: &'r str,
    title: &'r str,
    series_type: &'r str,
    recurrence: &'r str,
    image: &'r str,
    icon: &'r str,
    active: bool,
    closed: bool,
    archived: bool,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    created_at: Option<Timestamp>,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    updated_at: Option<Timestamp>,
}

/// A series without `events`, in the form it has inside an event.
pub(crate) fn series(record: &SeriesRecord) -> String {
    json(&Series {
        id: record.id.to_string(),
        ticker: &record.ticker,
        slug: &record.slug,
        title: &record.title,
        series_type: &record.series_type,
        recurrence: &record.recurrence,
        image: &record.image,
        icon: &record.icon,
        active: record.flags.active,
        closed: record.flags.closed,
        archived: record.flags.archived,
        created_at: record.created_at,
        updated_at: record.updated_at,
    })
}

/// The record of a tag.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tag<'r> {
    #[schemars(with = "Digits")]
    id: String,
    label: &'r str,
    slug: &'r str,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    created_at: Option<Timestamp>,
    #[serde(serialize_with = "iso", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Iso")]
    updated_at: Option<Timestamp>,
    requires_translation: bool,
    force_show: bool,
}

/// A tag.
pub(crate) fn tag(record: &TagRecord) -> String {
    json(&Tag {
        id: record.id.to_string(),
        label: &record.label,
        slug: &record.slug,
        created_at: record.created_at,
        updated_at: record.updated_at,
        requires_translation: record.requires_translation,
        force_show: record.force_show,
    })
}

/// A tag that matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchTag<'r> {
    #[schemars(with = "Digits")]
    id: String,
    label: &'r str,
    slug: &'r str,
    event_count: u64,
}

/// A tag in search results.
pub(crate) fn search_tag(id: u64, label: &str, slug: &str, event_count: u64) -> String {
    json(&SearchTag {
        id: id.to_string(),
        label,
        slug,
        event_count,
    })
}

/// A rendered object with additional fields, whose values are JSON already.
pub(crate) fn with_fields(object: &str, fields: &[(&str, &str)]) -> String {
    let added: usize = fields
        .iter()
        .map(|(name, value)| name.len() + value.len() + 4)
        .sum();
    let mut text = String::with_capacity(object.len() + added);
    push_fields(&mut text, object, fields);
    text
}

/// A rendered object with the fields of another.
pub(crate) fn joined(object: &str, more: &str) -> String {
    let mut text = String::with_capacity(object.len() + more.len());
    text.push_str(object.strip_suffix('}').unwrap_or(object));
    match more.strip_prefix('{') {
        Some(rest) if rest.len() > 1 => {
            text.push(',');
            text.push_str(rest);
        }
        _ => text.push('}'),
    }
    text
}

fn push_fields(text: &mut String, object: &str, fields: &[(&str, &str)]) {
    text.push_str(object.strip_suffix('}').unwrap_or(object));
    for (name, value) in fields {
        text.push_str(",\"");
        text.push_str(name);
        text.push_str("\":");
        text.push_str(value);
    }
    text.push('}');
}

/// A JSON array of elements that are JSON already.
pub(crate) fn array<T: AsRef<str>>(elements: &[T]) -> String {
    let mut array = Array::of(elements.len());
    for element in elements {
        array.push(element.as_ref());
    }
    array.end()
}

/// Builder of a JSON array.
pub(crate) struct Array {
    text: String,
    /// Expected number of further elements.
    left: usize,
}

impl Array {
    /// An array of approximately this many elements.
    pub(crate) fn of(elements: usize) -> Self {
        Self {
            text: String::from("["),
            left: elements,
        }
    }

    /// Adds an element that is JSON already.
    pub(crate) fn push(&mut self, element: &str) {
        self.begin(element.len());
        self.text.push_str(element);
    }

    /// Adds an object with one more field, whose value is JSON already.
    pub(crate) fn push_with(&mut self, object: &str, name: &str, value: &str) {
        self.begin(object.len() + name.len() + value.len() + 4);
        push_fields(&mut self.text, object, &[(name, value)]);
    }

    /// Writes the separator, and reserves capacity as if all remaining elements had this length.
    fn begin(&mut self, length: usize) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        if self.text.capacity() - self.text.len() < length + 2 {
            self.text.reserve((length + 2) * self.left.max(1));
        }
        self.left = self.left.saturating_sub(1);
    }

    pub(crate) fn end(mut self) -> String {
        self.text.push(']');
        self.text
    }
}

fn map<T: Serialize>(value: &T) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("texts, booleans and numbers have a JSON form")
}

/// ISO 8601 UTC with as many decimals as the time needs.
fn iso<S: Serializer>(date: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match date {
        Some(date) => serializer.collect_str(date),
        None => serializer.serialize_none(),
    }
}
