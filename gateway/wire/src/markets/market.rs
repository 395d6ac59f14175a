//! Markets of the trading surface: lists, details, and the short forms that clients cache
//! (docs/api/market-data.md §5).

use serde::Serialize;
use serde_json::{Map, Value};

use foretell_model::{
    ConditionId, FeeSchedule, Lots, MarketState, MarketTerms, Payout, SystemMode, Tick, TimeMs,
    TimeNs, TokenId,
};

use crate::markets::market_life::MarketLife;
use crate::operator::MarketDescription;
use crate::schema::JsonSchema;
use crate::text::decimal::Decimal;
use crate::text::ids;
use crate::text::time;
use crate::text::words::state_word;
use crate::values;

/// The exchange's data of a market; its texts are in its [`MarketDescription`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarketFacts {
    /// Its condition.
    pub condition: ConditionId,
    /// Tokens of `[Yes, No]`.
    pub tokens: [TokenId; 2],
    /// Its state.
    pub state: MarketState,
    /// Whether it is hidden from lists.
    pub archived: bool,
    /// Its tick.
    pub tick: Tick,
    /// Its minimum order size.
    pub minimum_size: Lots,
    /// Its taker fee.
    pub fee: FeeSchedule,
    /// Its clock, delay and rebate.
    pub terms: MarketTerms,
    /// Whether it is a question of a neg-risk event.
    pub neg_risk: bool,
    /// Its bit in signed conversions, for a question of an event.
    pub question_index: Option<u8>,
    /// Its payout, once resolved.
    pub payout: Option<Payout>,
    /// Current prices of `[Yes, No]` (docs/api/data.md §2); ignored after resolution.
    pub prices: [Decimal; 2],
    /// When it became active for the first time.
    pub accepting_since: Option<TimeNs>,
    /// The system's mode.
    pub mode: SystemMode,
}

impl MarketFacts {
    /// Whether its trading ended.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        matches!(self.state, MarketState::Closed | MarketState::Resolved)
    }

    /// Whether it was opened, or ended without.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        !matches!(self.state, MarketState::Registered)
    }

    pub(crate) const fn accepts_orders(&self) -> bool {
        matches!(self.state, MarketState::Active)
            && matches!(self.mode, SystemMode::Running | SystemMode::PostOnly)
    }

    /// The outcome's payout if resolved, else its current price.
    pub(crate) fn price(&self, index: usize) -> Decimal {
        match self.payout {
            Some(payout) => Decimal::new(i128::from(payout.price_units()[index]), 4),
            None => self.prices[index],
        }
    }

    /// Whether the outcome pays 1.
    fn wins(&self, index: usize) -> bool {
        self.payout
            .is_some_and(|payout| payout.price_units()[index] == 10_000)
    }

    /// The fee rate in parts per million / 100, as stock clients expect.
    pub(crate) const fn base_fee(&self) -> u32 {
        self.fee.rate_ppm / 100
    }

    fn fee_details(&self) -> FeeDetails {
        FeeDetails {
            r: Decimal::micros(i128::from(self.fee.rate_ppm)),
            e: self.fee.exponent,
            to: true,
        }
    }

    /// The delay in whole seconds, rounded up: a client waits long enough.
    pub(crate) const fn seconds_delay(&self) -> u32 {
        self.terms.taker_delay_ms.div_ceil(1_000)
    }

    /// The game start of the terms, else the text it was registered with.
    fn game_start(&self, description: &MarketDescription) -> Option<String> {
        match self.terms.game_start_time {
            TimeMs(0) => description.game_start_time.clone(),
            start => Some(time::iso_millis(start)),
        }
        .filter(|text| !text.is_empty())
    }

    pub(crate) fn accepting_text(&self) -> Option<String> {
        self.accepting_since.map(time::iso)
    }
}

