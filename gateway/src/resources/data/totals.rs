//! Sums: `GET /value`, `/traded`, `/oi`, `/live-volume`.

use foretell_model::{AccountNumber, ConditionId, MarketNumber, Micros};
use foretell_view::{Market, View};
use foretell_wire::data::{
    MarketsQuery, UserQuery, ValueQuery, live_volume_text, open_interest_text, traded_text,
    value_text,
};

use crate::answer::Answer;
use crate::app::App;
use crate::call::Call;
use crate::failure::Failure;
use crate::resources::data::held::figures;
use crate::resources::data::{Markets, STEP, account_of, parameters};

/// `GET /value`: what a wallet's positions are worth.
pub(crate) async fn value(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let wanted = parameters(&call, ValueQuery::of)?;
    app.fresh(&call).await?;
    let markets = Markets::of(app, &wanted.markets).await?;
    let place = app.replica.read().place();
    let mut sum = 0;
    if let Some(account) = account_of(app, wanted.user).await? {
        let mut last = None;
        while let Some(part) = value_of_step(app, account, &markets, &mut last) {
            sum += part;
            tokio::task::yield_now().await;
        }
    }
    Ok(Answer::json(value_text(&wanted.user, sum)).at(place))
}

/// What the next [`STEP`] positions are worth, in half micros; `None` when there is none left.
fn value_of_step(
    app: &App,
    account: AccountNumber,
    markets: &Markets,
    last: &mut Option<(MarketNumber, foretell_model::Outcome)>,
) -> Option<i128> {
    let state = app.replica.read();
    let mut sum = None;
    let open = state.view.positions().open_of(account, *last);
    for (market, outcome, open) in open.take(STEP) {
        *last = Some((market, outcome));
        let sum = sum.get_or_insert(0);
        if markets.contains(market)
            && let Some(figures) = figures(&state.view, (market, outcome), &open.position)
        {
            *sum += figures.current_half_micros();
        }
    }
    sum
}

/// `GET /traded`: in how many markets a wallet has traded.
pub(crate) async fn traded(call: Call) -> Result<Answer, Failure> {
    let app = &call.app;
    let wanted = parameters(&call, UserQuery::of)?;
    app.fresh(&call).await?;
    let account = account_of(app, wanted.user).await?;
    let state = app.replica.read();
    let markets = account.map_or(0, |account| state.view.trades().markets_of(account));
    Ok(Answer::json(traded_text(&wanted.user, markets as u64)).at(state.place()))
}

/// `GET /oi`: the collateral locked in markets.
pub(crate) async fn open_interest(call: Call) -> Result<Answer, Failure> {
    let locked = |_: &View, _, market: &Market| market.locked();
    of_markets(&call, locked, open_interest_text).await
}

/// `GET /live-volume`: what was traded in markets.
pub(crate) async fn live_volume(call: Call) -> Result<Answer, Failure> {
    let traded = |view: &View, market, _: &Market| view.turnover().value_in(market);
    of_markets(&call, traded, live_volume_text).await
}

async fn of_markets(
    call: &Call,
    amount: impl Fn(&View, MarketNumber, &Market) -> Micros,
    write: fn(&[(ConditionId, Micros)]) -> String,
) -> Result<Answer, Failure> {
    let app = &call.app;
    let wanted = parameters(call, MarketsQuery::of)?;
    app.fresh(call).await?;
    let markets = Markets::of(app, &wanted.markets).await?;
    let state = app.replica.read();
    let named = markets.named.unwrap_or_default();
    let rows = named.into_iter().filter_map(|number| {
        let market = state.view.markets().get(number)?;
        Some((market.condition, amount(&state.view, number, market)))
    });
    let rows: Vec<_> = rows.collect();
    Ok(Answer::json(write(&rows)).at(state.place()))
}
