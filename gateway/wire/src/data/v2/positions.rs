//! `GET /v2/positions` (docs/api/data.md §7).

use foretell_model::{ConditionId, Outcome, TimeSeconds, TokenId, WalletAddress};

use crate::data::figures::{PositionFigures, RoundedFigures};
use crate::data::market_fields::MarketNames;
use crate::data::profile::Profile;
use crate::data::read::errors::invalid_parameter;
use crate::data::read::market_selection::{AssetIds, MarketSelection};
use crate::data::read::page::Direction;
use crate::data::read::parameters::Parameters;
use crate::data::rows::{RowWriter, field};
use crate::data::trades::{MinimumFill, minimum};
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_V2_TITLE;
use crate::read::query::Query;
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

/// Parameters of `GET /v2/positions` under their names in version 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct V2PositionsQuery {
    /// The wallet; `None` for the holders of one market.
    pub user: Option<WalletAddress>,
    /// Only in these markets; exactly one without a wallet.
    pub markets: MarketSelection,
    /// Default `OPEN`.
    pub status: PositionStatus,
    /// Minimum `current_value` or `current_size`.
    pub minimum: Option<MinimumFill>,
    /// Text that the market's title must contain.
    pub title: Option<String>,
    /// Also open positions in archived markets.
    pub archived: bool,
    /// Default `TOKENS` of `MERGEABLE`, `REALIZED_PNL` of `CLOSED`, else `CURRENT_VALUE`.
    pub sort: V2PositionSort,
    /// Default `DESC`.
    pub direction: Direction,
    /// First and last second of `last_event_at`, inclusive.
    pub time: (Option<u64>, Option<u64>),
}

impl V2PositionsQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter that is unknown, missing or wrong, or that needs a wallet.
    pub fn of(query: &Query<'_>) -> Result<Self, ApiError> {
        let known = [
            "user",
            "market",
            "eventId",
            "status",
            "title",
            "filterType",
            "filterAmount",
            "includeArchived",
            "sortBy",
            "sortDirection",
            "start",
            "end",
        ];
        let parameters = Parameters::of(query, &known)?;
        let status = parameters.choice("status", &STATUSES)?;
        let status = status.unwrap_or(PositionStatus::Open);
        let sort = parameters.choice("sortBy", &SORTS)?;
        let archived = parameters.flag("includeArchived", false)?;
        if archived && status == PositionStatus::Closed {
            let allowed = "allowed with status CLOSED, which lists archived markets too";
            return Err(invalid_parameter("includeArchived", "true", allowed));
        }
        let title = parameters.text("title", MAX_V2_TITLE)?;
        let wanted = Self {
            user: parameters.user()?,
            markets: parameters.selection("eventId")?,
            status,
            minimum: minimum(&parameters)?,
            title: title.filter(|title| !title.trim().is_empty()),
            archived,
            sort: sort.unwrap_or(match status {
                PositionStatus::Mergeable => V2PositionSort::Tokens,
                PositionStatus::Closed => V2PositionSort::RealizedPnl,
                _ => V2PositionSort::CurrentValue,
            }),
            direction: Direction::of(&parameters)?,
            time: parameters.time_range()?,
        };
        wanted.check_anchor()?;
        Ok(wanted)
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
                return Err(ErrorCode::InvalidParameter.with([&"market", &why]));
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
                Err(invalid_parameter("status", name, allowed))
            }
        }
    }

    /// Whether size and price of a position decide about it and its place.
    #[must_use]
    pub fn needs_size_only(&self) -> bool {
        use V2PositionSort::{CurrentValue, Price, Tokens};
        matches!(self.sort, CurrentValue | Price | Tokens) && self.time == (None, None)
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

    /// Whether a position last changed in the time range.
    #[must_use]
    pub fn admits_time(&self, time: TimeSeconds) -> bool {
        let (start, end) = self.time;
        start.is_none_or(|start| time.0 >= start) && end.is_none_or(|end| time.0 <= end)
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
    use rstest::rstest;

    const WALLET: &str = "0x0101010101010101010101010101010101010101";

    fn read(text: &str) -> Result<V2PositionsQuery, String> {
        let query = Query::parse(Some(text)).unwrap();
        V2PositionsQuery::of(&query).map_err(|error| error.to_string())
    }

    #[test]
    fn each_status_has_its_sort() {
        for (status, sort) in [
            ("", V2PositionSort::CurrentValue),
            ("&status=REDEEMABLE_LOST", V2PositionSort::CurrentValue),
            ("&status=MERGEABLE", V2PositionSort::Tokens),
            ("&status=CLOSED", V2PositionSort::RealizedPnl),
            ("&status=CLOSED&sortBy=TIMESTAMP", V2PositionSort::Timestamp),
        ] {
            let wanted = read(&format!("user={WALLET}{status}")).unwrap();
            assert_eq!(wanted.sort, sort, "{status}");
        }
        let blank = read(&format!("user={WALLET}&title=%20")).unwrap();
        assert_eq!(blank.title, None);
    }

    #[rstest]
    #[case("", "missing_field: user")]
    #[case("eventId=1", "missing_field: user")]
    #[case(
        "market=1,2",
        "invalid_field: market: several are given, allowed: one without user"
    )]
    #[case(
        "market=1&status=CLOSED",
        "invalid_field: status: 'CLOSED' is not allowed without user, only OPEN and REDEEMABLE are"
    )]
    #[case("market=1&filterType=CASH", "missing_field: filterAmount")]
    #[case("market=1&filterAmount=1", "missing_field: filterType")]
    #[case(
        "user=0x0101010101010101010101010101010101010101&status=CLOSED&includeArchived=true",
        "invalid_field: includeArchived: 'true' is not allowed with status CLOSED, which lists archived markets too"
    )]
    fn a_list_has_an_anchor(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(read(text).unwrap_err(), expected);
    }
}
