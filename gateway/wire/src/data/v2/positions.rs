//! `GET /v2/positions` (docs/api/data.md §7).

use foretell_model::{ConditionId, Outcome, WalletAddress};

use crate::data::positions::{PositionRow, PositionSort};
use crate::data::read::cursor::PositionKey;
use crate::data::read::market_selection::MarketSelection;
use crate::data::read::page::{DIRECTION, Direction, V2Listed};
use crate::data::read::time_range::TimeRange;
use crate::data::rows::figures::PositionFigures;
use crate::data::rows::view::view;
use crate::data::trades::MinimumFill;
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_V2_TITLE;
use crate::parameters;
use crate::read::query::family::Family;
use crate::read::query::text_form::{Characters, Words};
use crate::text::decimal::Millionths;
use crate::values::{self, FlagText, Wallet};

/// `status`: which positions a list shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PositionStatus {
    /// With shares, also of resolved markets.
    Open,
    /// With shares of a resolved market.
    Redeemable,
    /// With shares that a resolution made worthless.
    RedeemableLost,
    /// With shares of both outcomes of a market that is not resolved.
    Mergeable,
    /// Without shares.
    Closed,
}

const STATUSES: [(&str, PositionStatus); 5] = [
    ("OPEN", PositionStatus::Open),
    ("REDEEMABLE", PositionStatus::Redeemable),
    ("REDEEMABLE_LOST", PositionStatus::RedeemableLost),
    ("MERGEABLE", PositionStatus::Mergeable),
    ("CLOSED", PositionStatus::Closed),
];

const SORTS: [(&str, PositionSort); 7] = [
    ("CURRENT_VALUE", PositionSort::Current),
    ("PRICE", PositionSort::Price),
    ("TOKENS", PositionSort::Tokens),
    ("UNREALIZED_PNL", PositionSort::UnrealizedPnl),
    ("REALIZED_PNL", PositionSort::RealizedPnl),
    ("TOTAL_PNL", PositionSort::TotalPnl),
    ("TIMESTAMP", PositionSort::Timestamp),
];

parameters! {
    /// Parameters of `GET /v2/positions`.
    pub struct V2PositionsQuery: Data check check {
        /// Wallet address; without one the holders of one market.
        pub user: Option<WalletAddress> = optional(Wallet),
        /// The markets; exactly one without `user`.
        pub markets: MarketSelection = group(),
        /// `OPEN`: with shares. `REDEEMABLE`: of a resolved market. `REDEEMABLE_LOST`: with a payout
        /// of 0. `MERGEABLE`: both outcomes, unresolved. `CLOSED`: without shares. Without `user`
        /// `OPEN` or `REDEEMABLE`.
        pub status: PositionStatus = or(Words(&STATUSES), "OPEN"),
        /// Smallest `current_value` or `current_size`.
        pub minimum: Option<MinimumFill> = group(),
        /// Text in the title of the market, in any case.
        pub title: Option<String> = optional(Characters(MAX_V2_TITLE)),
        /// Also open positions in archived markets; `CLOSED` always has them.
        pub include_archived: bool = or(FlagText, "false"),
        /// Field to sort by; `TOKENS` of `MERGEABLE`, `REALIZED_PNL` of `CLOSED`, else
        /// `CURRENT_VALUE` without it.
        pub sort_by: Option<PositionSort> = optional(Words(&SORTS)),
        /// Sort direction.
        pub sort_direction: Direction = or(DIRECTION, "DESC"),
        /// The time of `last_event_at`.
        pub time: TimeRange = group(),
    }
}

impl V2Listed for V2PositionsQuery {
    type Key = PositionKey;
}

impl V2PositionsQuery {
    fn check(&self) -> Result<(), ApiError> {
        if self.include_archived && self.status == PositionStatus::Closed {
            let allowed = "allowed with status CLOSED, which lists archived markets too";
            return Err(Family::Data.wrong("include_archived", "true", allowed));
        }
        self.check_anchor()
    }

    /// What the list is sorted by.
    #[must_use]
    pub fn sort(&self) -> PositionSort {
        self.sort_by.unwrap_or(match self.status {
            PositionStatus::Mergeable => PositionSort::Tokens,
            PositionStatus::Closed => PositionSort::RealizedPnl,
            _ => PositionSort::Current,
        })
    }

    /// Text that the market's title must contain; a blank one is none.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title
            .as_deref()
            .filter(|title| !title.trim().is_empty())
    }

    /// Without a wallet there is one market, and a status of single positions with shares.
    fn check_anchor(&self) -> Result<(), ApiError> {
        if self.user.is_some() {
            return Ok(());
        }
        match &self.markets {
            MarketSelection::Markets(markets) if markets.len() == 1 => {}
            MarketSelection::Markets(_) => {
                let why = "several are given, allowed: one without user";
                return Err(ErrorCode::InvalidParameter.with([&"condition_id", &why]));
            }
            MarketSelection::Events(_) | MarketSelection::All => {
                return Err(ErrorCode::MissingParameter.with([&"user"]));
            }
        }
        match self.status {
            PositionStatus::Open | PositionStatus::Redeemable => Ok(()),
            status => {
                let name = STATUSES.iter().find(|(_, known)| *known == status);
                let name = name.map_or("", |(name, _)| name);
                let allowed = "allowed without user, only OPEN and REDEEMABLE are";
                Err(Family::Data.wrong("status", name, allowed))
            }
        }
    }

    /// Whether size and price of a position decide about it and its place.
    #[must_use]
    pub fn needs_size_only(&self) -> bool {
        use PositionSort::{Current, Price, Tokens};
        matches!(self.sort(), Current | Price | Tokens) && self.time == TimeRange::default()
    }

    /// Whether a position meets the minimum.
    #[must_use]
    pub fn admits(&self, figures: &PositionFigures) -> bool {
        match self.minimum {
            None => true,
            Some(MinimumFill::Cash(least)) => figures.current_value() >= least.into(),
            Some(MinimumFill::Tokens(least)) => figures.size() >= least.into(),
        }
    }
}

