//! Market parameters and details: `/tick-size`, `/neg-risk`, `/fee-rate`, of a token in the query or in the path,
//! `/fees/builder-fees/{builder}`, `/markets-by-token/{token_id}`, `/clob-markets/{condition_id}`,
//! `/markets/{condition_id}` (docs/api/market-data.md §5).

use foretell_model::{ConditionId, MarketNumber, Outcome};
use foretell_view::View;
use foretell_wire::markets::market::{
    BuilderFees, ClobMarket, FeeRateAnswer, MarketByToken, MarketDetail, MarketFacts,
    NegRiskAnswer, TickSizeAnswer,
};
use foretell_wire::read::path::Builder;
use foretell_wire::read::query::trading::OneToken;
use foretell_wire::{ErrorCode, TokenRef};
use serde::Serialize;

use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::{FromPath, FromQuery};
use crate::http::request_context::RequestContext;
use crate::render::market_facts::{market_facts, market_life};
use crate::resources::service::raw_records::raw_records;
use crate::resources::{market_of, registered_market};
use crate::view::shared_view::ViewState;

/// `GET /tick-size?token_id=`.
pub(crate) async fn tick_size(
    context: RequestContext,
    FromQuery(OneToken { token_id: token }): FromQuery<OneToken>,
) -> Result<Json<TickSizeAnswer>, Failure> {
    by_token(&context, &token, tick).await
}

/// `GET /tick-size/{token_id}`.
pub(crate) async fn tick_size_in_path(
    context: RequestContext,
    FromPath(token): FromPath<TokenRef>,
) -> Result<Json<TickSizeAnswer>, Failure> {
    by_token(&context, &token, tick).await
}

fn tick(facts: &MarketFacts) -> TickSizeAnswer {
    TickSizeAnswer {
        minimum_tick_size: facts.tick,
    }
}

/// `GET /neg-risk?token_id=`.
pub(crate) async fn neg_risk(
    context: RequestContext,
    FromQuery(OneToken { token_id: token }): FromQuery<OneToken>,
) -> Result<Json<NegRiskAnswer>, Failure> {
    by_token(&context, &token, is_neg_risk).await
}

/// `GET /neg-risk/{token_id}`.
pub(crate) async fn neg_risk_in_path(
    context: RequestContext,
    FromPath(token): FromPath<TokenRef>,
) -> Result<Json<NegRiskAnswer>, Failure> {
    by_token(&context, &token, is_neg_risk).await
}

fn is_neg_risk(facts: &MarketFacts) -> NegRiskAnswer {
    NegRiskAnswer {
        neg_risk: facts.neg_risk,
    }
}

/// `GET /fee-rate?token_id=`.
pub(crate) async fn fee_rate(
    context: RequestContext,
    FromQuery(OneToken { token_id: token }): FromQuery<OneToken>,
) -> Result<Json<FeeRateAnswer>, Failure> {
    by_token(&context, &token, FeeRateAnswer::new).await
}

/// `GET /fee-rate/{token_id}`.
pub(crate) async fn fee_rate_in_path(
    context: RequestContext,
    FromPath(token): FromPath<TokenRef>,
) -> Result<Json<FeeRateAnswer>, Failure> {
    by_token(&context, &token, FeeRateAnswer::new).await
}

/// `GET /markets-by-token/{token_id}`.
pub(crate) async fn market_by_token(
    context: RequestContext,
    FromPath(token): FromPath<TokenRef>,
) -> Result<Json<MarketByToken>, Failure> {
    by_token(&context, &token, |facts| {
        let [yes, no] = facts.tokens;
        MarketByToken {
            condition_id: facts.condition,
            primary_token_id: yes,
            secondary_token_id: no,
        }
    })
    .await
}

/// `GET /fees/builder-fees/{builder}`: always zero.
pub(crate) async fn builder_fees(
    _: RequestContext,
    _: FromPath<Builder>,
) -> Result<Json<BuilderFees>, Failure> {
    Ok(Json::of(&BuilderFees::default()))
}

/// `GET /clob-markets/{condition_id}`.
pub(crate) async fn clob_market(
    context: RequestContext,
    FromPath(condition): FromPath<ConditionId>,
) -> Result<Json<ClobMarket>, Failure> {
    by_condition(&context, condition, |state, market| {
        let listed = state.view.markets().get(market)?;
        let facts = market_facts(&state.view, market)?;
        let description = context.app.descriptions.of(listed);
        Some(ClobMarket::new(&facts, &description))
    })
    .await
}

/// `GET /markets/{condition_id}`.
pub(crate) async fn detail(
    context: RequestContext,
    FromPath(condition): FromPath<ConditionId>,
) -> Result<Json<MarketDetail>, Failure> {
    let raw = raw_records(&context.app, vec![condition]).await;
    let raw = raw.and_then(|mut raw| raw.pop());
    by_condition(&context, condition, |state, market| {
        let listed = state.view.markets().get(market)?;
        let facts = market_facts(&state.view, market)?;
        let detail = MarketDetail::new(&facts, &context.app.descriptions.of(listed))
            .with_life(market_life(&state.view, market)?)
            .with_raw_metadata(raw.unwrap_or_default());
        Some(detail)
    })
    .await
}

async fn by_token<T: Serialize>(
    context: &RequestContext,
    token: &TokenRef,
    answer: impl FnOnce(&MarketFacts) -> T,
) -> Result<Json<T>, Failure> {
    let look = |view: &View| -> Option<(MarketNumber, Outcome)> { market_of(view, token) };
    let (market, _) = context
        .app
        .find(look)
        .await?
        .ok_or(ErrorCode::MarketNotFound)?;
    let state = context.app.shared_view.read();
    let facts = market_facts(&state.view, market).ok_or(ErrorCode::MarketNotFound)?;
    Ok(Json::of(&answer(&facts)).at(state.position()))
}

async fn by_condition<T: Serialize>(
    context: &RequestContext,
    condition: ConditionId,
    answer: impl FnOnce(&ViewState, MarketNumber) -> Option<T>,
) -> Result<Json<T>, Failure> {
    let market = registered_market(context, condition).await?;
    let state = context.app.shared_view.read();
    let answer = answer(&state, market).ok_or(ErrorCode::MarketNotFound)?;
    Ok(Json::of(&answer).at(state.position()))
}
