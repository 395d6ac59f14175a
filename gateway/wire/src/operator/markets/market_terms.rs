//! How a market trades, as a registration names it.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use foretell_model::{
    ConditionId, FeeSchedule, Lots, Opening, QuestionIndex, Tick, TimeMs, TokenId,
};

use crate::operator::markets::clock::TermsChange;
use crate::operator::values::{Clock, DelayMs, Exponent, Index, Number, RatePpm, TokenPair};
use crate::schema::JsonSchema;
use crate::values::{
    Condition, Flag, Optional, OrDefault, Readable as _, Shares, TickSize, remote,
};

/// Default minimum order size of a market: 5 shares (docs/verify/rules.md §3).
const DEFAULT_MINIMUM: Lots = Lots(500);

/// How a market trades. What is absent has a default.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MarketTerms {
    /// Its condition; a repeated registration changes nothing. Zero without: the exchange generates
    /// it from the slug.
    #[serde(with = "OrDefault::<Condition>", default)]
    #[serde(skip_serializing_if = "is_default")]
    pub condition_id: ConditionId,
    /// Tokens of `[Yes, No]`. Zeros without: the exchange generates them from the condition.
    #[serde(with = "OrDefault::<TokenPair>", default)]
    #[serde(skip_serializing_if = "is_default")]
    pub token_ids: [TokenId; 2],
    /// 0.01 by default.
    #[serde(with = "Optional::<TickSize>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick_size: Option<Tick>,
    /// Whether 0.01 becomes 0.001 near 0 and 1; true by default.
    #[serde(with = "Optional::<Flag>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick_refines: Option<bool>,
    /// 5 shares by default.
    #[serde(with = "Optional::<Shares>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum_order_size: Option<Lots>,
    /// None by default.
    #[serde(with = "Optional::<Fee>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fee: Option<FeeSchedule>,
    /// The neg-risk event group; the market becomes its next question. None by default.
    #[serde(with = "Optional::<Number>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_id: Option<u64>,
    /// Its bit in signed conversions; by default its place in the question list.
    #[serde(with = "Optional::<Index>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question_index: Option<QuestionIndex>,
    /// Whether it opens for trading at once; by default, unless it is a question.
    #[serde(with = "Optional::<Flag>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activate: Option<bool>,
    /// When it opens by itself; it then stays registered until that time.
    #[serde(with = "Optional::<Clock>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<TimeMs>,
    /// When it closes by itself.
    #[serde(with = "Optional::<Clock>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closes_at: Option<TimeMs>,
    /// Whether orders end at `game_start_time`.
    #[serde(with = "Optional::<Flag>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clear_book_on_start: Option<bool>,
    /// How long a taker waits.
    #[serde(with = "Optional::<DelayMs>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taker_delay_ms: Option<u32>,
    /// The maker's share of the fee.
    #[serde(with = "Optional::<RatePpm>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rebate_ppm: Option<u32>,
    /// Whether an `end_date` in the past is meant.
    #[serde(with = "Optional::<Flag>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub past_end: Option<bool>,
    /// Whether it is registered closed: it never trades, and its times may be in the past.
    #[serde(with = "Optional::<Flag>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<bool>,
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
            question_index: None,
            activate: None,
            opens_at: None,
            closes_at: None,
            clear_book_on_start: None,
            taker_delay_ms: None,
            rebate_ppm: None,
            past_end: None,
            closed: None,
        }
    }

    /// When it opens: a question only when the request says so, because opening the first question freezes
    /// the event group's list.
    #[must_use]
    pub fn opening(&self) -> Opening {
        let opens_later = self.opens_at.is_some_and(|at| at.0 > 0);
        let is_activated = self
            .activate
            .unwrap_or(self.event_id.is_none() && !opens_later);
        match (self.closed, is_activated) {
            (Some(true), _) => Opening::Never,
            (_, true) => Opening::Now,
            (_, false) => Opening::Later,
        }
    }

    /// The clock, delay and rebate that the registration names; `game_start` is the described one.
    #[must_use]
    pub fn clock(&self, game_start: Option<&str>) -> TermsChange {
        let clears = self.clear_book_on_start.unwrap_or(false);
        let game_start = game_start.and_then(Clock::read);
        TermsChange {
            opens_at: self.opens_at,
            closes_at: self.closes_at,
            game_start_time: game_start.filter(|_| clears),
            clear_book_on_start: self.clear_book_on_start,
            taker_delay_ms: self.taker_delay_ms,
            rebate_ppm: self.rebate_ppm,
            ..TermsChange::new(self.condition_id)
        }
    }

    /// Its tick, or the default.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.tick_size.unwrap_or(Tick::Hundredth)
    }

    /// Whether its tick becomes finer near 0 and 1, or the default.
    #[must_use]
    pub fn tick_refines(&self) -> bool {
        self.tick_refines.unwrap_or(true)
    }

    /// Its minimum order size, or the default.
    #[must_use]
    pub fn minimum(&self) -> Lots {
        self.minimum_order_size.unwrap_or(DEFAULT_MINIMUM)
    }
}

/// A taker fee: `{rate_ppm, exponent}`.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(remote = "FeeSchedule", deny_unknown_fields)]
#[schemars(inline)]
struct Fee {
    #[serde(with = "RatePpm")]
    rate_ppm: u32,
    #[serde(with = "Exponent")]
    exponent: u8,
}

remote!(Fee: FeeSchedule);

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
