//! `GET /markets` of the operator: the exchange's markets, for synchronisation with a catalog.

use std::collections::BTreeSet;

use foretell_model::{ConditionId, EventId, MarketNumber};
use foretell_view::{Market, View};
use foretell_wire::operator::{
    MarketRow, MarketRows, MarketsQuery, PolicyChange, TermsChange, registered_end_date,
};

use crate::app::App;
use crate::catalog::own_catalog::is_own;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;

/// `GET /markets`: all, by number; with `condition_id` or `event_id` (each a list) only those
/// markets and the questions of those neg-risk events; with `limit` and `offset` a page.
pub(crate) async fn list(
    context: RequestContext,
    FromQuery(query): FromQuery<MarketsQuery>,
) -> Result<Json<MarketRows>, Failure> {
    let app = &context.app;
    let (limit, offset) = (query.limit.unwrap_or(usize::MAX), query.offset);
    // A comparison must see everything durable, also right after a gateway's start.
    app.shared_view.catch_up().await?;
    let state = app.shared_view.read();
    let view = &state.view;
    let row = |(number, market)| row(app, view, number, market);
    let markets = match named(&query, view) {
        Some(named) => named
            .into_iter()
            .filter_map(|number| Some((number, view.markets().get(number)?)))
            .skip(offset)
            .take(limit)
            .map(row)
            .collect(),
        None => {
            let all = view.markets().iter();
            all.skip(offset).take(limit).map(row).collect()
        }
    };
    Ok(Json::of(&MarketRows { markets }).at(state.position()))
}

/// The markets that a request names and that exist, without duplicates; `None` when it names none.
fn named(query: &MarketsQuery, view: &View) -> Option<BTreeSet<MarketNumber>> {
    if query.conditions.is_empty() && query.events.is_empty() {
        return None;
    }
    let condition = |id: &ConditionId| view.markets().by_condition(id);
    let conditions = query.conditions.iter().filter_map(condition);
    let event = |id: &EventId| view.events().by_id(*id);
    let events = query.events.iter().filter_map(event);
    let questions = events.flat_map(|(_, event)| event.questions.iter().copied());
    let conditions = conditions.map(|(number, _)| number);
    Some(conditions.chain(questions).collect())
}

pub(super) fn row(app: &App, view: &View, number: MarketNumber, market: &Market) -> MarketRow {
    let policy = view.resolutions().own_policy(number);
    let described = app.descriptions.of(market);
    let question = market.question;
    let event = question.and_then(|(event, _)| view.events().get(event));
    MarketRow {
        condition_id: market.condition,
        token_ids: market.tokens,
        status: market.state,
        outcomes: described.outcomes.clone(),
        archived: market.archived,
        tick: market.tick,
        minimum_size: market.minimum_size,
        fee: market.fee,
        neg_risk: market.is_neg_risk(),
        event_id: event.map(|event| event.id.0),
        event_frozen: event.is_some_and(|event| event.frozen),
        question_index: market.index,
        holds: market.holds,
        payout: market.payout,
        question: described.question.clone(),
        slug: described.slug.clone(),
        slug_taken: !market.has_slug && !described.slug.is_empty(),
        end_date: registered_end_date(&market.description),
        terms: Some(TermsChange::of(market.condition, market.terms)),
        own: is_own(market),
        settled: market.settled.is_some(),
        policy: policy.map(|own| PolicyChange::of(Some(market.condition), own.policy)),
    }
}