/// A token of a market.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MarketToken {
    #[serde(with = "values::Token")]
    token_id: TokenId,
    outcome: String,
    #[serde(with = "values::Fraction")]
    price: Decimal,
    /// Whether the outcome pays 1.
    winner: bool,
}

fn tokens(facts: &MarketFacts, description: &MarketDescription) -> [MarketToken; 2] {
    [0, 1].map(|index| MarketToken {
        token_id: facts.tokens[index],
        outcome: description.outcomes[index].clone(),
        price: facts.price(index),
        winner: facts.wins(index),
    })
}

/// Rewards of a market, always empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Rewards {
    rates: [u8; 0],
    min_size: u8,
    max_spread: u8,
}

/// An item of `GET /markets`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TradingMarket {
    /// Neither closed nor resolved.
    enable_order_book: bool,
    /// Not merely registered.
    active: bool,
    /// Closed or resolved.
    closed: bool,
    /// Hidden from default lists.
    archived: bool,
    /// The market is active and the system accepts orders.
    accepting_orders: bool,
    /// Start of order acceptance, ISO 8601.
    accepting_order_timestamp: Option<String>,
    /// Least size of an order, in shares.
    #[serde(with = "values::ShareNumber")]
    minimum_order_size: Lots,
    #[serde(with = "values::TickNumber")]
    minimum_tick_size: Tick,
    #[serde(with = "values::Hash")]
    condition_id: ConditionId,
    question_id: String,
    question: String,
    description: String,
    market_slug: String,
    /// Planned end, ISO 8601.
    end_date_iso: Option<String>,
    /// Start of the game, ISO 8601.
    game_start_time: Option<String>,
    /// Delay of takers in seconds, rounded up.
    #[schemars(range(max = 60))]
    seconds_delay: u32,
    fpmm: String,
    maker_base_fee: u32,
    /// Rate of the taker fee, in parts per million / 100.
    taker_base_fee: u32,
    notifications_enabled: bool,
    neg_risk: bool,
    /// Bit of the question in conversions; 128 is the outside question. Questions of event groups only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 128))]
    question_index: Option<u8>,
    neg_risk_market_id: String,
    neg_risk_request_id: String,
    icon: String,
    image: String,
    rewards: Rewards,
    /// Resolved with payouts of one half.
    is_50_50_outcome: bool,
    tokens: [MarketToken; 2],
    tags: Vec<String>,
}

impl TradingMarket {
    /// The JSON of a market.
    #[must_use]
    pub fn new(facts: &MarketFacts, description: &MarketDescription) -> Self {
        let text = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        Self {
            enable_order_book: !facts.is_closed(),
            active: facts.is_active(),
            closed: facts.is_closed(),
            archived: facts.archived,
            accepting_orders: facts.accepts_orders(),
            accepting_order_timestamp: facts.accepting_text(),
            minimum_order_size: facts.minimum_size,
            minimum_tick_size: facts.tick,
            condition_id: facts.condition,
            question_id: description.question_id.clone(),
            question: description.question.clone(),
            description: description.description.clone(),
            market_slug: description.slug.clone(),
            end_date_iso: text(&description.end_date),
            game_start_time: facts.game_start(description),
            seconds_delay: facts.seconds_delay(),
            fpmm: String::new(),
            maker_base_fee: 0,
            taker_base_fee: facts.base_fee(),
            notifications_enabled: false,
            neg_risk: facts.neg_risk,
            question_index: facts.question_index,
            neg_risk_market_id: description.neg_risk_market_id.clone(),
            neg_risk_request_id: description.neg_risk_request_id.clone(),
            icon: description.icon.clone(),
            image: description.image.clone(),
            rewards: Rewards::default(),
            is_50_50_outcome: facts.payout == Some(Payout::Half),
            tokens: tokens(facts, description),
            tags: description.tags.clone(),
        }
    }
}

/// The event inside a [`MarketDetail`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MarketEvent {
    id: String,
    slug: String,
    title: String,
    ticker: String,
    description: String,
}

