//! Trading terms of a market: the data that the engine registers, or why the market cannot trade.

use foretell_model::limits::{
    MAX_CLOCK_MS, MAX_FEE_EXPONENT, MAX_FEE_RATE_PPM, MAX_ORDER_LOTS, MAX_TAKER_DELAY_MS,
};
use foretell_model::{
    ConditionId, FeeSchedule, Lots, MarketTerms, Payout, QuestionIndex, Tick, TimeMs, TokenId,
    WalletAddress,
};
use serde::Serialize;
use thiserror::Error;

use super::Problems;
use super::fields::RecordFields;
use super::number::{scaled, token_id};
use foretell_wire::errors::api_error::double_quoted;

/// Default tick of a market (docs/verify/rules.md §3).
const DEFAULT_TICK: Tick = Tick::Hundredth;
/// Default minimum order of a market: 5 shares (docs/verify/rules.md §3).
const DEFAULT_MINIMUM: Lots = Lots(500);

/// The data that the engine needs of a market.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TradingTerms {
    /// Its condition.
    pub condition: ConditionId,
    /// Tokens of outcomes 0 and 1.
    pub tokens: [TokenId; 2],
    /// Labels of outcomes 0 and 1.
    pub outcomes: [String; 2],
    /// Its tick.
    pub tick: Tick,
    /// Its minimum resting order, at least a lot.
    pub minimum_size: Lots,
    /// Its taker fee.
    pub fee: FeeSchedule,
    /// Its game start, delay and rebate. The upstream opens and closes it by its flags.
    pub clock: MarketTerms,
    /// Whether it is a question of a neg-risk event.
    pub neg_risk: bool,
    /// Its sort key among the questions of its event; ties by id.
    pub question_order: u64,
    /// Its bit in signed conversions: the last byte of the upstream's question id.
    pub index: Option<QuestionIndex>,
    /// Whether it stands for every answer that its event does not list.
    pub is_other: bool,
    /// Whether the upstream accepts orders for it.
    pub accepting_orders: bool,
    /// Why it cannot trade here although it can be registered; its rules are then defaults.
    pub obstacle: Option<NotTradable>,
}

/// The field with the id under which the upstream gives a market now; the catalog adds it.
pub(crate) const SUPERSEDED_BY: &str = "supersededBy";

/// Why a market in the catalog is not tradable.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NotTradable {
    /// The condition id is missing or does not have 32 bytes.
    #[error("conditionId is {0}, allowed: 0x and 64 hex digits")]
    Condition(String),
    /// Another record has the condition: it had it first, or superseded this one. This is its id.
    #[error("conditionId is that of market {0}, which has it first")]
    Taken(u64),
    /// Not two outcomes.
    #[error("not binary: {0} outcomes")]
    Outcomes(usize),
    /// Not two tokens, one per outcome.
    #[error("clobTokenIds does not have two different whole numbers of 256 bits")]
    Tokens,
    /// The upstream has no order book for it.
    #[error("enableOrderBook is false")]
    NoOrderBook,
    /// A tick that the exchange does not support.
    #[error("orderPriceMinTickSize is {0}, allowed: 0.1, 0.01, 0.005, 0.0025, 0.001, 0.0001")]
    Tick(String),
    /// A minimum order that is not a multiple of a lot.
    #[error("orderMinSize is {0}, allowed: shares with up to two decimals")]
    MinimumSize(String),
    /// A delay that the exchange does not support.
    #[error("secondsDelay is {0}, allowed: 0 to 60")]
    Delay(String),
    /// A fee that the exchange does not support.
    #[error("{field} is {value}, allowed: {allowed}")]
    Fee {
        /// The field.
        field: &'static str,
        /// Its value.
        value: String,
        /// The allowed values.
        allowed: &'static str,
    },
}

