//! `GET /v1/builders/leaderboard` and `/v1/builders/volume` (docs/api/data.md §5).

use foretell_model::{TimeNs, WalletAddress};

use crate::data::error::DataError;
use crate::data::leaderboard::TimePeriod;
use crate::data::page::LimitOffset;
use crate::data::parameters::Parameters;
use crate::data::profile::Profile;
use crate::data::rows::{RowWriter, field};
use crate::ids;
use crate::limits::LEADERBOARD_PAGE;
use crate::query::Query;
use crate::time;

/// Parameters of `GET /v1/builders/leaderboard`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuildersQuery {
    /// Default `DAY`.
    pub period: TimePeriod,
    /// `limit` 0 to 50, default 25; `offset` 0 to 1,000, default 0.
    pub page: LimitOffset,
}

/// Parameters of `GET /v1/builders/volume`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BuilderVolumeQuery {
    /// Default `DAY`.
    pub period: TimePeriod,
}

impl BuildersQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter that is unknown or wrong.
    pub fn of(query: &Query<'_>) -> Result<Self, DataError> {
        let parameters = Parameters::of(query, &["timePeriod", "limit", "offset"])?;
        Ok(Self {
            period: TimePeriod::of(&parameters)?,
            page: LimitOffset::of(&parameters, LEADERBOARD_PAGE)?,
        })
    }
}

impl BuilderVolumeQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter that is unknown or wrong.
    pub fn of(query: &Query<'_>) -> Result<Self, DataError> {
        let parameters = Parameters::of(query, &["timePeriod"])?;
        Ok(Self {
            period: TimePeriod::of(&parameters)?,
        })
    }
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
    /// Number of wallets with such a fill.
    pub users: u32,
    /// The day in days since 1970-01-01, in a list by day.
    pub day: Option<u32>,
}

impl BuilderRow<'_> {
    /// Adds its row.
    pub fn write(&self, rows: &mut RowWriter) {
        let code = ids::hex_text(&self.code);
        let name = match self.profile.name {
            "" => &code,
            name => name,
        };
        rows.row(|row| {
            if let Some(day) = self.day {
                row.shown(field!("dt"), &format_args!("{}T00:00:00Z", date(day)));
            }
            row.shown(field!("rank"), &self.rank);
            row.text(field!("builder"), name);
            row.text(field!("builderCode"), &code);
            row.millionths(field!("volume"), self.volume.into());
            row.whole(field!("activeUsers"), self.users.into());
            row.flag(field!("verified"), false);
            row.text(field!("builderLogo"), self.profile.image);
        });
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