/// `GET /markets/{condition_id}`, an item of `GET /sampling-markets`: the union of the fields of
/// the interface's Market detail and Trading market.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MarketDetail {
    /// State of the market.
    #[schemars(extend("enum" = values::words(MarketState::ALL, state_word)))]
    status: &'static str,
    /// Id of the market in the catalog; 0 when it has none.
    market_id: u64,
    slug: String,
    #[schemars(with = "[values::Token; 2]")]
    assets_ids: [String; 2],
    outcomes: [String; 2],
    event: MarketEvent,
    /// Record of the upstream, unchanged.
    raw_metadata: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    life: Option<MarketLife>,
    #[serde(flatten)]
    market: TradingMarket,
}

impl MarketDetail {
    /// The JSON of a market.
    #[must_use]
    pub fn new(facts: &MarketFacts, description: &MarketDescription) -> Self {
        let event = description.event.clone().unwrap_or_default();
        Self {
            status: state_word(facts.state),
            market_id: description.market_id,
            slug: description.slug.clone(),
            assets_ids: facts.tokens.map(|token| ids::token_text(&token)),
            outcomes: description.outcomes.clone(),
            event: MarketEvent {
                id: event.id.map_or_else(String::new, |id| id.to_string()),
                slug: event.slug,
                title: event.title,
                ticker: event.ticker,
                description: event.description,
            },
            raw_metadata: description.raw_metadata.clone(),
            life: None,
            market: TradingMarket::new(facts, description),
        }
    }

    /// Adds the market's clock, proposal and settlement.
    #[must_use]
    pub fn with_life(mut self, life: MarketLife) -> Self {
        self.life = Some(life);
        self
    }

    /// Adds the upstream's record from the catalog, unless the market was registered with a record.
    #[must_use]
    pub fn with_raw_metadata(mut self, raw: Map<String, Value>) -> Self {
        if self.raw_metadata.is_empty() {
            self.raw_metadata = raw;
        }
        self
    }
}

/// An item of `GET /simplified-markets`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SimplifiedMarket {
    #[serde(with = "values::Hash")]
    condition_id: ConditionId,
    tokens: [MarketToken; 2],
    rewards: Rewards,
    /// Not merely registered.
    active: bool,
    /// Closed or resolved.
    closed: bool,
    /// Hidden from default lists.
    archived: bool,
    /// The market is active and the system accepts orders.
    accepting_orders: bool,
}

impl SimplifiedMarket {
    /// The JSON of a market.
    #[must_use]
    pub fn new(facts: &MarketFacts, description: &MarketDescription) -> Self {
        Self {
            condition_id: facts.condition,
            tokens: tokens(facts, description),
            rewards: Rewards::default(),
            active: facts.is_active(),
            closed: facts.is_closed(),
            archived: facts.archived,
            accepting_orders: facts.accepts_orders(),
        }
    }
}

/// Short form of a fee schedule: rate, exponent, taker only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FeeDetails {
    /// Rate.
    #[serde(with = "values::Fraction")]
    r: Decimal,
    /// Exponent.
    #[schemars(range(max = 2))]
    e: u8,
    /// Takers only.
    to: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
struct ShortToken {
    #[serde(with = "values::Token")]
    t: TokenId,
    /// Outcome.
    o: String,
}

/// Short form of [`Rewards`], always empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
struct ShortRewards {
    /// Minimum size.
    mi: u8,
    /// Maximum spread.
    ma: u8,
    /// Enabled.
    e: bool,
    /// Minimum age of an order, in seconds.
    moas: u8,
}

