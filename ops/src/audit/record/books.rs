//! The auditor's own order books: resting orders by price, then arrival. Lists and maps only, and
//! nothing in common with the exchange's ladder.

use std::collections::{BTreeMap, HashMap, VecDeque};

use foldhash::fast::RandomState;
use foretell_model::{
    AccountNumber, Lots, MarketNumber, OrderId, OrderNumber, Outcome, Price, Side, TimeSeconds,
};

use super::broken::{Broken, Checked};
use super::ledger::Party;

/// A resting order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Resting {
    pub(crate) id: OrderId,
    pub(crate) account: AccountNumber,
    pub(crate) market: MarketNumber,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
    /// Its limit in its own token.
    pub(crate) price: Price,
    /// What is left.
    pub(crate) lots: Lots,
    pub(crate) expiration: TimeSeconds,
}

impl Resting {
    pub(crate) const fn party(&self) -> Party {
        Party {
            account: self.account,
            market: self.market,
            outcome: self.outcome,
            side: self.side,
        }
    }

    /// Its limit in Yes prices.
    pub(crate) const fn yes_price(&self) -> Price {
        in_yes(self.price, self.outcome)
    }

    pub(crate) const fn is_bid(&self) -> bool {
        is_bid(self.outcome, self.side)
    }
}

/// A price of a token in Yes prices, or back.
pub(crate) const fn in_yes(price: Price, outcome: Outcome) -> Price {
    match outcome {
        Outcome::Yes => price,
        Outcome::No => price.complement(),
    }
}

/// BUY Yes and SELL No bid for Yes; the others offer it.
pub(crate) const fn is_bid(outcome: Outcome, side: Side) -> bool {
    matches!(
        (outcome, side),
        (Outcome::Yes, Side::Buy) | (Outcome::No, Side::Sell)
    )
}

/// Orders of one price by arrival. One that ended stays in the queue until it comes to the front,
/// or until such ones are the most of it.
#[derive(Debug, Default)]
struct Queue {
    numbers: VecDeque<OrderNumber>,
    live: usize,
}

/// One side of a market's book, by how good the price is for a taker: the lowest key first.
type Ranks = BTreeMap<u16, Queue>;

/// All books.
#[derive(Debug, Default)]
pub(crate) struct Books {
    orders: HashMap<OrderNumber, Resting, RandomState>,
    /// Of each market, `[asks, bids]`.
    sides: Vec<[Ranks; 2]>,
}

/// The best bid is the highest, the best ask the lowest.
const fn rank(yes_price: Price, is_bid: bool) -> u16 {
    if is_bid {
        u16::MAX - yes_price.0
    } else {
        yes_price.0
    }
}

impl Books {
    pub(crate) fn get(&self, number: OrderNumber) -> Checked<&Resting> {
        self.orders
            .get(&number)
            .ok_or_else(|| Broken::rule(format!("order {number} does not rest")))
    }

    pub(crate) fn orders(&self) -> impl Iterator<Item = (OrderNumber, &Resting)> {
        self.orders.iter().map(|(number, order)| (*number, order))
    }

    /// Adds an order behind all others of its price.
    pub(crate) fn insert(&mut self, number: OrderNumber, order: Resting) {
        let place = order.market.0 as usize;
        if self.sides.len() <= place {
            self.sides.resize_with(place + 1, Default::default);
        }
        let ranks = &mut self.sides[place][usize::from(order.is_bid())];
        let queue = ranks
            .entry(rank(order.yes_price(), order.is_bid()))
            .or_default();
        queue.numbers.push_back(number);
        queue.live += 1;
        self.orders.insert(number, order);
    }

    /// Takes lots off an order that goes on, and all of it off one that is done.
    pub(crate) fn fill(&mut self, number: OrderNumber, left: Lots) {
        if left.is_zero() {
            self.remove(number);
        } else if let Some(order) = self.orders.get_mut(&number) {
            order.lots = left;
        }
    }

