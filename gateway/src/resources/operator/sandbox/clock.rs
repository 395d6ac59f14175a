//! `/sandbox/clock`: the clock of a sandbox, and what happens while it moves.

use foretell_journal::{FrameReader, JournalError, Next, Scratch};
use foretell_model::command::MoveClock;
use foretell_model::event::{MarketResolved, MarketStateSet};
use foretell_model::{CloseReason, Command, Event, MarketNumber, Sequence, TimeNs};
use foretell_view::{EndedOrder, View};
use foretell_wire::ErrorCode;
use foretell_wire::operator::{ClockAnswer, ClockMove, ClockMoved, Happening, What, payout_word};
use foretell_wire::text::words::state_word;

use super::ensure_sandbox;
use crate::app::App;
use crate::http::answer::Json;
use crate::http::failure::Failure;
use crate::http::parts::FromBody;
use crate::http::request_context::RequestContext;

/// Happenings in an answer.
const MAX_HAPPENINGS: usize = 1_000;
/// Moves by nothing that follow a move: what is due comes before the first, and what a missed heartbeat cancels before
/// the second.
const SETTLING_MOVES: usize = 2;

/// `GET /sandbox/clock`.
pub(crate) async fn show(context: RequestContext) -> Result<Json<ClockAnswer>, Failure> {
    ensure_sandbox(&context.app)?;
    Ok(Json::of(&clock(&context.app)))
}

/// `POST /sandbox/clock`: answers when all that fell due has happened and the view shows it.
pub(crate) async fn change(
    context: RequestContext,
    FromBody(ClockMove {
        advance_ms,
        to,
        frozen,
    }): FromBody<ClockMove>,
) -> Result<Json<ClockMoved>, Failure> {
    ensure_sandbox(&context.app)?;
    if advance_ms.is_some() && to.is_some() {
        let text = "advance_ms and to are both given, allowed: one of them";
        return Err(ErrorCode::InvalidContent.with([&text]).into());
    }
    let app = &context.app;
    let nothing = MoveClock {
        wall: app.now(),
        by: 0,
        to: TimeNs(0),
        frozen: None,
    };
    let done = context.command(
        Command::MoveClock(MoveClock {
            by: advance_ms.unwrap_or(0).saturating_mul(1_000_000),
            to: to.map_or(TimeNs(0), |to| to.start()),
            frozen,
            ..nothing
        }),
        &[],
    );
    let (moved, mut last) = {
        let done = done.await?;
        (done.decided_at, done.reached)
    };
    for _ in 0..SETTLING_MOVES {
        let settled = context.command(Command::MoveClock(nothing), &[]).await?;
        last = last.max(settled.reached);
    }
    app.shared_view.wait_for(last).await?;
    let reading = app
        .shared_view
        .search(move |frames| market_events(frames, moved, last));
    let of_markets = reading.await?;
    let (happened, more) = {
        let view = &app.shared_view.read().view;
        let mut happened = ended_orders(view, moved.next(), last);
        happened.extend(of_markets.into_iter().filter_map(|found| found.named(view)));
        happened.sort_by_key(|happening| happening.sequence);
        let more = happened.len().saturating_sub(MAX_HAPPENINGS);
        happened.truncate(MAX_HAPPENINGS);
        (happened, more as u64)
    };
    Ok(Json::of(&ClockMoved {
        success: true,
        sequence: last.0,
        clock: clock(app),
        happened,
        more,
    }))
}

fn clock(app: &App) -> ClockAnswer {
    ClockAnswer {
        now: app.exchange_time(),
        wall: app.now(),
        frozen: app.shared_view.sandbox_clock().frozen,
    }
}

/// The orders that ended in the frames from one to another.
fn ended_orders(view: &View, first: Sequence, last: Sequence) -> Vec<Happening> {
    let ended = view.orders().ended_between(first, last);
    let named = ended.map(
        |EndedOrder {
             sequence,
             order,
             reason,
         }| Happening {
            what: match reason {
                CloseReason::Expired => What::OrderExpired,
                _ => What::OrderCancelled,
            },
            sequence: sequence.0,
            order: Some(order.id.to_string()),
            market: condition(view, order.market),
            detail: Some(format!("{reason:?}")),
        },
    );
    named.collect()
}

fn condition(view: &View, market: MarketNumber) -> Option<String> {
    Some(view.markets().get(market)?.condition.to_string())
}

/// An event of a market.
struct MarketEvent {
    sequence: Sequence,
    market: MarketNumber,
    what: What,
    detail: Option<&'static str>,
}

impl MarketEvent {
    /// `None` of an event that is not listed.
    fn of(sequence: Sequence, event: &Event) -> Option<Self> {
        let (what, market, detail) = match *event {
            Event::MarketStateSet(MarketStateSet { market, state, .. }) => {
                (What::MarketChanged, market, Some(state_word(state)))
            }
            Event::MarketCleared { market } => (What::MarketCleared, market, None),
            Event::MarketResolved(MarketResolved { market, payout }) => {
                (What::MarketResolved, market, Some(payout_word(payout)))
            }
            _ => return None,
        };
        Some(Self {
            sequence,
            market,
            what,
            detail,
        })
    }

    fn named(self, view: &View) -> Option<Happening> {
        Some(Happening {
            what: self.what,
            sequence: self.sequence.0,
            order: None,
            market: Some(condition(view, self.market)?),
            detail: self.detail.map(str::to_owned),
        })
    }
}

/// The events of markets in the frames after one, up to another. It blocks.
fn market_events(
    frames: &FrameReader,
    after: Sequence,
    last: Sequence,
) -> Result<Vec<MarketEvent>, JournalError> {
    let mut follower = frames.follow(after)?;
    let (mut found, mut scratch) = (Vec::new(), Scratch::default());
    while follower.last_sequence() < last {
        match follower.next_frame()? {
            Next::Frame(frame) => {
                let sequence = frame.sequence();
                let events = frame.decode(&mut scratch).map_or(&[][..], |it| it.events);
                found.extend(events.iter().filter_map(|it| MarketEvent::of(sequence, it)));
            }
            Next::NewEpoch { .. } => {}
            Next::UpToDate | Next::Rebuild { .. } => break,
        }
    }
    Ok(found)
}
