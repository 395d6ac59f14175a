//! Parameters of `GET /trades` and `GET /v2/trades`.

use foretell_model::{Side, WalletAddress};

use crate::data::read::cursor::FrameRow;
use crate::data::read::market_selection::MarketSelection;
use crate::data::read::page::{Listed, V2Listed};
use crate::data::read::time_range::TimeRange;
use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::{PageBounds, TRADES_PAGE};
use crate::parameters;
use crate::read::query::family::Family;
use crate::read::query::parameters::{ParameterSet, Parameters};
use crate::read::query::reader::Reader;
use crate::read::query::text_form::Words;
use crate::values::{FlagText, MicrosText, Wallet};

pub(crate) const SIDE: Words<Side> = Words(&[("BUY", Side::Buy), ("SELL", Side::Sell)]);

parameters! {
    /// Parameters of `GET /trades` and `GET /v2/trades`.
    pub struct FillsQuery: Data {
        /// One row per match, for the taker; else also one row per maker.
        pub taker_only: bool = or(FlagText, "true") as "takerOnly",
        /// The smallest fill.
        pub minimum: Option<MinimumFill> = group(),
        /// The markets.
        pub markets: MarketSelection = group(),
        /// Wallet address.
        pub user: Option<WalletAddress> = optional(Wallet),
        /// Filter by the side of the wallet of the row.
        pub side: Option<Side> = optional(SIDE),
        /// The time.
        pub time: TimeRange = group(),
    }

    struct Minimum: Data {
        /// What the amount is compared with: `CASH` the value, `TOKENS` the shares. Both or neither.
        filter_type: Option<bool> = optional(Words(&[("CASH", true), ("TOKENS", false)])) as "filterType",
        /// Smallest amount to include, with at most 6 decimals.
        filter_amount: Option<u64> = optional(MicrosText) as "filterAmount",
    }
}

impl V2Listed for FillsQuery {
    type Key = FrameRow;
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
