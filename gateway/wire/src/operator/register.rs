//! Registrations of markets and events.

use serde_json::{Map, Value as Json};

use foretell_model::{ConditionId, EventId, FeeSchedule, Lots, Tick, TokenId};

use super::description::{EventDescription, EventSummary, MarketDescription};
use super::request::{SHARES, TICKS, condition, fee};
use super::strict::Strict;
use crate::decimal;
use crate::failure::Failure;
use crate::json::Value;

/// Minimum order size of a market that names none: 5 shares (protocol 1).
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
    /// The neg-risk event whose next question it is; none by default.
    pub event: Option<EventId>,
    /// Whether it opens for trading at once; the surface decides when this is absent.
    pub activate: Option<bool>,
    /// Its words: the evidence of the registration.
    pub description: MarketDescription,
}

/// A neg-risk event to register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRegistration {
    /// The catalog's id.
    pub event: EventId,
    /// Its words: the evidence of the registration.
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
/// Bytes of a title, slug, URL or label.
const SHORT: usize = 2_048;
/// Bytes of a description.
const LONG: usize = 32 * 1024;
/// Tags of a market.
const MAX_TAGS: usize = 64;

/// Reads a market: `condition_id`, `token_ids`, `question` and `slug` are required.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_market(body: &[u8]) -> Result<MarketRegistration, Failure> {
    let mut copy = Vec::new();
    let fields = Strict::body(body, &mut copy, MARKET_FIELDS)?;
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

fn description(fields: &Strict<'_>, body: &[u8]) -> Result<MarketDescription, Failure> {
    let date = |field| match fields.text(field, SHORT)? {
        text if text.is_empty() => Ok(None),
        text => Ok::<_, Failure>(Some(text)),
    };
    Ok(MarketDescription {
        question: required_text(fields, "question")?,
        description: fields.text("description", LONG)?,
        slug: required_text(fields, "slug")?,
        outcomes: outcomes(fields)?,
        icon: fields.text("icon", SHORT)?,
        image: fields.text("image", SHORT)?,
        category: fields.text("category", SHORT)?,
        tags: tags(fields)?,
        end_date: date("end_date")?,
        game_start_time: date("game_start_time")?,
        resolution_source: fields.text("resolution_source", SHORT)?,
        question_id: fields.text("question_id", SHORT)?,
        market_id: fields.number("market_id", "a number")?.unwrap_or(0),
        neg_risk_market_id: fields.text("neg_risk_market_id", SHORT)?,
        neg_risk_request_id: fields.text("neg_risk_request_id", SHORT)?,
        event: event_summary(fields)?,
        raw_metadata: raw_metadata(fields, body)?,
    })
}

fn required_text(fields: &Strict<'_>, field: &'static str) -> Result<String, Failure> {
    fields.read(field, "a text of 1 to 2048 bytes", |text| {
        (1..=SHORT).contains(&text.len()).then(|| text.to_owned())
    })
}

/// The texts of an array; `None` when it is not one of 0 to `limit` texts of up to [`SHORT`] bytes.
fn texts<'v>(value: &'v Value<'_>, limit: usize) -> Option<Vec<&'v str>> {
    let Value::Array(elements) = value else {
        return None;
    };
    if elements.len() > limit {
        return None;
    }
    let text = |element: &'v Value<'_>| match element {
        Value::Text(text) if text.len() <= SHORT => Some(text.as_ref()),
        _ => None,
    };
    elements.iter().map(text).collect()
}

fn token_pair(fields: &Strict<'_>) -> Result<[TokenId; 2], Failure> {
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

fn outcomes(fields: &Strict<'_>) -> Result<[String; 2], Failure> {
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

fn tags(fields: &Strict<'_>) -> Result<Vec<String>, Failure> {
    let value = fields.get("tags");
    if *value == Value::Null {
        return Ok(Vec::new());
    }
    let tags = texts(value, MAX_TAGS);
    let tags = tags.ok_or_else(|| fields.wrong("tags", "an array of up to 64 labels"))?;
    Ok(tags.into_iter().map(str::to_owned).collect())
}

fn event_summary(fields: &Strict<'_>) -> Result<Option<EventSummary>, Failure> {
    const KNOWN: &[&str] = &["id", "slug", "title", "ticker", "description"];
    let Some(event) = fields.inner("event", KNOWN)? else {
        return Ok(None);
    };
    Ok(Some(EventSummary {
        id: event.number("id", "a number")?,
        slug: event.text("slug", SHORT)?,
        title: event.text("title", SHORT)?,
        ticker: event.text("ticker", SHORT)?,
        description: event.text("description", LONG)?,
    }))
}

/// The upstream record, whole: the reader of bodies keeps only upper levels, so it is read again.
fn raw_metadata(fields: &Strict<'_>, body: &[u8]) -> Result<Map<String, Json>, Failure> {
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

/// Reads an event: `event_id` and `title` are required.
///
/// # Errors
/// A field that is missing, wrong or unknown.
pub fn read_event(body: &[u8]) -> Result<EventRegistration, Failure> {
    const KNOWN: &[&str] = &["event_id", "title", "slug", "ticker", "description"];
    let mut copy = Vec::new();
    let fields = Strict::body(body, &mut copy, KNOWN)?;
    Ok(EventRegistration {
        event: EventId(fields.required_number("event_id", "a number")?),
        description: EventDescription {
            title: required_text(&fields, "title")?,
            slug: fields.text("slug", SHORT)?,
            ticker: fields.text("ticker", SHORT)?,
            description: fields.text("description", LONG)?,
        },
    })
}

#[cfg(test)]
#[path = "register_tests.rs"]
mod tests;
