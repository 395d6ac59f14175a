//! `GET /sandbox/orders/{order_id}`: why an order filled, or did not. What an order met is the journal folded up to it;
//! orders that met no book are in a bounded list of the gateway.

use foretell_journal::{FrameReader, JournalError, Next, Scratch};
use foretell_model::event::{OrderClosed, OrderKilled, OrderReleased};
use foretell_model::{
    CloseReason, Event, Lots, OrderId, OrderNumber, Price, Rejection, Sequence, Side, TimeNs,
    quantity,
};
use foretell_view::{Level, Order, OrderState, View};
use foretell_wire::errors::rejection::RejectedOrder;
use foretell_wire::operator::{Explanation, MetBook, MetLevel, OrderFate, Rejections};
use foretell_wire::{ApiError, ErrorCode};

use super::ensure_sandbox;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromPath;
use crate::http::request_context::RequestContext;
use crate::rejected_orders::{KILLED, sentence};

/// Levels of a side in an explanation.
const LEVELS: usize = 10;
/// Prices that clients which multiply in binary floor to the tick below (docs/api/clients.md).
const FLOORED_IN_BINARY: [Price; 3] = [Price(2_900), Price(5_700), Price(5_800)];

/// `GET /sandbox/rejections`.
pub(crate) async fn rejections(context: RequestContext) -> Result<Json<Rejections>, Failure> {
    ensure_sandbox(&context.app)?;
    let rejections = context.app.rejected_orders.all();
    Ok(Json::of(&Rejections { rejections }))
}

/// `GET /sandbox/orders/{order_id}`.
pub(crate) async fn explain(
    context: RequestContext,
    FromPath(id): FromPath<OrderId>,
) -> Result<Json<Explanation>, Failure> {
    ensure_sandbox(&context.app)?;
    let app = &context.app;
    let found = app.find(|view| view.orders().by_id(&id)).await?;
    let Some(order) = found else {
        let rejected = app.rejected_orders.find(&id.to_string());
        return Ok(Json::of(&rejected.ok_or(ErrorCode::OrderNotFound)?));
    };
    let genesis = *app.shared_view.read().view.genesis();
    let (number, is_waiting) = (order.number, matches!(order.state, OrderState::Delayed));
    let reading = app
        .shared_view
        .search(move |frames| meeting(frames, genesis, number, is_waiting));
    let meeting = reading.await?.ok_or(ErrorCode::Internal)?;
    let state = app.shared_view.read();
    let answer = explanation(&state.view, id, &order, &meeting);
    Ok(Json::of(&answer.ok_or(ErrorCode::Internal)?).at(state.position()))
}

/// The exchange before an order met the book, and what the frame in which it did says.
struct Meeting {
    before: View,
    sequence: Sequence,
    received: TimeNs,
    /// Whether it waited out a delay.
    is_delayed: bool,
    killed: Option<Rejection>,
}

/// Folds the journal up to the frame in which an order met the book: that of its command, or after a delay that of its
/// release or end, unless it waits still. It blocks. `None` when the journal ends before.
fn meeting(
    frames: &FrameReader,
    genesis: [u8; 32],
    number: OrderNumber,
    is_waiting: bool,
) -> Result<Option<Meeting>, JournalError> {
    let mut follower = frames.follow(Sequence(0))?;
    let (mut before, mut scratch) = (View::new(genesis), Scratch::default());
    let mut delayed_since = None;
    loop {
        let frame = match follower.next_frame()? {
            Next::Frame(frame) => frame,
            Next::NewEpoch { .. } => continue,
            Next::UpToDate | Next::Rebuild { .. } => return Ok(None),
        };
        let Ok(records) = frame.decode(&mut scratch) else {
            return Ok(None);
        };
        let is_placed = records.sequence == number.sequence();
        let is_delayed = |event: &Event| matches!(event, Event::OrderDelayed(_));
        if is_placed && !is_waiting && records.events.iter().any(is_delayed) {
            delayed_since = Some(frame.time());
        } else if is_placed || delayed_since.is_some() && ends_delay(records.events, number) {
            let killed = records.events.iter().find_map(|event| match *event {
                Event::OrderKilled(OrderKilled { reason, details }) => {
                    Some(Rejection { reason, details })
                }
                _ => None,
            });
            return Ok(Some(Meeting {
                before,
                sequence: records.sequence,
                received: delayed_since.unwrap_or_else(|| frame.time()),
                is_delayed: delayed_since.is_some(),
                killed,
            }));
        }
        if before.apply(&records).is_err() {
            return Ok(None);
        }
    }
}

