//! What the answers are, for the OpenAPI document: the fields that the `render` module writes, and those
//! of their source and of trading that clients rely on. Markets and events have further ones.

mod trading;

use foretell_wire::schema::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

pub use self::trading::{EventTrading, MarketTrading};
use crate::render;
pub use crate::render::{SearchTag, Series as EventSeries, ShortEvent};

/// A market inside an event.
#[derive(Debug, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct EventMarket {
    /// Its record.
    #[schemars(flatten)]
    pub record: render::Market<'static>,
    /// Its trading.
    #[schemars(flatten)]
    pub trading: MarketTrading,
}

/// A market of a list.
#[derive(Debug, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct ListedMarket {
    /// Record and trading.
    #[schemars(flatten)]
    pub market: EventMarket,
    /// Its event.
    pub events: Vec<ShortEvent<'static>>,
    /// With include_tag.
    #[schemars(with = "Vec<Tag>", skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<Tag>>,
}

/// A market.
#[derive(Debug, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct Market {
    /// Record and trading.
    #[schemars(flatten)]
    pub market: EventMarket,
    /// Its event.
    pub events: Vec<FullEvent>,
    /// With include_tag.
    #[schemars(with = "Vec<Tag>", skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<Tag>>,
}

/// An event without what belongs to it.
#[derive(Debug, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct FullEvent {
    /// Its record.
    #[schemars(flatten)]
    pub record: render::FullEvent<'static>,
    /// Its trading.
    #[schemars(flatten)]
    pub trading: EventTrading,
}

/// An event.
#[derive(Debug, JsonSchema)]
#[schemars(rename_all = "camelCase", extend("additionalProperties" = true))]
pub struct Event {
    /// Record and trading.
    #[schemars(flatten)]
    pub event: FullEvent,
    /// Its tags.
    pub tags: Vec<Tag>,
    /// Its markets.
    pub markets: Vec<EventMarket>,
    /// Its series.
    pub series: Vec<EventSeries<'static>>,
    /// As the upstream sends it.
    pub event_metadata: Map<String, Value>,
    /// As stored, with include_chat.
    #[schemars(
        with = "Vec<Map<String, Value>>",
        skip_serializing_if = "Option::is_none"
    )]
    pub chats: Option<Vec<Map<String, Value>>>,
    /// As stored, with include_template.
    #[schemars(
        with = "Vec<Map<String, Value>>",
        skip_serializing_if = "Option::is_none"
    )]
    pub templates: Option<Vec<Map<String, Value>>>,
}

/// A series.
#[derive(Debug, JsonSchema)]
pub struct Series {
    /// Its record.
    #[schemars(flatten)]
    pub series: EventSeries<'static>,
    /// Its newest events.
    pub events: Vec<FullEvent>,
}

/// A tag.
#[derive(Debug, JsonSchema)]
pub struct Tag {
    /// Its record.
    #[schemars(flatten)]
    pub record: render::Tag<'static>,
    /// As stored, with include_template.
    #[schemars(
        with = "Vec<Map<String, Value>>",
        skip_serializing_if = "Option::is_none"
    )]
    pub templates: Option<Vec<Map<String, Value>>>,
}

/// The cursor of a page.
#[derive(Debug, JsonSchema)]
pub struct NextPage {
    /// Absent on the last page.
    #[schemars(
        with = "String",
        skip_serializing_if = "Option::is_none",
        regex(pattern = "^[A-Za-z0-9_-]+$")
    )]
    pub next_cursor: Option<String>,
}

/// A page of markets.
#[derive(Debug, JsonSchema)]
pub struct MarketsPage {
    /// The markets.
    #[schemars(length(max = 500))]
    pub markets: Vec<ListedMarket>,
    /// The cursor.
    #[schemars(flatten)]
    pub next: NextPage,
}

/// A page of events.
#[derive(Debug, JsonSchema)]
pub struct EventsPage {
    /// The events.
    #[schemars(length(max = 500))]
    pub events: Vec<Event>,
    /// The cursor.
    #[schemars(flatten)]
    pub next: NextPage,
}

/// What a search finds.
#[derive(Debug, JsonSchema)]
#[schemars(rename = "Search")]
pub struct SearchResult {
    /// The events of the page.
    #[schemars(length(max = 500))]
    pub events: Vec<ShortEvent<'static>>,
    /// The tags of the page.
    #[schemars(length(max = 500))]
    pub tags: Vec<SearchTag<'static>>,
    /// What follows.
    pub pagination: Pagination,
}

/// What follows a page of a search.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pagination {
    /// Whether a page follows.
    pub has_more: bool,
    /// Number of matching events.
    pub total_results: u64,
}

/// A relation of two tags.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RelatedTag {
    /// A number of both ids.
    #[schemars(regex(pattern = "^[0-9]+$"))]
    pub id: String,
    /// The tag.
    #[serde(rename = "tagID")]
    #[schemars(range(min = 1))]
    pub tag_id: i64,
    /// The other one.
    #[serde(rename = "relatedTagID")]
    #[schemars(range(min = 1))]
    pub related_tag_id: i64,
    /// Its place, from 1.
    #[schemars(range(min = 1, max = 20))]
    pub rank: u32,
}

/// The sports types of the markets.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MarketTypes<'t> {
    /// The types, sorted.
    pub market_types: Vec<&'t str>,
}

/// A page of comments, of which there are none.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Comments {
    /// Empty.
    pub comments: [(); 0],
}
