//! `GET /v2/positions` (docs/api/data.md §7).

use foretell_model::{ConditionId, Outcome, TimeSeconds, TokenId, WalletAddress};

use crate::data::figures::{PositionFigures, RoundedFigures};
use crate::data::market_fields::MarketNames;
use crate::data::profile::Profile;
use crate::data::read::market_selection::{AssetIds, MarketSelection};
use crate::data::read::page::{DIRECTION, Direction};
use crate::data::read::time_range::TimeRange;
use crate::data::rows::{RowWriter, field};
use crate::data::trades::MinimumFill;
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_V2_TITLE;
use crate::parameters;
use crate::read::family::Family;
use crate::read::text_form::{Characters, FLAG, WALLET, Words};
use crate::text::ids;

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

/// `sort_by`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum V2PositionSort {
    /// `current_value`
    CurrentValue,
    /// `current_price`
    Price,
    /// `current_size`
    Tokens,
    /// `unrealized_pnl`
    UnrealizedPnl,
    /// `realized_pnl`
    RealizedPnl,
    /// `total_pnl`
    TotalPnl,
    /// `last_event_at`
    Timestamp,
}

const SORTS: [(&str, V2PositionSort); 7] = [
    ("CURRENT_VALUE", V2PositionSort::CurrentValue),
    ("PRICE", V2PositionSort::Price),
    ("TOKENS", V2PositionSort::Tokens),
    ("UNREALIZED_PNL", V2PositionSort::UnrealizedPnl),
    ("REALIZED_PNL", V2PositionSort::RealizedPnl),
    ("TOTAL_PNL", V2PositionSort::TotalPnl),
    ("TIMESTAMP", V2PositionSort::Timestamp),
];