/// Whether a delayed order is released or ended here.
fn ends_delay(events: &[Event], number: OrderNumber) -> bool {
    events.iter().any(|event| match *event {
        Event::OrderReleased(OrderReleased { order, .. })
        | Event::OrderClosed(OrderClosed { order, .. }) => order == number,
        _ => false,
    })
}

fn explanation(view: &View, id: OrderId, order: &Order, meeting: &Meeting) -> Option<Explanation> {
    let met = met_book(view, order, meeting)?;
    let rejected = meeting.killed.map(|rejection| {
        let about = rejected_order(view, id, order);
        ApiError::from_order_rejection(&rejection, &about)
    });
    let (status, mut text) = fate(order, &met, rejected.as_ref());
    text += &book_sentence(&met, meeting.is_delayed);
    if let Some(perhaps) = perhaps(order, &met) {
        text += perhaps;
    }
    Some(Explanation {
        order: id.to_string(),
        status,
        text,
        code: rejected.map(|error| error.code().name()),
        received: meeting.received,
        met: Some(met),
    })
}

fn rejected_order(view: &View, id: OrderId, order: &Order) -> RejectedOrder {
    let value = u64::from(order.price.0) * order.size / u64::from(quantity::PRICE_ONE);
    let (maker_amount, taker_amount) = match order.side {
        Side::Buy => (value, order.size),
        Side::Sell => (order.size, value),
    };
    RejectedOrder {
        order: id,
        maker: view
            .accounts()
            .get(order.account)
            .map_or_else(Default::default, |it| it.wallet),
        side: order.side,
        maker_amount,
        taker_amount,
        timestamp: order.created.millis(),
        order_type: order.order_type,
    }
}

/// The book of the order's token before the order met it.
fn met_book(view: &View, order: &Order, meeting: &Meeting) -> Option<MetBook> {
    let before = &meeting.before;
    let market = view.markets().get(order.market)?;
    let book = before.books().get(order.market)?.of(order.outcome);
    let others: Vec<Level> = match order.side {
        Side::Buy => book.asks().collect(),
        Side::Sell => book.bids().collect(),
    };
    let reaches = |level: &&Level| match order.side {
        Side::Buy => level.price <= order.price,
        Side::Sell => level.price >= order.price,
    };
    let reached: u64 = others
        .iter()
        .take_while(reaches)
        .map(|level| level.lots.0)
        .sum();
    let own = own_reached(order, before);
    let shown = |levels: &mut dyn Iterator<Item = Level>| {
        let rows = levels
            .take(LEVELS)
            .map(|Level { price, lots }| MetLevel { price, size: lots });
        rows.collect()
    };
    Some(MetBook {
        sequence: meeting.sequence.0,
        token_id: market.token(order.outcome),
        side: order.side,
        order_type: order.order_type,
        price: order.price,
        size: Lots(order.original_size() / quantity::MICROS_PER_LOT),
        matched: order.matched,
        reached: Lots(reached.saturating_sub(own)),
        own: Lots(own),
        bids: shown(&mut book.bids()),
        asks: shown(&mut book.asks()),
    })
}

/// Lots of the same account that the order's limit reached: an account does not trade with itself.
fn own_reached(order: &Order, before: &View) -> u64 {
    let is_met = |other: &&Order| {
        let same_token = other.outcome == order.outcome;
        let price = match same_token {
            true => other.price,
            false => other.price.complement(),
        };
        let is_reached = match order.side {
            Side::Buy => price <= order.price,
            Side::Sell => price >= order.price,
        };
        // The other side of one token is the same side of the other token.
        let faces = (other.side == order.side) != same_token;
        other.market == order.market && faces && is_reached
    };
    let own = before.orders().live_of(order.account).filter(is_met);
    own.map(|other| other.left.0).sum()
}

