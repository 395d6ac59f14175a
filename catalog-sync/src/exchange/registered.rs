//! Markets of the exchange.

use foretell_catalog::record::read_date;
use foretell_model::{
    ConditionId, FeeSchedule, HoldSet, Lots, MarketState, MarketTerms, Payout, QuestionIndex, Tick,
    TokenId,
};
use foretell_wire::operator::MarketRow;
use jiff::Timestamp;

/// A market of the exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredMarket {
    /// Its condition.
    pub condition: ConditionId,
    /// Its name in URLs.
    pub slug: String,
    /// Tokens of `[Yes, No]`.
    pub tokens: [TokenId; 2],
    /// The journaled question.
    pub question: String,
    /// Whether another market has its slug.
    pub slug_taken: bool,
    /// The journaled labels of its outcomes.
    pub outcomes: [String; 2],
    /// Its lifecycle state.
    pub status: MarketState,
    /// Its holds, while it is paused.
    pub holds: HoldSet,
    /// Its tick.
    pub tick: Tick,
    /// Minimum resting order.
    pub minimum_size: Lots,
    /// Taker fee.
    pub fee: FeeSchedule,
    /// Its clock, delay and rebate.
    pub clock: MarketTerms,
    /// The neg-risk event group it is a question of.
    pub event: Option<u64>,
    /// Its bit in signed conversions, if its event group has its own.
    pub index: Option<QuestionIndex>,
    /// Whether that event group's list of questions is final.
    pub event_frozen: bool,
    /// Its payout, once resolved.
    pub payout: Option<Payout>,
    /// Whether it is the operator's own: nothing of it follows an upstream.
    pub own: bool,
    /// The registered end date.
    pub end_date: Option<Timestamp>,
}

impl RegisteredMarket {
    /// Whether trading has ended permanently.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self.status, MarketState::Closed | MarketState::Resolved)
    }
}

impl From<MarketRow> for RegisteredMarket {
    fn from(row: MarketRow) -> Self {
        Self {
            condition: row.condition_id,
            slug: row.slug,
            tokens: row.token_ids,
            question: row.question,
            slug_taken: row.slug_taken,
            outcomes: row.outcomes,
            status: row.status,
            holds: row.holds,
            tick: row.tick,
            minimum_size: row.minimum_size,
            fee: row.fee,
            clock: row.terms.map_or_else(MarketTerms::default, |terms| {
                terms.applied_to(MarketTerms::default())
            }),
            event: row.event_id,
            index: row.question_index,
            event_frozen: row.event_frozen,
            payout: row.payout,
            own: row.own,
            end_date: row.end_date.as_deref().and_then(read_date),
        }
    }
}