    pub(crate) fn remove(&mut self, number: OrderNumber) {
        let Some(order) = self.orders.remove(&number) else {
            return;
        };
        let ranks = &mut self.sides[order.market.0 as usize][usize::from(order.is_bid())];
        let rank = rank(order.yes_price(), order.is_bid());
        let Some(queue) = ranks.get_mut(&rank) else {
            return;
        };
        queue.live -= 1;
        if queue.live == 0 {
            ranks.remove(&rank);
        } else if queue.numbers.front() == Some(&number) {
            let ended = |number: &OrderNumber| !self.orders.contains_key(number);
            while queue.numbers.front().is_some_and(ended) {
                queue.numbers.pop_front();
            }
        } else if queue.numbers.len() > 2 * queue.live + 16 {
            let orders = &self.orders;
            queue.numbers.retain(|number| orders.contains_key(number));
        }
    }

    /// One side of a market's book by price, then arrival.
    pub(crate) fn side(
        &self,
        market: MarketNumber,
        is_bid: bool,
    ) -> impl Iterator<Item = (OrderNumber, &Resting)> {
        let ranks = self
            .sides
            .get(market.0 as usize)
            .map(|sides| &sides[usize::from(is_bid)]);
        ranks
            .into_iter()
            .flatten()
            .flat_map(|(_, queue)| &queue.numbers)
            .filter_map(|number| Some((*number, self.orders.get(number)?)))
    }

    pub(crate) fn is_empty(&self, market: MarketNumber) -> bool {
        let sides = self.sides.get(market.0 as usize);
        sides.is_none_or(|sides| sides.iter().all(BTreeMap::is_empty))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(side: Side, outcome: Outcome, price: u16) -> Resting {
        Resting {
            id: OrderId([0; 32]),
            account: AccountNumber(0),
            market: MarketNumber(0),
            outcome,
            side,
            price: Price(price),
            lots: Lots(1),
            expiration: TimeSeconds(0),
        }
    }

    fn numbers(books: &Books, is_bid: bool) -> Vec<u64> {
        books
            .side(MarketNumber(0), is_bid)
            .map(|(number, _)| number.0)
            .collect()
    }

    #[test]
    fn orders_stand_by_price_of_either_token_then_by_arrival() {
        let mut books = Books::default();
        let rows = [
            (1, Side::Buy, Outcome::Yes, 4_000),
            (2, Side::Buy, Outcome::Yes, 4_100),
            (3, Side::Sell, Outcome::No, 5_900), // a bid at 0.41
            (4, Side::Buy, Outcome::No, 5_800),  // an ask at 0.42
            (5, Side::Sell, Outcome::Yes, 4_200),
        ];
        for (number, side, outcome, price) in rows {
            books.insert(OrderNumber(number), order(side, outcome, price));
        }
        assert_eq!(numbers(&books, true), [2, 3, 1]);
        assert_eq!(numbers(&books, false), [4, 5]);
        books.remove(OrderNumber(2));
        books.fill(OrderNumber(4), Lots(0));
        assert_eq!(numbers(&books, true), [3, 1]);
        assert_eq!(numbers(&books, false), [5]);
    }

    #[test]
    fn what_ended_in_the_middle_of_a_queue_is_cleared_away() {
        let mut books = Books::default();
        for number in 1..=1_000 {
            books.insert(OrderNumber(number), order(Side::Buy, Outcome::Yes, 5_000));
        }
        for number in 2..=999 {
            books.remove(OrderNumber(number));
        }
        assert_eq!(numbers(&books, true), [1, 1_000]);
        let queue = books.sides[0][1].values().next().unwrap();
        assert!(queue.numbers.len() < 50, "{}", queue.numbers.len());
        for number in [1, 1_000] {
            books.remove(OrderNumber(number));
        }
        assert!(books.is_empty(MarketNumber(0)));
    }
}
