//! `GET /positions` and `GET /closed-positions` (interface "Position", "Closed position").

use std::cmp::Ordering;

use foretell_model::{ConditionId, Outcome, Sequence, TimeSeconds, WalletAddress};

use crate::data::failure::DataFailure;
use crate::data::figures::{Figures, Shown};
use crate::data::market_text::MarketText;
use crate::data::page::{Direction, Page};
use crate::data::parameters::Parameters;
use crate::data::rows::{Rows, field};
use crate::query::Query;

/// What positions are sorted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PositionSort {
    /// `currentValue`
    Current,
    /// `initialValue`
    Initial,
    /// `size`
    Tokens,
    /// `cashPnl`
    CashPnl,
    /// `percentPnl`
    PercentPnl,
    /// `title`
    Title,
    /// `endDate`
    Resolving,
    /// `curPrice`
    Price,
    /// `avgPrice`
    AvgPrice,
}

const POSITION_SORTS: [(&str, PositionSort); 9] = [
    ("CURRENT", PositionSort::Current),
    ("INITIAL", PositionSort::Initial),
    ("TOKENS", PositionSort::Tokens),
    ("CASHPNL", PositionSort::CashPnl),
    ("PERCENTPNL", PositionSort::PercentPnl),
    ("TITLE", PositionSort::Title),
    ("RESOLVING", PositionSort::Resolving),
    ("PRICE", PositionSort::Price),
    ("AVGPRICE", PositionSort::AvgPrice),
];

/// What closed positions are sorted by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClosedSort {
    /// `realizedPnl`
    RealizedPnl,
    /// `title`
    Title,
    /// `curPrice`
    Price,
    /// `avgPrice`
    AvgPrice,
    /// `timestamp`
    Timestamp,
}

const CLOSED_SORTS: [(&str, ClosedSort); 5] = [
    ("REALIZEDPNL", ClosedSort::RealizedPnl),
    ("TITLE", ClosedSort::Title),
    ("PRICE", ClosedSort::Price),
    ("AVGPRICE", ClosedSort::AvgPrice),
    ("TIMESTAMP", ClosedSort::Timestamp),
];

/// Parameters of `GET /positions`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PositionsQuery {
    /// Whose.
    pub user: WalletAddress,
    /// Only in these markets; empty = all.
    pub markets: Vec<ConditionId>,
    /// The least `size`, in micro-shares; one share when not given.
    pub least: u64,
    /// Only what can be redeemed.
    pub redeemable: bool,
    /// Only what can be merged.
    pub mergeable: bool,
    /// 0 to 500 rows from 0 to 10,000; 100 from 0.
    pub page: Page,
    /// Default `TOKENS`.
    pub sort: PositionSort,
    /// Default `DESC`.
    pub direction: Direction,
    /// What the market's title must contain.
    pub title: Option<String>,
}

impl PositionsQuery {
    /// Reads them.
    ///
    /// # Errors
    /// A parameter that is unknown, missing or wrong.
    pub fn of(query: &Query<'_>) -> Result<Self, DataFailure> {
        let known = [
            "user",
            "market",
            "sizeThreshold",
            "redeemable",
            "mergeable",
            "limit",
            "offset",
            "sortBy",
            "sortDirection",
            "title",
        ];
        let parameters = Parameters::of(query, &known)?;
        let sort = parameters.choice("sortBy", &POSITION_SORTS)?;
        Ok(Self {
            user: parameters.required_user()?,
            markets: parameters.markets()?,
            least: parameters.micros("sizeThreshold")?.unwrap_or(1_000_000),
            redeemable: parameters.flag("redeemable", false)?,
            mergeable: parameters.flag("mergeable", false)?,
            page: Page::of(&parameters, 100, 500, 10_000)?,
            sort: sort.unwrap_or(PositionSort::Tokens),
            direction: Direction::of(&parameters)?,
            title: parameters.title()?,
        })
    }
}

/// Parameters of `GET /closed-positions`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClosedPositionsQuery {
    /// Whose.
    pub user: WalletAddress,
    /// Only in these markets; empty = all.
    pub markets: Vec<ConditionId>,
    /// What the market's title must contain.
    pub title: Option<String>,
    /// 0 to 50 rows from 0 to 100,000; 10 from 0.
    pub page: Page,
    /// Default `REALIZEDPNL`.
    pub sort: ClosedSort,
    /// Default `DESC`.
    pub direction: Direction,
}

impl ClosedPositionsQuery {
    /// Reads them. `sizeThreshold` is checked and has no effect: every size here is 0.
    ///
    /// # Errors
    /// A parameter that is unknown, missing or wrong.
    pub fn of(query: &Query<'_>) -> Result<Self, DataFailure> {
        let known = [
            "user",
            "market",
            "title",
            "limit",
            "offset",
            "sortBy",
            "sortDirection",
            "sizeThreshold",
        ];
        let parameters = Parameters::of(query, &known)?;
        parameters.micros("sizeThreshold")?;
        let sort = parameters.choice("sortBy", &CLOSED_SORTS)?;
        Ok(Self {
            user: parameters.required_user()?,
            markets: parameters.markets()?,
            title: parameters.title()?,
            page: Page::of(&parameters, 10, 50, 100_000)?,
            sort: sort.unwrap_or(ClosedSort::RealizedPnl),
            direction: Direction::of(&parameters)?,
        })
    }
}

