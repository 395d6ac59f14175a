//! Books and prices, summed from the orders.

use std::collections::BTreeMap;

use foretell_model::{MarketNumber, Outcome, Side};

use crate::naive::{BookStory, Naive, Order, Story};

/// The price of a token at a Yes price.
pub(crate) fn of_token(outcome: Outcome, yes_price: i128) -> i128 {
    [yes_price, 10_000 - yes_price][outcome.index()]
}

impl Order {
    /// Is it on the bid side of Yes?
    fn is_bid(&self) -> bool {
        (self.placed.side == Side::Buy) == (self.placed.outcome == Outcome::Yes)
    }

    fn yes_price(&self) -> i128 {
        of_token(self.placed.outcome, self.price)
    }
}

/// The levels of a market's bids and asks by Yes price.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Ladder {
    pub(crate) bids: BTreeMap<i128, i128>,
    pub(crate) asks: BTreeMap<i128, i128>,
}

impl Ladder {
    /// Best bid and ask of a token; 0 and 1 for empty sides.
    pub(crate) fn best(&self, outcome: Outcome) -> (i128, i128) {
        let bid = self.bids.keys().next_back().copied().unwrap_or(0);
        let ask = self.asks.keys().next().copied().unwrap_or(10_000);
        match outcome {
            Outcome::Yes => (bid, ask),
            Outcome::No => (10_000 - ask, 10_000 - bid),
        }
    }
}

/// A level that differs after a frame.
pub(crate) struct Changed {
    pub(crate) is_bid: bool,
    pub(crate) yes_price: i128,
    pub(crate) before: i128,
    pub(crate) after: i128,
    /// The outcome of the order that touched it first.
    pub(crate) first: Outcome,
}

impl Naive {
    pub(crate) fn ladder(&self, market: MarketNumber) -> Ladder {
        let mut ladder = Ladder::default();
        for order in self.orders.values() {
            if order.placed.market == market {
                let side = match order.is_bid() {
                    true => &mut ladder.bids,
                    false => &mut ladder.asks,
                };
                *side.entry(order.yes_price()).or_default() += order.left;
            }
        }
        ladder
    }

    /// The levels of a book that a frame changed, after the frame.
    pub(crate) fn changed(&self, book: &BookStory) -> Vec<Changed> {
        let after = self.ladder(book.market);
        let mut changed: Vec<Changed> = Vec::new();
        for &(is_bid, yes_price, first) in &book.touched {
            let total = |ladder: &Ladder| {
                let side = if is_bid { &ladder.bids } else { &ladder.asks };
                side.get(&yes_price).copied().unwrap_or(0)
            };
            let (before, after) = (total(&book.before), total(&after));
            let known = |it: &Changed| (it.is_bid, it.yes_price) == (is_bid, yes_price);
            if before != after && !changed.iter().any(known) {
                changed.push(Changed {
                    is_bid,
                    yes_price,
                    before,
                    after,
                    first,
                });
            }
        }
        changed
    }

    /// The best bid and ask.
    pub(crate) fn best_of_yes(&self, market: usize) -> [Option<i128>; 2] {
        let own = (self.orders.values()).filter(|order| order.placed.market.0 as usize == market);
        let (bids, asks): (Vec<_>, Vec<_>) = own.partition(|order| order.is_bid());
        let bid = bids.into_iter().map(Order::yes_price).max();
        let ask = asks.into_iter().map(Order::yes_price).min();
        [bid, ask]
    }

    /// The current price of a token in half units of 0.00005.
    pub(crate) fn price(&self, market: usize, outcome: usize) -> i128 {
        let of = &self.markets[market];
        if let Some(pays) = of.pays {
            return pays[outcome] * 2;
        }
        let [bid, ask] = self.best_of_yes(market);
        let yes = match (bid, ask, of.last_trade) {
            (Some(bid), Some(ask), _) if ask - bid <= 1_000 => bid + ask,
            (_, _, Some((last, _))) => 2 * last,
            (Some(bid), Some(ask), None) => bid + ask,
            _ => 10_000,
        };
        if outcome == 0 { yes } else { 20_000 - yes }
    }

    /// Notes that an order's level is about to change.
    pub(crate) fn touch(&mut self, story: &mut Story, order: &Order) {
        let level = (order.is_bid(), order.yes_price(), order.placed.outcome);
        let book = self.touch_book(story, order.placed.market);
        book.touched.push(level);
    }

    /// Notes that something of a book is about to change.
    pub(crate) fn touch_book<'a>(
        &mut self,
        story: &'a mut Story,
        market: MarketNumber,
    ) -> &'a mut BookStory {
        let known = story.books.iter().position(|book| book.market == market);
        let place = known.unwrap_or_else(|| {
            let before = self.ladder(market);
            let touched = &mut self.markets[market.0 as usize];
            story.books.push(BookStory {
                market,
                before,
                previous: touched.changed,
                last_trade_before: touched.last_trade.map(|(_, time)| time),
                ticks: Vec::new(),
                touched: Vec::new(),
            });
            touched.changed = (self.last, self.now);
            story.books.len() - 1
        });
        &mut story.books[place]
    }
}
