//! What streams show of one frame, copied under the view's lock right after the fold.

use foretell_model::event::{
    self, FeeSet, MarketRegistered, MarketResolved, MarketSettled, MarketStateSet, TermsSet,
};
use foretell_model::{
    Event, EventId, Lots, MarketNumber, MarketState, Micros, Outcome, Payout, Price, Sequence,
    Side, SystemMode, Tick, TimeMs, TimeNs,
};
use foretell_view::{BookBefore, Change, FrameChanges, LevelChange, TradeRecord, View};
use foretell_wire::streams::status::MarketStage;
use foretell_wire::streams::stream_id;

use crate::catalog::descriptions::Descriptions;
use crate::streams::render::book_copy::BookCopy;
use crate::streams::render::user_facts::UserFacts;
use crate::streams::subscription::demand::Watched;

/// The facts of one frame.
#[derive(Debug)]
pub(crate) struct FrameFacts {
    pub(crate) sequence: Sequence,
    /// Of the branch that the frame belongs to.
    pub(crate) stream_id: String,
    pub(crate) time: TimeMs,
    pub(crate) receipt: [u8; 32],
    /// Markets whose books the frame touched, in the order of its events.
    pub(crate) books: Vec<BookFacts>,
    /// In the order of its events.
    pub(crate) notices: Vec<Notice>,
    pub(crate) user: UserFacts,
}

/// What happened to one market's book.
#[derive(Debug)]
pub(crate) struct BookFacts {
    pub(crate) market: MarketNumber,
    pub(crate) book: BookCopy,
    /// The previous frame with a message about this market.
    pub(crate) previous: Sequence,
    /// The best prices of Yes before the frame.
    pub(crate) best_before: [Option<Price>; 2],
    pub(crate) prints: Vec<Print>,
    pub(crate) levels: Vec<LevelChange>,
    /// The outcome of the frame's own order.
    pub(crate) first: Option<Outcome>,
    pub(crate) ticks: Vec<(Tick, Tick)>,
    /// Whether a large book is due by the clock of [`large_book_due`].
    pub(crate) large_due: bool,
}

/// The fills of a trade at one price, as the market channel shows them: a reader cannot tell equal fills of one
/// order apart, and a price is one of the grid.
#[derive(Debug)]
pub(crate) struct Print {
    /// The taker's.
    pub(crate) outcome: Outcome,
    /// The taker's.
    pub(crate) side: Side,
    /// In the taker's token.
    pub(crate) price: Price,
    pub(crate) lots: Lots,
    pub(crate) fee: Micros,
}

/// A change that is shown without a book.
#[derive(Debug)]
pub(crate) enum Notice {
    /// A market was registered.
    New(Listed),
    /// A market was resolved.
    Resolved(Listed, Payout),
    /// A market's life went on.
    Status(Listed, MarketStage),
    /// The system's mode was set.
    Mode(SystemMode),
}

/// A market that a notice names.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) market: MarketNumber,
    pub(crate) condition: foretell_model::ConditionId,
    pub(crate) tokens: [foretell_model::TokenId; 2],
    pub(crate) tick: Tick,
    pub(crate) neg_risk: bool,
    /// The evidence of its registration; empty where it is not shown.
    pub(crate) description: Box<[u8]>,
    /// The event group of a question and its words; `None` where it is not shown.
    pub(crate) group: Option<(EventId, Box<[u8]>)>,
    /// The previous frame with a message about this market.
    pub(crate) previous: Sequence,
}

impl FrameFacts {
    /// The facts of the frame just folded; `None` when nothing of it is wanted. `receipt` is asked
    /// for only when a message shows it.
    pub(crate) fn collect(
        view: &View,
        descriptions: &Descriptions,
        watched: &Watched,
        changes: &FrameChanges,
        receipt: impl FnOnce() -> [u8; 32],
    ) -> Option<Self> {
        if changes.is_empty() {
            return None;
        }
        let books = changes.books.iter();
        let books = books.filter(|before| watched.market(before.market));
        let mut facts = Self {
            sequence: view.sequence(),
            stream_id: stream_id(view.branch()),
            time: view.system().time.millis(),
            receipt: [0; 32],
            books: books
                .filter_map(|before| BookFacts::of(view, changes, before))
                .collect(),
            notices: notices(view, watched, changes),
            user: UserFacts::of(view, descriptions, watched, changes),
        };
        if facts.books.is_empty() && facts.notices.is_empty() && facts.user.is_empty() {
            return None;
        }
        if changes
            .changes
            .iter()
            .any(|it| matches!(it, Change::Trade { .. }))
        {
            facts.receipt = receipt();
        }
        Some(facts)
    }
}

