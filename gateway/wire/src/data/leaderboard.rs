//! `GET /v1/leaderboard`: wallets by realized profit or volume (docs/api/data.md §5).

use serde::Serialize;

use foretell_model::{Lots, Micros, WalletAddress};

use crate::data::profile::Profile;
use crate::data::read::cursor::RankKey;
use crate::data::read::page::{CURSOR, LIMIT, Listed, V2Listed};
use crate::data::rows::view::{V2Answer, V2Page, view};
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::{LEADERBOARD_PAGE, MAX_TITLE, PageBounds};
use crate::parameters;
use crate::read::query::parameter::Parameter;
use crate::read::query::reader::Reader;
use crate::read::query::text_form::{Characters, Words};
use crate::schema::JsonSchema;
use crate::text::decimal::{Millionths, Number};
use crate::values::{self, Wallet};

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

pub(crate) const PERIOD: Words<TimePeriod> = Words(&PERIODS);
/// Sums are kept for all markets together.
const CATEGORY: Words<()> = Words(&[("OVERALL", ()), ("overall", ())]);

parameters! {
    /// Parameters of `GET /v1/leaderboard`.
    pub struct LeaderboardQuery: Data {
        /// No effect: the one category is all markets.
        pub category: () = or(CATEGORY, "OVERALL"),
        /// UTC days, the current one included.
        pub period: TimePeriod = or(PERIOD, "DAY") as "timePeriod",
        /// Field to rank by.
        pub sort: LeaderboardSort = or(
            Words(&[("PNL", LeaderboardSort::Profit), ("VOL", LeaderboardSort::Volume)]), "PNL"
        ) as "orderBy",
        /// Wallet address.
        pub user: Option<WalletAddress> = optional(Wallet),
        /// Public name of a profile, in any case.
        pub name: Option<String> = optional(Characters(MAX_TITLE)) as "userName",
    }

    /// Parameters of `GET /v2/leaderboard`.
    #[derive(Copy)]
    pub struct V2LeaderboardQuery: Data check_page check_user {
        /// No effect: the one category is all markets.
        pub category: () = or(CATEGORY, "OVERALL"),
        /// UTC days, the current one included.
        pub time_period: TimePeriod = or(PERIOD, "DAY"),
        /// Field to rank by.
        pub sort_by: LeaderboardSort = or(
            Words(&[("PNL", LeaderboardSort::Profit), ("VOLUME", LeaderboardSort::Shares)]), "PNL"
        ),
        /// Wallet address: its ranks in place of a list; not with `sort_by`, `limit` and `cursor`.
        pub user: Option<WalletAddress> = optional(Wallet),
    }
}

impl V2LeaderboardQuery {
    /// Refuses `sort_by`, `limit` and `cursor` beside `user`: a wallet's ranks are one answer.
    fn check_user(&self, reader: &Reader<'_>, _: usize) -> Result<(), ApiError> {
        for parameter in [Parameter::new("sort_by", ""), LIMIT, CURSOR] {
            if self.user.is_some() && reader.text(&parameter)?.is_some() {
                let why = "user is given too, whose ranks are in one answer";
                return Err(ErrorCode::InvalidParameter.with([&parameter.name, &why]));
            }
        }
        Ok(())
    }
}

impl From<V2LeaderboardQuery> for LeaderboardQuery {
    fn from(query: V2LeaderboardQuery) -> Self {
        Self {
            category: (),
            period: query.time_period,
            sort: query.sort_by,
            user: query.user,
            name: None,
        }
    }
}

impl V2Listed for V2LeaderboardQuery {
    type Key = RankKey;
}

impl Listed for LeaderboardQuery {
    const PAGE: PageBounds = LEADERBOARD_PAGE;
}

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
    /// Its ranks by profit and by volume, in version 2 of a wallet that is asked for.
    pub ranks: Option<[u64; 2]>,
}

view! {
    /// A row of `GET /v1/leaderboard`.
    LeaderboardV1 of LeaderboardRow<'a>, row, "camelCase" {
        #[serde(with = "values::Digits")]
        rank: u64 = row.rank,
        #[serde(with = "values::Address")]
        proxy_wallet: WalletAddress = row.wallet,
        /// Public name, or empty.
        user_name: &'a str = row.profile.name,
        /// Value of the wallet's fills.
        vol: Number = Micros(row.volume).into(),
        /// Realized profit, less fees.
        pnl: Millionths = Millionths(row.profit.into()),
        /// URL.
        profile_image: &'a str = row.profile.image,
        #[serde(rename = "xUsername")]
        x_username: &'static str = "",
        verified_badge: bool = false,
    }
}

/// Answer of `GET /v2/leaderboard`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum V2Leaderboard<'a> {
    /// A page.
    Page(V2Page<LeaderboardV2<'a>>),
    /// With `user`: that wallet; `None` = it has no rank.
    Wallet(V2Answer<Option<LeaderboardV2<'a>>>),
}

view! {
    /// A row of `GET /v2/leaderboard`; of one wallet with its ranks by profit and by volume.
    LeaderboardV2 of LeaderboardRow<'a>, row, "snake_case" {
        #[serde(skip_serializing_if = "Option::is_none")]
        rank: Option<u64> = row.ranks.is_none().then_some(row.rank),
        #[serde(skip_serializing_if = "Option::is_none")]
        rank_pnl: Option<u64> = row.ranks.map(|[by_profit, _]| by_profit),
        #[serde(skip_serializing_if = "Option::is_none")]
        rank_volume: Option<u64> = row.ranks.map(|[_, by_volume]| by_volume),
        #[serde(with = "values::Address")]
        user_id: WalletAddress = row.wallet,
        /// Realized profit, less fees.
        pnl: Millionths = Millionths(row.profit.into()),
        /// Shares.
        volume: Number = Lots(row.lots).into(),
        /// Public name, or empty.
        user_name: &'a str = row.profile.name,
        /// URL.
        profile_image: &'a str = row.profile.image,
        x_username: &'static str = "",
        verified: bool = false,
    }
}
