//! Sums: `GET /value`, `/traded`, `/oi`, `/live-volume`.

use foretell_model::{AccountNumber, ConditionId, MarketNumber, Micros};
use foretell_view::View;
use foretell_wire::data::{
    LiveVolumeQuery, MarketSelection, OpenInterestQuery, UserQuery, ValueQuery, live_volume_text,
    open_interest_text, traded_text, value_text,
};

use crate::app::App;
use crate::http::answer::{Answer, StatePosition};
use crate::http::failure::Failure;
use crate::http::request_context::RequestContext;
use crate::resources::data::rows::position_row::figures;
use crate::resources::data::{MarketFilter, STEP, account_of};

/// `GET /value`: total value of a wallet's positions.
pub(crate) async fn value(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wanted: ValueQuery = context.parameters()?;
    context.wait_fresh().await?;
    value_of(app, wanted).await
}

/// The answer to a query.
pub(crate) async fn value_of(app: &App, wanted: ValueQuery) -> Result<Answer, Failure> {
    let markets = MarketFilter::of_markets(app, &wanted.condition_id).await?;
    let position = app.shared_view.read().position();
    let mut sum = 0;
    if let Some(account) = account_of(app, wanted.user).await? {
        let mut last = None;
        while let Some(part) = value_of_step(app, account, &markets, &mut last) {
            sum += part;
            tokio::task::yield_now().await;
        }
    }
    Ok(Answer::json(value_text(&wanted.user, sum)).at(position))
}

/// The value of the next [`STEP`] open or closed positions, in half micros; `None` when none is
/// left.
fn value_of_step(
    app: &App,
    account: AccountNumber,
    markets: &MarketFilter,
    last: &mut Option<(MarketNumber, foretell_model::Outcome)>,
) -> Option<i128> {
    let state = app.shared_view.read();
    let mut sum = None;
    let tokens = state.view.holdings().tokens_of(account, *last);
    for (market, outcome, open) in tokens.take(STEP) {
        *last = Some((market, outcome));
        let sum = sum.get_or_insert(0);
        if markets.contains(market)
            && let Some(open) = open
            && let Some(figures) = figures(&state.view, (market, outcome), &open.position)
        {
            *sum += figures.current_half_micros();
        }
    }
    sum
}

/// `GET /traded`: number of markets in which a wallet has traded.
pub(crate) async fn traded(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wanted: UserQuery = context.parameters()?;
    context.wait_fresh().await?;
    let account = account_of(app, wanted.user).await?;
    let state = app.shared_view.read();
    let markets = account.map_or(0, |account| state.view.holdings().traded_markets(account));
    Ok(Answer::json(traded_text(&wanted.user, markets as u64)).at(state.position()))
}

/// `GET /oi`: the collateral locked in markets, or in all of them.
pub(crate) async fn open_interest(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wanted: OpenInterestQuery = context.parameters()?;
    context.wait_fresh().await?;
    open_interest_of(app, wanted).await
}

/// The answer to a query.
pub(crate) async fn open_interest_of(
    app: &App,
    wanted: OpenInterestQuery,
) -> Result<Answer, Failure> {
    let markets = MarketFilter::of_markets(app, &wanted.condition_id).await?;
    let is_all = markets.named.is_none();
    let locked = |view: &View, number| {
        let market = view.markets().get(number);
        market.map_or(Micros::ZERO, |market| market.locked())
    };
    let (rows, position) = of_markets(app, markets, locked).await;
    Ok(Answer::json(open_interest_text(&rows, is_all)).at(position))
}

/// `GET /live-volume`: traded volume of markets, or of the markets of events.
pub(crate) async fn live_volume(context: RequestContext) -> Result<Answer, Failure> {
    let app = &context.app;
    let wanted: LiveVolumeQuery = context.parameters()?;
    context.wait_fresh().await?;
    live_volume_of(app, wanted.0).await
}

/// The answer to a query.
pub(crate) async fn live_volume_of(app: &App, wanted: MarketSelection) -> Result<Answer, Failure> {
    let markets = MarketFilter::of(app, &wanted).await?;
    let traded = |view: &View, market| view.volume().value_in(market);
    let (rows, position) = of_markets(app, markets, traded).await;
    Ok(Answer::json(live_volume_text(&rows)).at(position))
}

/// An amount of each market, in the order named or by number, and the state of the first.
async fn of_markets(
    app: &App,
    markets: MarketFilter,
    amount: impl Fn(&View, MarketNumber) -> Micros,
) -> (Vec<(ConditionId, Micros)>, StatePosition) {
    let (mut rows, mut first) = (Vec::new(), None);
    let mut left: Box<dyn Iterator<Item = MarketNumber> + Send> = match markets.named {
        Some(named) => Box::new(named.into_iter()),
        None => Box::new((0..).map(MarketNumber)),
    };
    loop {
        {
            let state = app.shared_view.read();
            let position = *first.get_or_insert(state.position());
            let mut seen = 0;
            let step = left.by_ref().take(STEP).map_while(|number| {
                let market = state.view.markets().get(number)?;
                seen += 1;
                let row = || (market.condition, amount(&state.view, number));
                Some(market.is_shown().then(row))
            });
            rows.extend(step.flatten());
            if seen < STEP {
                return (rows, position);
            }
        }
        tokio::task::yield_now().await;
    }
}
