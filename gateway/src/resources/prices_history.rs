//! Price history: `GET /prices-history`, `POST /batch-prices-history` (protocol 11).

use foretell_view::{BucketSize, PriceHistory, PricePoint};
use foretell_wire::history::{
    Histories, History, HistoryQuery, MAX_HISTORY_POINTS, Point, read_history, too_many_points,
};
use foretell_wire::history_range::{HistoryRange, Window};
use foretell_wire::{Decimal, TokenRef, json_text};

use crate::answer::{Answer, Place};
use crate::auth::now;
use crate::call::Call;
use crate::failure::Failure;
use crate::replica::State;
use crate::resources::market_of;

/// `GET /prices-history?market=`.
pub(crate) async fn one(call: Call) -> Result<Answer, Failure> {
    let asked = HistoryQuery::of(&call.query()?)?;
    let (mut points, place) =
        histories(&call, &[Some(asked.token)], asked.range, asked.fidelity).await?;
    let history = points.pop().unwrap_or_default();
    Ok(Answer::json(json_text(&History { history })).at(place))
}

/// `POST /batch-prices-history`.
pub(crate) async fn many(call: Call) -> Result<Answer, Failure> {
    let asked = read_history(&call.body)?;
    let (texts, tokens): (Vec<_>, Vec<_>) = asked.markets.into_iter().unzip();
    let (points, place) = histories(&call, &tokens, asked.range, asked.fidelity).await?;
    let history = texts.into_iter().zip(points).collect();
    Ok(Answer::json(json_text(&Histories { history })).at(place))
}

/// The points of each token, in the order asked; none of one that is not.
async fn histories(
    call: &Call,
    tokens: &[Option<TokenRef>],
    range: HistoryRange,
    fidelity: Option<u32>,
) -> Result<(Vec<Vec<Point>>, Place), Failure> {
    let app = &call.app;
    app.fresh(call).await?;
    app.find(|view| {
        let known = |token: &TokenRef| market_of(view, token).is_some();
        tokens.iter().flatten().all(known).then_some(())
    })
    .await?;
    let state = app.replica.read();
    let window = range.window(fidelity, seconds_now(&state));
    let histories: Vec<_> = (tokens.iter())
        .map(|token| history(&state, token.as_ref()?, window))
        .collect();
    let buckets = histories.iter().flatten().map(PriceHistory::buckets).sum();
    if buckets > MAX_HISTORY_POINTS {
        return Err(too_many_points(buckets).into());
    }
    let points = histories.iter().map(|history| match history {
        Some(history) => history.points().into_iter().map(shown).collect(),
        None => Vec::new(),
    });
    Ok((points.collect(), state.place()))
}

fn history<'a>(state: &'a State, token: &TokenRef, window: Window) -> Option<PriceHistory<'a>> {
    let (market, outcome) = market_of(&state.view, token)?;
    let size = BucketSize::at_least(window.minutes);
    let range = (window.from, window.to);
    state.view.price_history(market, outcome, size, range)
}

/// Now, and not before what the view has seen: the engine has a clock of its own.
fn seconds_now(state: &State) -> u64 {
    let seen = state.view.system().time.seconds().0;
    seen.max(now().0 / 1_000)
}

fn shown(point: PricePoint) -> Point {
    Point {
        t: point.start,
        p: Decimal::new(i128::from(point.midpoint.half_units()) * 5, 5),
    }
}
