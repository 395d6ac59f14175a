//! Books: one ladder per market in Yes prices, readable from either token, and the last trade.

use std::collections::{BTreeMap, BTreeSet, btree_map};

use foretell_model::codec::{CodecError, Stored, fixed};
use foretell_model::{Lots, MarketNumber, OrderNumber, Outcome, Price, Sequence, Side, TimeNs};

use crate::error::Impossible;
use crate::rows::balance::{lower, raise};
use crate::rows::order::Order;
use crate::storage::by_number::ByNumber;

/// Total of the resting orders at one price of a token, including implied ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// Price of the requested token.
    pub price: Price,
    /// Sum of lots, above 0.
    pub lots: Lots,
}

fixed! {
    /// The last trade of a token.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct LastTrade {
        /// Price of the requested token.
        pub price: Price,
        /// The taker's side, seen from the requested token.
        pub side: Side,
        /// When it happened.
        pub time: TimeNs,
    }
}

/// The resting orders at one Yes price of a side.
#[derive(Clone, Debug, Default)]
struct Queue {
    /// The sum of their lots, above 0.
    lots: Lots,
    /// By arrival.
    orders: BTreeSet<(Sequence, OrderNumber)>,
}

/// Where an order stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuePlace {
    pub(crate) level: LadderPlace,
    arrival: (Sequence, OrderNumber),
}

impl QueuePlace {
    pub(crate) fn of(order: &Order) -> Self {
        Self {
            level: LadderPlace::of_order(order),
            arrival: (order.arrival, order.number),
        }
    }
}

/// The book of a market.
#[derive(Clone, Debug)]
pub struct Book {
    /// Yes bids: BUY Yes, and SELL No at the complement.
    bids: BTreeMap<Price, Queue>,
    /// Yes asks: SELL Yes, and BUY No at the complement.
    asks: BTreeMap<Price, Queue>,
    /// In Yes prices, seen from Yes.
    last: Option<LastTrade>,
    changed: Sequence,
    time: TimeNs,
}

/// Stored without its levels: they are rebuilt from the live orders.
impl Stored for Book {
    fn put(&self, out: &mut Vec<u8>) {
        (self.last, self.changed, self.time).put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let (last, changed, time) = Stored::take(from)?;
        Ok(Self {
            bids: BTreeMap::new(),
            asks: BTreeMap::new(),
            last,
            changed,
            time,
        })
    }
}

impl Book {
    /// The last frame that changed levels, last trade, tick or minimum size. A rendered book stays
    /// valid while this does not change.
    #[must_use]
    pub fn changed(&self) -> Sequence {
        self.changed
    }

    /// Time of that frame: the book's timestamp. Of an unchanged book, the registration.
    #[must_use]
    pub fn time(&self) -> TimeNs {
        self.time
    }

    /// The book seen from one of its tokens.
    #[must_use]
    pub fn of(&self, outcome: Outcome) -> TokenBook<'_> {
        TokenBook {
            book: self,
            outcome,
        }
    }
}

/// A book seen from one token: its own orders and those implied by the other token's.
#[derive(Clone, Copy, Debug)]
pub struct TokenBook<'a> {
    book: &'a Book,
    outcome: Outcome,
}

impl<'a> TokenBook<'a> {
    /// Bids, best (highest) first; reverse it to end with the best.
    #[must_use]
    pub fn bids(&self) -> Levels<'a> {
        match self.outcome {
            Outcome::Yes => Levels::new(&self.book.bids, true, false),
            Outcome::No => Levels::new(&self.book.asks, false, true),
        }
    }

    /// Asks, best (lowest) first; reverse it to end with the best.
    #[must_use]
    pub fn asks(&self) -> Levels<'a> {
        match self.outcome {
            Outcome::Yes => Levels::new(&self.book.asks, false, false),
            Outcome::No => Levels::new(&self.book.bids, true, true),
        }
    }

    /// The highest bid.
    #[must_use]
    pub fn best_bid(&self) -> Option<Price> {
        self.bids().next().map(|level| level.price)
    }

    /// The lowest ask.
    #[must_use]
    pub fn best_ask(&self) -> Option<Price> {
        self.asks().next().map(|level| level.price)
    }

    /// The last trade of the market, mirrored for the No token.
    #[must_use]
    pub fn last_trade(&self) -> Option<LastTrade> {
        let last = self.book.last?;
        Some(match self.outcome {
            Outcome::Yes => last,
            Outcome::No => LastTrade {
                price: last.price.complement(),
                side: last.side.opposite(),
                time: last.time,
            },
        })
    }
}

/// Levels of one side, best first.
#[derive(Clone, Debug)]
pub struct Levels<'a> {
    ladder: btree_map::Iter<'a, Price, Queue>,
    /// Whether the best is the highest Yes price.
    falling: bool,
    /// Whether prices are shown as No prices.
    mirrored: bool,
}

impl<'a> Levels<'a> {
    fn new(ladder: &'a BTreeMap<Price, Queue>, falling: bool, mirrored: bool) -> Self {
        Self {
            ladder: ladder.iter(),
            falling,
            mirrored,
        }
    }

    /// Takes the best level, or the worst.
    fn take(&mut self, best: bool) -> Option<Level> {
        let (&price, &Queue { lots, .. }) = match best == self.falling {
            true => self.ladder.next_back(),
            false => self.ladder.next(),
        }?;
        let price = match self.mirrored {
            true => price.complement(),
            false => price,
        };
        Some(Level { price, lots })
    }
}

impl Iterator for Levels<'_> {
    type Item = Level;

    fn next(&mut self) -> Option<Level> {
        self.take(true)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.ladder.size_hint()
    }
}

