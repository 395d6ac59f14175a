//! What one frame changed, in the order of its events: the facts that streams show.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use foretell_model::event::{
    MinimumSizeSet, OrderClosed, OrderDecreased, OrderReleased, QuotePlaced, TickSet,
};
use foretell_model::quote::Quote;
use foretell_model::{
    Command, Event, FrameRef, Lots, MarketNumber, OrderId, OrderNumber, Outcome, Price, Sequence,
    Side, Tick, TimeNs,
};

use crate::observer::Observer;
use crate::rows::books::{Book, LadderPlace};
use crate::rows::order::{Order, OrderState, own_price};
use crate::rows::trade_slot::TradeSlot;
use crate::view::View;

/// What the last observed frame changed. Collects anew with each frame.
#[derive(Debug, Default)]
pub struct FrameChanges {
    /// In the order of the events.
    pub changes: Vec<Change>,
    /// The books that the frame touched, in the order of its events.
    pub books: Vec<BookBefore>,
    /// The levels whose totals differ after the frame, in the order of its events.
    pub levels: Vec<LevelChange>,
    seen_books: HashSet<MarketNumber, RandomState>,
    seen_levels: HashSet<(MarketNumber, LadderPlace), RandomState>,
    /// The frame's own order.
    placed: Option<(OrderNumber, OrderId)>,
    /// The quotes of the frame's set, each with its market.
    quotes: Vec<Option<(MarketNumber, Quote)>>,
}

/// One change.
#[derive(Clone, Debug)]
pub enum Change {
    /// The frame's order came in, of which nothing is matched and which may be killed next; or a quote of its
    /// set, which rests.
    Entered(Box<Order>),
    /// A delayed order became the frame's order.
    Released(Box<Order>),
    /// A trade.
    Trade {
        /// The trade.
        slot: TradeSlot,
        /// The resting order after it.
        maker: Box<Order>,
    },
    /// An order that came to rest, waits, or ended, in its new state. The frame's own order ends at most
    /// once; a resting order that a trade completes is reported with the trade.
    Order(Box<Order>),
    /// A resting order in its smaller size.
    Decreased(Box<Order>),
    /// A market's tick.
    Tick {
        /// The market.
        market: MarketNumber,
        /// Its tick before.
        old: Tick,
        /// Its tick now.
        new: Tick,
    },
    /// One of: a market registered, its state or minimum size set, its book cleared, a payout
    /// proposed, disputed or withdrawn, a market resolved or settled, the mode set, a key revoked.
    Event(Event),
}

/// A book before the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BookBefore {
    /// The market.
    pub market: MarketNumber,
    /// [`Book::changed`] before the frame.
    pub changed: Sequence,
    /// [`Book::time`] before the frame.
    pub time: TimeNs,
    /// Time of the last trade before the frame.
    pub last_trade: Option<TimeNs>,
    /// The best bid and the best ask of Yes before the frame.
    pub best: [Option<Price>; 2],
}

/// The total of one level before and after the frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LevelChange {
    /// The market.
    pub market: MarketNumber,
    place: LadderPlace,
    /// Before the frame.
    pub before: Lots,
    /// After the frame; 0 when the level is gone.
    pub after: Lots,
    /// The outcome of the order that first touched the level.
    pub outcome: Outcome,
}

impl LevelChange {
    /// The side of the book of this outcome's token: a bid is a BUY.
    #[must_use]
    pub fn side(&self, outcome: Outcome) -> Side {
        match self.place.bid == (outcome == Outcome::Yes) {
            true => Side::Buy,
            false => Side::Sell,
        }
    }

    /// The price of this outcome's token.
    #[must_use]
    pub fn price(&self, outcome: Outcome) -> Price {
        own_price(outcome, self.place.yes_price)
    }

    /// Whether its total fell.
    #[must_use]
    pub fn shrank(&self) -> bool {
        self.after < self.before
    }
}

impl FrameChanges {
    /// Whether the frame changed nothing that streams show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.books.is_empty()
    }

    /// Notes the book before its first change in this frame.
    fn touch(&mut self, view: &View, market: MarketNumber) {
        if !self.seen_books.insert(market) {
            return;
        }
        let Some(book) = view.books().get(market) else {
            return;
        };
        let yes = book.of(Outcome::Yes);
        self.books.push(BookBefore {
            market,
            changed: book.changed(),
            time: book.time(),
            last_trade: yes.last_trade().map(|last| last.time),
            best: [yes.best_bid(), yes.best_ask()],
        });
    }

    /// Notes the level of an order before its first change in this frame.
    fn touch_level(&mut self, view: &View, order: &Order) {
        let place = LadderPlace::of_order(order);
        self.touch_place(view, (order.market, order.outcome), place);
    }

    fn touch_place(
        &mut self,
        view: &View,
        (market, outcome): (MarketNumber, Outcome),
        place: LadderPlace,
    ) {
        if !self.seen_levels.insert((market, place)) {
            return;
        }
        self.touch(view, market);
        let before = lots_at(view.books().get(market), place);
        self.levels.push(LevelChange {
            market,
            place,
            before,
            after: before,
            outcome,
        });
    }

    /// The frame's own order after its ending.
    fn own_order(&self, view: &View) -> Option<Box<Order>> {
        let (number, id) = self.placed?;
        let live = view.orders().live(number).cloned();
        live.or_else(|| view.orders().by_id(&id)).map(Box::new)
    }
}