/// Answer of `GET /clob-markets/{condition_id}`: market data that stock clients cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClobMarket {
    /// Condition id.
    #[serde(with = "values::Hash")]
    c: ConditionId,
    t: [ShortToken; 2],
    /// Minimum tick size.
    #[serde(with = "values::TickNumber")]
    mts: Tick,
    /// Minimum order size, in shares.
    #[serde(with = "values::ShareNumber")]
    mos: Lots,
    /// Neg-risk.
    nr: bool,
    fd: FeeDetails,
    /// Maker base fee.
    mbf: u32,
    /// Taker base fee.
    tbf: u32,
    r: ShortRewards,
    /// Accepting orders.
    ao: bool,
    /// Start of order acceptance, ISO 8601.
    aot: Option<String>,
    /// Game start time.
    gst: Option<String>,
    /// Delay of takers in seconds, rounded up.
    #[schemars(range(max = 60))]
    sd: u32,
    oas: u32,
    /// The book is cleared at the game start.
    cbos: bool,
    rfqe: bool,
    itode: bool,
    ibce: bool,
}

impl ClobMarket {
    /// The JSON of a market.
    #[must_use]
    pub fn new(facts: &MarketFacts, description: &MarketDescription) -> Self {
        Self {
            c: facts.condition,
            t: [0, 1].map(|index| ShortToken {
                t: facts.tokens[index],
                o: description.outcomes[index].clone(),
            }),
            mts: facts.tick,
            mos: facts.minimum_size,
            nr: facts.neg_risk,
            fd: facts.fee_details(),
            mbf: 0,
            tbf: facts.base_fee(),
            r: ShortRewards::default(),
            ao: facts.accepts_orders(),
            aot: facts.accepting_text(),
            gst: facts.game_start(description),
            sd: facts.seconds_delay(),
            oas: 0,
            cbos: facts.terms.clear_book_on_start,
            rfqe: false,
            itode: false,
            ibce: false,
        }
    }
}

/// Answer of `GET /tick-size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct TickSizeAnswer {
    /// The tick. Its digits are those of its text, which clients use as a key.
    #[serde(with = "values::TickNumber")]
    pub minimum_tick_size: Tick,
}

/// Answer of `GET /neg-risk`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct NegRiskAnswer {
    /// Whether the token's market is a question of a neg-risk event.
    pub neg_risk: bool,
}

/// Answer of `GET /markets-by-token/{token_id}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MarketByToken {
    /// Its market.
    #[serde(with = "values::Hash")]
    pub condition_id: ConditionId,
    /// The Yes token.
    #[serde(with = "values::Token")]
    pub primary_token_id: TokenId,
    /// The No token.
    #[serde(with = "values::Token")]
    pub secondary_token_id: TokenId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
struct FeeScheduleAnswer {
    #[serde(with = "values::Fraction")]
    rate: Decimal,
    #[schemars(range(max = 2))]
    exponent: u8,
    taker_only: bool,
    /// The maker's share of the fee.
    #[serde(with = "values::Fraction")]
    rebate_rate: Decimal,
}

/// Answer of `GET /fee-rate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FeeRateAnswer {
    /// Rate of the fee, in parts per million / 100.
    base_fee: u32,
    fd: FeeDetails,
    fee_schedule: FeeScheduleAnswer,
}

impl FeeRateAnswer {
    /// The JSON of a market's fee.
    #[must_use]
    pub fn new(facts: &MarketFacts) -> Self {
        let fd = facts.fee_details();
        Self {
            base_fee: facts.base_fee(),
            fd,
            fee_schedule: FeeScheduleAnswer {
                rate: fd.r,
                exponent: fd.e,
                taker_only: fd.to,
                rebate_rate: Decimal::micros(i128::from(facts.terms.rebate_ppm)),
            },
        }
    }
}

/// Answer of `GET /fees/builder-fees/{builder}`: builder fees are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BuilderFees {
    builder_maker_fee_rate_bps: u32,
    builder_taker_fee_rate_bps: u32,
    builder_maker_flat_fee_bps: u32,
    builder_taker_fee_share_bps: u32,
}

#[cfg(test)]
#[path = "market_tests.rs"]
mod tests;
