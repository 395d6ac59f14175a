//! A registration under a name that is known: the same content is a repeat, other content is refused.

use foretell_catalog::query::OneMarketQuery;
use foretell_catalog::{Catalog, CatalogError};
use foretell_model::{
    ConditionId, EventId, MarketNumber, MarketState, MarketTerms as ClockTerms, words,
};
use foretell_view::{EventGroup, Market, View};
use foretell_wire::operator::{
    EventDescription, MarketDescription, MarketRegistration, MarketTerms,
};
use foretell_wire::{ApiError, ErrorCode};
use serde_json::Value;

use crate::app::App;
use crate::catalog::own_catalog::is_own;
use crate::http::failure::Failure;

/// Checks a registration of a known condition against its market.
pub(crate) async fn ensure_repeats_market(
    app: &App,
    wanted: &MarketRegistration,
) -> Result<(), Failure> {
    app.shared_view.catch_up().await?;
    let state = app.shared_view.read();
    let view = &state.view;
    let markets = view.markets();
    let known = markets.by_condition(&wanted.terms.condition_id);
    let (_, market) = known.ok_or(ErrorCode::MarketNotFound)?;
    let now = in_force(view, market);
    let registered = as_registered(market, wanted, &now);
    Ok(wanted.ensure_repeats(&registered, &now)?)
}

fn in_force(view: &View, market: &Market) -> MarketRegistration {
    let group = market
        .question
        .and_then(|(event, _)| view.events().get(event));
    let terms = MarketTerms {
        tick_size: Some(market.tick),
        tick_refines: Some(market.tick_refines),
        minimum_order_size: Some(market.minimum_size),
        fee: Some(market.fee),
        event_id: group.map(|group| group.id.0),
        ..MarketTerms::new(market.condition, market.tokens).with_clock(market.terms)
    };
    let description = MarketDescription::from_words(&market.description).unwrap_or_default();
    MarketRegistration { terms, description }
}

/// The registration in the words of a market. Terms that they do not have are those in force; the clock
/// is a command after the registration, which the first attempt may have missed.
fn as_registered(
    market: &Market,
    wanted: &MarketRegistration,
    now: &MarketRegistration,
) -> MarketRegistration {
    let (text, _) = words::parts(&market.description);
    let description = MarketDescription::from_words(text).unwrap_or_default();
    let terms = match description.registered_terms {
        Some(terms) => MarketTerms {
            condition_id: market.condition,
            token_ids: market.tokens,
            ..terms
        },
        None if is_untouched(market) => now.terms.with_clock_of(&wanted.terms),
        None => now.terms,
    };
    MarketRegistration { terms, description }
}

/// Checks a repeated registration of an event group. Words of a group with an upstream's questions
/// follow the upstream.
pub(crate) async fn ensure_repeats_event(
    app: &App,
    id: EventId,
    wanted: &EventDescription,
) -> Result<(), Failure> {
    app.shared_view.catch_up().await?;
    let state = app.shared_view.read();
    let events = state.view.events();
    let group = events.by_id(id).and_then(|(number, _)| events.get(number));
    let group = group.filter(|group| is_own_group(&state.view, group));
    let Some(group) = group else {
        return Ok(());
    };
    let (text, _) = words::parts(&group.description);
    let [registered, now] = [text, &group.description]
        .map(|words| EventDescription::from_words(words).unwrap_or_default());
    Ok(wanted.ensure_repeats(&registered, &now)?)
}

/// A slug names one market: the catalog must not have it for another condition.
pub(crate) async fn ensure_free_slug(
    app: &App,
    slug: &str,
    condition: &ConditionId,
) -> Result<(), Failure> {
    let Some(pool) = &app.catalog else {
        return Ok(());
    };
    let name = slug.to_owned();
    let read = move |catalog: &Catalog| catalog.market_by_slug(&name, &OneMarketQuery::default());
    let record = match pool.read(read).await? {
        Ok(record) => record,
        Err(CatalogError::NotFound(_)) => return Ok(()),
        // The catalog is not made yet, or cannot be read now: the registration needs none.
        Err(error) => {
            tracing::warn!(%error, "the catalog cannot tell whether a slug is free");
            return Ok(());
        }
    };
    let record: Value = serde_json::from_str(&record).unwrap_or_default();
    let other = record["conditionId"].as_str().unwrap_or_default();
    match other.eq_ignore_ascii_case(&condition.to_string()) {
        true => Ok(()),
        false => {
            let values = vec![slug.to_owned(), other.to_owned()];
            Err(ApiError::new(ErrorCode::SlugTaken, values).into())
        }
    }
}

/// Whether a market is still `Registered` and has the default clock, delay and rebate.
pub(crate) fn is_untouched(market: &Market) -> bool {
    market.state == MarketState::Registered && market.terms == ClockTerms::default()
}

/// Whether no question of an event group comes from an upstream's catalog.
pub(crate) fn is_own_group(view: &View, group: &EventGroup) -> bool {
    let is_own = |number: &MarketNumber| view.markets().get(*number).is_some_and(is_own);
    group.questions.iter().all(is_own)
}
