//! `GET /v2/holders` (docs/api/data.md §7).

use foretell_model::{Outcome, TokenId};

use crate::data::figures::RoundedFigures;
use crate::data::holders::HolderRow;
use crate::data::read::market_selection::{MARKET, MarketRef};
use crate::data::read::page::LimitOffset;
use crate::data::rows::{RowWriter, field};
use crate::errors::api_error::ApiError;
use crate::limits::{MAX_MARKETS, MAX_V2_PROFIT_HOLDERS};
use crate::parameters;
use crate::read::family::Family;
use crate::read::parameters::Reader;
use crate::read::text_form::{FLAG, MICROS};
use crate::text::ids;

parameters! {
    /// Parameters of `GET /v2/holders`.
    pub struct V2HoldersQuery: Data check_page check_profits {
        /// Markets: condition ids, assets or decimal token ids; one with `include_pnl`.
        pub condition_id: Vec<MarketRef> = required_list(MARKET, MAX_MARKETS),
        /// Smallest balance to include, in shares; here in micro-shares.
        pub min_balance: u64 = or(MICROS, "0"),
        /// Add cost and profit of each holder; then `limit` is at most 100.
        pub include_pnl: bool = or(FLAG, "false"),
    }
}

impl V2HoldersQuery {
    /// Profits are of one market and of few holders.
    fn check_profits(&self, _: &Reader<'_>, page: LimitOffset) -> Result<(), ApiError> {
        if self.include_pnl && self.condition_id.len() > 1 {
            let allowed = "allowed with several markets";
            return Err(Family::Data.wrong("include_pnl", "true", allowed));
        }
        if self.include_pnl && page.limit > MAX_V2_PROFIT_HOLDERS {
            let allowed = format!("an integer from 1 to {MAX_V2_PROFIT_HOLDERS} with include_pnl");
            return Err(Family::Data.wrong("limit", &page.limit.to_string(), &allowed));
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