parameters! {
    /// Parameters of `GET /v2/positions`.
    pub struct V2PositionsQuery: Data check check {
        /// Wallet address; without one the holders of one market.
        pub user: Option<WalletAddress> = optional(WALLET),
        /// The markets; exactly one without a wallet.
        pub markets: MarketSelection = group(),
        /// Kind of position.
        pub status: PositionStatus = or(Words(&STATUSES), "OPEN"),
        /// Smallest `current_value` or `current_size`.
        pub minimum: Option<MinimumFill> = group(),
        /// Text in the title of the market, in any case.
        pub title: Option<String> = optional(Characters(MAX_V2_TITLE)),
        /// Also open positions in archived markets.
        pub include_archived: bool = or(FLAG, "false"),
        /// Field to sort by; `TOKENS` of `MERGEABLE`, `REALIZED_PNL` of `CLOSED`, else
        /// `CURRENT_VALUE` without it.
        pub sort_by: Option<V2PositionSort> = optional(Words(&SORTS)),
        /// Sort direction.
        pub sort_direction: Direction = or(DIRECTION, "DESC"),
        /// The time of `last_event_at`.
        pub time: TimeRange = group(),
    }
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
    pub fn sort(&self) -> V2PositionSort {
        self.sort_by.unwrap_or(match self.status {
            PositionStatus::Mergeable => V2PositionSort::Tokens,
            PositionStatus::Closed => V2PositionSort::RealizedPnl,
            _ => V2PositionSort::CurrentValue,
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
        use V2PositionSort::{CurrentValue, Price, Tokens};
        matches!(self.sort(), CurrentValue | Price | Tokens) && self.time == TimeRange::default()
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

impl V2PositionSort {
    /// The sort number, rounded as in the answer.
    #[must_use]
    pub fn number(self, figures: &PositionFigures, time: TimeSeconds) -> i128 {
        match self {
            Self::CurrentValue => figures.current_value(),
            Self::Price => figures.cur_price(),
            Self::Tokens => figures.size(),
            Self::UnrealizedPnl => unrealized(figures.lots, figures.cash_pnl()),
            Self::RealizedPnl => figures.realized,
            Self::TotalPnl => figures.realized + unrealized(figures.lots, figures.cash_pnl()),
            Self::Timestamp => time.0.into(),
        }
    }
}

/// `cashPnl` of a closed position is realized.
const fn unrealized(lots: u64, cash_pnl: i128) -> i128 {
    if lots == 0 { 0 } else { cash_pnl }
}

/// An open or closed position.
#[derive(Clone, Copy, Debug)]
pub struct V2PositionRow<'a> {
    /// The wallet.
    pub wallet: WalletAddress,
    /// Its profile.
    pub profile: Profile<'a>,
    /// The market.
    pub condition: ConditionId,
    /// Its tokens, `[Yes, No]`.
    pub tokens: [TokenId; 2],
    /// Its names.
    pub names: MarketNames<'a>,
    /// Its catalog event.
    pub event: Option<u64>,
    /// The token's outcome.
    pub outcome: Outcome,
    /// Its rounded numbers.
    pub shown: RoundedFigures,
    /// Cost of everything bought, in micros.
    pub spent: i128,
    /// The market is resolved and the wallet holds shares.
    pub redeemable: bool,
    /// The wallet holds shares of both outcomes.
    pub mergeable: bool,
    /// The market belongs to a neg-risk event group.
    pub neg_risk: bool,
    /// The catalog's record of the market is archived.
    pub archived: bool,
    /// Time of the last change.
    pub time: TimeSeconds,
}

impl V2PositionRow<'_> {
    /// Adds its row.
    pub fn write(&self, rows: &mut RowWriter) {
        let shown = &self.shown;
        let is_closed = shown.size == 0;
        let unrealized = if is_closed { 0 } else { shown.cash_pnl };
        let status = match (is_closed, self.redeemable) {
            (true, _) => "CLOSED",
            (false, true) => "REDEEMABLE",
            (false, false) => "OPEN",
        };
        let (names, other) = (&self.names, self.outcome.opposite());
        let token = |outcome: Outcome| ids::token_text(&self.tokens[outcome.index()]);
        rows.row(|row| {
            row.wallet(field!("proxy_wallet"), &self.wallet);
            row.text(field!("token_id"), &token(self.outcome));
            row.shown(field!("condition_id"), &self.condition);
            for (name, value) in [
                (field!("current_size"), shown.size),
                (field!("avg_price"), shown.avg_price),
                (field!("entry_cost_usdc"), shown.initial_value),
                // Positions keep no fees.
                (field!("entry_fees_usdc"), 0),
                (field!("total_cost_usdc"), self.spent),
                (field!("current_price"), shown.cur_price),
                (field!("current_value"), shown.current_value),
                (field!("total_size"), shown.total_bought),
                (field!("realized_pnl"), shown.realized_pnl),
                (field!("unrealized_pnl"), unrealized),
                (field!("total_pnl"), shown.realized_pnl + unrealized),
                (field!("percent_pnl"), shown.percent_pnl),
                (field!("percent_realized_pnl"), shown.percent_realized_pnl),
            ] {
                row.millionths(name, value);
            }
            row.text(field!("status"), status);
            for (name, value) in [
                (field!("redeemable"), self.redeemable),
                (field!("mergeable"), self.mergeable),
                (field!("negative_risk"), self.neg_risk),
                (field!("archived"), self.archived),
                (field!("verified"), false),
            ] {
                row.flag(name, value);
            }
            for (name, value) in [
                (field!("title"), names.title),
                (field!("slug"), names.slug),
                (field!("icon"), names.icon),
                (field!("event_slug"), names.event_slug),
                (field!("outcome"), names.outcomes[self.outcome.index()]),
                (field!("opposite_outcome"), names.outcomes[other.index()]),
                (field!("opposite_token_id"), &token(other)),
                (field!("name"), self.profile.name),
                (field!("profile_image"), self.profile.image),
                (field!("end_date"), AssetIds::Token.end_date(names.end_date)),
            ] {
                row.text(name, value);
            }
            row.whole(field!("outcome_index"), self.outcome.code().into());
            match self.event {
                Some(event) => row.shown(field!("event_id"), &event),
                None => row.fields(r#""event_id":null"#),
            }
            row.whole(field!("last_event_at"), self.time.0);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read::page::V2List;
    use crate::read::parameters::Parameters as _;
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
            ("", V2PositionSort::CurrentValue),
            ("&status=REDEEMABLE_LOST", V2PositionSort::CurrentValue),
            ("&status=MERGEABLE", V2PositionSort::Tokens),
            ("&status=CLOSED", V2PositionSort::RealizedPnl),
            (
                "&status=CLOSED&sort_by=TIMESTAMP",
                V2PositionSort::Timestamp,
            ),
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
