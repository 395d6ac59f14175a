//! What clients ask about a market before they trade it: `/tick-size`, `/neg-risk`, `/fee-rate`,
//! `/fees/builder-fees/{builder}`, `/markets-by-token/{token}`, `/clob-markets/{condition}`, and
//! the market itself, `/markets/{condition_id}` (protocol 11).

use foretell_model::{MarketNumber, Outcome};
use foretell_view::View;
use foretell_wire::ids::{bytes32, condition_id};
use foretell_wire::market::{
    BUILDER_FEES, ClobMarket, FeeRateAnswer, MarketByToken, MarketDetail, MarketFacts,
    NegRiskAnswer, TickSizeAnswer,
};
use foretell_wire::{Failure as Refusal, TokenRef, json_text};

use crate::answer::Answer;
use crate::call::Call;
use crate::failure::Failure;
use crate::market_facts::market_facts;
use crate::replica::State;
use crate::resources::market_of;
use crate::resources::raw_records::raw_records;

/// `GET /tick-size?token_id=`.
pub(crate) async fn tick_size(call: Call) -> Result<Answer, Failure> {
    let token = call.query()?.token()?;
    by_token(&call, &token, |facts| {
        json_text(&TickSizeAnswer {
            minimum_tick_size: facts.tick,
        })
    })
    .await
}

/// `GET /neg-risk?token_id=`.
pub(crate) async fn neg_risk(call: Call) -> Result<Answer, Failure> {
    let token = call.query()?.token()?;
    by_token(&call, &token, |facts| {
        json_text(&NegRiskAnswer {
            neg_risk: facts.neg_risk,
        })
    })
    .await
}

/// `GET /fee-rate?token_id=`.
pub(crate) async fn fee_rate(call: Call) -> Result<Answer, Failure> {
    let token = call.query()?.token()?;
    by_token(&call, &token, |facts| json_text(&FeeRateAnswer::new(facts))).await
}

/// `GET /markets-by-token/{token}`.
pub(crate) async fn market_by_token(call: Call) -> Result<Answer, Failure> {
    let token = TokenRef::parse(&call.parameter).ok_or(Refusal::InvalidTokenId)?;
    by_token(&call, &token, |facts| {
        let [yes, no] = facts.tokens;
        json_text(&MarketByToken {
            condition_id: facts.condition,
            primary_token_id: yes,
            secondary_token_id: no,
        })
    })
    .await
}

/// `GET /fees/builder-fees/{builder}`: there are none.
pub(crate) async fn builder_fees(call: Call) -> Result<Answer, Failure> {
    match bytes32(&call.parameter) {
        Some(_) => Ok(Answer::json(BUILDER_FEES)),
        None => Err(Refusal::from(foretell_wire::failure::FieldProblem::wrong(
            "builder",
            &call.parameter,
            "0x and 64 hex digits",
        ))
        .into()),
    }
}

/// `GET /clob-markets/{condition}`.
pub(crate) async fn clob_market(call: Call) -> Result<Answer, Failure> {
    by_condition(&call, |state, market| {
        let listed = state.view.markets().get(market)?;
        let facts = market_facts(&state.view, market)?;
        Some(json_text(&ClobMarket::new(
            &facts,
            &call.app.descriptions.of(listed),
        )))
    })
    .await
}

/// `GET /markets/{condition_id}`.
pub(crate) async fn detail(call: Call) -> Result<Answer, Failure> {
    let condition = condition_id(&call.parameter).ok_or(Refusal::MarketNotFound)?;
    let raw = raw_records(&call.app, vec![condition]).await;
    let raw = raw.and_then(|mut raw| raw.pop());
    by_condition(&call, |state, market| {
        let listed = state.view.markets().get(market)?;
        let facts = market_facts(&state.view, market)?;
        let detail = MarketDetail::new(&facts, &call.app.descriptions.of(listed));
        Some(json_text(
            &detail.with_raw_metadata(raw.unwrap_or_default()),
        ))
    })
    .await
}

async fn by_token(
    call: &Call,
    token: &TokenRef,
    write: impl FnOnce(&MarketFacts) -> String,
) -> Result<Answer, Failure> {
    let look = |view: &View| -> Option<(MarketNumber, Outcome)> { market_of(view, token) };
    call.app.fresh(call).await?;
    let (market, _) = call.app.find(look).await?.ok_or(Refusal::NoOrderbook)?;
    let state = call.app.replica.read();
    let facts = market_facts(&state.view, market).ok_or(Refusal::NoOrderbook)?;
    Ok(Answer::json(write(&facts)).at(state.place()))
}

async fn by_condition(
    call: &Call,
    write: impl FnOnce(&State, MarketNumber) -> Option<String>,
) -> Result<Answer, Failure> {
    let condition = condition_id(&call.parameter).ok_or(Refusal::MarketNotFound)?;
    call.app.fresh(call).await?;
    let look = |view: &View| {
        view.markets()
            .by_condition(&condition)
            .map(|(number, _)| number)
    };
    let market = call.app.find(look).await?.ok_or(Refusal::MarketNotFound)?;
    let state = call.app.replica.read();
    let body = write(&state, market).ok_or(Refusal::MarketNotFound)?;
    Ok(Answer::json(body).at(state.place()))
}
