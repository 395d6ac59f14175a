//! `GET /positions` and `GET /closed-positions` (interface "Position", "Closed position").

use std::cmp::Ordering;

use foretell_model::{Outcome, Sequence, TimeSeconds, WalletAddress};

use crate::data::figures::{PositionFigures, RoundedFigures};
use crate::data::market_fields::MarketText;
use crate::data::read::market_selection::MarketSelection;
use crate::data::read::page::{DIRECTION, Direction, Listed};
use crate::data::rows::{RowWriter, field};
use crate::limits::{CLOSED_POSITIONS_PAGE, MAX_TITLE, POSITIONS_PAGE, PageBounds};
use crate::parameters;
use crate::read::text_form::{Characters, FLAG, MICROS, WALLET, Words};

/// Sort key of positions.
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

/// Sort key of closed positions.
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

parameters! {
    /// Parameters of `GET /positions`.
    pub struct PositionsQuery: Data {
        /// Wallet address.
        pub user: WalletAddress = required(WALLET),
        /// The markets.
        pub markets: MarketSelection = group(),
        /// Smallest size to include, in shares; here in micro-shares.
        pub least: u64 = or(MICROS, "1") as "sizeThreshold",
        /// Only positions in resolved markets.
        pub redeemable: bool = or(FLAG, "false"),
        /// Only positions whose wallet holds both outcomes.
        pub mergeable: bool = or(FLAG, "false"),
        /// Field to sort by.
        pub sort: PositionSort = or(Words(&POSITION_SORTS), "TOKENS") as "sortBy",
        /// Sort direction.
        pub direction: Direction = or(DIRECTION, "DESC") as "sortDirection",
        /// Text in the title of the market, in any case.
        pub title: Option<String> = optional(Characters(MAX_TITLE)),
    }

    /// Parameters of `GET /closed-positions`.
    pub struct ClosedPositionsQuery: Data {
        /// Wallet address.
        pub user: WalletAddress = required(WALLET),
        /// The markets.
        pub markets: MarketSelection = group(),
        /// Text in the title of the market, in any case.
        pub title: Option<String> = optional(Characters(MAX_TITLE)),
        /// Field to sort by.
        pub sort: ClosedSort = or(Words(&CLOSED_SORTS), "REALIZEDPNL") as "sortBy",
        /// Sort direction.
        pub direction: Direction = or(DIRECTION, "DESC") as "sortDirection",
    }
}

impl Listed for PositionsQuery {
    const PAGE: PageBounds = POSITIONS_PAGE;
}

impl Listed for ClosedPositionsQuery {
    const PAGE: PageBounds = CLOSED_POSITIONS_PAGE;
}

/// An open or closed position.
#[derive(Clone, Copy, Debug)]
pub struct PositionRow<'a> {
    /// The wallet.
    pub wallet: WalletAddress,
    /// The market.
    pub market: &'a MarketText,
    /// The token's outcome.
    pub outcome: Outcome,
    /// Its rounded numbers.
    pub shown: RoundedFigures,
    /// The market is resolved and the wallet holds shares.
    pub redeemable: bool,
    /// The wallet holds shares of both outcomes.
    pub mergeable: bool,
    /// `negativeRisk`; `None` in a closed position, which lacks the field.
    pub neg_risk: Option<bool>,
    /// Time of the last activity.
    pub time: TimeSeconds,
}

impl PositionRow<'_> {
    /// Adds its row.
    pub fn write(&self, rows: &mut RowWriter) {
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

/// Sort key of an open position. Kept small, because a wallet may have ten thousand positions.
#[derive(Clone, Copy, Debug)]
pub struct OpenKey<'a> {
    /// The number from [`PositionSort::number`].
    pub number: i128,
    /// The market.
    pub market: &'a MarketText,
    /// The token's outcome.
    pub outcome: Outcome,
}

impl PositionSort {
    /// The sort number, rounded as in the answer; 0 for sorts by text.
    #[must_use]
    pub fn number(self, figures: &PositionFigures) -> i128 {
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

/// Orders open positions by the sort key, ties by asset.
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

/// Sort key of a closed position. Kept small, because a wallet may have a hundred thousand of them.
#[derive(Clone, Copy, Debug)]
pub struct ClosedKey<'a> {
    /// The number from [`ClosedSort::number`].
    pub number: i128,
    /// The market.
    pub market: &'a MarketText,
    /// The token's outcome.
    pub outcome: Outcome,
    /// Sequence of the command that closed it.
    pub closed_by: Sequence,
}

impl ClosedSort {
    /// The sort number, rounded as in the answer; 0 for sorts by text.
    #[must_use]
    pub fn number(self, figures: &PositionFigures, time: TimeSeconds) -> i128 {
        match self {
            Self::RealizedPnl => figures.realized,
            Self::Title => 0,
            Self::Price => figures.cur_price(),
            Self::AvgPrice => figures.avg_price(),
            Self::Timestamp => time.0.into(),
        }
    }
}

/// Orders closed positions by the sort key, ties by asset, then by closing sequence.
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
