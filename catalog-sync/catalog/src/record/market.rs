//! Markets.

use foretell_model::WalletAddress;
use jiff::Timestamp;
use serde_json::Value;

use super::fields::Fields;
use super::terms::{NotTradable, TradingTerms, address};
use super::{EventRecord, Flags, Kind, Notes, Skip, SkipReason};

/// A market, tradable or not.
#[derive(Clone, Debug, PartialEq)]
pub struct MarketRecord {
    /// Its number.
    pub id: u64,
    /// What is asked.
    pub question: String,
    /// Its condition as the upstream writes it; empty when it has none.
    pub condition_id: String,
    /// Its name in URLs.
    pub slug: String,
    /// Where the answer is read.
    pub resolution_source: String,
    /// When it starts.
    pub start_date: Option<Timestamp>,
    /// When it ends; may lie before its start.
    pub end_date: Option<Timestamp>,
    /// URL.
    pub image: String,
    /// URL.
    pub icon: String,
    /// How it resolves.
    pub description: String,
    /// Text of a JSON array of labels.
    pub outcomes: String,
    /// Text of a JSON array of token ids.
    pub clob_token_ids: String,
    /// Its lifecycle.
    pub flags: Flags,
    /// When the record was made.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Option<Timestamp>,
    /// The upstream's id of the question.
    pub question_id: String,
    /// A word.
    pub category: String,
    /// When its game starts.
    pub game_start_time: Option<Timestamp>,
    /// The upstream's neg-risk id of the event.
    pub neg_risk_market_id: String,
    /// The upstream's neg-risk id of the question.
    pub neg_risk_request_id: String,
    /// Collateral traded, for sorting.
    pub volume: Option<f64>,
    /// Collateral resting, for sorting.
    pub liquidity: Option<f64>,
    /// Who made it: `creator`, or who submitted it.
    pub creator: Option<WalletAddress>,
    /// How it trades, or why it cannot.
    pub terms: Result<TradingTerms, NotTradable>,
    /// Its event as far as the record says: the first of `events`. `None` inside an
    /// [`EventRecord`], whose market it is.
    pub event: Option<Box<EventRecord>>,
    /// The record as it came, without its events.
    pub raw: String,
}

impl MarketRecord {
    /// The market inside an event's record, which is its event whatever it says itself.
    pub(super) fn inside_event(mut fields: Fields, notes: &mut Notes) -> Result<Self, Skip> {
        fields.drop("events");
        Self::of(fields, notes)
    }

    pub(super) fn of(mut fields: Fields, notes: &mut Notes) -> Result<Self, Skip> {
        let slug = fields.slug(notes)?;
        let events =
            fields.take_records("events", Kind::Event, notes, EventRecord::inside_market)?;
        let mut events = events.unwrap_or_default().into_iter();
        let event = events.next().map(Box::new);
        // One condition settles once, so a market is a question of one event.
        notes.skipped.extend(events.map(|other| Skip {
            kind: Some(Kind::Event),
            id: other.id.to_string(),
            reason: SkipReason::SecondEvent(fields.id),
        }));
        let creator = address(&fields.text("creator", notes))
            .or_else(|| address(&fields.text("submitted_by", notes)));
        Ok(Self {
            id: fields.id,
            slug,
            question: fields.text("question", notes),
            condition_id: fields.text("conditionId", notes).trim().to_owned(),
            resolution_source: fields.text("resolutionSource", notes),
            start_date: fields.date("startDate", notes),
            end_date: fields.date("endDate", notes),
            image: fields.text("image", notes),
            icon: fields.text("icon", notes),
            description: fields.text("description", notes),
            outcomes: fields.array_text("outcomes", notes),
            clob_token_ids: fields.array_text("clobTokenIds", notes),
            flags: fields.flags(notes),
            created_at: fields.date("createdAt", notes),
            updated_at: fields.date("updatedAt", notes),
            question_id: fields.text("questionID", notes),
            category: fields.text("category", notes),
            game_start_time: fields.date("gameStartTime", notes),
            neg_risk_market_id: fields.text("negRiskMarketID", notes),
            neg_risk_request_id: fields.text("negRiskRequestID", notes),
            volume: fields.number("volume", notes),
            liquidity: fields.number("liquidity", notes),
            creator,
            terms: TradingTerms::of(&fields, notes),
            event,
            raw: fields.raw(),
        })
    }
}

/// The token ids in the text of an array, numbers as their digits.
pub(crate) fn token_texts(array: &str) -> Vec<String> {
    let tokens: Vec<Value> = serde_json::from_str(array).unwrap_or_default();
    let text = |token| match token {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    tokens.into_iter().filter_map(text).collect()
}
