//! `GET /trades`: fills (interface "Trade fill").

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use foretell_model::{Lots, Micros, Outcome, Price, Side, TimeSeconds, WalletAddress};

use crate::data::market_fields::MarketText;
use crate::data::profile::WalletText;
use crate::data::read::market_selection::MarketSelection;
use crate::data::read::page::LimitOffset;
use crate::data::read::parameters::Parameters;
use crate::data::rows::{RowWriter, field};
use crate::limits::TRADES_PAGE;
use crate::read::query::Query;
use crate::text::decimal::Decimal;

/// Parameters of `GET /trades`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FillsQuery {
    /// `limit` 0 to 10,000, default 100; `offset` 0 to 10,000, default 0.
    pub page: LimitOffset,
    /// One row per match, for the taker only; else also one row per maker. Default true.
    pub taker_only: bool,
    /// The minimum fill.
    pub minimum: Option<MinimumFill>,
    /// Only these markets.
    pub markets: MarketSelection,
    /// Only fills of this wallet.
    pub user: Option<WalletAddress>,
    /// Only buys, or only sells, of the row's wallet.
    pub side: Option<Side>,
    /// First second, inclusive.
    pub start: Option<u64>,
    /// Last second, inclusive.
    pub end: Option<u64>,
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

impl FillsQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter that is unknown, missing or wrong.
    pub fn of(query: &Query<'_>) -> Result<Self, ApiError> {
        let known = [
            "limit",
            "offset",
            "takerOnly",
            "filterType",
            "filterAmount",
            "market",
            "eventId",
            "user",
            "side",
            "start",
            "end",
        ];
        let parameters = Parameters::of(query, &known)?;
        let (start, end) = parameters.time_range()?;
        Ok(Self {
            page: LimitOffset::of(&parameters, TRADES_PAGE)?,
            taker_only: parameters.flag("takerOnly", true)?,
            minimum: minimum(&parameters)?,
            markets: parameters.selection("eventId")?,
            user: parameters.user()?,
            side: side(&parameters)?,
            start,
            end,
        })
    }
}

/// A type and an amount need each other.
pub(crate) fn minimum(parameters: &Parameters<'_>) -> Result<Option<MinimumFill>, ApiError> {
    let is_cash = parameters.choice("filterType", &[("CASH", true), ("TOKENS", false)])?;
    let amount = parameters.micros("filterAmount")?;
    match (is_cash, amount) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(ErrorCode::MissingParameter.with([&"filterType"])),
        (Some(_), None) => Err(ErrorCode::MissingParameter.with([&"filterAmount"])),
        (Some(true), Some(amount)) => Ok(Some(MinimumFill::Cash(amount))),
        (Some(false), Some(amount)) => Ok(Some(MinimumFill::Tokens(amount))),
    }
}

pub(crate) fn side(parameters: &Parameters<'_>) -> Result<Option<Side>, ApiError> {
    parameters.choice("side", &[("BUY", Side::Buy), ("SELL", Side::Sell)])
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
