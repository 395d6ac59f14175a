//! Price history: `GET /prices-history`, `POST /batch-prices-history` (docs/api/market-data.md §4).

use foretell_journal::wall_clock;
use foretell_view::{Midpoint, PriceHistory, PricePoint, View};
use foretell_wire::limits::MAX_HISTORY_POINTS;
use foretell_wire::markets::history::{
    Histories, History, HistoryBatch, HistoryPoint, HistoryQuery, too_many_points,
};
use foretell_wire::markets::history_range::{HistoryRange, HistoryWindow};
use foretell_wire::{ApiError, Decimal, TokenRef};

use crate::http::answer::{Json, StatePosition};
use crate::http::failure::Failure;
use crate::http::parts::{FromBody, FromQuery};
use crate::http::request_context::RequestContext;
use crate::policy::work::rest;
use crate::resources::market_of;

/// Points converted at once.
const POINTS_PER_SLICE: usize = 8_192;

/// `GET /prices-history?market=`.
pub(crate) async fn one(
    context: RequestContext,
    FromQuery(asked): FromQuery<HistoryQuery>,
) -> Result<Json<History>, Failure> {
    let (mut points, position) = histories(
        &context,
        &[Some(asked.token)],
        asked.range()?,
        asked.fidelity,
    )
    .await?;
    let history = points.pop().unwrap_or_default();
    Ok(Json::of(&History { history }).at(position))
}

/// `POST /batch-prices-history`.
pub(crate) async fn many(
    context: RequestContext,
    FromBody(asked): FromBody<HistoryBatch>,
) -> Result<Json<Histories>, Failure> {
    let (texts, tokens): (Vec<_>, Vec<_>) = asked.markets.into_iter().unzip();
    let (points, position) = histories(&context, &tokens, asked.range, asked.fidelity).await?;
    let history = texts.into_iter().zip(points).collect();
    Ok(Json::of(&Histories { history }).at(position))
}

/// The points of each token, in the order asked; an unknown token has none.
async fn histories(
    context: &RequestContext,
    tokens: &[Option<TokenRef>],
    range: HistoryRange,
    fidelity: Option<u32>,
) -> Result<(Vec<Vec<HistoryPoint>>, StatePosition), Failure> {
    let app = &context.app;
    app.find(|view| {
        let known = |token: &TokenRef| market_of(view, token).is_some();
        tokens.iter().flatten().all(known).then_some(())
    })
    .await?;
    // The points are copied under the lock, because there may be a hundred thousand, and converted after it.
    let (points, position) = {
        let state = app.shared_view.read();
        let window = range.window(fidelity, seconds_now(&state.view), app.compatibility);
        (points_of(&state.view, tokens, window)?, state.position())
    };
    let mut histories = Vec::with_capacity(points.len());
    for points in points {
        let mut history = Vec::with_capacity(points.len());
        for slice in points.chunks(POINTS_PER_SLICE) {
            history.extend(slice.iter().copied().map(shown));
            rest().await;
        }
        histories.push(history);
    }
    Ok((histories, position))
}

/// All points of a window, or a failure when they exceed one answer's limit.
fn points_of(
    view: &View,
    tokens: &[Option<TokenRef>],
    window: HistoryWindow,
) -> Result<Vec<Vec<PricePoint>>, ApiError> {
    let histories: Vec<_> = (tokens.iter())
        .map(|token| history(view, token.as_ref()?, window))
        .collect();
    let visits = histories.iter().flatten().map(PriceHistory::visits).sum();
    if visits > MAX_HISTORY_POINTS {
        return Err(too_many_points(visits));
    }
    let points = histories
        .iter()
        .map(|history| history.as_ref().map(PriceHistory::points));
    Ok(points.map(Option::unwrap_or_default).collect())
}

fn history<'a>(
    view: &'a View,
    token: &TokenRef,
    window: HistoryWindow,
) -> Option<PriceHistory<'a>> {
    let (market, outcome) = market_of(view, token)?;
    let range = (window.from, window.to);
    view.price_history(market, outcome, window.minutes, range)
}

/// The current time, but not before the view's last time: the engine has its own clock.
pub(crate) fn seconds_now(view: &View) -> u64 {
    let system = view.system();
    let now = system.clock.engine_time(wall_clock::now());
    system.time.max(now).seconds().0
}

fn shown(point: PricePoint) -> HistoryPoint {
    HistoryPoint {
        t: point.start,
        p: midpoint_decimal(point.midpoint),
    }
}

