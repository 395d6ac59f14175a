//! `GET /v2/holders` (docs/api/data.md §7).

use foretell_model::{Outcome, TokenId};

use crate::data::figures::RoundedFigures;
use crate::data::holders::HolderRow;
use crate::data::read::errors::invalid_parameter;
use crate::data::read::market_selection::MarketRef;
use crate::data::read::page::LimitOffset;
use crate::data::read::parameters::Parameters;
use crate::data::rows::{RowWriter, field};
use crate::errors::api_error::ApiError;
use crate::limits::MAX_V2_PROFIT_HOLDERS;
use crate::read::query::Query;
use crate::text::ids;

/// Parameters of `GET /v2/holders` under their names in version 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct V2HoldersQuery {
    /// The markets; at least one, and only one with `profit`.
    pub markets: Vec<MarketRef>,
    /// Minimum balance in micro-shares; default 0.
    pub least: u64,
    /// Also cost and profit of each holder.
    pub profit: bool,
}

impl V2HoldersQuery {
    /// Reads the parameters.
    ///
    /// # Errors
    /// A parameter that is unknown, missing or wrong.
    pub fn of(query: &Query<'_>) -> Result<Self, ApiError> {
        let parameters = Parameters::of(query, &["market", "minBalance", "includePnl"])?;
        let markets = parameters.required_markets()?;
        let profit = parameters.flag("includePnl", false)?;
        if profit && markets.len() > 1 {
            let allowed = "allowed with several markets";
            return Err(invalid_parameter("includePnl", "true", allowed));
        }
        Ok(Self {
            markets,
            least: parameters.micros("minBalance")?.unwrap_or(0),
            profit,
        })
    }

    /// Checks the rows of a page, which are fewer with profits.
    ///
    /// # Errors
    /// A `limit` above 100 with `include_pnl`.
    pub fn check_page(&self, page: LimitOffset) -> Result<(), ApiError> {
        if self.profit && page.limit > MAX_V2_PROFIT_HOLDERS {
            let allowed = format!("an integer from 1 to {MAX_V2_PROFIT_HOLDERS} with include_pnl");
            return Err(invalid_parameter(
                "limit",
                &page.limit.to_string(),
                &allowed,
            ));
        }
        Ok(())
    }
}

/// A holder, and its position when profits are asked for.
#[derive(Clone, Copy, Debug)]
pub struct V2HolderRow<'a> {
    /// The holder.
    pub holder: HolderRow<'a>,
    /// The numbers of its position.
    pub figures: Option<RoundedFigures>,
}

/// The holders of one token, largest first.
#[derive(Clone, Copy, Debug)]
pub struct V2HolderGroup<'a> {
    /// The token.
    pub token: TokenId,
    /// The token's outcome.
    pub outcome: Outcome,
    /// Its holders on this page.
    pub holders: &'a [V2HolderRow<'a>],
}

impl V2HolderGroup<'_> {
    /// Adds its row.
    pub fn write(&self, rows: &mut RowWriter) {
        let token = ids::token_text(&self.token);
        rows.row(|row| {
            row.text(field!("token_id"), &token);
            row.array(field!("holders"), |holders| {
                for holder in self.holders {
                    holders.row(|row| holder.fields(&token, self.outcome, row));
                }
            });
        });
    }
}

impl V2HolderRow<'_> {
    fn fields(&self, token: &str, outcome: Outcome, row: &mut RowWriter) {
        let HolderRow {
            wallet,
            lots,
            profile,
        } = self.holder;
        row.wallet(field!("proxy_wallet"), &wallet);
        row.text(field!("token_id"), token);
        row.number(field!("amount"), lots.into());
        row.whole(field!("outcome_index"), outcome.code().into());
        row.flag(field!("display_username_public"), profile.is_public);
        row.flag(field!("verified"), false);
        for (name, value) in [
            (field!("name"), profile.name),
            (field!("pseudonym"), &profile.pseudonym_of(&wallet)),
            (field!("bio"), profile.bio),
            (field!("profile_image"), profile.image),
            (field!("profile_image_optimized"), profile.image_optimized),
        ] {
            row.text(name, value);
        }
        let Some(figures) = &self.figures else {
            return;
        };
        for (name, value) in [
            (field!("avg_price"), figures.avg_price),
            (field!("entry_cost_usdc"), figures.initial_value),
            (field!("current_price"), figures.cur_price),
            (field!("current_value"), figures.current_value),
            (field!("realized_pnl"), figures.realized_pnl),
            (field!("unrealized_pnl"), figures.cash_pnl),
            (field!("total_pnl"), figures.realized_pnl + figures.cash_pnl),
        ] {
            row.millionths(name, value);
        }
    }
}
