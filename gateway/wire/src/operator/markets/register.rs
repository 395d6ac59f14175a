//! Registrations of markets and event groups.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use foretell_model::ConditionId;

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::operator::markets::description::{
    Edit, EventDescription, EventSummary, MarketDescription,
};
use crate::operator::markets::market_terms::MarketTerms;
use crate::operator::values::{
    EndDate, Instant, Labels, LongText, Number, RawRecord, Slug, SlugOrEmpty, Tags, Text, Title,
};
use crate::read::body::{OPERATOR, RequestBody, bodies};
use crate::schema::JsonSchema;
#[cfg(feature = "documents")]
use crate::schema::{Schema, SchemaGenerator};
use crate::values::{Condition, Filled, Flag, Optional, OrDefault, remote};

bodies! { OPERATOR: EventEdit, EventRegistration, MarketEdit }

/// A market to register.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct MarketRegistration {
    /// How it trades.
    #[serde(flatten)]
    pub terms: MarketTerms,
    /// Its texts: the evidence of the registration.
    #[serde(flatten)]
    #[schemars(with = "MarketTexts")]
    pub description: MarketDescription,
}

/// `question` and `slug` are required.
impl RequestBody for MarketRegistration {
    const ERRORS: &'static [ErrorCode] = OPERATOR.codes;

    #[cfg(feature = "documents")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        OPERATOR.schema::<Self>(generator)
    }

    fn read(body: &[u8]) -> Result<Self, ApiError> {
        let mut copy = Vec::new();
        let body = OPERATOR.parse(body, &mut copy)?.in_parts(MARKET_FIELDS);
        Ok(Self {
            terms: body.read(MarketTerms::deserialize)?,
            description: body.read(MarketTexts::deserialize)?,
        })
    }
}

/// The fields of [`MarketTerms`], then those of [`MarketTexts`].
pub(crate) const MARKET_FIELDS: &[&str] = &[
    "condition_id",
    "token_ids",
    "tick_size",
    "tick_refines",
    "minimum_order_size",
    "fee",
    "event_id",
    "question_index",
    "activate",
    "opens_at",
    "closes_at",
    "clear_book_on_start",
    "taker_delay_ms",
    "rebate_ppm",
    "past_end",
    "closed",
    "question",
    "description",
    "slug",
    "outcomes",
    "icon",
    "image",
    "category",
    "tags",
    "end_date",
    "game_start_time",
    "resolution_source",
    "question_id",
    "market_id",
    "neg_risk_market_id",
    "neg_risk_request_id",
    "event",
    "raw_metadata",
];

/// How a registration's texts are read, with their bounds.
#[derive(Deserialize, JsonSchema)]
#[serde(remote = "MarketDescription")]
struct MarketTexts {
    /// The question.
    #[serde(with = "Title")]
    question: String,
    /// The resolution rules.
    #[serde(with = "OrDefault::<LongText>")]
    description: String,
    /// Its name in URLs.
    #[serde(with = "Slug")]
    slug: String,
    /// Labels of the first and the second outcome; `Yes` and `No` by default.
    #[serde(deserialize_with = "outcomes")]
    #[schemars(with = "Optional::<Labels>")]
    outcomes: [String; 2],
    /// URL.
    #[serde(with = "OrDefault::<Text>")]
    icon: String,
    /// URL.
    #[serde(with = "OrDefault::<Text>")]
    image: String,
    /// A category word.
    #[serde(with = "OrDefault::<Text>")]
    category: String,
    /// Labels.
    #[serde(with = "OrDefault::<Tags>")]
    tags: Vec<String>,
    /// ISO 8601 or a day; it ends no trading.
    #[serde(with = "OrDefault::<Filled<EndDate>>")]
    #[schemars(with = "Optional::<EndDate>")]
    end_date: Option<String>,
    /// ISO 8601; empty = none.
    #[serde(with = "OrDefault::<Filled<Instant>>")]
    #[schemars(with = "Optional::<Instant>")]
    game_start_time: Option<String>,
    /// The source that decides the answer.
    #[serde(with = "OrDefault::<Text>")]
    resolution_source: String,
    /// The upstream's id of the question.
    #[serde(with = "OrDefault::<Text>")]
    question_id: String,
    /// The catalog's id of the market; 0 = a market of your own.
    #[serde(with = "OrDefault::<Number>")]
    market_id: u64,
    /// The upstream's neg-risk id of the event.
    #[serde(with = "OrDefault::<Text>")]
    neg_risk_market_id: String,
    /// The upstream's neg-risk id of the question.
    #[serde(with = "OrDefault::<Text>")]
    neg_risk_request_id: String,
    /// Its event group in the catalog.
    #[serde(with = "Optional::<Summary>")]
    event: Option<EventSummary>,
    /// The upstream's record, shown as it is.
    #[serde(with = "OrDefault::<RawRecord>")]
    raw_metadata: Map<String, Value>,
}

/// A market's event group, as the catalog shows it.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "EventSummary", deny_unknown_fields)]
struct Summary {
    /// The catalog's id.
    #[serde(with = "Optional::<Number>")]
    id: Option<u64>,
    /// Its name in URLs.
    #[serde(with = "OrDefault::<SlugOrEmpty>")]
    slug: String,
    /// Its title.
    #[serde(with = "OrDefault::<Text>")]
    title: String,
    /// Its short name.
    #[serde(with = "OrDefault::<Text>")]
    ticker: String,
    /// Its description.
    #[serde(with = "OrDefault::<LongText>")]
    description: String,
}

remote!(Summary: EventSummary);

