//! Market parameters and details: `/tick-size`, `/neg-risk`, `/fee-rate`,
//! `/fees/builder-fees/{builder}`, `/markets-by-token/{token}`, `/clob-markets/{condition}`,
//! `/markets/{condition_id}` (docs/api/market-data.md §5).

use foretell_model::{ConditionId, MarketNumber, Outcome};
use foretell_view::View;
use foretell_wire::markets::market::{
    BUILDER_FEES, ClobMarket, FeeRateAnswer, MarketByToken, MarketDetail, MarketFacts,
    NegRiskAnswer, TickSizeAnswer,
};
use foretell_wire::read::path::Builder;
use foretell_wire::read::query::trading::OneToken;
use foretell_wire::{ErrorCode, TokenRef, json_text};

use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::parts::{FromPath, FromQuery};
use crate::http::request_context::RequestContext;
use crate::render::market_facts::{market_facts, market_life};
use crate::resources::market_of;
use crate::resources::service::raw_records::raw_records;
use crate::view::shared_view::ViewState;

/// `GET /tick-size?token_id=`.
pub(crate) async fn tick_size(
    context: RequestContext,
    FromQuery(OneToken { token_id: token }): FromQuery<OneToken>,
) -> Result<Answer, Failure> {
    by_token(&context, &token, |facts| {
        json_text(&TickSizeAnswer {
            minimum_tick_size: facts.tick,
        })
    })
    .await
}

/// `GET /neg-risk?token_id=`.
pub(crate) async fn neg_risk(
    context: RequestContext,
    FromQuery(OneToken { token_id: token }): FromQuery<OneToken>,
) -> Result<Answer, Failure> {
    by_token(&context, &token, |facts| {
        json_text(&NegRiskAnswer {
            neg_risk: facts.neg_risk,
        })
    })
    .await
}

/// `GET /fee-rate?token_id=`.
pub(crate) async fn fee_rate(
    context: RequestContext,
    FromQuery(OneToken { token_id: token }): FromQuery<OneToken>,
) -> Result<Answer, Failure> {
    by_token(&context, &token, |facts| {
        json_text(&FeeRateAnswer::new(facts))
    })
    .await
}

/// `GET /markets-by-token/{token}`.
pub(crate) async fn market_by_token(
    context: RequestContext,
    FromPath(token): FromPath<TokenRef>,
) -> Result<Answer, Failure> {
    by_token(&context, &token, |facts| {
        let [yes, no] = facts.tokens;
        json_text(&MarketByToken {
            condition_id: facts.condition,
            primary_token_id: yes,
            secondary_token_id: no,
        })
    })
    .await
}

/// `GET /fees/builder-fees/{builder}`: always zero.
pub(crate) async fn builder_fees(
    _: RequestContext,
    _: FromPath<Builder>,
) -> Result<Answer, Failure> {
    Ok(Answer::json(BUILDER_FEES))
}

/// `GET /clob-markets/{condition}`.
pub(crate) async fn clob_market(
    context: RequestContext,
    FromPath(condition): FromPath<ConditionId>,
) -> Result<Answer, Failure> {
    by_condition(&context, condition, |state, market| {
        let listed = state.view.markets().get(market)?;
        let facts = market_facts(&state.view, market)?;
        Some(json_text(&ClobMarket::new(
            &facts,
            &context.app.descriptions.of(listed),
        )))
    })
    .await
}

/// `GET /markets/{condition_id}`.
pub(crate) async fn detail(
    context: RequestContext,
    FromPath(condition): FromPath<ConditionId>,
) -> Result<Answer, Failure> {
    let raw = raw_records(&context.app, vec![condition]).await;
    let raw = raw.and_then(|mut raw| raw.pop());
    by_condition(&context, condition, |state, market| {
        let listed = state.view.markets().get(market)?;
        let facts = market_facts(&state.view, market)?;
        let detail = MarketDetail::new(&facts, &context.app.descriptions.of(listed))
            .with_life(market_life(&state.view, market)?)
            .with_raw_metadata(raw.unwrap_or_default());
        Some(json_text(&detail))
    })
    .await
}

async fn by_token(
    context: &RequestContext,
    token: &TokenRef,
    write: impl FnOnce(&MarketFacts) -> String,
) -> Result<Answer, Failure> {
    let look = |view: &View| -> Option<(MarketNumber, Outcome)> { market_of(view, token) };
    let (market, _) = context
        .app
        .find(look)
        .await?
        .ok_or(ErrorCode::OrderbookNotFound)?;
    let state = context.app.shared_view.read();
    let facts = market_facts(&state.view, market).ok_or(ErrorCode::OrderbookNotFound)?;
    Ok(Answer::json(write(&facts)).at(state.position()))
}

async fn by_condition(
    context: &RequestContext,
    condition: ConditionId,
    write: impl FnOnce(&ViewState, MarketNumber) -> Option<String>,
) -> Result<Answer, Failure> {
    let look = |view: &View| {
        view.markets()
            .by_condition(&condition)
            .map(|(number, _)| number)
    };
    let market = context
        .app
        .find(look)
        .await?
        .ok_or(ErrorCode::MarketNotFound)?;
    let state = context.app.shared_view.read();
    let body = write(&state, market).ok_or(ErrorCode::MarketNotFound)?;
    Ok(Answer::json(body).at(state.position()))
}
