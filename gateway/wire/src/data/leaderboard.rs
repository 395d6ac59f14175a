//! `GET /v1/leaderboard`: wallets by realized profit or volume (docs/api/data.md §5).

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use foretell_model::WalletAddress;

use crate::data::profile::Profile;
use crate::data::read::page::LimitOffset;
use crate::data::read::parameters::Parameters;
use crate::data::rows::{RowWriter, field};
use crate::data::v2::{Renames, V2Query};
use crate::limits::LEADERBOARD_PAGE;
use crate::read::query::Query;
use crate::text::decimal::Decimal;

/// `timePeriod`: UTC days, the current one included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TimePeriod {
    /// The current day.
    Day,
    /// 7 days.
    Week,
    /// 30 days.
    Month,
    /// Ever; of volumes by day all that are kept.
    All,
}

const PERIODS: [(&str, TimePeriod); 8] = [
    ("DAY", TimePeriod::Day),
    ("WEEK", TimePeriod::Week),
    ("MONTH", TimePeriod::Month),
    ("ALL", TimePeriod::All),
    ("day", TimePeriod::Day),
    ("week", TimePeriod::Week),
    ("month", TimePeriod::Month),
    ("all", TimePeriod::All),
];

impl TimePeriod {
    /// Its number of days; `None` = ever.
    #[must_use]
    pub const fn days(self) -> Option<u32> {
        match self {
            Self::Day => Some(1),
            Self::Week => Some(7),
            Self::Month => Some(30),
            Self::All => None,
        }
    }

    pub(crate) fn of(parameters: &Parameters<'_>) -> Result<Self, ApiError> {
        Self::named(parameters, "timePeriod")
    }

    pub(crate) fn named(parameters: &Parameters<'_>, name: &'static str) -> Result<Self, ApiError> {
        let given = parameters.choice(name, &PERIODS)?;
        Ok(given.unwrap_or(Self::Day))
    }
}

/// `orderBy`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeaderboardSort {
    /// `pnl`
    Profit,
    /// `vol`
    Volume,
    /// `volume` of version 2.
    Shares,
}

/// Parameters of `GET /v1/leaderboard`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeaderboardQuery {
    /// Default `DAY`.
    pub period: TimePeriod,
    /// Default `PNL`.
    pub sort: LeaderboardSort,
    /// Only this wallet.
    pub user: Option<WalletAddress>,
    /// Only wallets with this public profile name, in any case.
    pub name: Option<String>,
    /// `limit` 0 to 50, default 25; `offset` 0 to 1,000, default 0.
    pub page: LimitOffset,
}

impl LeaderboardQuery {
    /// Reads the parameters. `category` accepts `OVERALL` only: sums are kept for all markets
    /// together.
    ///
    /// # Errors
    /// A parameter that is unknown or wrong.
    pub fn of(query: &Query<'_>) -> Result<Self, ApiError> {
        let known = [
            "category",
            "timePeriod",
            "orderBy",
            "user",
            "userName",
            "limit",
            "offset",
        ];
        let parameters = Parameters::of(query, &known)?;
        parameters.choice("category", &[("OVERALL", ()), ("overall", ())])?;
        let sort = parameters.choice(
            "orderBy",
            &[
                ("PNL", LeaderboardSort::Profit),
                ("VOL", LeaderboardSort::Volume),
            ],
        )?;
        Ok(Self {
            period: TimePeriod::of(&parameters)?,
            sort: sort.unwrap_or(LeaderboardSort::Profit),
            user: parameters.user()?,
            name: parameters.name("userName")?,
            page: LimitOffset::of(&parameters, LEADERBOARD_PAGE)?,
        })
    }
}

impl LeaderboardQuery {
    /// Reads the parameters of `GET /v2/leaderboard`.
    ///
    /// # Errors
    /// A parameter that is unknown or wrong.
    pub fn v2(query: &Query<'_>) -> Result<Self, ApiError> {
        let page = V2Query::paged(query, V2_LEADERBOARD)?.page;
        let parameters = Parameters::of(query, V2_LEADERBOARD_NAMES)?;
        parameters.choice("category", &[("OVERALL", ()), ("overall", ())])?;
        let sort = parameters.choice(
            "sort_by",
            &[
                ("PNL", LeaderboardSort::Profit),
                ("VOLUME", LeaderboardSort::Shares),
            ],
        )?;
        let user = parameters.user()?;
        for field in ["sort_by", "limit", "cursor"] {
            if user.is_some() && query.one(field)?.is_some() {
                let why = "user is given too, whose ranks are in one answer";
                return Err(ErrorCode::InvalidParameter.with([&field, &why]));
            }
        }
        Ok(Self {
            period: TimePeriod::named(&parameters, "time_period")?,
            sort: sort.unwrap_or(LeaderboardSort::Profit),
            user,
            name: None,
            page,
        })
    }
}

/// Parameters of `GET /v2/leaderboard`; they have no other names.
const V2_LEADERBOARD_NAMES: &[&str] = &[
    "category",
    "time_period",
    "sort_by",
    "user",
    "limit",
    "cursor",
];
const V2_LEADERBOARD: Renames = &[
    ("category", "category"),
    ("time_period", "time_period"),
    ("sort_by", "sort_by"),
    ("user", "user"),
];

/// A ranked wallet.
#[derive(Clone, Copy, Debug)]
pub struct LeaderboardRow<'a> {
    /// From 1, among all wallets.
    pub rank: u64,
    /// The wallet.
    pub wallet: WalletAddress,
    /// Its profile.
    pub profile: Profile<'a>,
    /// Value of its fills in micros.
    pub volume: u64,
    /// Lots of its fills.
    pub lots: u64,
    /// Realized profit in micros.
    pub profit: i64,
}

impl LeaderboardRow<'_> {
    /// Adds its row.
    pub fn write(&self, rows: &mut RowWriter) {
        rows.row(|row| {
            row.shown(field!("rank"), &self.rank);
            row.wallet(field!("proxyWallet"), &self.wallet);
            row.text(field!("userName"), self.profile.name);
            row.millionths(field!("vol"), self.volume.into());
            row.millionths(field!("pnl"), self.profit.into());
            row.text(field!("profileImage"), self.profile.image);
            row.text(field!("xUsername"), "");
            row.flag(field!("verifiedBadge"), false);
        });
    }

    /// Adds its row of version 2.
    pub fn write_v2(&self, rows: &mut RowWriter) {
        rows.row(|row| {
            row.whole(field!("rank"), self.rank);
            self.sums_v2(row);
        });
    }

    /// Adds its row of version 2 without a list: with its ranks by profit and by volume.
    pub fn write_standing(&self, rows: &mut RowWriter, [by_profit, by_volume]: [u64; 2]) {
        rows.row(|row| {
            row.whole(field!("rank_pnl"), by_profit);
            row.whole(field!("rank_volume"), by_volume);
            self.sums_v2(row);
        });
    }

    fn sums_v2(&self, row: &mut RowWriter) {
        row.wallet(field!("user_id"), &self.wallet);
        row.millionths(field!("pnl"), self.profit.into());
        row.number(field!("volume"), shares(self.lots));
        row.text(field!("user_name"), self.profile.name);
        row.text(field!("profile_image"), self.profile.image);
        row.text(field!("x_username"), "");
        row.flag(field!("verified"), false);
    }
}

/// Shares of a sum of lots.
pub(crate) fn shares(lots: u64) -> Decimal {
    Decimal::new(lots.into(), 2)
}