/// What became of the order, in one sentence.
fn fate(order: &Order, met: &MetBook, rejected: Option<&ApiError>) -> (OrderFate, String) {
    let filled = match met.matched.is_zero() {
        true => "nothing".to_owned(),
        false => format!("{} of {} shares", shares(met.matched), shares(met.size)),
    };
    match order.state {
        OrderState::Live => (
            OrderFate::Live,
            format!("The order rests in the book. It has filled {filled}."),
        ),
        OrderState::Delayed => (
            OrderFate::Delayed,
            "The order waits out the taker delay of its market.".to_owned(),
        ),
        OrderState::Completed => (OrderFate::Matched, "The order is filled.".to_owned()),
        OrderState::Killed(_) => (
            OrderFate::Killed,
            rejected.map_or_else(|| KILLED.to_owned(), |error| sentence(KILLED, error)),
        ),
        OrderState::Closed(reason) => (
            OrderFate::Ended,
            format!(
                "The order ended ({}) after it had filled {filled}.",
                ending(reason)
            ),
        ),
    }
}

const fn ending(reason: CloseReason) -> &'static str {
    match reason {
        CloseReason::Expired => "it expired",
        CloseReason::Heartbeat => "a heartbeat was missed",
        CloseReason::User => "its owner cancelled it",
        CloseReason::SelfTrade => "it met an order of its own account",
        CloseReason::FakRest => "the rest of a FAK order ends",
        CloseReason::TooManyFills => "it would have reached too many orders",
        CloseReason::MarketClosed => "the market closed",
        CloseReason::ClosedOnly => "its account became closed-only",
        CloseReason::FeeStopped => "a fee used up the free collateral",
        CloseReason::Cleared => "the book was cleared at the start of the game",
        CloseReason::FokNotFilled => "the book could not fill it after its delay",
        CloseReason::Requoted => "a later set of quotes ended it",
        CloseReason::LeaseEnded => "the lease of its quotes ended",
        CloseReason::LimitReached => "a limit of its quotes was reached",
        CloseReason::KeyRevoked => "the API key of its quotes was revoked",
    }
}

/// What the order met, in one sentence.
fn book_sentence(met: &MetBook, is_delayed: bool) -> String {
    let moment = match is_delayed {
        true => "its delay ended",
        false => "it arrived",
    };
    let (name, others) = match met.side {
        Side::Buy => ("ask", &met.asks),
        Side::Sell => ("bid", &met.bids),
    };
    match others.first() {
        None => format!(" The book had no {name} when {moment}."),
        Some(best) => {
            format!(
                " When {moment}, the best {name} was {} and its limit was {}: its limit reached {} shares.",
                price(best.price),
                price(met.price),
                shares(met.reached)
            ) + &own_sentence(met.own)
        }
    }
}

fn own_sentence(own: Lots) -> String {
    match own.is_zero() {
        true => String::new(),
        false => format!(
            " It also reached {} shares of its own account, which does not trade with itself.",
            shares(own)
        ),
    }
}

/// A fault of clients that the numbers allow, and do not prove.
fn perhaps(order: &Order, met: &MetBook) -> Option<&'static str> {
    let best = match met.side {
        Side::Buy => met.asks.first()?.price,
        Side::Sell => met.bids.first()?.price,
    };
    let is_killed = matches!(order.state, OrderState::Killed(_));
    let is_below = met.side == Side::Buy && met.reached.is_zero() && best > met.price;
    (is_killed && is_below && FLOORED_IN_BINARY.contains(&best)).then_some(
        " Perhaps the client floored the price in binary: py-clob-client-v2 signs market orders at 0.29, 0.57 and 0.58 \
         one tick low.",
    )
}

fn price(price: Price) -> String {
    foretell_wire::text::decimal::Decimal::from(price).to_string()
}

fn shares(lots: Lots) -> String {
    foretell_wire::text::decimal::Decimal::from(lots).to_string()
}
