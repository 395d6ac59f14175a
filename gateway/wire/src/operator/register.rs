//! Registrations of markets and event groups.

use serde_json::{Map, Value as Json};

use foretell_model::{ConditionId, EventId, FeeSchedule, Lots, Tick, TokenId};

use super::description::{EventDescription, EventSummary, MarketDescription};
use super::request::{SHARES, TICKS, condition, fee};
use super::strict::StrictObject;
use crate::api_error::ApiError;
use crate::decimal;
use crate::json::Value;

/// Default minimum order size of a market: 5 shares (docs/verify/rules.md §3).
const DEFAULT_MINIMUM: Lots = Lots(500);

/// A market to register.
#[derive(Clone, Debug, PartialEq)]
pub struct MarketRegistration {
    /// Its condition.
    pub condition: ConditionId,
    /// Tokens of `[Yes, No]`.
    pub tokens: [TokenId; 2],
    /// 0.01 by default.
    pub tick: Tick,
    /// Whether 0.01 becomes 0.001 near 0 and 1; true by default.
    pub tick_refines: bool,
    /// 5 shares by default.
    pub minimum_size: Lots,
    /// None by default.
    pub fee: FeeSchedule,
    /// The neg-risk event group; the market becomes its next question. None by default.
    pub event: Option<EventId>,
    /// Whether it opens for trading at once; the gateway's default applies when absent.
    pub activate: Option<bool>,
    /// Its texts: the evidence of the registration.
    pub description: MarketDescription,
}

/// A neg-risk event group to register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRegistration {
    /// The catalog's id.
    pub event: EventId,
    /// Its texts: the evidence of the registration.
    pub description: EventDescription,
}

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
/// Most bytes of a title, slug, URL or label.
const MAX_TEXT_BYTES: usize = 2_048;
/// Most bytes of a description.
const MAX_DESCRIPTION_BYTES: usize = 32 * 1024;
/// Most tags of a market.
const MAX_TAGS: usize = 64;

/// Reads a market: `condition_id`, `token_ids`, `question` and `slug` are required.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_market(body: &[u8]) -> Result<MarketRegistration, ApiError> {
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, MARKET_FIELDS)?;
    let fee = match fields.inner("fee", &["rate_ppm", "exponent"])? {
        Some(inner) => fee(&inner)?,
        None => FeeSchedule::default(),
    };
    let minimum = fields.optional("minimum_order_size", SHARES, decimal::lots)?;
    let event: Option<u64> = fields.number("event_id", "a number")?;
    Ok(MarketRegistration {
        condition: condition(&fields)?,
        tokens: token_pair(&fields)?,
        tick: fields
            .optional("tick_size", TICKS, decimal::tick)?
            .unwrap_or(Tick::Hundredth),
        tick_refines: fields.flag("tick_refines")?.unwrap_or(true),
        minimum_size: minimum.unwrap_or(DEFAULT_MINIMUM),
        fee,
        event: event.map(EventId),
        activate: fields.flag("activate")?,
        description: description(&fields, body)?,
    })
}

fn description(fields: &StrictObject<'_>, body: &[u8]) -> Result<MarketDescription, ApiError> {
    let date = |field| match fields.text(field, MAX_TEXT_BYTES)? {
        text if text.is_empty() => Ok(None),
        text => Ok::<_, ApiError>(Some(text)),
    };
    Ok(MarketDescription {
        question: required_text(fields, "question")?,
        description: fields.text("description", MAX_DESCRIPTION_BYTES)?,
        slug: required_text(fields, "slug")?,
        outcomes: outcomes(fields)?,
        icon: fields.text("icon", MAX_TEXT_BYTES)?,
        image: fields.text("image", MAX_TEXT_BYTES)?,
        category: fields.text("category", MAX_TEXT_BYTES)?,
        tags: tags(fields)?,
        end_date: date("end_date")?,
        game_start_time: date("game_start_time")?,
        resolution_source: fields.text("resolution_source", MAX_TEXT_BYTES)?,
        question_id: fields.text("question_id", MAX_TEXT_BYTES)?,
        market_id: fields.number("market_id", "a number")?.unwrap_or(0),
        neg_risk_market_id: fields.text("neg_risk_market_id", MAX_TEXT_BYTES)?,
        neg_risk_request_id: fields.text("neg_risk_request_id", MAX_TEXT_BYTES)?,
        event: event_summary(fields)?,
        raw_metadata: raw_metadata(fields, body)?,
    })
}