fn outcomes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[String; 2], D::Error> {
    let labels = Optional::<Labels>::deserialize(deserializer)?;
    Ok(labels.unwrap_or_else(|| MarketDescription::default().outcomes))
}

/// A neg-risk event group to register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventRegistration {
    /// The catalog's id; 0 without: the exchange generates it from the slug.
    #[serde(with = "OrDefault::<Number>", default)]
    pub event_id: u64,
    /// Its title; never empty.
    #[serde(with = "Title")]
    pub title: String,
    /// Its name in URLs.
    #[serde(with = "OrDefault::<SlugOrEmpty>", default)]
    pub slug: String,
    /// Its short name.
    #[serde(with = "OrDefault::<Text>", default)]
    pub ticker: String,
    /// Its description.
    #[serde(with = "OrDefault::<LongText>", default)]
    pub description: String,
    /// Labels, beside those of its questions.
    #[serde(with = "OrDefault::<Tags>", default)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl EventRegistration {
    /// Its texts: the evidence of the registration.
    #[must_use]
    pub fn into_description(self) -> EventDescription {
        EventDescription {
            title: self.title,
            slug: self.slug,
            ticker: self.ticker,
            description: self.description,
            tags: self.tags,
        }
    }
}

/// New words of a market; absent fields stay as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarketEdit {
    /// The market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// The question.
    #[serde(with = "Optional::<Title>", default)]
    pub question: Option<String>,
    /// The resolution rules.
    #[serde(with = "Optional::<LongText>", default)]
    pub description: Option<String>,
    /// Its name in URLs.
    #[serde(with = "Optional::<Slug>", default)]
    pub slug: Option<String>,
    /// Labels of `[Yes, No]`.
    #[serde(with = "Optional::<Labels>", default)]
    pub outcomes: Option<[String; 2]>,
    /// URL.
    #[serde(with = "Optional::<Text>", default)]
    pub icon: Option<String>,
    /// URL.
    #[serde(with = "Optional::<Text>", default)]
    pub image: Option<String>,
    /// A category word.
    #[serde(with = "Optional::<Text>", default)]
    pub category: Option<String>,
    /// Labels.
    #[serde(with = "Optional::<Tags>", default)]
    pub tags: Option<Vec<String>>,
    /// ISO 8601; it ends no trading.
    #[serde(with = "Optional::<EndDate>", default)]
    pub end_date: Option<String>,
    /// Whether an `end_date` in the past is meant, of a market that has not closed.
    #[serde(with = "Optional::<Flag>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub past_end: Option<bool>,
    /// The source that decides the answer.
    #[serde(with = "Optional::<Text>", default)]
    pub resolution_source: Option<String>,
}

impl MarketEdit {
    /// An edit of nothing.
    #[must_use]
    pub const fn new(condition_id: ConditionId) -> Self {
        Self {
            condition_id,
            question: None,
            description: None,
            slug: None,
            outcomes: None,
            icon: None,
            image: None,
            category: None,
            tags: None,
            end_date: None,
            past_end: None,
            resolution_source: None,
        }
    }

    /// Whether it changes nothing but the question and the labels.
    #[must_use]
    pub fn is_of_meaning(&self) -> bool {
        let meaning = Self {
            question: self.question.clone(),
            outcomes: self.outcomes.clone(),
            ..Self::new(self.condition_id)
        };
        *self == meaning
    }

    /// The evidence of the edit.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidContent`](crate::ErrorCode::InvalidContent) when it exceeds the evidence limit of a frame.
    pub fn to_evidence(&self) -> Result<Vec<u8>, ApiError> {
        let end_date = self.end_date.as_ref();
        let end_date = end_date.map(|date| Some(date).filter(|date| !date.is_empty()));
        Edit::default()
            .field("question", self.question.as_ref())
            .field("description", self.description.as_ref())
            .field("slug", self.slug.as_ref())
            .field("outcomes", self.outcomes.as_ref())
            .field("icon", self.icon.as_ref())
            .field("image", self.image.as_ref())
            .field("category", self.category.as_ref())
            .field("tags", self.tags.as_ref())
            .field("end_date", end_date.as_ref())
            .field("resolution_source", self.resolution_source.as_ref())
            .evidence()
    }
}

/// New words of a neg-risk event group; absent fields stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventEdit {
    /// The catalog's id.
    #[serde(with = "Number")]
    pub event_id: u64,
    /// Its title; never empty.
    #[serde(with = "Optional::<Title>", default)]
    pub title: Option<String>,
    /// Its name in URLs.
    #[serde(with = "Optional::<SlugOrEmpty>", default)]
    pub slug: Option<String>,
    /// Its short name.
    #[serde(with = "Optional::<Text>", default)]
    pub ticker: Option<String>,
    /// Its description.
    #[serde(with = "Optional::<LongText>", default)]
    pub description: Option<String>,
    /// Labels, beside those of its questions.
    #[serde(with = "Optional::<Tags>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
}

impl EventEdit {
    /// The evidence of the edit.
    ///
    /// # Errors
    /// [`ErrorCode::InvalidContent`](crate::ErrorCode::InvalidContent) when it exceeds the evidence limit of a frame.
    pub fn to_evidence(&self) -> Result<Vec<u8>, ApiError> {
        Edit::default()
            .field("title", self.title.as_ref())
            .field("slug", self.slug.as_ref())
            .field("ticker", self.ticker.as_ref())
            .field("description", self.description.as_ref())
            .field("tags", self.tags.as_ref())
            .evidence()
    }
}

#[cfg(test)]
#[path = "register_tests.rs"]
mod tests;