pub(crate) fn midpoint_decimal(midpoint: Midpoint) -> Decimal {
    Decimal::new(i128::from(midpoint.half_units()) * 5, 5)
}

#[cfg(test)]
mod tests {
    use foretell_fixtures::{market, order_id, trader};
    use foretell_model::event::{
        AccountOpened, Deposited, KeyRegistered, MarketRegistered, OrderRested,
    };
    use foretell_model::{
        AccountNumber, Command, Event, FramePosition, FrameRef, KeyNumber, Lots, MarketNumber,
        Micros, Outcome, Price, TimeNs,
    };

    use super::*;

    const ACCOUNT: AccountNumber = AccountNumber(0);
    const MARKET: MarketNumber = MarketNumber(0);

    /// A bid for 10 shares of a token, and its event of resting.
    fn bid(number: u64, outcome: Outcome, price: u16) -> (Command, Vec<Event>) {
        let order = trader(0).buy(10).at(Price(price)).of(outcome);
        let order = order.id(order_id(number));
        let rested = Event::OrderRested(OrderRested {
            lots: Lots(1_000),
            price: Price(price),
        });
        (order.place(), vec![rested])
    }

    /// A market with bids at 0.42 for Yes and 0.53 for No, since the first second of 1970.
    fn view() -> View {
        let wallet = trader(0).wallet;
        let amount = Micros(100_000_000);
        let rules = market(0).terms;
        let [deposit, key] = trader(0).open(amount);
        let opened = Event::AccountOpened(AccountOpened {
            account: ACCOUNT,
            wallet,
        });
        let deposited = Event::Deposited(Deposited {
            account: ACCOUNT,
            amount,
        });
        let with_key = Event::KeyRegistered(KeyRegistered {
            key: KeyNumber(0),
            owner: ACCOUNT,
        });
        let registered = Event::MarketRegistered(MarketRegistered {
            market: MARKET,
            condition: rules.condition,
            question: 0,
            has_slug: false,
        });
        let frames = [
            (deposit, vec![opened, deposited]),
            (key, vec![with_key]),
            (Command::RegisterMarket(rules), vec![registered]),
            bid(1, Outcome::Yes, 4_200),
            bid(2, Outcome::No, 5_300),
        ];
        let mut view = View::new([0; 32]);
        for (command, events) in &frames {
            let frame = FrameRef {
                operator: foretell_model::OperatorNumber::NONE,
                touched: 0,
                sequence: view.sequence().next(),
                time: TimeNs(0),
                command,
                events,
                evidence: &[],
                place: FramePosition::default(),
            };
            view.apply(&frame).expect("a frame that follows");
        }
        view
    }

    fn asked(to: u64, minutes: u32, tokens: usize) -> Result<Vec<Vec<PricePoint>>, ApiError> {
        let window = HistoryWindow {
            from: 0,
            to,
            minutes,
        };
        let known = market(0).terms.tokens;
        let tokens: Vec<_> = (known.iter().cycle().take(tokens))
            .map(|token| Some(TokenRef::Token(*token)))
            .collect();
        points_of(&view(), &tokens, window)
    }

    #[test]
    fn an_answer_has_the_midpoints_of_both_tokens() {
        let histories = asked(60, 1, 2).expect("two points a token");
        let point = |t, p| HistoryPoint {
            t,
            p: Decimal::new(p, 5),
        };
        let histories: Vec<Vec<_>> = histories
            .into_iter()
            .map(|points| points.into_iter().map(shown).collect())
            .collect();
        assert_eq!(histories[0], [point(0, 44_500), point(60, 44_500)]);
        assert_eq!(histories[1], [point(0, 55_500), point(60, 55_500)]);
    }

    #[test]
    fn an_answer_has_a_bound_over_all_its_tokens() {
        let minutes = |count: u64| (count - 1) * 60;
        assert_eq!(
            asked(minutes(100_000), 1, 1).expect("just as many")[0].len(),
            100_000
        );
        assert_eq!(asked(minutes(50_000), 1, 2).expect("just as many").len(), 2);
        for (count, tokens, points) in [(100_001, 1, 100_001), (5_001, 20, 100_020)] {
            let refusal = asked(minutes(count), 1, tokens)
                .expect_err("one too many")
                .text();
            let text =
                format!("the range has {points} points, allowed: at most 100000 in one answer");
            assert!(refusal.starts_with(&text), "{refusal}");
        }
        assert!(asked(minutes(50_000_000), 720, 1).is_ok());
        assert!(asked(u64::MAX, 1, 20).is_err());
    }
}
