//! `GET /trades`: fills (interface "Trade fill").

use foretell_model::{Lots, Micros, Outcome, Price, Side, TimeSeconds, WalletAddress};

use crate::data::market_fields::MarketText;
use crate::data::profile::WalletText;
use crate::data::read::market_selection::MarketSelection;
use crate::data::read::page::Listed;
use crate::data::read::time_range::TimeRange;
use crate::data::rows::{RowWriter, field};
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::{PageBounds, TRADES_PAGE};
use crate::parameters;
use crate::read::family::Family;
use crate::read::parameters::{ParameterSet, Parameters, Reader};
use crate::read::text_form::{FLAG, MICROS, WALLET, Words};
use crate::text::decimal::Decimal;

pub(crate) const SIDE: Words<Side> = Words(&[("BUY", Side::Buy), ("SELL", Side::Sell)]);

parameters! {
    /// Parameters of `GET /trades` and `GET /v2/trades`.
    pub struct FillsQuery: Data {
        /// One row per match, for the taker; else also one row per maker.
        pub taker_only: bool = or(FLAG, "true") as "takerOnly",
        /// The smallest fill.
        pub minimum: Option<MinimumFill> = group(),
        /// The markets.
        pub markets: MarketSelection = group(),
        /// Wallet address.
        pub user: Option<WalletAddress> = optional(WALLET),
        /// Filter by the side of the wallet of the row.
        pub side: Option<Side> = optional(SIDE),
        /// The time.
        pub time: TimeRange = group(),
    }

    struct Minimum: Data {
        /// Field that the amount is compared with: `CASH` the value, `TOKENS` the shares.
        filter_type: Option<bool> = optional(Words(&[("CASH", true), ("TOKENS", false)])) as "filterType",
        /// Smallest amount to include.
        filter_amount: Option<u64> = optional(MICROS) as "filterAmount",
    }
}

impl Listed for FillsQuery {
    const PAGE: PageBounds = TRADES_PAGE;
}

/// `filterType` and `filterAmount`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MinimumFill {
    /// Minimum `usdcSize` in micros.
    Cash(u64),
    /// Minimum `size` in micro-shares.
    Tokens(u64),
}

impl MinimumFill {
    /// Whether a fill meets the minimum.
    #[must_use]
    pub const fn admits(self, lots: Lots, price: Price) -> bool {
        match self {
            Self::Cash(least) => lots.value_at(price).0 >= least,
            Self::Tokens(least) => lots.micro_shares() >= least,
        }
    }
}

/// A type and an amount need each other.
impl Parameters for Option<MinimumFill> {
    const FAMILY: Family = Family::Data;
    const SET: &'static ParameterSet = Minimum::SET;

    fn take(reader: &Reader<'_>) -> Result<Self, ApiError> {
        let minimum = Minimum::take(reader)?;
        let missing = |index: usize| {
            let name = reader.named(&Minimum::PARAMETERS[index]).name;
            Err(ErrorCode::MissingParameter.with([&name]))
        };
        match (minimum.filter_type, minimum.filter_amount) {
            (None, None) => Ok(None),
            (None, Some(_)) => missing(0),
            (Some(_), None) => missing(1),
            (Some(true), Some(amount)) => Ok(Some(MinimumFill::Cash(amount))),
            (Some(false), Some(amount)) => Ok(Some(MinimumFill::Tokens(amount))),
        }
    }
}

/// A fill from the perspective of one of its two wallets.
#[derive(Clone, Copy, Debug)]
pub struct FillRow<'a> {
    /// The row's wallet.
    pub who: &'a WalletText,
    /// The wallet's side.
    pub side: Side,
    /// The market.
    pub market: &'a MarketText,
    /// The token the wallet traded.
    pub outcome: Outcome,
    /// Size of the fill.
    pub lots: Lots,
    /// Price of that token.
    pub price: Price,
    /// Time of the fill.
    pub time: TimeSeconds,
    /// Receipt of the frame that settled it.
    pub receipt: [u8; 32],
}

impl FillRow<'_> {
    /// Adds its row.
    pub fn write(&self, rows: &mut RowWriter) {
        rows.row(|row| self.fields(row));
    }

    pub(crate) fn fields(&self, row: &mut RowWriter) {
        row.fields(self.who.wallet());
        row.fields(side_field(self.side));
        row.fields(self.market.ids(self.outcome));
        row.number(field!("size"), self.lots.into());
        row.number(field!("price"), self.price.into());
        row.whole(field!("timestamp"), self.time.0);
        row.number(field!("usdcSize"), Decimal::from(self.value()));
        row.fields(self.market.names());
        row.fields(self.market.label(self.outcome));
        row.whole(field!("outcomeIndex"), self.outcome.code().into());
        row.fields(self.who.profile());
        row.receipt(field!("transactionHash"), &self.receipt);
    }

    const fn value(&self) -> Micros {
        self.lots.value_at(self.price)
    }
}

const fn side_field(side: Side) -> &'static str {
    match side {
        Side::Buy => r#""side":"BUY""#,
        Side::Sell => r#""side":"SELL""#,
    }
}