impl NotTradable {
    /// The offending field of the record.
    #[must_use]
    pub const fn field(&self) -> &'static str {
        match self {
            Self::Condition(_) | Self::Taken(_) => "conditionId",
            Self::Outcomes(_) => "outcomes",
            Self::Tokens => "clobTokenIds",
            Self::NoOrderBook => "enableOrderBook",
            Self::Tick(_) => "orderPriceMinTickSize",
            Self::MinimumSize(_) => "orderMinSize",
            Self::Delay(_) => "secondsDelay",
            Self::Fee { field, .. } => field,
        }
    }
}

impl TradingTerms {
    pub(super) fn of(fields: &RecordFields, problems: &mut Problems) -> Result<Self, NotTradable> {
        let holder = fields.digits(SUPERSEDED_BY).map(|digits| digits.parse());
        if let Some(Ok(holder)) = holder {
            return Err(NotTradable::Taken(holder));
        }
        let condition_text = fields.text("conditionId", problems);
        let condition = hex_bytes(condition_text.trim())
            .map(ConditionId)
            .filter(|condition| *condition != ConditionId::ZERO)
            .ok_or_else(|| NotTradable::Condition(double_quoted(&condition_text)))?;
        let outcomes = labels(&fields.array_text("outcomes", problems))?;
        let tokens = tokens(&fields.array_text("clobTokenIds", problems))?;
        let rules = Rules::of(fields, problems);
        let obstacle = rules.as_ref().err().cloned();
        let rules = rules.unwrap_or_default();
        Ok(Self {
            condition,
            tokens,
            outcomes,
            tick: rules.tick,
            minimum_size: rules.minimum_size,
            fee: rules.fee,
            clock: rules.clock,
            neg_risk: fields.flag("negRisk", problems).unwrap_or(false),
            index: question_index(&fields.text("questionID", problems)),
            is_other: fields.flag("negRiskOther", problems).unwrap_or(false),
            obstacle,
            question_order: fields
                .digits("groupItemThreshold")
                .and_then(|digits| scaled(&digits, 0))
                .unwrap_or(u64::MAX),
            accepting_orders: fields.flag("acceptingOrders", problems).unwrap_or(true),
        })
    }
}

/// How a market trades.
struct Rules {
    tick: Tick,
    minimum_size: Lots,
    fee: FeeSchedule,
    clock: MarketTerms,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            tick: DEFAULT_TICK,
            minimum_size: DEFAULT_MINIMUM,
            fee: FeeSchedule::default(),
            clock: MarketTerms::default(),
        }
    }
}

impl Rules {
    fn of(fields: &RecordFields, problems: &mut Problems) -> Result<Self, NotTradable> {
        if fields.flag("enableOrderBook", problems) == Some(false) {
            return Err(NotTradable::NoOrderBook);
        }
        Ok(Self {
            tick: tick(fields.digits("orderPriceMinTickSize"))?,
            minimum_size: minimum_size(fields.digits("orderMinSize"))?,
            fee: fee(fields, problems)?,
            clock: clock(fields, problems)?,
        })
    }
}

/// The last byte of a question id of 32 bytes, if a conversion can name it.
fn question_index(text: &str) -> Option<QuestionIndex> {
    let [.., last] = hex_bytes::<32>(text.trim())?;
    QuestionIndex::from_code(last)
}

/// An address, `0x` and 40 hex digits of any case.
pub(super) fn address(text: &str) -> Option<WalletAddress> {
    hex_bytes(text.trim()).map(WalletAddress)
}

fn hex_bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.strip_prefix("0x")?;
    let mut bytes = [0; N];
    hex::decode_to_slice(digits, &mut bytes).ok()?;
    Some(bytes)
}

fn labels(array: &str) -> Result<[String; 2], NotTradable> {
    let labels: Vec<serde_json::Value> = serde_json::from_str(array).unwrap_or_default();
    match labels.as_slice() {
        [
            serde_json::Value::String(yes),
            serde_json::Value::String(no),
        ] => Ok([yes.clone(), no.clone()]),
        other => Err(NotTradable::Outcomes(other.len())),
    }
}

