//! Markets.

use foretell_model::{Payout, WalletAddress};
use jiff::Timestamp;
use serde_json::Value;

use super::fields::RecordFields;
use super::terms::{NotTradable, TradingTerms, address, payout};
use super::{EventRecord, Flags, Problems, RecordKind, Skip, SkipReason};

/// A market, tradable or not.
#[derive(Clone, Debug, PartialEq)]
pub struct MarketRecord {
    /// Its id.
    pub id: u64,
    /// The question.
    pub question: String,
    /// Its condition, unchanged; empty without one.
    pub condition_id: String,
    /// Its name in URLs.
    pub slug: String,
    /// The source that decides the answer.
    pub resolution_source: String,
    /// When it starts.
    pub start_date: Option<Timestamp>,
    /// When it ends; may be before its start.
    pub end_date: Option<Timestamp>,
    /// URL.
    pub image: String,
    /// URL.
    pub icon: String,
    /// The resolution rules.
    pub description: String,
    /// Text of a JSON array of labels.
    pub outcomes: String,
    /// Text of a JSON array of token ids.
    pub clob_token_ids: String,
    /// Its lifecycle.
    pub flags: Flags,
    /// Creation time of the record.
    pub created_at: Option<Timestamp>,
    /// Time of its last change.
    pub updated_at: Option<Timestamp>,
    /// The upstream's id of the question.
    pub question_id: String,
    /// A category word.
    pub category: String,
    /// When its game starts.
    pub game_start_time: Option<Timestamp>,
    /// The upstream's neg-risk id of the event.
    pub neg_risk_market_id: String,
    /// The upstream's neg-risk id of the question.
    pub neg_risk_request_id: String,
    /// Traded collateral, for sorting.
    pub volume: Option<f64>,
    /// Resting collateral, for sorting.
    pub liquidity: Option<f64>,
    /// Traded collateral of a day.
    pub volume_24hr: Option<f64>,
    /// The upstream's measure of how open the answer is.
    pub competitive: Option<f64>,
    /// Smallest order that the upstream rewards, in shares.
    pub rewards_min_size: Option<f64>,
    /// Whether the upstream features it.
    pub featured: bool,
    /// Whether it was made with the upstream's "create your own market".
    pub cyom: bool,
    /// Address of the upstream's market maker contract.
    pub market_maker: String,
    /// The game it is about.
    pub game_id: String,
    /// Kind of a sports market, such as `moneyline`.
    pub sports_type: String,
    /// State of the upstream's resolution.
    pub uma_status: String,
    /// Its creator: `creator`, or the submitter.
    pub creator: Option<WalletAddress>,
    /// Its payout, if the upstream resolved it with a payout that this exchange supports.
    pub payout: Option<Payout>,
    /// Its trading terms, or why it cannot trade.
    pub terms: Result<TradingTerms, NotTradable>,
    /// Its event group: the first of `events`. `None` inside an [`EventRecord`], which is its event
    /// group.
    pub event: Option<Box<EventRecord>>,
    /// The original record, without its events.
    pub raw: String,
}

impl MarketRecord {
    /// Why it cannot trade here, if it cannot.
    #[must_use]
    pub fn obstacle(&self) -> Option<&NotTradable> {
        match &self.terms {
            Ok(terms) => terms.obstacle.as_ref(),
            Err(reason) => Some(reason),
        }
    }

    /// The market inside an event's record. That event counts; the market's own `events` is dropped.
    pub(super) fn inside_event(
        mut fields: RecordFields,
        problems: &mut Problems,
    ) -> Result<Self, Skip> {
        fields.drop("events");
        Self::of(fields, problems)
    }

    pub(super) fn of(mut fields: RecordFields, problems: &mut Problems) -> Result<Self, Skip> {
        let slug = fields.slug(problems)?;
        let events = fields.take_records(
            "events",
            RecordKind::Event,
            problems,
            EventRecord::inside_market,
        )?;
        let mut events = events.unwrap_or_default().into_iter();
        let event = events.next().map(Box::new);
        // A condition settles once, so a market belongs to one event.
        problems.skipped.extend(events.map(|other| Skip {
            kind: Some(RecordKind::Event),
            id: other.id.to_string(),
            reason: SkipReason::SecondEvent(fields.id),
        }));
        let creator = address(&fields.text("creator", problems))
            .or_else(|| address(&fields.text("submitted_by", problems)));
        Ok(Self {
            id: fields.id,
            slug,
            question: fields.text("question", problems),
            condition_id: fields.text("conditionId", problems).trim().to_owned(),
            resolution_source: fields.text("resolutionSource", problems),
            start_date: fields.date("startDate", problems),
            end_date: fields.date("endDate", problems),
            image: fields.text("image", problems),
            icon: fields.text("icon", problems),
            description: fields.text("description", problems),
            outcomes: fields.array_text("outcomes", problems),
            clob_token_ids: fields.array_text("clobTokenIds", problems),
            flags: fields.flags(problems),
            created_at: fields.date("createdAt", problems),
            updated_at: fields.date("updatedAt", problems),
            question_id: fields.text("questionID", problems),
            category: fields.text("category", problems),
            game_start_time: fields.date("gameStartTime", problems),
            neg_risk_market_id: fields.text("negRiskMarketID", problems),
            neg_risk_request_id: fields.text("negRiskRequestID", problems),
            volume: fields.number("volume", problems),
            liquidity: fields.number("liquidity", problems),
            volume_24hr: fields.number("volume24hr", problems),
            competitive: fields.number("competitive", problems),
            rewards_min_size: fields.number("rewardsMinSize", problems),
            featured: fields.flag("featured", problems).unwrap_or(false),
            cyom: fields.flag("cyom", problems).unwrap_or(false),
            market_maker: fields.text("marketMakerAddress", problems),
            game_id: fields.text("gameId", problems),
            sports_type: fields.text("sportsMarketType", problems),
            uma_status: fields.text("umaResolutionStatus", problems),
            creator,
            payout: payout(&fields, problems),
            terms: TradingTerms::of(&fields, problems),
            event,
            raw: fields.raw(),
        })
    }
}

/// The token ids of a JSON array; numbers as their digits.
pub(crate) fn token_texts(array: &str) -> Vec<String> {
    let tokens: Vec<Value> = serde_json::from_str(array).unwrap_or_default();
    let text = |token| match token {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    tokens.into_iter().filter_map(text).collect()
}