/// A position, or a closed one.
#[derive(Clone, Copy, Debug)]
pub struct Position<'a> {
    /// Whose.
    pub wallet: WalletAddress,
    /// The market.
    pub market: &'a MarketText,
    /// Which token of it.
    pub outcome: Outcome,
    /// Its numbers.
    pub shown: Shown,
    /// The market is resolved and shares are held.
    pub redeemable: bool,
    /// Shares of both outcomes are held.
    pub mergeable: bool,
    /// `negativeRisk`; `None` in a closed position, which has no such field.
    pub neg_risk: Option<bool>,
    /// The last activity.
    pub time: TimeSeconds,
}

impl Position<'_> {
    /// Adds its row.
    pub fn write(&self, rows: &mut Rows) {
        let shown = &self.shown;
        rows.row(|row| {
            row.wallet(field!("proxyWallet"), &self.wallet);
            row.fields(self.market.ids(self.outcome));
            for (name, value) in [
                (field!("size"), shown.size),
                (field!("avgPrice"), shown.avg_price),
                (field!("initialValue"), shown.initial_value),
                (field!("currentValue"), shown.current_value),
                (field!("cashPnl"), shown.cash_pnl),
                (field!("percentPnl"), shown.percent_pnl),
                (field!("totalBought"), shown.total_bought),
                (field!("realizedPnl"), shown.realized_pnl),
                (field!("percentRealizedPnl"), shown.percent_realized_pnl),
                (field!("curPrice"), shown.cur_price),
            ] {
                row.millionths(name, value);
            }
            row.flag(field!("redeemable"), self.redeemable);
            row.flag(field!("mergeable"), self.mergeable);
            if let Some(neg_risk) = self.neg_risk {
                row.flag(field!("negativeRisk"), neg_risk);
            }
            row.fields(self.market.names());
            row.fields(self.market.both(self.outcome));
            row.whole(field!("outcomeIndex"), self.outcome.code().into());
            row.whole(field!("timestamp"), self.time.0);
            row.fields(self.market.end());
        });
    }
}

/// What an open position is sorted by: as much of it as that takes, for a wallet may have ten
/// thousand.
#[derive(Clone, Copy, Debug)]
pub struct OpenKey<'a> {
    /// Of [`PositionSort::number`].
    pub number: i128,
    /// The market.
    pub market: &'a MarketText,
    /// Which token of it.
    pub outcome: Outcome,
}

impl PositionSort {
    /// The number it sorts by, as it is shown; 0 when it goes by a text.
    #[must_use]
    pub fn number(self, figures: &Figures) -> i128 {
        match self {
            Self::Current => figures.current_value(),
            Self::Initial => figures.cost,
            Self::Tokens => figures.size(),
            Self::CashPnl => figures.cash_pnl(),
            Self::PercentPnl => figures.percent_pnl(),
            Self::Title | Self::Resolving => 0,
            Self::Price => figures.cur_price(),
            Self::AvgPrice => figures.avg_price(),
        }
    }
}

/// The order of open positions: by what is shown, ties by asset.
pub fn compare_open(
    sort: PositionSort,
    direction: Direction,
) -> impl Fn(&OpenKey<'_>, &OpenKey<'_>) -> Ordering {
    move |a, b| {
        let ordering = match sort {
            PositionSort::Title => a.market.title().cmp(b.market.title()),
            PositionSort::Resolving => a.market.end_date().cmp(b.market.end_date()),
            _ => a.number.cmp(&b.number),
        };
        direction.apply(ordering).then_with(|| {
            let asset = |it: &OpenKey<'_>| (it.market.condition(), it.outcome.code());
            asset(a).cmp(&asset(b))
        })
    }
}

/// What a closed position is sorted by: as much of it as that takes, for a wallet may have closed
/// a hundred thousand.
#[derive(Clone, Copy, Debug)]
pub struct ClosedKey<'a> {
    /// Of [`ClosedSort::number`].
    pub number: i128,
    /// The market.
    pub market: &'a MarketText,
    /// Which token of it.
    pub outcome: Outcome,
    /// The command that closed it.
    pub closed_by: Sequence,
}

impl ClosedSort {
    /// The number it sorts by, as it is shown; 0 when it goes by a text.
    #[must_use]
    pub fn number(self, figures: &Figures, time: TimeSeconds) -> i128 {
        match self {
            Self::RealizedPnl => figures.realized,
            Self::Title => 0,
            Self::Price => figures.cur_price(),
            Self::AvgPrice => figures.avg_price(),
            Self::Timestamp => time.0.into(),
        }
    }
}

/// The order of closed positions: by what is shown, ties by asset, then by when it was closed.
pub fn compare_closed(
    sort: ClosedSort,
    direction: Direction,
) -> impl Fn(&ClosedKey<'_>, &ClosedKey<'_>) -> Ordering {
    move |a, b| {
        let ordering = match sort {
            ClosedSort::Title => a.market.title().cmp(b.market.title()),
            _ => a.number.cmp(&b.number),
        };
        direction.apply(ordering).then_with(|| {
            let tie = |it: &ClosedKey<'_>| (it.market.condition(), it.outcome.code(), it.closed_by);
            tie(a).cmp(&tie(b))
        })
    }
}
