//! A market's clock, delay and rebate: `/markets/terms` (docs/verify/rules.md §21 to §23).

use serde::{Deserialize, Serialize};

use foretell_model::{ConditionId, MarketTerms as ClockTerms, TermsUpdate, TimeMs};

use crate::operator::values::{Clock, DelayMs, RatePpm};
use crate::read::body::{OPERATOR, bodies};
use crate::schema::JsonSchema;
use crate::values::{Condition, Flag, Optional};

bodies! { OPERATOR: TermsChange }

/// A change of a market's terms; absent fields stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct TermsChange {
    /// The market.
    #[serde(with = "Condition")]
    pub condition_id: ConditionId,
    /// When it opens; an empty text = by command.
    #[serde(with = "Optional::<Clock>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens_at: Option<TimeMs>,
    /// When it closes; an empty text = by command.
    #[serde(with = "Optional::<Clock>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closes_at: Option<TimeMs>,
    /// When its game starts; an empty text = none.
    #[serde(with = "Optional::<Clock>", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub game_start_time: Option<TimeMs>,
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
}

impl TermsChange {
    /// A change of nothing.
    #[must_use]
    pub const fn new(condition_id: ConditionId) -> Self {
        Self {
            condition_id,
            opens_at: None,
            closes_at: None,
            game_start_time: None,
            clear_book_on_start: None,
            taker_delay_ms: None,
            rebate_ppm: None,
        }
    }

    /// Whether it changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::new(self.condition_id)
    }

    /// The fields that the command names.
    #[must_use]
    pub const fn update(&self) -> TermsUpdate {
        TermsUpdate {
            opens_at: self.opens_at,
            closes_at: self.closes_at,
            game_start_time: self.game_start_time,
            clear_book_on_start: self.clear_book_on_start,
            taker_delay_ms: self.taker_delay_ms,
            rebate_ppm: self.rebate_ppm,
        }
    }

    /// Applies the change to the terms in force.
    #[must_use]
    pub fn applied_to(&self, now: ClockTerms) -> ClockTerms {
        self.update().applied_to(now)
    }

    /// The change that sets all terms.
    #[must_use]
    pub const fn of(condition_id: ConditionId, terms: ClockTerms) -> Self {
        Self {
            condition_id,
            opens_at: Some(terms.opens_at),
            closes_at: Some(terms.closes_at),
            game_start_time: Some(terms.game_start_time),
            clear_book_on_start: Some(terms.clear_book_on_start),
            taker_delay_ms: Some(terms.taker_delay_ms),
            rebate_ppm: Some(terms.rebate_ppm),
        }
    }
}