/// Two different tokens, given as text or as numbers of up to 78 digits.
fn tokens(array: &str) -> Result<[TokenId; 2], NotTradable> {
    let tokens: Vec<serde_json::Value> = serde_json::from_str(array).unwrap_or_default();
    let read = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => token_id(text),
        serde_json::Value::Number(number) => token_id(&number.to_string()),
        _ => None,
    };
    match tokens.as_slice() {
        [yes, no] => match (read(yes), read(no)) {
            (Some(yes), Some(no)) if yes != no => Ok([yes, no]),
            _ => Err(NotTradable::Tokens),
        },
        _ => Err(NotTradable::Tokens),
    }
}

fn tick(digits: Option<String>) -> Result<Tick, NotTradable> {
    let Some(digits) = digits else {
        return Ok(DEFAULT_TICK);
    };
    let units = scaled(&digits, 4);
    let mut ticks = Tick::ALL.iter().copied();
    ticks
        .find(|tick| units == Some(tick.units().into()))
        .ok_or_else(|| NotTradable::Tick(double_quoted(&digits)))
}

/// The minimum order: the default when missing, a lot when 0.
fn minimum_size(digits: Option<String>) -> Result<Lots, NotTradable> {
    let Some(digits) = digits else {
        return Ok(DEFAULT_MINIMUM);
    };
    match scaled(&digits, 2) {
        Some(lots) if lots <= MAX_ORDER_LOTS.0 => Ok(Lots(lots.max(1))),
        _ => Err(NotTradable::MinimumSize(double_quoted(&digits))),
    }
}

/// The taker fee: rate and exponent from `feeSchedule`, else `takerBaseFee` in parts per 10,000
/// with exponent 1, in which form this exchange shows its own fees. A maker fee without a rebate is
/// not specified here, so a market with one is not tradable (docs/verify/rules.md §7). Where makers
/// get a rebate, `makerBaseFee` only bounds what they sign.
fn fee(fields: &RecordFields, problems: &mut Problems) -> Result<FeeSchedule, NotTradable> {
    if fields.flag("feesEnabled", problems) == Some(false) {
        return Ok(FeeSchedule::default());
    }
    let schedule = fields.object("feeSchedule", problems);
    let inner = |name: &str| schedule.get(name).map(plain_text);
    let taker_only = inner("takerOnly").as_deref() == Some("true");
    if !taker_only && rebate_ppm(fields, problems)? == 0 {
        none("makerBaseFee", fields.digits("makerBaseFee"))?;
    }
    if let Some(rate) = inner("rate") {
        return Ok(FeeSchedule {
            rate_ppm: parts_per_million("feeSchedule.rate", rate, 6)?,
            exponent: exponent(inner("exponent"))?,
        });
    }
    match fields.digits("takerBaseFee") {
        None => Ok(FeeSchedule::default()),
        Some(digits) => {
            let rate_ppm = parts_per_million("takerBaseFee", digits, 2)?;
            let exponent = u8::from(rate_ppm > 0);
            Ok(FeeSchedule { rate_ppm, exponent })
        }
    }
}

/// The maker's share of the fee: `rebateRate` of `feeSchedule`, else `makerRebatesFeeShareBps` in
/// parts per 10,000; none without fees.
fn rebate_ppm(fields: &RecordFields, problems: &mut Problems) -> Result<u32, NotTradable> {
    if fields.flag("feesEnabled", problems) == Some(false) {
        return Ok(0);
    }
    let schedule = fields.object("feeSchedule", problems);
    if let Some(rate) = schedule.get("rebateRate").map(plain_text) {
        return parts_per_million("feeSchedule.rebateRate", rate, 6);
    }
    match fields.digits("makerRebatesFeeShareBps") {
        None => Ok(0),
        Some(digits) => parts_per_million("makerRebatesFeeShareBps", digits, 2),
    }
}

