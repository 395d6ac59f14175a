//! The data surface (docs/api/data.md): wallets' trades, positions and closed positions, and
//! the holders of tokens. `foretell_wire::data` parses parameters and renders rows; this module
//! finds the rows in the view, with a bounded number of visits under each lock hold.

pub(crate) mod activity;
pub(crate) mod builders;
pub(crate) mod closed_positions;
pub(crate) mod holders;
pub(crate) mod leaderboard;
mod period;
mod position_search;
pub(crate) mod positions;
pub(crate) mod rows;
pub(crate) mod totals;
mod trade_lists;
pub(crate) mod trades;
pub(crate) mod v2;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use foretell_model::{AccountNumber, MarketNumber, WalletAddress};
use foretell_view::View;
use foretell_wire::data::{MarketRef, MarketSelection};

use crate::app::App;
use crate::http::failure::Failure;
use crate::view::search::in_steps;

/// Entries of a list of trades visited under one lock hold.
const MAX_VISITED_ROWS: usize = 8_192;

/// The account of a wallet; `None` when the exchange does not know the wallet.
async fn account_of(app: &App, wallet: WalletAddress) -> Result<Option<AccountNumber>, Failure> {
    Ok(app.find(|view| view.accounts().number_of(&wallet)).await?)
}

/// The number of a market; `None` when there is none of this name.
fn number_of(view: &View, market: &MarketRef) -> Option<MarketNumber> {
    let markets = view.markets();
    match market {
        MarketRef::Condition(condition) => markets.number_of(condition),
        MarketRef::Token(token) => Some(markets.by_token(token)?.0),
    }
}

/// The markets that a request names, as far as they exist.
pub(crate) struct MarketFilter {
    /// In the order named; `None` when it names none and so means all.
    named: Option<Vec<MarketNumber>>,
    /// The same in ascending order, without duplicates.
    sorted: Vec<MarketNumber>,
}

impl MarketFilter {
    async fn of(app: &App, selection: &MarketSelection) -> Result<Self, Failure> {
        match selection {
            MarketSelection::All => Self::of_markets(app, &[]).await,
            MarketSelection::Markets(markets) => Self::of_markets(app, markets).await,
            MarketSelection::Events(events) => Ok(Self::of_events(app, events).await),
        }
    }

    /// The markets of a list; an empty list means all.
    async fn of_markets(app: &App, markets: &[MarketRef]) -> Result<Self, Failure> {
        if markets.is_empty() {
            return Ok(Self {
                named: None,
                sorted: Vec::new(),
            });
        }
        // A missing one may have been registered since.
        app.find(|view| {
            let is_known = |market: &MarketRef| number_of(view, market).is_some();
            markets.iter().all(is_known).then_some(())
        })
        .await?;
        let state = app.shared_view.read();
        let found = markets.iter();
        let mut named: Vec<_> = found
            .filter_map(|market| number_of(&state.view, market))
            .collect();
        // The same market may have several names.
        let mut sorted = BTreeSet::new();
        named.retain(|market| sorted.insert(*market));
        Ok(Self {
            named: Some(named),
            sorted: sorted.into_iter().collect(),
        })
    }

    async fn of_events(app: &App, events: &[u64]) -> Self {
        let (sorted, _) = in_steps(app, |state| {
            let found = (app.event_markets).find(&state.view, &app.descriptions, events);
            found.map_or(ControlFlow::Continue(()), ControlFlow::Break)
        })
        .await;
        Self {
            named: Some(sorted.clone()),
            sorted,
        }
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
