//! Version 2 of trades, activity and sums: the answers of version 1 in other words.

pub(crate) mod holders;
pub(crate) mod positions;
pub(crate) mod prices;

use foretell_model::{ConditionId, Outcome, TokenId};
use foretell_view::View;
use foretell_wire::data::{
    ActivityQuery, ActivitySort, EventVolumeQuery, LimitOffset, MarketSelection, V2, V2List,
    v2_page_text, v2_rows, v2_text,
};
use serde_json::{Value, json};

use crate::app::App;
use crate::http::answer::Answer;
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::data::{activity, totals, trades};

/// `GET /v2/trades`.
pub(crate) async fn trades(context: RequestContext) -> Result<Answer, Failure> {
    let V2List { query, page } = context.parameters()?;
    context.wait_fresh().await?;
    let answer = trades::answer(&context.app, query, probe(page)).await?;
    let rows = rows(&context.app, &answer)?;
    Ok(with_body(answer, v2_page_text(rows, page)))
}

/// `GET /v2/activity`.
pub(crate) async fn activity(context: RequestContext) -> Result<Answer, Failure> {
    let V2List {
        query: filter,
        page,
    } = context.parameters()?;
    context.wait_fresh().await?;
    let sort = ActivitySort::Timestamp;
    let query = ActivityQuery { filter, sort };
    let answer = activity::answer(&context.app, query, probe(page)).await?;
    let mut rows = rows(&context.app, &answer)?;
    for row in &mut rows {
        row["is_combo"] = false.into();
    }
    Ok(with_body(answer, v2_page_text(rows, page)))
}

/// `GET /v2/value`.
pub(crate) async fn value(context: RequestContext) -> Result<Answer, Failure> {
    let V2(wanted) = context.parameters()?;
    context.wait_fresh().await?;
    let answer = totals::value_of(&context.app, wanted).await?;
    let row = rows(&context.app, &answer)?.pop().unwrap_or_default();
    let data = json!({ "proxy_wallet": row["user"], "value": row["value"] });
    Ok(with_body(answer, v2_text(&data)))
}

/// `GET /v2/oi`: of some markets, or the sum of all as `GLOBAL`.
pub(crate) async fn open_interest(context: RequestContext) -> Result<Answer, Failure> {
    let V2(wanted) = context.parameters()?;
    context.wait_fresh().await?;
    let answer = totals::open_interest_of(&context.app, wanted).await?;
    let rows = rows(&context.app, &answer)?;
    Ok(with_body(answer, v2_text(&rows.into())))
}

/// `GET /v2/live-volume`.
pub(crate) async fn live_volume(context: RequestContext) -> Result<Answer, Failure> {
    let EventVolumeQuery { event_id } = context.parameters()?;
    context.wait_fresh().await?;
    let answer = totals::live_volume_of(&context.app, MarketSelection::Events(event_id)).await?;
    let row = rows(&context.app, &answer)?.pop().unwrap_or_default();
    let markets = row["markets"].as_array().into_iter().flatten();
    let markets = markets
        .map(|market| json!({ "condition_id": market["market"], "taker_volume": market["value"] }));
    let markets: Vec<Value> = markets.collect();
    let data = json!({ "taker_volume_total": row["total"], "conditions": markets });
    Ok(with_body(answer, v2_text(&data)))
}

/// The page with one row more, which shows whether another page follows.
pub(crate) const fn probe(page: LimitOffset) -> LimitOffset {
    LimitOffset {
        limit: page.limit + 1,
        offset: page.offset,
    }
}

fn rows(app: &App, answer: &Answer) -> Result<Vec<Value>, Failure> {
    let state = app.shared_view.read();
    Ok(v2_rows(&answer.body, &|condition, outcome| {
        token(&state.view, condition, outcome)
    })?)
}

fn token(view: &View, condition: ConditionId, outcome: Outcome) -> Option<TokenId> {
    let (_, market) = view.markets().by_condition(&condition)?;
    Some(market.tokens[outcome.index()])
}

fn with_body(answer: Answer, body: String) -> Answer {
    Answer {
        body: body.into(),
        ..answer
    }
}