view! {
    /// A row of `GET /v2/positions`.
    PositionV2 of PositionRow<'a>, row, "snake_case" {
        #[serde(with = "values::Address")]
        proxy_wallet: WalletAddress = row.wallet,
        #[schemars(with = "values::Token")]
        token_id: &'a str = row.market.asset(row.outcome),
        #[serde(with = "values::Hash")]
        condition_id: ConditionId = row.market.condition,
        current_size: Millionths = row.shown.size,
        avg_price: Millionths = row.shown.avg_price,
        /// Cost of the shares held, without fees.
        entry_cost_usdc: Millionths = row.shown.initial_value,
        /// Fees paid to buy the shares held.
        entry_fees_usdc: Millionths = row.shown.entry_fees_usdc,
        /// Cost of everything bought, without fees.
        total_cost_usdc: Millionths = Millionths(row.figures.spent),
        current_price: Millionths = row.shown.cur_price,
        current_value: Millionths = row.shown.current_value,
        /// Shares bought, split and converted into.
        total_size: Millionths = row.shown.total_bought,
        realized_pnl: Millionths = row.shown.realized_pnl,
        /// `current_value` less `entry_cost_usdc` and `entry_fees_usdc`.
        unrealized_pnl: Millionths = Millionths(row.figures.unrealized_pnl()),
        /// `realized_pnl` and `unrealized_pnl` together.
        total_pnl: Millionths = Millionths(row.figures.realized + row.figures.unrealized_pnl()),
        percent_pnl: Millionths = row.shown.percent_pnl,
        percent_realized_pnl: Millionths = row.shown.percent_realized_pnl,
        #[schemars(extend("enum" = ["OPEN", "REDEEMABLE", "CLOSED"]))]
        status: &'static str = status(&row),
        redeemable: bool = row.redeemable,
        mergeable: bool = row.mergeable,
        negative_risk: bool = row.neg_risk,
        archived: bool = row.archived,
        verified: bool = false,
        title: &'a str = &row.market.description.question,
        slug: &'a str = &row.market.description.slug,
        icon: &'a str = &row.market.description.icon,
        event_slug: &'a str = row.market.description.event_slug(),
        outcome: &'a str = row.market.label(row.outcome),
        opposite_outcome: &'a str = row.market.label(row.outcome.opposite()),
        #[schemars(with = "values::Token")]
        opposite_token_id: &'a str = row.market.asset(row.outcome.opposite()),
        name: &'a str = row.profile.name,
        /// URL.
        profile_image: &'a str = row.profile.image,
        /// A date; empty when unknown.
        end_date: &'a str = row.market.end_date(),
        #[serde(with = "values::OutcomeIndex")]
        outcome_index: Outcome = row.outcome,
        /// Catalog event of the market.
        #[schemars(with = "Option<values::Digits>")]
        event_id: Option<String> = row.market.description.event_id().map(|id| id.to_string()),
        /// Unix seconds.
        last_event_at: u64 = row.time.0,
    }
}

const fn status(row: &PositionRow<'_>) -> &'static str {
    match (row.is_closed(), row.redeemable) {
        (true, _) => "CLOSED",
        (false, true) => "REDEEMABLE",
        (false, false) => "OPEN",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read::page::V2List;
    use crate::read::query::parameters::Parameters as _;
    use rstest::rstest;

    const WALLET: &str = "0x0101010101010101010101010101010101010101";

    fn read(text: &str) -> Result<V2PositionsQuery, String> {
        let read = V2List::<V2PositionsQuery>::read_text(Some(text));
        read.map(|list| list.query)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn each_status_has_its_sort() {
        for (status, sort) in [
            ("", PositionSort::Current),
            ("&status=REDEEMABLE_LOST", PositionSort::Current),
            ("&status=MERGEABLE", PositionSort::Tokens),
            ("&status=CLOSED", PositionSort::RealizedPnl),
            ("&status=CLOSED&sort_by=TIMESTAMP", PositionSort::Timestamp),
        ] {
            let wanted = read(&format!("user={WALLET}{status}")).unwrap();
            assert_eq!(wanted.sort(), sort, "{status}");
        }
        let blank = read(&format!("user={WALLET}&title=%20")).unwrap();
        assert_eq!(blank.title(), None);
    }

    #[rstest]
    #[case("", "missing_field: user")]
    #[case("event_id=1", "missing_field: user")]
    #[case(
        "condition_id=1,2",
        "invalid_field: condition_id: several are given, allowed: one without user"
    )]
    #[case(
        "condition_id=1&status=CLOSED",
        "invalid_field: status: 'CLOSED' is not allowed without user, only OPEN and REDEEMABLE are"
    )]
    #[case("condition_id=1&filter_type=CASH", "missing_field: filter_amount")]
    #[case("condition_id=1&filter_amount=1", "missing_field: filter_type")]
    #[case(
        "user=0x0101010101010101010101010101010101010101&status=CLOSED&include_archived=true",
        "invalid_field: include_archived: 'true' is not allowed with status CLOSED, which lists archived markets too"
    )]
    fn a_list_has_an_anchor(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(read(text).unwrap_err(), expected);
    }
}
