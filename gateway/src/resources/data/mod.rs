//! The data surface (docs/api/data.md): wallets' trades, positions and closed positions, and
//! the holders of tokens. `foretell_wire::data` parses parameters and renders rows; this module
//! finds the rows in the view, with a bounded number of visits under each lock hold.

pub(crate) mod activity;
mod answer_market_texts;
pub(crate) mod closed_positions;
mod fill_row;
pub(crate) mod holders;
mod position_row;
pub(crate) mod positions;
pub(crate) mod totals;
mod trade_lists;
pub(crate) mod trades;

use foretell_model::{AccountNumber, ConditionId, MarketNumber, WalletAddress};
use foretell_wire::data::DataError;
use foretell_wire::query::Query;

use crate::app::App;
use crate::failure::Failure;
use crate::request_context::RequestContext;

/// Entries visited under one lock hold: some wallets have millions.
const STEP: usize = 4_096;
/// Entries of a list of trades visited under one lock hold.
const MAX_VISITED_ROWS: usize = 8_192;

/// Parses the parameters of a request.
fn parameters<Q>(
    context: &RequestContext,
    of: impl FnOnce(&Query<'_>) -> Result<Q, DataError>,
) -> Result<Q, Failure> {
    let query = context.query().map_err(DataError::from)?;
    Ok(of(&query)?)
}

/// The account of a wallet; `None` when the exchange does not know the wallet.
async fn account_of(app: &App, wallet: WalletAddress) -> Result<Option<AccountNumber>, Failure> {
    Ok(app.find(|view| view.accounts().number_of(&wallet)).await?)
}

/// The markets that a request names, as far as they exist.
struct MarketFilter {
    /// In the order named; `None` when it names none and so means all.
    named: Option<Vec<MarketNumber>>,
    /// The same in ascending order, without duplicates.
    sorted: Vec<MarketNumber>,
}

impl MarketFilter {
    async fn of(app: &App, conditions: &[ConditionId]) -> Result<Self, Failure> {
        if conditions.is_empty() {
            return Ok(Self {
                named: None,
                sorted: Vec::new(),
            });
        }
        // A missing one may have been registered since.
        app.find(|view| {
            let known = |condition| view.markets().by_condition(condition).is_some();
            conditions.iter().all(known).then_some(())
        })
        .await?;
        let state = app.shared_view.read();
        let markets = state.view.markets();
        let found = conditions
            .iter()
            .filter_map(|condition| Some(markets.by_condition(condition)?.0));
        let named: Vec<_> = found.collect();
        let mut sorted = named.clone();
        sorted.sort_unstable();
        sorted.dedup();
        Ok(Self {
            named: Some(named),
            sorted,
        })
    }

    /// The markets in ascending order without duplicates; `None` for all.
    fn distinct(&self) -> Option<&[MarketNumber]> {
        self.named.as_ref().map(|_| &*self.sorted)
    }

    fn contains(&self, market: MarketNumber) -> bool {
        let distinct = self.distinct();
        distinct.is_none_or(|distinct| distinct.binary_search(&market).is_ok())
    }
}