fn lots_at(book: Option<&Book>, place: LadderPlace) -> Lots {
    book.map_or(Lots::ZERO, |book| book.lots_at(place))
}

impl Observer for FrameChanges {
    fn begin(&mut self, _view: &View, frame: &FrameRef<'_>, placed: Option<&Order>) {
        self.changes.clear();
        self.books.clear();
        self.levels.clear();
        self.seen_books.clear();
        self.seen_levels.clear();
        self.placed = match frame.command {
            Command::PlaceOrder(command) => {
                Some((OrderNumber::of(frame.sequence, 0), command.order))
            }
            _ => None,
        };
        self.quotes.clear();
        if let Command::SetQuotes(set) = frame.command
            && let Some(lists) = set.lists(frame.evidence)
        {
            self.quotes
                .extend((0..set.quotes).map(|index| lists.quote(index)));
        }
        let entered = placed.map(|order| Change::Entered(Box::new(order.clone())));
        self.changes.extend(entered);
    }

    fn before(&mut self, view: &View, placed: Option<&Order>, event: &Event) {
        match *event {
            Event::Fill(ref fill) => {
                if let Some(maker) = view.orders().live(fill.maker_order) {
                    self.touch_level(view, maker);
                    let slot = view.trades().next_slot();
                    let maker = Box::new(maker.clone());
                    self.changes.push(Change::Trade { slot, maker });
                }
            }
            Event::OrderRested(_) => {
                if let Some(order) = placed {
                    self.touch_level(view, order);
                }
            }
            Event::QuotePlaced(QuotePlaced { order, .. }) => {
                if let Some(&Some((market, quote))) = self.quotes.get(usize::from(order.index())) {
                    let place = LadderPlace::of(quote.outcome, quote.side, quote.price);
                    self.touch_place(view, (market, quote.outcome), place);
                }
            }
            Event::OrderClosed(OrderClosed { order, .. }) => {
                if let Some(order) = view.orders().live(order) {
                    // A delayed order is in no book.
                    if order.state == OrderState::Live {
                        self.touch_level(view, order);
                    }
                    self.changes.push(Change::Order(Box::new(order.clone())));
                }
            }
            Event::OrderDecreased(OrderDecreased { order, .. }) => {
                if let Some(order) = view.orders().live(order) {
                    self.touch_level(view, order);
                }
            }
            Event::TickSet(TickSet { market, tick: new }) => {
                self.touch(view, market);
                if let Some(old) = view.markets().get(market).map(|market| market.tick) {
                    self.changes.push(Change::Tick { market, old, new });
                }
            }
            Event::MinimumSizeSet(MinimumSizeSet { market, .. }) => {
                self.touch(view, market);
                self.changes.push(Change::Event(*event));
            }
            Event::MarketRegistered(_)
            | Event::MarketStateSet(_)
            | Event::MarketCleared { .. }
            | Event::FeeSet(_)
            | Event::TermsSet(_)
            | Event::Proposed(_)
            | Event::Disputed(_)
            | Event::ProposalWithdrawn { .. }
            | Event::MarketResolved(_)
            | Event::MarketSettled(_)
            | Event::ModeSet { .. }
            | Event::KeyRevoked { .. }
            | Event::WithdrawalRequested(_)
            | Event::WithdrawalClaimed { .. }
            | Event::WithdrawalReleased(_) => self.changes.push(Change::Event(*event)),
            _ => {}
        }
    }

    fn after(&mut self, view: &View, placed: Option<&Order>, event: &Event) {
        match *event {
            Event::Fill(_) => {
                if let Some(Change::Trade { maker, .. }) = self.changes.last_mut() {
                    latest(view, maker);
                }
            }
            Event::OrderClosed(OrderClosed { order, .. })
                if self.placed.is_none_or(|(number, _)| number != order) =>
            {
                if let Some(Change::Order(order)) = self.changes.last_mut() {
                    latest(view, order);
                }
            }
            Event::OrderDecreased(OrderDecreased { order, .. }) => {
                let order = view.orders().live(order).cloned().map(Box::new);
                self.changes.extend(order.map(Change::Decreased));
            }
            Event::QuotePlaced(QuotePlaced { order, .. }) => {
                let order = view.orders().live(order).cloned().map(Box::new);
                self.changes.extend(order.map(Change::Entered));
            }
            Event::OrderReleased(OrderReleased { order, .. }) => {
                if let Some(released) = placed {
                    self.placed = Some((order, released.id));
                    self.changes
                        .push(Change::Released(Box::new(released.clone())));
                }
            }
            Event::OrderRested(_)
            | Event::OrderDelayed(_)
            | Event::OrderCompleted
            | Event::OrderClosed(_)
            | Event::OrderKilled(_) => {
                let order = self.own_order(view);
                self.changes.extend(order.map(Change::Order));
            }
            _ => {}
        }
    }

    fn end(&mut self, view: &View) {
        for level in &mut self.levels {
            level.after = lots_at(view.books().get(level.market), level.place);
        }
        self.levels.retain(|level| level.after != level.before);
    }
}

/// Replaces a copy of an order by its present state.
fn latest(view: &View, order: &mut Order) {
    let live = view.orders().live(order.number).cloned();
    if let Some(now) = live.or_else(|| view.orders().by_id(&order.id)) {
        *order = now;
    }
}