/// A value of the schedule, which may be given as text.
fn plain_text(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Game start, clearing, delay and rebate.
fn clock(fields: &RecordFields, problems: &mut Problems) -> Result<MarketTerms, NotTradable> {
    let clears = fields.flag("clearBookOnStart", problems).unwrap_or(false);
    let start = fields.date("gameStartTime", problems);
    let start = start.and_then(|start| u64::try_from(start.as_millisecond()).ok());
    let start = start.filter(|start| clears && *start <= MAX_CLOCK_MS);
    let delay = match fields.digits("secondsDelay") {
        None => 0,
        Some(digits) => scaled(&digits, 3)
            .and_then(|millis| u32::try_from(millis).ok())
            .filter(|millis| *millis <= MAX_TAKER_DELAY_MS)
            .ok_or_else(|| NotTradable::Delay(double_quoted(&digits)))?,
    };
    Ok(MarketTerms {
        game_start_time: TimeMs(start.unwrap_or(0)),
        // Without a start there is nothing to clear.
        clear_book_on_start: start.is_some(),
        taker_delay_ms: delay,
        rebate_ppm: rebate_ppm(fields, problems)?,
        ..MarketTerms::default()
    })
}

fn none(field: &'static str, digits: Option<String>) -> Result<(), NotTradable> {
    match digits {
        Some(value) if scaled(&value, 0) != Some(0) => Err(NotTradable::Fee {
            field,
            value: double_quoted(&value),
            allowed: "0",
        }),
        _ => Ok(()),
    }
}

fn parts_per_million(field: &'static str, value: String, places: u32) -> Result<u32, NotTradable> {
    scaled(&value, places)
        .and_then(|rate| u32::try_from(rate).ok())
        .filter(|rate| *rate <= MAX_FEE_RATE_PPM)
        .ok_or_else(|| NotTradable::Fee {
            field,
            value: double_quoted(&value),
            allowed: "a share of up to 1, in whole parts per million",
        })
}

fn exponent(digits: Option<String>) -> Result<u8, NotTradable> {
    let value = digits.unwrap_or_else(|| "1".to_owned());
    scaled(&value, 0)
        .and_then(|exponent| u8::try_from(exponent).ok())
        .filter(|exponent| *exponent <= MAX_FEE_EXPONENT)
        .ok_or_else(|| NotTradable::Fee {
            field: "feeSchedule.exponent",
            value: double_quoted(&value),
            allowed: "0, 1, 2",
        })
}

/// How far the upstream is with the answer of a market.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nobody has proposed one.
    Open,
    /// One is proposed or disputed.
    Proposed,
    /// It is resolved.
    Known,
}

impl Answer {
    /// Of an `umaResolutionStatus`, in any case.
    #[must_use]
    pub fn of(status: &str) -> Self {
        match status.trim().to_ascii_lowercase().as_str() {
            "proposed" | "disputed" => Self::Proposed,
            "resolved" => Self::Known,
            _ => Self::Open,
        }
    }
}

/// The payout of a closed and resolved market with prices of exactly 1 and 0, or a half each.
pub(super) fn payout(fields: &RecordFields, problems: &mut Problems) -> Option<Payout> {
    let answer = Answer::of(&fields.text("umaResolutionStatus", problems));
    if fields.flag("closed", problems) != Some(true) || answer != Answer::Known {
        return None;
    }
    let array = fields.array_text("outcomePrices", problems);
    let prices: Vec<serde_json::Value> = serde_json::from_str(&array).ok()?;
    let tenths = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => scaled(text, 1),
        serde_json::Value::Number(number) => scaled(&number.to_string(), 1),
        _ => None,
    };
    match prices.as_slice() {
        [yes, no] => match (tenths(yes)?, tenths(no)?) {
            (10, 0) => Some(Payout::Yes),
            (0, 10) => Some(Payout::No),
            (5, 5) => Some(Payout::Half),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
#[path = "terms_tests.rs"]
mod tests;
