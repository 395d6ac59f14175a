//! Queries and rows of `GET /rebates/current` (docs/api/orders.md §7) and of the operator's
//! `GET /rebates`.

use jiff::ToSpan as _;
use jiff::civil::Date;
use serde::Serialize;

use foretell_model::{ConditionId, Micros, WalletAddress};

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::parameters;
use crate::schema::JsonSchema;
use crate::values::{self, Wallet, values};

/// The built-in ledger has no token contract.
const NO_CONTRACT: WalletAddress = WalletAddress([0; 20]);

/// A UTC day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UtcDay {
    /// The date.
    pub date: Date,
    /// Days since 1970-01-01.
    pub number: u32,
}

values! {
    UtcDate { reads UtcDay: str { "format": "date" }, "a UTC date, YYYY-MM-DD, from 1970-01-01 on", day_of; }
}

parameters! {
    /// Parameters of `GET /rebates/current`.
    #[derive(Copy)]
    pub struct RebatesQuery: Trading {
        /// The UTC day.
        pub day: UtcDay = required(UtcDate) as "date",
        /// The maker's wallet.
        pub maker: WalletAddress = required(Wallet) as "maker_address",
    }

    /// Parameters of the operator's `GET /rebates`.
    #[derive(Copy)]
    pub struct RebateTotalsQuery: Trading {
        /// The UTC day; one before the last 35 needs `maker_address`.
        pub day: UtcDay = required(UtcDate) as "date",
        /// The maker's wallet; all makers by default.
        pub maker: Option<WalletAddress> = optional(Wallet) as "maker_address",
    }
}

impl RebateTotalsQuery {
    /// The error of a day whose sums of markets are forgotten.
    #[must_use]
    pub fn forgotten(&self, oldest: u32) -> ApiError {
        let oldest = Date::constant(1970, 1, 1).saturating_add(i64::from(oldest).days());
        let allowed = format!("{oldest} or later without maker_address");
        let values = vec!["date".to_owned(), format!("'{}'", self.day.date), allowed];
        ApiError::new(ErrorCode::InvalidField, values)
    }
}

/// What makers accrued on a day: of one wallet or of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RebateTotals {
    /// The day.
    #[serde(with = "values::Day")]
    pub date: Date,
    /// The sum of the markets, in collateral.
    #[serde(with = "values::Amount")]
    pub total: Micros,
    /// By market, in order of registration.
    pub markets: Vec<MarketRebates>,
}

/// What makers accrued in a market on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MarketRebates {
    /// The market.
    #[serde(with = "values::Hash")]
    pub condition_id: ConditionId,
    /// Its question.
    pub question: String,
    /// The amount, in collateral.
    #[serde(with = "values::Amount")]
    pub rebates: Micros,
}

fn day_of(text: &str) -> Option<UtcDay> {
    let date = (text.len() == 10).then(|| text.parse::<Date>().ok())??;
    let epoch = Date::constant(1970, 1, 1);
    let number = u32::try_from(date.since(epoch).ok()?.get_days()).ok()?;
    Some(UtcDay { date, number })
}

/// What a maker accrued in a market on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RebatedFees {
    /// The day.
    #[serde(with = "values::Day")]
    pub date: Date,
    /// The market.
    #[serde(rename = "condition_id", with = "values::Hash")]
    pub condition: ConditionId,
    /// Zero: collateral has no contract.
    #[serde(rename = "asset_address", with = "values::Address")]
    asset: WalletAddress,
    /// The maker's wallet.
    #[serde(rename = "maker_address", with = "values::Address")]
    pub maker: WalletAddress,
    /// The amount, in collateral.
    #[serde(rename = "rebated_fees_usdc", with = "values::Amount")]
    pub amount: Micros,
}

impl RebatedFees {
    /// A row of the answer to a query.
    #[must_use]
    pub const fn new(of: &RebatesQuery, condition: ConditionId, amount: Micros) -> Self {
        Self {
            date: of.day.date,
            condition,
            asset: NO_CONTRACT,
            maker: of.maker,
            amount,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::query::parameters::Parameters as _;
    use rstest::rstest;

    const MAKER: &str = "0x1111111111111111111111111111111111111111";

    fn read(text: &str) -> Result<RebatesQuery, ApiError> {
        RebatesQuery::read_text(Some(text))
    }

    #[test]
    fn a_row_has_the_fields_of_the_family() {
        let query = read(&format!("date=2026-02-27&maker_address={MAKER}")).unwrap();
        assert_eq!(query.day.number, 20_511);
        let row = RebatedFees::new(&query, ConditionId([2; 32]), Micros(237_519));
        assert_eq!(
            crate::json_text(&row),
            format!(
                r#"{{"date":"2026-02-27","condition_id":"0x{}","asset_address":"0x{}","maker_address":"{MAKER}","rebated_fees_usdc":"0.237519"}}"#,
                "02".repeat(32),
                "00".repeat(20),
            )
        );
    }

    #[rstest]
    #[case("", "date is missing")]
    #[case("date=2026-02-30", "date is '2026-02-30'")]
    #[case("date=26-02-01", "date is '26-02-01'")]
    #[case("date=1969-12-31", "date is '1969-12-31'")]
    #[case("date=2026-02-27", "maker_address is missing")]
    #[case("date=2026-02-27&maker_address=0x1", "maker_address is '0x1'")]
    fn both_parameters_are_needed(#[case] query: &str, #[case] text: &str) {
        let refused = read(query).unwrap_err().text();
        assert!(refused.starts_with(text), "{refused}");
    }
}
