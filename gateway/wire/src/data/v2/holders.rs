//! `GET /v2/holders` (docs/api/data.md §7).

use std::borrow::Cow;

use foretell_model::{Outcome, WalletAddress};
use serde::Serialize;

use crate::data::holders::HolderRow;
use crate::data::read::cursor::HolderKey;
use crate::data::read::market_selection::{MarketName, MarketRef};
use crate::data::read::page::V2Listed;
use crate::data::rows::figures::RoundedFigures;
use crate::data::rows::view::view;
use crate::errors::api_error::ApiError;
use crate::limits::{MAX_V2_HOLDER_MARKETS, MAX_V2_PROFIT_HOLDERS};
use crate::parameters;
use crate::read::query::family::Family;
use crate::read::query::reader::Reader;
use crate::schema::JsonSchema;
use crate::text::decimal::{Millionths, Number};
use crate::values::{self, FlagText, MicrosText};

parameters! {
    /// Parameters of `GET /v2/holders`.
    pub struct V2HoldersQuery: Data check_page check_profits {
        /// Markets: condition ids, assets or decimal token ids; one with `include_pnl`.
        pub condition_id: Vec<MarketRef> = required_list(MarketName, MAX_V2_HOLDER_MARKETS) v2 "condition",
        /// Smallest balance to include, in shares.
        pub min_balance: u64 = or(MicrosText, "0"),
        /// Add cost and profit of each holder; then `limit` is at most 100.
        pub include_pnl: bool = or(FlagText, "false"),
    }
}

impl V2Listed for V2HoldersQuery {
    type Key = Vec<HolderKey>;
}

impl V2HoldersQuery {
    /// Allows `include_pnl` for one market and at most [`MAX_V2_PROFIT_HOLDERS`] holders.
    fn check_profits(&self, _: &Reader<'_>, limit: usize) -> Result<(), ApiError> {
        if self.include_pnl && self.condition_id.len() > 1 {
            let allowed = "allowed with several markets";
            return Err(Family::Data.wrong("include_pnl", "true", allowed));
        }
        if self.include_pnl && limit > MAX_V2_PROFIT_HOLDERS {
            let allowed = format!("an integer from 1 to {MAX_V2_PROFIT_HOLDERS} with include_pnl");
            return Err(Family::Data.wrong("limit", &limit.to_string(), &allowed));
        }
        Ok(())
    }
}

view! {
    /// A holder of `GET /v2/holders`.
    HolderV2 of HolderRow<'a>, row, "snake_case" {
        #[serde(with = "values::Address")]
        proxy_wallet: WalletAddress = row.wallet,
        #[schemars(with = "values::Token")]
        token_id: &'a str = row.token,
        amount: Number = row.lots.into(),
        #[serde(with = "values::OutcomeIndex")]
        outcome_index: Outcome = row.outcome,
        display_username_public: bool = row.profile.is_public,
        verified: bool = false,
        name: &'a str = row.profile.name,
        pseudonym: Cow<'a, str> = row.profile.pseudonym_of(&row.wallet),
        bio: &'a str = row.profile.bio,
        profile_image: &'a str = row.profile.image,
        profile_image_optimized: &'a str = row.profile.image_optimized,
        #[serde(flatten)]
        profits: Option<Profits> = row.figures.map(Profits::of),
    }
}

/// The holders of one token on a page, largest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct V2HolderGroup<T> {
    /// The token.
    #[schemars(with = "values::Token")]
    pub token_id: String,
    /// Its holders.
    pub holders: Vec<T>,
}

/// Cost and profit of a holder.
#[derive(Debug, Serialize, JsonSchema)]
struct Profits {
    avg_price: Millionths,
    entry_cost_usdc: Millionths,
    current_price: Millionths,
    current_value: Millionths,
    realized_pnl: Millionths,
    unrealized_pnl: Millionths,
    total_pnl: Millionths,
}

impl Profits {
    const fn of(figures: RoundedFigures) -> Self {
        Self {
            avg_price: figures.avg_price,
            entry_cost_usdc: figures.initial_value,
            current_price: figures.cur_price,
            current_value: figures.current_value,
            realized_pnl: figures.realized_pnl,
            unrealized_pnl: figures.cash_pnl,
            total_pnl: Millionths(figures.realized_pnl.0 + figures.cash_pnl.0),
        }
    }
}
