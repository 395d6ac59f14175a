//! Sums: `GET /value`, `/traded`, `/oi`, `/live-volume`.

use std::ops::ControlFlow;

use foretell_model::{ConditionId, MarketNumber, Micros};
use foretell_view::View;
use foretell_wire::data::{
    AmountV1, LiveVolumeQuery, MarketSelection, OpenInterestQuery, TradedAnswer, UserQuery,
    ValueQuery, ValueV1, VolumesV1,
};

use crate::app::App;
use crate::http::answer::{Json, StatePosition};
use crate::http::failure::Failure;
use crate::http::parts::FromQuery;
use crate::http::request_context::RequestContext;
use crate::resources::data::position_search::Source;
use crate::resources::data::{MarketFilter, account_of};
use crate::view::search::{STEP, in_steps};

/// `GET /value`: total value of a wallet's positions.
pub(crate) async fn value(
    context: RequestContext,
    FromQuery(query): FromQuery<ValueQuery>,
) -> Result<Json<[ValueV1; 1]>, Failure> {
    let (value, position) = value_of(&context.app, query).await?;
    Ok(Json::of(&[value]).at(position))
}

/// The value of a wallet, and the state of the first step.
pub(crate) async fn value_of(
    app: &App,
    query: ValueQuery,
) -> Result<(ValueV1, StatePosition), Failure> {
    let markets = MarketFilter::of_markets(app, &query.condition_id).await?;
    let mut source = match account_of(app, query.user).await? {
        Some(account) => Source::Open(account, None),
        None => Source::none(),
    };
    let mut half_micros = 0;
    let ((), position) = in_steps(app, |state| {
        source.step(&state.view, |candidate| {
            if markets.contains(candidate.place.token.0)
                && let Some((figures, _)) = candidate.figures(&state.view)
            {
                half_micros += figures.current_half_micros();
            }
        })
    })
    .await;
    Ok((ValueV1::new(query.user, half_micros), position))
}

/// `GET /traded`: number of markets in which a wallet has traded.
pub(crate) async fn traded(
    context: RequestContext,
    FromQuery(UserQuery { user }): FromQuery<UserQuery>,
) -> Result<Json<TradedAnswer>, Failure> {
    let app = &context.app;
    let account = account_of(app, user).await?;
    let state = app.shared_view.read();
    let traded = account.map_or(0, |account| state.view.holdings().traded_markets(account));
    Ok(Json::of(&TradedAnswer { user, traded }).at(state.position()))
}

/// `GET /oi`: the collateral locked in markets, or in all of them.
pub(crate) async fn open_interest(
    context: RequestContext,
    FromQuery(query): FromQuery<OpenInterestQuery>,
) -> Result<Json<Vec<AmountV1>>, Failure> {
    let (rows, position) = open_interest_of(&context.app, query).await?;
    Ok(Json::of(&rows).at(position))
}

/// The collateral locked in each market, and the state of the first step.
pub(crate) async fn open_interest_of(
    app: &App,
    query: OpenInterestQuery,
) -> Result<(Vec<AmountV1>, StatePosition), Failure> {
    let markets = MarketFilter::of_markets(app, &query.condition_id).await?;
    let is_all = markets.named.is_none();
    let locked = |view: &View, number| {
        let market = view.markets().get(number);
        market.map_or(Micros::ZERO, |market| market.locked())
    };
    let (amounts, position) = of_markets(app, markets, locked).await;
    Ok((AmountV1::rows(&amounts, is_all), position))
}

/// `GET /live-volume`: traded volume of markets, or of the markets of events.
pub(crate) async fn live_volume(
    context: RequestContext,
    FromQuery(LiveVolumeQuery(markets)): FromQuery<LiveVolumeQuery>,
) -> Result<Json<[VolumesV1; 1]>, Failure> {
    let (volumes, position) = live_volume_of(&context.app, markets).await?;
    Ok(Json::of(&[volumes]).at(position))
}

/// The traded volume of each market, and the state of the first step.
pub(crate) async fn live_volume_of(
    app: &App,
    markets: MarketSelection,
) -> Result<(VolumesV1, StatePosition), Failure> {
    let markets = MarketFilter::of(app, &markets).await?;
    let traded = |view: &View, market| view.volume().value_in(market);
    let (amounts, position) = of_markets(app, markets, traded).await;
    Ok((VolumesV1::new(&amounts), position))
}

/// An amount of each market, in the order named or by number, and the state of the first step.
async fn of_markets(
    app: &App,
    markets: MarketFilter,
    amount: impl Fn(&View, MarketNumber) -> Micros,
) -> (Vec<(ConditionId, Micros)>, StatePosition) {
    let mut left: Box<dyn Iterator<Item = MarketNumber> + Send> = match markets.named {
        Some(named) => Box::new(named.into_iter()),
        None => Box::new((0..).map(MarketNumber)),
    };
    let mut amounts = Vec::new();
    in_steps(app, |state| {
        let mut visited = 0;
        let step = left.by_ref().take(STEP).map_while(|number| {
            let market = state.view.markets().get(number)?;
            visited += 1;
            let row = || (market.condition, amount(&state.view, number));
            Some(market.is_shown().then(row))
        });
        amounts.extend(step.flatten());
        match visited < STEP {
            true => ControlFlow::Break(std::mem::take(&mut amounts)),
            false => ControlFlow::Continue(()),
        }
    })
    .await
}