impl BookFacts {
    fn of(view: &View, changes: &FrameChanges, before: &BookBefore) -> Option<Self> {
        let market = before.market;
        let mut facts = Self {
            market,
            book: BookCopy::of(view, market)?,
            previous: before.changed,
            best_before: before.best,
            prints: Vec::new(),
            levels: Vec::new(),
            first: None,
            ticks: Vec::new(),
            large_due: false,
        };
        let levels = changes.levels.iter();
        (facts.levels).extend(levels.filter(|level| level.market == market).copied());
        for change in &changes.changes {
            match change {
                Change::Entered(order) | Change::Released(order) if order.market == market => {
                    facts.first.get_or_insert(order.outcome);
                }
                Change::Trade { slot, maker } if maker.market == market => {
                    if let Some(fill) = view.trade(*slot) {
                        facts.print(&fill);
                    }
                }
                Change::Tick {
                    market: of,
                    old,
                    new,
                } if *of == market => facts.ticks.push((*old, *new)),
                _ => {}
            }
        }
        let now = view.books().get(market)?.time();
        facts.large_due = large_book_due(now, before, !facts.prints.is_empty());
        Some(facts)
    }

    /// Adds a fill of the frame's order to its print at that price.
    fn print(&mut self, fill: &TradeRecord) {
        match self.prints.last_mut() {
            Some(last) if last.price == fill.taker.price => {
                last.lots += fill.lots;
                last.fee += fill.fee;
            }
            _ => self.prints.push(Print {
                outcome: fill.taker.outcome,
                side: fill.taker.side,
                price: fill.taker.price,
                lots: fill.lots,
                fee: fill.fee,
            }),
        }
    }
}

/// Whether a large book is sent after this frame. Time is cut into windows of
/// [`crate::policy::limits::STREAM_BOOK_INTERVAL`]; a large book is sent after the first frame with a trade
/// in a window, and after the first change in a later window when trades were the last to happen.
/// The rule sees only the journal, so that every gateway and every replay sends the same.
fn large_book_due(now: TimeNs, before: &BookBefore, traded: bool) -> bool {
    let window =
        |time: TimeNs| u128::from(time.0) / crate::policy::limits::STREAM_BOOK_INTERVAL.as_nanos();
    let (now, changed) = (window(now), window(before.time));
    let last_trade = before.last_trade.map(window);
    let is_first_trade = traded && last_trade != Some(now);
    let is_first_change = changed < now && last_trade == Some(changed);
    is_first_trade || is_first_change
}

fn notices(view: &View, watched: &Watched, changes: &FrameChanges) -> Vec<Notice> {
    let events = changes.changes.iter().filter_map(|change| match change {
        Change::Event(event) => Some(*event),
        _ => None,
    });
    let listed = |market: MarketNumber, with_description: bool| {
        let listed = view.markets().get(market)?;
        if listed.is_outside() {
            return None;
        }
        let touched = changes.books.iter().find(|book| book.market == market);
        let previous = match touched {
            Some(before) => before.changed,
            None => view.books().get(market)?.changed(),
        };
        let description = match with_description {
            true => listed.description.clone(),
            false => Box::default(),
        };
        let group = listed.question.filter(|_| with_description);
        let group = group.and_then(|(event, _)| view.events().get(event));
        Some(Listed {
            market,
            condition: listed.condition,
            tokens: listed.tokens,
            tick: listed.tick,
            neg_risk: listed.is_neg_risk(),
            description,
            group: group.map(|group| (group.id, group.description.clone())),
            previous,
        })
    };
    let notice = |event| match event {
        Event::MarketRegistered(MarketRegistered { market, .. }) if watched.lifecycle() => {
            listed(market, true).map(Notice::New)
        }
        Event::MarketResolved(MarketResolved { market, payout }) if watched.lifecycle() => {
            listed(market, true).map(|listed| Notice::Resolved(listed, payout))
        }
        Event::ModeSet { mode } => Some(Notice::Mode(mode)),
        _ => None,
    };
    let status = |event| {
        let (market, stage) = stage_after(view, event)?;
        let listed = watched.market(market).then(|| listed(market, false));
        Some(Notice::Status(listed??, stage))
    };
    (events.flat_map(|event| [notice(event), status(event)]))
        .flatten()
        .collect()
}

/// The stage of a market's life that an event begins.
fn stage_after(view: &View, event: Event) -> Option<(MarketNumber, MarketStage)> {
    Some(match event {
        Event::MarketStateSet(MarketStateSet { market, state, .. }) => {
            (market, MarketStage::State(state))
        }
        Event::MarketCleared { market } => {
            let state = view.markets().get(market)?.state;
            (market, MarketStage::Cleared(state))
        }
        Event::TermsSet(TermsSet { market, .. }) | Event::FeeSet(FeeSet { market, .. }) => {
            let now = view.markets().get(market)?;
            let stage = MarketStage::Terms {
                state: now.state,
                terms: now.terms,
                fee: now.fee,
            };
            (market, stage)
        }
        Event::Proposed(event::Proposed {
            market,
            payout,
            challenge_ends,
            ..
        }) => {
            let challenge_ends = challenge_ends.millis();
            let stage = MarketStage::Proposed {
                payout,
                challenge_ends,
            };
            (market, stage)
        }
        Event::Disputed(event::Disputed { market, counter }) => {
            (market, MarketStage::Disputed { counter })
        }
        Event::ProposalWithdrawn { market } => (market, MarketStage::State(MarketState::Closed)),
        Event::MarketResolved(MarketResolved { market, payout }) => {
            (market, MarketStage::Resolved { payout })
        }
        Event::MarketSettled(MarketSettled { market, .. }) => (market, MarketStage::Settled),
        _ => return None,
    })
}