impl DoubleEndedIterator for Levels<'_> {
    fn next_back(&mut self) -> Option<Level> {
        self.take(false)
    }
}

impl ExactSizeIterator for Levels<'_> {}

/// The books of all markets.
#[derive(Debug, Default)]
pub struct Books {
    all: ByNumber<MarketNumber, Book>,
    /// Markets whose books the current frame has touched.
    touched: Vec<MarketNumber>,
}

impl Books {
    /// The book of a market.
    #[must_use]
    pub fn get(&self, market: MarketNumber) -> Option<&Book> {
        self.all.get(market)
    }

    pub(crate) fn open(
        &mut self,
        market: MarketNumber,
        at: (Sequence, TimeNs),
    ) -> Result<(), Impossible> {
        let book = Book {
            bids: BTreeMap::new(),
            asks: BTreeMap::new(),
            last: None,
            changed: at.0,
            time: at.1,
        };
        self.all.push(market, book)
    }

    /// Adds the remaining lots of a live order read from a snapshot.
    pub(crate) fn restore(&mut self, order: &Order) -> Result<(), Impossible> {
        let book = self.all.get_mut(order.market);
        let book = book.ok_or(Impossible::UnknownMarket(order.market))?;
        book.join(order)
    }

    /// Records a change of something that is shown with the book.
    pub(crate) fn touch(
        &mut self,
        market: MarketNumber,
        at: (Sequence, TimeNs),
    ) -> Result<&mut Book, Impossible> {
        let book = (self.all.get_mut(market)).ok_or(Impossible::UnknownMarket(market))?;
        if book.changed != at.0 {
            self.touched.push(market);
        }
        (book.changed, book.time) = at;
        Ok(book)
    }

    /// Removes a market from those touched by the frame.
    pub(crate) fn pop_touched(&mut self) -> Option<MarketNumber> {
        self.touched.pop()
    }
}

impl Stored for Books {
    fn put(&self, out: &mut Vec<u8>) {
        self.all.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        Ok(Self {
            all: Stored::take(from)?,
            touched: Vec::new(),
        })
    }
}

/// The position of an order in its market's ladder.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct LadderPlace {
    pub(crate) bid: bool,
    pub(crate) yes_price: Price,
}

impl LadderPlace {
    /// Where an order rests.
    pub(crate) fn of_order(order: &Order) -> Self {
        Self::of(order.outcome, order.side, order.price)
    }

    /// The position for this side and limit price of the order's own token.
    pub(crate) fn of(outcome: Outcome, side: Side, price: Price) -> Self {
        match outcome {
            Outcome::Yes => Self {
                bid: side == Side::Buy,
                yes_price: price,
            },
            Outcome::No => Self {
                bid: side == Side::Sell,
                yes_price: price.complement(),
            },
        }
    }
}

impl Book {
    /// Adds a resting order to the queue of its price.
    pub(crate) fn join(&mut self, order: &Order) -> Result<(), Impossible> {
        let QueuePlace { level, arrival } = QueuePlace::of(order);
        let queue = self.side(level).entry(level.yes_price).or_default();
        if !queue.orders.insert(arrival) {
            return Err(Impossible::DuplicateName);
        }
        raise(&mut queue.lots, order.left)
    }

    /// Takes lots off the total of a price.
    pub(crate) fn lower(&mut self, place: LadderPlace, lots: Lots) -> Result<(), Impossible> {
        lower(&mut self.queue(place)?.lots, lots)
    }

    /// Removes an order that rests with these lots from its queue.
    pub(crate) fn leave(&mut self, place: QueuePlace, lots: Lots) -> Result<(), Impossible> {
        let QueuePlace { level, arrival } = place;
        let queue = self.queue(level)?;
        if !queue.orders.remove(&arrival) {
            return Err(Impossible::OrderNotLive(arrival.1));
        }
        lower(&mut queue.lots, lots)?;
        match (queue.orders.is_empty(), queue.lots.is_zero()) {
            (false, false) => Ok(()),
            (true, true) => {
                self.side(level).remove(&level.yes_price);
                Ok(())
            }
            _ => Err(Impossible::AmountOutOfRange),
        }
    }

    fn queue(&mut self, place: LadderPlace) -> Result<&mut Queue, Impossible> {
        let queue = self.side(place).get_mut(&place.yes_price);
        queue.ok_or(Impossible::AmountOutOfRange)
    }

    fn queue_at(&self, place: LadderPlace) -> Option<&Queue> {
        let side = if place.bid { &self.bids } else { &self.asks };
        side.get(&place.yes_price)
    }

    /// The total at a place; 0 without a level.
    pub(crate) fn lots_at(&self, place: LadderPlace) -> Lots {
        self.queue_at(place).map_or(Lots::ZERO, |queue| queue.lots)
    }

    /// The orders that trade before this one at its price, the first first.
    pub(crate) fn ahead_of(&self, order: &Order) -> impl Iterator<Item = OrderNumber> {
        let QueuePlace { level, arrival } = QueuePlace::of(order);
        let queue = self.queue_at(level).into_iter();
        let ahead = queue.flat_map(move |queue| queue.orders.range(..arrival));
        ahead.map(|(_, number)| *number)
    }

    /// Records a trade at a Yes price by a taker of this outcome and side.
    pub(crate) fn trade(&mut self, yes_price: Price, outcome: Outcome, side: Side, time: TimeNs) {
        let side = match outcome {
            Outcome::Yes => side,
            Outcome::No => side.opposite(),
        };
        self.last = Some(LastTrade {
            price: yes_price,
            side,
            time,
        });
    }

    fn side(&mut self, place: LadderPlace) -> &mut BTreeMap<Price, Queue> {
        if place.bid {
            &mut self.bids
        } else {
            &mut self.asks
        }
    }
}