fn required_text(fields: &StrictObject<'_>, field: &'static str) -> Result<String, ApiError> {
    fields.read(field, "a text of 1 to 2048 bytes", |text| {
        (1..=MAX_TEXT_BYTES)
            .contains(&text.len())
            .then(|| text.to_owned())
    })
}

/// At most `limit` texts of an array, each at most [`MAX_TEXT_BYTES`]; `None` beyond.
fn texts<'v>(value: &'v Value<'_>, limit: usize) -> Option<Vec<&'v str>> {
    let Value::Array(elements) = value else {
        return None;
    };
    if elements.len() > limit {
        return None;
    }
    let text = |element: &'v Value<'_>| match element {
        Value::Text(text) if text.len() <= MAX_TEXT_BYTES => Some(text.as_ref()),
        _ => None,
    };
    elements.iter().map(text).collect()
}

fn token_pair(fields: &StrictObject<'_>) -> Result<[TokenId; 2], ApiError> {
    const ALLOWED: &str = "an array of two token ids, texts of 1 to 78 digits";
    let pair = texts(fields.get("token_ids"), 2).and_then(|texts| match texts.as_slice() {
        [yes, no] => Some([
            TokenId(decimal::uint256(yes).ok()?),
            TokenId(decimal::uint256(no).ok()?),
        ]),
        _ => None,
    });
    pair.ok_or_else(|| fields.wrong("token_ids", ALLOWED))
}

fn outcomes(fields: &StrictObject<'_>) -> Result<[String; 2], ApiError> {
    let value = fields.get("outcomes");
    if *value == Value::Null {
        return Ok(MarketDescription::default().outcomes);
    }
    match texts(value, 2).as_deref() {
        Some([yes, no]) if !yes.is_empty() && !no.is_empty() => {
            Ok([(*yes).to_owned(), (*no).to_owned()])
        }
        _ => Err(fields.wrong("outcomes", "an array of two labels")),
    }
}

fn tags(fields: &StrictObject<'_>) -> Result<Vec<String>, ApiError> {
    let value = fields.get("tags");
    if *value == Value::Null {
        return Ok(Vec::new());
    }
    let tags = texts(value, MAX_TAGS);
    let tags = tags.ok_or_else(|| fields.wrong("tags", "an array of up to 64 labels"))?;
    Ok(tags.into_iter().map(str::to_owned).collect())
}

fn event_summary(fields: &StrictObject<'_>) -> Result<Option<EventSummary>, ApiError> {
    const KNOWN: &[&str] = &["id", "slug", "title", "ticker", "description"];
    let Some(event) = fields.inner("event", KNOWN)? else {
        return Ok(None);
    };
    Ok(Some(EventSummary {
        id: event.number("id", "a number")?,
        slug: event.text("slug", MAX_TEXT_BYTES)?,
        title: event.text("title", MAX_TEXT_BYTES)?,
        ticker: event.text("ticker", MAX_TEXT_BYTES)?,
        description: event.text("description", MAX_DESCRIPTION_BYTES)?,
    }))
}

/// The whole upstream record. Parsed again, because the body reader keeps only the upper levels.
fn raw_metadata(fields: &StrictObject<'_>, body: &[u8]) -> Result<Map<String, Json>, ApiError> {
    #[derive(serde::Deserialize)]
    struct Raw {
        raw_metadata: Map<String, Json>,
    }
    match fields.get("raw_metadata") {
        Value::Null => Ok(Map::new()),
        Value::Object(_) => serde_json::from_slice::<Raw>(body)
            .map(|raw| raw.raw_metadata)
            .map_err(|_| fields.wrong("raw_metadata", "an object")),
        _ => Err(fields.wrong("raw_metadata", "an object")),
    }
}

/// Reads an event group: `event_id` and `title` are required.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_event(body: &[u8]) -> Result<EventRegistration, ApiError> {
    const KNOWN: &[&str] = &["event_id", "title", "slug", "ticker", "description"];
    let mut copy = Vec::new();
    let fields = StrictObject::body(body, &mut copy, KNOWN)?;
    Ok(EventRegistration {
        event: EventId(fields.required_number("event_id", "a number")?),
        description: EventDescription {
            title: required_text(&fields, "title")?,
            slug: fields.text("slug", MAX_TEXT_BYTES)?,
            ticker: fields.text("ticker", MAX_TEXT_BYTES)?,
            description: fields.text("description", MAX_DESCRIPTION_BYTES)?,
        },
    })
}

#[cfg(test)]
#[path = "register_tests.rs"]
mod tests;
