//! One file per resource: parsing the request, querying view or engine, building the answer.

pub(crate) mod accounts;
pub(crate) mod catalog;
pub(crate) mod data;
pub(crate) mod market_data;
pub(crate) mod operator;
pub(crate) mod orders;
pub(crate) mod page;
pub(crate) mod service;

use foretell_model::{ConditionId, MarketNumber, MarketState, Outcome, Sequence};
use foretell_view::View;
use foretell_wire::markets::batch::BatchToken;
use foretell_wire::{ApiError, ErrorCode, TokenRef};

use crate::app::App;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::view::shared_view::ViewState;

/// The number of a registered market.
pub(crate) async fn registered_market(
    context: &RequestContext,
    condition: ConditionId,
) -> Result<MarketNumber, Failure> {
    let number = |view: &View| view.markets().number_of(&condition);
    let found = context.app.find(number).await?;
    Ok(found.ok_or(ErrorCode::MarketNotFound)?)
}

/// The market and outcome of a token in either form.
pub(crate) fn market_of(view: &View, token: &TokenRef) -> Option<(MarketNumber, Outcome)> {
    match token {
        TokenRef::Token(token) => view.markets().by_token(token),
        TokenRef::Asset(condition, outcome) => {
            Some((view.markets().number_of(condition)?, *outcome))
        }
    }
}

/// The market and outcome of a token that trades, or may: a market that ended has no book.
pub(crate) fn book_of(view: &View, token: &TokenRef) -> Option<(MarketNumber, Outcome)> {
    let (market, outcome) = market_of(view, token)?;
    match view.markets().get(market)?.state {
        MarketState::Closed | MarketState::Resolved => None,
        _ => Some((market, outcome)),
    }
}

/// Resolves an optional name; `None` when a given name does not exist.
pub(crate) fn resolve_optional<N, T>(
    name: &Option<N>,
    find: impl FnOnce(&N) -> Option<T>,
) -> Option<Option<T>> {
    match name {
        Some(name) => find(name).map(Some),
        None => Some(None),
    }
}

impl App {
    /// Reads the result of a command of this gateway, after waiting until the view covers it.
    pub(crate) async fn read_after<T>(
        &self,
        sequence: Sequence,
        read: impl FnOnce(&ViewState) -> T,
    ) -> Result<T, ApiError> {
        let shown = self.shared_view.wait_for(sequence).await;
        shown.map_err(|refusal| match (refusal.code(), refusal.values()) {
            (ErrorCode::ViewStopped, [stopped]) => {
                ErrorCode::DoneUnshown.with([&sequence.0, stopped])
            }
            (ErrorCode::SequenceNotReached, [sequence]) => {
                ErrorCode::DoneNotYetShown.with([sequence])
            }
            _ => refusal,
        })?;
        Ok(read(&self.shared_view.read()))
    }

    /// Waits for the view to catch up when it lacks a token of a batch: tokens then missing from
    /// the answer do not exist.
    pub(crate) async fn await_tokens(&self, asked: &[BatchToken]) -> Result<(), ApiError> {
        self.find(|view| {
            asked
                .iter()
                .all(|asked| market_of(view, &asked.token).is_some())
                .then_some(())
        })
        .await?;
        Ok(())
    }
}
