//! Queries and rows of `GET /rebates/current` (docs/api/orders.md §7) and of the operator's
//! `GET /rebates`.

use jiff::ToSpan as _;
use jiff::civil::Date;
use serde::{Serialize, Serializer};

use foretell_model::{ConditionId, Micros, WalletAddress};

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::read::query::Query;
use crate::text::decimal;
use crate::text::ids;

/// The built-in ledger has no token contract.
const NO_CONTRACT: WalletAddress = WalletAddress([0; 20]);
const DATE_ALLOWED: &str = "a UTC date, YYYY-MM-DD, from 1970-01-01 on";
const WALLET_ALLOWED: &str = "an address, 0x and 40 hex digits";

/// Parameters of `GET /rebates/current`; both are required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RebatesQuery {
    /// The UTC day.
    pub date: Date,
    /// The same in days since 1970-01-01.
    pub day: u32,
    /// The maker's wallet.
    pub maker: WalletAddress,
}

impl RebatesQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter that is missing, repeated or malformed.
    pub fn of(query: &Query<'_>) -> Result<Self, ApiError> {
        let date = required_date(query)?;
        let maker = query.wallet("maker_address")?;
        Ok(Self {
            date: date.0,
            day: date.1,
            maker: maker.ok_or_else(|| FieldError::missing("maker_address", WALLET_ALLOWED))?,
        })
    }
}

/// Parameters of the operator's `GET /rebates`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RebateTotalsQuery {
    /// The UTC day.
    pub date: Date,
    /// The same in days since 1970-01-01.
    pub day: u32,
    /// The maker's wallet; all makers by default.
    pub maker: Option<WalletAddress>,
}

impl RebateTotalsQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter that is missing, repeated or malformed.
    pub fn of(query: &Query<'_>) -> Result<Self, ApiError> {
        let (date, day) = required_date(query)?;
        let maker = query.wallet("maker_address")?;
        Ok(Self { date, day, maker })
    }

    /// The error of a day whose sums of markets are forgotten.
    #[must_use]
    pub fn forgotten(&self, oldest: u32) -> ApiError {
        let oldest = Date::constant(1970, 1, 1).saturating_add(i64::from(oldest).days());
        let allowed = format!("{oldest} or later without maker_address");
        let values = vec!["date".to_owned(), format!("'{}'", self.date), allowed];
        ApiError::new(ErrorCode::InvalidField, values)
    }
}

/// What makers accrued on a day: of one wallet or of all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RebateTotals {
    /// The day.
    #[serde(serialize_with = "date_text")]
    pub date: Date,
    /// The sum of the markets, in collateral.
    #[serde(serialize_with = "decimal::as_text")]
    pub total: Micros,
    /// By market, in order of registration.
    pub markets: Vec<MarketRebates>,
}

/// What makers accrued in a market on a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MarketRebates {
    /// The market.
    #[serde(serialize_with = "ids::shown")]
    pub condition_id: ConditionId,
    /// Its question.
    pub question: String,
    /// The amount, in collateral.
    #[serde(serialize_with = "decimal::as_text")]
    pub rebates: Micros,
}

/// The parameter `date`, also in days since 1970-01-01.
fn required_date(query: &Query<'_>) -> Result<(Date, u32), ApiError> {
    let date = query.one("date")?;
    let text = date.ok_or_else(|| FieldError::missing("date", DATE_ALLOWED))?;
    Ok(date_of(text).ok_or_else(|| FieldError::wrong("date", text, DATE_ALLOWED))?)
}

fn date_of(text: &str) -> Option<(Date, u32)> {
    let date = (text.len() == 10).then(|| text.parse::<Date>().ok())??;
    let epoch = Date::constant(1970, 1, 1);
    let days = date.since(epoch).ok()?.get_days();
    Some((date, u32::try_from(days).ok()?))
}

/// What a maker accrued in a market on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RebatedFees {
    /// The day.
    #[serde(serialize_with = "date_text")]
    pub date: Date,
    /// The market.
    #[serde(rename = "condition_id", serialize_with = "ids::shown")]
    pub condition: ConditionId,
    #[serde(rename = "asset_address", serialize_with = "ids::shown")]
    asset: WalletAddress,
    /// The maker's wallet.
    #[serde(rename = "maker_address", serialize_with = "ids::shown")]
    pub maker: WalletAddress,
    /// The amount, in collateral.
    #[serde(rename = "rebated_fees_usdc", serialize_with = "decimal::as_text")]
    pub amount: Micros,
}

impl RebatedFees {
    /// A row of the answer to a query.
    #[must_use]
    pub const fn new(of: &RebatesQuery, condition: ConditionId, amount: Micros) -> Self {
        Self {
            date: of.date,
            condition,
            asset: NO_CONTRACT,
            maker: of.maker,
            amount,
        }
    }
}

fn date_text<S: Serializer>(date: &Date, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(date)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const MAKER: &str = "0x1111111111111111111111111111111111111111";

    fn read(text: &str) -> Result<RebatesQuery, ApiError> {
        RebatesQuery::of(&Query::parse(Some(text)).unwrap())
    }

    #[test]
    fn a_row_has_the_fields_of_the_family() {
        let query = read(&format!("date=2026-02-27&maker_address={MAKER}")).unwrap();
        assert_eq!(query.day, 20_511);
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
