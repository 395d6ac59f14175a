//! `GET /v1/builders/leaderboard` and `/v1/builders/volume` (docs/api/data.md §5).

use std::borrow::Cow;

use foretell_model::{Lots, Micros, TimeNs, WalletAddress};

use crate::data::leaderboard::{PERIOD, TimePeriod};
use crate::data::profile::Profile;
use crate::data::read::cursor::RankKey;
use crate::data::read::page::{Listed, V2Listed};
use crate::data::rows::view::view;
use crate::limits::{LEADERBOARD_PAGE, MAX_V2_DAYS, PageBounds};
use crate::parameters;
use crate::read::query::text_form::{Rows, Whole, Words};
use crate::text::decimal::Number;
use crate::text::ids;
use crate::text::time;
use crate::values;

parameters! {
    /// Parameters of `GET /v1/builders/leaderboard`, its version 2, and `GET /v1/builders/volume`.
    #[derive(Copy)]
    pub struct BuildersQuery: Data {
        /// UTC days, the current one included.
        pub time_period: TimePeriod = or(PERIOD, "DAY") as "timePeriod",
    }

    /// Parameters of `GET /v2/builders/volume`.
    #[derive(Copy)]
    pub struct BuilderDaysQuery: Data {
        /// Period that a row covers; only `day`.
        pub interval: () = or(Words(&[("day", ())]), "day"),
        /// Number of days, which end today.
        pub limit: usize = or(Rows(Whole(1, MAX_V2_DAYS)), "30"),
    }
}

impl V2Listed for BuildersQuery {
    type Key = RankKey;
}

impl Listed for BuildersQuery {
    const PAGE: PageBounds = LEADERBOARD_PAGE;
}

/// The wallet of a builder code, which is left-padded with zeros; `None` for any other code.
#[must_use]
pub fn builder_wallet(code: &[u8; 32]) -> Option<WalletAddress> {
    let (padding, wallet) = code.split_at(12);
    let is_wallet = padding.iter().all(|byte| *byte == 0);
    let wallet = <[u8; 20]>::try_from(wallet).ok()?;
    is_wallet.then_some(WalletAddress(wallet))
}

/// A ranked builder, of a period or of one day.
#[derive(Clone, Copy, Debug)]
pub struct BuilderRow<'a> {
    /// From 1.
    pub rank: u64,
    /// Its code.
    pub code: [u8; 32],
    /// The profile of its wallet.
    pub profile: Profile<'a>,
    /// Value of the fills of its orders in micros.
    pub volume: u64,
    /// Lots of these fills.
    pub lots: u64,
    /// Number of wallets with such a fill.
    pub users: u32,
    /// The day in days since 1970-01-01, in a list by day.
    pub day: Option<u32>,
}

impl<'a> BuilderRow<'a> {
    fn name(&self) -> Cow<'a, str> {
        match self.profile.name {
            "" => ids::hex_text(&self.code).into(),
            name => name.into(),
        }
    }
}

view! {
    /// A row of `GET /v1/builders/leaderboard` and `GET /v1/builders/volume`.
    BuilderV1 of BuilderRow<'a>, row, "camelCase" {
        /// Start of the UTC day, in lists by day.
        #[serde(skip_serializing_if = "Option::is_none")]
        dt: Option<String> = row.day.map(|day| date(day) + "T00:00:00Z"),
        #[serde(with = "values::Digits")]
        rank: u64 = row.rank,
        /// Public name of the builder's wallet, or its code.
        builder: Cow<'a, str> = row.name(),
        #[serde(with = "values::Bytes")]
        builder_code: [u8; 32] = row.code,
        /// Value of the fills of its orders.
        volume: Number = Micros(row.volume).into(),
        /// Wallets with such a fill.
        active_users: u32 = row.users,
        verified: bool = false,
        /// URL.
        builder_logo: &'a str = row.profile.image,
    }
}

view! {
    /// A row of `GET /v2/builders/leaderboard` and `GET /v2/builders/volume`.
    BuilderV2 of BuilderRow<'a>, row, "snake_case" {
        /// The UTC day, in lists by day.
        #[serde(skip_serializing_if = "Option::is_none")]
        date: Option<String> = row.day.map(date),
        rank: u64 = row.rank,
        /// Public name of the builder's wallet, or its code.
        builder_name: Cow<'a, str> = row.name(),
        #[serde(with = "values::Bytes")]
        builder_code: [u8; 32] = row.code,
        /// URL.
        profile_image: &'a str = row.profile.image,
        verified: bool = false,
        /// Shares.
        volume: Number = Lots(row.lots).into(),
        /// Wallets with such a fill.
        active_users: u32 = row.users,
    }
}

/// `2026-05-17`, from days since 1970-01-01.
fn date(day: u32) -> String {
    const DAY_NS: u64 = 86_400 * 1_000_000_000;
    let mut text = time::iso(TimeNs(u64::from(day).saturating_mul(DAY_NS)));
    text.truncate("2026-05-17".len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_padded_wallet_names_its_builder() {
        let mut code = [0; 32];
        code[12..].fill(7);
        assert_eq!(builder_wallet(&code), Some(WalletAddress([7; 20])));
        assert_eq!(date(20_000), "2024-10-04");
        code[0] = 1;
        assert_eq!(builder_wallet(&code), None);
    }
}
