//! Registrations of markets and event groups.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use foretell_model::{ConditionId, FeeSchedule, Lots, Tick, TokenId};

use super::description::{EventDescription, EventSummary, MarketDescription};
use super::form::{
    Condition, Exponent, Flag, Form, Labels, LongText, Number, Optional, OrDefault, RatePpm,
    RawRecord, Shares, Tags, Text, TickSize, Title, TokenPair,
};
use super::reader::Body;
use crate::api_error::ApiError;

/// Default minimum order size of a market: 5 shares (docs/verify/rules.md §3).
const DEFAULT_MINIMUM: Lots = Lots(500);

/// A market to register.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MarketRegistration {
    /// How it trades.
    #[serde(flatten)]
    pub terms: MarketTerms,
    /// Its texts: the evidence of the registration.
    #[serde(flatten)]
    pub description: MarketDescription,
}

impl MarketRegistration {
    /// Reads a market: `condition_id`, `token_ids`, `question` and `slug` are required.
    ///
    /// # Errors
    /// A field that is missing, wrong or unknown.
    pub fn read(body: &[u8]) -> Result<Self, ApiError> {
        let mut copy = Vec::new();
        let body = Body::new(body, &mut copy)?;
        Ok(Self {
            terms: body.read_part(MARKET_FIELDS, MarketTerms::deserialize)?,
            description: body.read_part(MARKET_FIELDS, MarketTexts::deserialize)?,
        })
    }
}

/// The fields of [`MarketTerms`], then those of [`MarketTexts`].
const MARKET_FIELDS: &[&str] = &[
    "condition_id",
    "token_ids",
    "tick_size",
    "tick_refines",
    "minimum_order_size",
    "fee",
    "event_id",
    "activate",
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

/// How a market trades. What is absent has a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MarketTerms {
    /// Its condition; a repeated registration changes nothing.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// Tokens of `[Yes, No]`.
    #[serde(with = "TokenPair")]
    pub token_ids: [TokenId; 2],
    /// 0.01 by default.
    #[serde(with = "Optional::<TickSize>", default)]
    pub tick_size: Option<Tick>,
    /// Whether 0.01 becomes 0.001 near 0 and 1; true by default.
    #[serde(with = "Optional::<Flag>", default)]
    pub tick_refines: Option<bool>,
    /// 5 shares by default.
    #[serde(with = "Optional::<Shares>", default)]
    pub minimum_order_size: Option<Lots>,
    /// None by default.
    #[serde(with = "Optional::<Fee>", default)]
    pub fee: Option<FeeSchedule>,
    /// The neg-risk event group; the market becomes its next question. None by default.
    #[serde(with = "Optional::<Number>", default)]
    pub event_id: Option<u64>,
    /// Whether it opens for trading at once; by default, unless it is a question.
    #[serde(with = "Optional::<Flag>", default)]
    pub activate: Option<bool>,
}

impl MarketTerms {
    /// Terms with every default.
    #[must_use]
    pub const fn new(condition_id: ConditionId, token_ids: [TokenId; 2]) -> Self {
        Self {
            condition_id,
            token_ids,
            tick_size: None,
            tick_refines: None,
            minimum_order_size: None,
            fee: None,
            event_id: None,
            activate: None,
        }
    }

    /// Its tick, or the default.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.tick_size.unwrap_or(Tick::Hundredth)
    }

    /// Its minimum order size, or the default.
    #[must_use]
    pub fn minimum(&self) -> Lots {
        self.minimum_order_size.unwrap_or(DEFAULT_MINIMUM)
    }
}

/// A taker fee: `{rate_ppm, exponent}`.
#[derive(Serialize, Deserialize)]
#[serde(remote = "FeeSchedule", deny_unknown_fields)]
struct Fee {
    #[serde(with = "RatePpm")]
    rate_ppm: u32,
    #[serde(with = "Exponent")]
    exponent: u8,
}

/// How a registration's texts are read, with their bounds.
#[derive(Deserialize)]
#[serde(remote = "MarketDescription")]
struct MarketTexts {
    #[serde(with = "Title")]
    question: String,
    #[serde(with = "OrDefault::<LongText>")]
    description: String,
    #[serde(with = "Title")]
    slug: String,
    #[serde(deserialize_with = "outcomes")]
    outcomes: [String; 2],
    #[serde(with = "OrDefault::<Text>")]
    icon: String,
    #[serde(with = "OrDefault::<Text>")]
    image: String,
    #[serde(with = "OrDefault::<Text>")]
    category: String,
    #[serde(with = "OrDefault::<Tags>")]
    tags: Vec<String>,
    #[serde(deserialize_with = "date")]
    end_date: Option<String>,
    #[serde(deserialize_with = "date")]
    game_start_time: Option<String>,
    #[serde(with = "OrDefault::<Text>")]
    resolution_source: String,
    #[serde(with = "OrDefault::<Text>")]
    question_id: String,
    #[serde(with = "OrDefault::<Number>")]
    market_id: u64,
    #[serde(with = "OrDefault::<Text>")]
    neg_risk_market_id: String,
    #[serde(with = "OrDefault::<Text>")]
    neg_risk_request_id: String,
    #[serde(with = "Optional::<Summary>")]
    event: Option<EventSummary>,
    #[serde(with = "OrDefault::<RawRecord>")]
    raw_metadata: Map<String, Value>,
}

/// How a market's event group is read, with its bounds.
#[derive(Serialize, Deserialize)]
#[serde(remote = "EventSummary", deny_unknown_fields)]
struct Summary {
    #[serde(with = "Optional::<Number>")]
    id: Option<u64>,
    #[serde(with = "OrDefault::<Text>")]
    slug: String,
    #[serde(with = "OrDefault::<Text>")]
    title: String,
    #[serde(with = "OrDefault::<Text>")]
    ticker: String,
    #[serde(with = "OrDefault::<LongText>")]
    description: String,
}

/// Serde's functions of a `remote` type as a form.
macro_rules! remote_forms {
    ($($name:ident($value:ty);)+) => {$(
        impl Form for $name {
            type Value = $value;

            fn serialize<S: Serializer>(value: &$value, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(value, serializer)
            }

            fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$value, D::Error> {
                Self::deserialize(deserializer)
            }
        }
    )+};
}
remote_forms! {
    Fee(FeeSchedule);
    Summary(EventSummary);
}

fn outcomes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[String; 2], D::Error> {
    let labels = Optional::<Labels>::deserialize(deserializer)?;
    Ok(labels.unwrap_or_else(|| MarketDescription::default().outcomes))
}

/// A date; an empty text is none.
fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let date = Optional::<Text>::deserialize(deserializer)?;
    Ok(date.filter(|date| !date.is_empty()))
}

/// A neg-risk event group to register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventRegistration {
    /// The catalog's id.
    #[serde(with = "Number")]
    pub event_id: u64,
    /// Its title; never empty.
    #[serde(with = "Title")]
    pub title: String,
    /// Its name in URLs.
    #[serde(with = "OrDefault::<Text>", default)]
    pub slug: String,
    /// Its short name.
    #[serde(with = "OrDefault::<Text>", default)]
    pub ticker: String,
    /// Its description.
    #[serde(with = "OrDefault::<LongText>", default)]
    pub description: String,
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
        }
    }
}

#[cfg(test)]
#[path = "register_tests.rs"]
mod tests;
