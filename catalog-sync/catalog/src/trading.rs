//! Trading fields of records: those of the source, and those of the exchange for what trades there.

use std::fmt::Debug;

use foretell_model::ConditionId;
use serde_json::{Map, Value, json};

/// Fields of a market that are the exchange's once the market is registered there. Those that the
/// exchange does not have are then absent: figures of another venue's trading are another truth.
pub(crate) const MARKET_TRADING: &[&str] = &[
    "question",
    "outcomes",
    "active",
    "closed",
    "archived",
    "closedTime",
    "acceptingOrders",
    "acceptingOrdersTimestamp",
    "enableOrderBook",
    "outcomePrices",
    "bestBid",
    "bestAsk",
    "spread",
    "lastTradePrice",
    "volume",
    "volumeNum",
    "volumeAmm",
    "volumeClob",
    "volume24hr",
    "volume24hrAmm",
    "volume24hrClob",
    "volume1wk",
    "volume1wkAmm",
    "volume1wkClob",
    "volume1mo",
    "volume1moAmm",
    "volume1moClob",
    "volume1yr",
    "volume1yrAmm",
    "volume1yrClob",
    "liquidity",
    "liquidityNum",
    "liquidityAmm",
    "liquidityClob",
    "oneHourPriceChange",
    "oneDayPriceChange",
    "oneWeekPriceChange",
    "oneMonthPriceChange",
    "oneYearPriceChange",
    "orderPriceMinTickSize",
    "orderMinSize",
    "fee",
    "feesEnabled",
    "feeSchedule",
    "makerBaseFee",
    "takerBaseFee",
    "makerRebatesFeeShareBps",
    "secondsDelay",
    "clearBookOnStart",
    "negRisk",
    "questionIndex",
    "umaResolutionStatus",
    "umaResolutionStatuses",
    "updatedAt",
];

/// Fields of an event that follow from its markets once one of them is registered.
pub(crate) const EVENT_TRADING: &[&str] = &[
    "active",
    "closed",
    "archived",
    "closedTime",
    "volume",
    "volume24hr",
    "volume1wk",
    "volume1mo",
    "volume1yr",
    "liquidity",
    "liquidityAmm",
    "liquidityClob",
    "openInterest",
];

/// What the exchange knows of the catalog's markets.
pub trait Exchange: Debug + Send + Sync {
    /// A registered market.
    fn trading(&self, condition: &ConditionId) -> Option<Trading>;
}

/// What the exchange knows of a market.
#[derive(Clone, Debug)]
pub struct Trading {
    /// The values that lists filter and sort by.
    pub figures: Figures,
    /// The trading fields of a market as a JSON object, without `updatedAt`.
    pub fields: String,
}

/// The values of a registered market that lists filter and sort by; amounts in units of collateral.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// It was opened for trading.
    pub active: bool,
    /// Its trading ended.
    pub closed: bool,
    /// It is hidden from lists of open markets.
    pub archived: bool,
    /// It has its payout.
    pub resolved: bool,
    /// Traded since the beginning.
    pub volume: f64,
    /// Traded in the last 24 hours.
    pub volume_24hr: f64,
    /// Resting.
    pub liquidity: f64,
    /// Locked by its shares.
    pub open_interest: f64,
    /// Its last step of life, microseconds since 1970.
    pub changed_at: i64,
}

/// A record as it is stored: the fields of its own, and the trading fields of its source.
pub(crate) struct Rendered {
    pub(crate) json: String,
    pub(crate) trading: String,
}

impl Rendered {
    /// `fields`, and every further field of the source but those of `elsewhere` and nulls; then what `fill` adds.
    pub(crate) fn of(
        fields: Map<String, Value>,
        source: &str,
        trading: &[&str],
        elsewhere: &[&str],
        fill: fn(&mut Map<String, Value>),
    ) -> Self {
        let (mut json, mut traded) = (Map::new(), Map::new());
        let source: Map<String, Value> = serde_json::from_str(source).unwrap_or_default();
        let further = source.into_iter().filter(|(name, value)| {
            !value.is_null() && !elsewhere.contains(&name.as_str()) && !fields.contains_key(name)
        });
        let further: Vec<_> = further.collect();
        for (name, value) in fields.into_iter().chain(further) {
            let part = match trading.contains(&name.as_str()) {
                true => &mut traded,
                false => &mut json,
            };
            part.insert(name, value);
        }
        fill(&mut json);
        let text = |fields| Value::Object(fields).to_string();
        Self {
            json: text(json),
            trading: text(traded),
        }
    }
}

/// Sums of the registered markets of an event, and what is known of all.
#[derive(Debug)]
pub(crate) struct EventFigures {
    /// Whether a market is registered here.
    pub(crate) trades: bool,
    /// Whether all are closed; false without markets.
    pub(crate) closed: bool,
    pub(crate) active: bool,
    pub(crate) volume: f64,
    pub(crate) volume_24hr: f64,
    pub(crate) liquidity: f64,
    pub(crate) open_interest: f64,
}

impl EventFigures {
    /// Of each market its figures, or whether its source has closed it.
    pub(crate) fn of(markets: impl IntoIterator<Item = (Option<Figures>, bool)>) -> Self {
        let mut sums = Self {
            trades: false,
            closed: true,
            active: false,
            volume: 0.0,
            volume_24hr: 0.0,
            liquidity: 0.0,
            open_interest: 0.0,
        };
        let mut is_empty = true;
        for (figures, closed) in markets {
            is_empty = false;
            sums.closed &= figures.map_or(closed, |figures| figures.closed);
            if let Some(figures) = figures {
                sums.trades = true;
                sums.active |= figures.active;
                sums.volume += figures.volume;
                sums.volume_24hr += figures.volume_24hr;
                sums.liquidity += figures.liquidity;
                sums.open_interest += figures.open_interest;
            }
        }
        sums.closed &= !is_empty;
        sums
    }

    /// [`EVENT_TRADING`] as a JSON object, where a market trades; `active`, `closed` and `archived` are
    /// the source's flags.
    pub(crate) fn fields(&self, [active, closed, archived]: [bool; 3]) -> String {
        json!({
            "active": active || self.active,
            "closed": closed || self.closed,
            "archived": archived,
            "volume": self.volume,
            "volume24hr": self.volume_24hr,
            "liquidity": self.liquidity,
            "liquidityClob": self.liquidity,
            "openInterest": self.open_interest,
        })
        .to_string()
    }
}
