//! `GET /positions` and `GET /closed-positions` (interface "Position", "Closed position").

use foretell_model::{ConditionId, Outcome, TimeSeconds, WalletAddress};

use crate::data::profile::Profile;
use crate::data::read::market_selection::MarketSelection;
use crate::data::read::page::{DIRECTION, Direction, Listed};
use crate::data::rows::figures::{PositionFigures, RoundedFigures};
use crate::data::rows::market_text::MarketText;
use crate::data::rows::view::view;
use crate::limits::{CLOSED_POSITIONS_PAGE, MAX_TITLE, POSITIONS_PAGE, PageBounds};
use crate::operator::MarketDescription;
use crate::parameters;
use crate::read::query::text_form::{Characters, Words};
use crate::values::{self, FlagText, MicrosText, Wallet};

/// Sort key of positions, by the fields that show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PositionSort {
    /// `currentValue`, `current_value`
    Current,
    /// `initialValue`
    Initial,
    /// `size`, `current_size`
    Tokens,
    /// `cashPnl`
    CashPnl,
    /// `percentPnl`
    PercentPnl,
    /// `unrealized_pnl`
    UnrealizedPnl,
    /// `realizedPnl`, `realized_pnl`
    RealizedPnl,
    /// `total_pnl`
    TotalPnl,
    /// `title`
    Title,
    /// `endDate`
    Resolving,
    /// `curPrice`, `current_price`
    Price,
    /// `avgPrice`
    AvgPrice,
    /// `timestamp` of closed positions, `last_event_at`
    Timestamp,
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

const CLOSED_SORTS: [(&str, PositionSort); 5] = [
    ("REALIZEDPNL", PositionSort::RealizedPnl),
    ("TITLE", PositionSort::Title),
    ("PRICE", PositionSort::Price),
    ("AVGPRICE", PositionSort::AvgPrice),
    ("TIMESTAMP", PositionSort::Timestamp),
];

parameters! {
    /// Parameters of `GET /positions`.
    pub struct PositionsQuery: Data {
        /// Wallet address.
        pub user: WalletAddress = required(Wallet),
        /// The markets.
        pub markets: MarketSelection = group(),
        /// Smallest size to include, in shares.
        pub least: u64 = or(MicrosText, "1") as "sizeThreshold",
        /// Only positions in resolved markets.
        pub redeemable: bool = or(FlagText, "false"),
        /// Only positions whose wallet holds both outcomes.
        pub mergeable: bool = or(FlagText, "false"),
        /// Also positions in archived markets.
        pub include_archived: bool = or(FlagText, "true") as "includeArchived",
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
        pub user: WalletAddress = required(Wallet),
        /// The markets.
        pub markets: MarketSelection = group(),
        /// Text in the title of the market, in any case.
        pub title: Option<String> = optional(Characters(MAX_TITLE)),
        /// Field to sort by.
        pub sort: PositionSort = or(Words(&CLOSED_SORTS), "REALIZEDPNL") as "sortBy",
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

impl PositionSort {
    /// The sort number, rounded as in the answer; 0 for sorts by text.
    #[must_use]
    pub fn number(self, figures: &PositionFigures, time: TimeSeconds) -> i128 {
        match self {
            Self::Current => figures.current_value(),
            Self::Initial => figures.cost,
            Self::Tokens => figures.size(),
            Self::CashPnl => figures.cash_pnl(),
            Self::PercentPnl => figures.percent_pnl(),
            Self::UnrealizedPnl => figures.unrealized_pnl(),
            Self::RealizedPnl => figures.realized,
            Self::TotalPnl => figures.realized + figures.unrealized_pnl(),
            Self::Title | Self::Resolving => 0,
            Self::Price => figures.cur_price(),
            Self::AvgPrice => figures.avg_price(),
            Self::Timestamp => time.0.into(),
        }
    }

    /// The text of a sort by text; empty for sorts by number.
    #[must_use]
    pub fn text(self, market: &MarketDescription) -> &str {
        match self {
            Self::Title => &market.question,
            Self::Resolving => market.end_date.as_deref().unwrap_or(""),
            _ => "",
        }
    }
}

/// An open or closed position.
#[derive(Clone, Copy, Debug)]
pub struct PositionRow<'a> {
    /// The wallet.
    pub wallet: WalletAddress,
    /// Its profile.
    pub profile: Profile<'a>,
    /// The market.
    pub market: &'a MarketText,
    /// The token's outcome.
    pub outcome: Outcome,
    /// Its numbers.
    pub figures: PositionFigures,
    /// `figures`, rounded as answers show them.
    pub shown: RoundedFigures,
    /// The market is resolved and the wallet holds shares.
    pub redeemable: bool,
    /// The wallet holds shares of both outcomes.
    pub mergeable: bool,
    /// The market belongs to a neg-risk event group.
    pub neg_risk: bool,
    /// The catalog's record of the market is archived.
    pub archived: bool,
    /// Time of the last activity.
    pub time: TimeSeconds,
}

impl<'a> PositionRow<'a> {
    /// The wallet has no share.
    pub(crate) const fn is_closed(&self) -> bool {
        self.figures.lots == 0
    }

    /// The family gives a closed position date and time.
    fn end_date(&self) -> &'a str {
        match self.is_closed() {
            true => self.market.description.end_date.as_deref().unwrap_or(""),
            false => self.market.end_date(),
        }
    }
}

view! {
    /// A row of `GET /positions`, and of `GET /closed-positions` without `negativeRisk`.
    PositionV1 of PositionRow<'a>, row, "camelCase" {
        #[serde(with = "values::Address")]
        proxy_wallet: WalletAddress = row.wallet,
        #[schemars(with = "values::ConfiguredToken")]
        asset: &'a str = row.market.asset(row.outcome),
        #[serde(with = "values::Hash")]
        condition_id: ConditionId = row.market.condition,
        #[serde(flatten)]
        figures: RoundedFigures = row.shown,
        /// The market is resolved and the wallet holds shares.
        redeemable: bool = row.redeemable,
        /// The wallet holds both outcomes.
        mergeable: bool = row.mergeable,
        #[serde(skip_serializing_if = "Option::is_none")]
        negative_risk: Option<bool> = (!row.is_closed()).then_some(row.neg_risk),
        /// Title of the market.
        title: &'a str = &row.market.description.question,
        slug: &'a str = &row.market.description.slug,
        icon: &'a str = &row.market.description.icon,
        event_slug: &'a str = row.market.description.event_slug(),
        outcome: &'a str = row.market.label(row.outcome),
        opposite_outcome: &'a str = row.market.label(row.outcome.opposite()),
        #[schemars(with = "values::ConfiguredToken")]
        opposite_asset: &'a str = row.market.asset(row.outcome.opposite()),
        #[serde(with = "values::OutcomeIndex")]
        outcome_index: Outcome = row.outcome,
        /// Time of the last change, unix seconds.
        timestamp: u64 = row.time.0,
        /// ISO 8601; empty when unknown.
        end_date: &'a str = row.end_date(),
    }
}
