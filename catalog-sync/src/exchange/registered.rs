//! Markets of the exchange.

use foretell_catalog::record::read_date;
use foretell_model::{ConditionId, FeeSchedule, Lots, Payout, Tick, TokenId};
use foretell_wire::decimal;
use foretell_wire::ids;
use foretell_wire::operator::payout_word;
use jiff::Timestamp;
use serde::Deserialize;

/// Lifecycle state of a market (docs/verify/rules.md §12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Registered, not yet open.
    Registered,
    /// Trading.
    Active,
    /// Trading paused by an operator.
    Paused,
    /// Trading ended.
    Closed,
    /// Paid out.
    Resolved,
}

impl Status {
    /// Whether trading has ended permanently.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Closed | Self::Resolved)
    }
}

/// A market of the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisteredMarket {
    /// Its condition.
    pub condition: ConditionId,
    /// Tokens of `[Yes, No]`.
    pub tokens: [TokenId; 2],
    /// Its lifecycle state.
    pub status: Status,
    /// Its tick.
    pub tick: Tick,
    /// Minimum resting order.
    pub minimum_size: Lots,
    /// Taker fee.
    pub fee: FeeSchedule,
    /// The neg-risk event group it is a question of.
    pub event: Option<u64>,
    /// Whether that event group's list of questions is final.
    pub event_frozen: bool,
    /// Its payout, once resolved.
    pub payout: Option<Payout>,
    /// The registered end date.
    pub end_date: Option<Timestamp>,
}

/// A row of the operator's `GET /markets`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MarketRow {
    condition_id: String,
    token_ids: [String; 2],
    status: Status,
    tick: String,
    minimum_size: String,
    fee: Fee,
    event_id: Option<u64>,
    event_frozen: bool,
    payout: Option<String>,
    end_date: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fee {
    rate_ppm: u32,
    exponent: u8,
}

impl MarketRow {
    /// `None` when a field has an unexpected value.
    pub(super) fn read(&self) -> Option<RegisteredMarket> {
        let token = |text: &str| decimal::uint256(text).ok().map(TokenId);
        let payout = match &self.payout {
            None => None,
            Some(word) => Some(
                Payout::ALL
                    .iter()
                    .copied()
                    .find(|payout| payout_word(*payout) == word)?,
            ),
        };
        Some(RegisteredMarket {
            condition: ids::condition_id(&self.condition_id)?,
            tokens: [token(&self.token_ids[0])?, token(&self.token_ids[1])?],
            status: self.status,
            tick: decimal::tick(&self.tick)?,
            minimum_size: decimal::lots(&self.minimum_size)?,
            fee: FeeSchedule {
                rate_ppm: self.fee.rate_ppm,
                exponent: self.fee.exponent,
            },
            event: self.event_id,
            event_frozen: self.event_frozen,
            payout,
            end_date: self.end_date.as_deref().and_then(read_date),
        })
    }
}
