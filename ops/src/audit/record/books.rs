//! The auditor's own order books: resting orders by price, then arrival. Sorted prices and linked
//! queues, and nothing in common with the exchange's ladder.

use std::cmp::Ordering;

use foretell_memory::near::bring;
use foretell_model::{
    AccountNumber, Lots, MarketNumber, OrderId, OrderNumber, Outcome, Price, Side, TimeSeconds,
};

use super::broken::{Broken, Checked};
use super::ledger::Party;
use super::places::Places;

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

/// Levels, from the best on, that are looked at one by one.
const NEAR_BEST: usize = 16;

/// No order, at either end of a queue.
const NOBODY: u32 = u32::MAX;

/// A resting order, and the places of those that came before and after it at its price.
#[derive(Debug)]
struct Standing {
    number: OrderNumber,
    order: Resting,
    before: u32,
    after: u32,
}

/// The orders of one price: places of the first and the last that came.
#[derive(Debug)]
struct Level {
    rank: u16,
    first: u32,
    last: u32,
}

/// One side of a market's book by how good the price is for a taker: the best last, so that coming
/// and going there moves nothing.
type Levels = Vec<Level>;

/// All books.
#[derive(Debug, Default)]
pub(crate) struct Books {
    standing: Vec<Standing>,
    /// Places of `standing` that nobody has.
    free: Vec<u32>,
    places: Places,
    /// Of each market, `[asks, bids]`.
    sides: Vec<[Levels; 2]>,
}

/// The lower, the better: the best bid is the highest, the best ask the lowest.
const fn rank(yes_price: Price, is_bid: bool) -> u16 {
    if is_bid {
        u16::MAX - yes_price.0
    } else {
        yes_price.0
    }
}

/// Where a price stands, or would stand. Most come and go near the best, where one after the other is
/// looked at: a search by halves would begin far from it, where memory is not near.
fn find(levels: &[Level], rank: u16) -> Result<usize, usize> {
    let far = levels.len().saturating_sub(NEAR_BEST);
    for (at, level) in levels.iter().enumerate().skip(far).rev() {
        match level.rank.cmp(&rank) {
            Ordering::Less => {}
            Ordering::Equal => return Ok(at),
            Ordering::Greater => return Err(at + 1),
        }
    }
    levels[..far].binary_search_by(|level| rank.cmp(&level.rank))
}

impl Books {
    pub(crate) fn get(&self, number: OrderNumber) -> Checked<&Resting> {
        let order = self.find(number);
        order.ok_or_else(|| Broken::rule(format!("order {number} does not rest")))
    }

    /// The order of this number, if it rests.
    pub(crate) fn find(&self, number: OrderNumber) -> Option<&Resting> {
        self.standing(number).map(|standing| &standing.order)
    }

    fn standing(&self, number: OrderNumber) -> Option<&Standing> {
        let place = self.places.get(number)?;
        Some(&self.standing[place as usize])
    }

    /// How many orders rest.
    pub(crate) const fn count(&self) -> usize {
        self.standing.len() - self.free.len()
    }

    /// Brings near what tells where an order stands.
    pub(crate) fn foresee_place(&self, number: OrderNumber) {
        self.places.foresee(number);
    }

    /// Once it is near: the order.
    pub(crate) fn foresee(&self, number: OrderNumber) {
        if let Some(standing) = self.standing(number) {
            bring(standing);
        }
    }

    /// Once it is near: brings those near that stand before and behind it, and tells what it is.
    pub(crate) fn foresee_around(&self, number: OrderNumber) -> Option<&Resting> {
        let standing = self.standing(number)?;
        for place in [standing.before, standing.after] {
            if let Some(neighbour) = self.standing.get(place as usize) {
                bring(neighbour);
            }
        }
        Some(&standing.order)
    }

    /// Brings a market near.
    pub(crate) fn foresee_market(&self, market: MarketNumber) {
        if let Some(sides) = self.sides.get(market.0 as usize) {
            bring(sides);
        }
    }

    /// Once it is near: its best prices.
    pub(crate) fn foresee_levels(&self, market: MarketNumber) {
        self.best(market).for_each(bring);
    }

    /// Once those are: the orders that stand first.
    pub(crate) fn foresee_best(&self, market: MarketNumber) {
        for best in self.best(market) {
            bring(&self.standing[best.first as usize]);
        }
    }

    /// The best price of either side.
    fn best(&self, market: MarketNumber) -> impl Iterator<Item = &Level> {
        let sides = self.sides.get(market.0 as usize).into_iter().flatten();
        sides.filter_map(|levels| levels.last())
    }

    /// Adds an order behind all others of its price.
    pub(crate) fn insert(&mut self, number: OrderNumber, order: Resting) {
        let market = order.market.0 as usize;
        if self.sides.len() <= market {
            self.sides.resize_with(market + 1, Default::default);
        }
        let rank = rank(order.yes_price(), order.is_bid());
        let levels = &mut self.sides[market][usize::from(order.is_bid())];
        let found = find(levels, rank);
        let before = found.map_or(NOBODY, |at| levels[at].last);
        let place = self.stand(Standing {
            number,
            order,
            before,
            after: NOBODY,
        });
        let levels = &mut self.sides[market][usize::from(order.is_bid())];
        match found {
            Ok(at) => levels[at].last = place,
            Err(at) => levels.insert(
                at,
                Level {
                    rank,
                    first: place,
                    last: place,
                },
            ),
        }
        if before != NOBODY {
            self.standing[before as usize].after = place;
        }
        self.places.put(number, place);
    }

    fn stand(&mut self, standing: Standing) -> u32 {
        if let Some(place) = self.free.pop() {
            self.standing[place as usize] = standing;
            return place;
        }
        self.standing.push(standing);
        u32::try_from(self.standing.len() - 1).expect("fewer than 2^32 orders rest")
    }

    /// Takes lots off an order that goes on, and all of it off one that is done.
    pub(crate) fn fill(&mut self, number: OrderNumber, left: Lots) {
        if left.is_zero() {
            self.remove(number);
        } else if let Some(place) = self.places.get(number) {
            self.standing[place as usize].order.lots = left;
        }
    }

    pub(crate) fn remove(&mut self, number: OrderNumber) {
        let Some(place) = self.places.take(number) else {
            return;
        };
        let Standing {
            order,
            before,
            after,
            ..
        } = self.standing[place as usize];
        self.free.push(place);
        if before != NOBODY {
            self.standing[before as usize].after = after;
        }
        if after != NOBODY {
            self.standing[after as usize].before = before;
        }
        if before != NOBODY && after != NOBODY {
            return;
        }
        let levels = &mut self.sides[order.market.0 as usize][usize::from(order.is_bid())];
        let Ok(at) = find(levels, rank(order.yes_price(), order.is_bid())) else {
            return;
        };
        match (before, after) {
            (NOBODY, NOBODY) => drop(levels.remove(at)),
            (NOBODY, first) => levels[at].first = first,
            (last, _) => levels[at].last = last,
        }
    }

    /// One side of a market's book by price, then arrival.
    pub(crate) fn side(
        &self,
        market: MarketNumber,
        is_bid: bool,
    ) -> impl Iterator<Item = (OrderNumber, &Resting)> {
        let levels = self
            .sides
            .get(market.0 as usize)
            .map_or(&[][..], |sides| &sides[usize::from(is_bid)]);
        let at = |place: u32| self.standing.get(place as usize);
        levels.iter().rev().flat_map(move |level| {
            std::iter::successors(at(level.first), move |standing| at(standing.after))
                .map(|standing| (standing.number, &standing.order))
        })
    }

    pub(crate) fn is_empty(&self, market: MarketNumber) -> bool {
        let sides = self.sides.get(market.0 as usize);
        sides.is_none_or(|sides| sides.iter().all(Vec::is_empty))
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
    fn prices_far_from_the_best_have_their_place_too() {
        for side in [Side::Buy, Side::Sell] {
            far_from_the_best(side);
        }
    }

    /// Two orders at each of 99 prices.
    fn far_from_the_best(side: Side) {
        let (mut books, is_bid) = (Books::default(), side == Side::Buy);
        let prices = || (1..100_u16).map(|step| 100 * (step * 37 % 100));
        for (number, price) in (1..).zip(prices().chain(prices())) {
            books.insert(OrderNumber(number), order(side, Outcome::Yes, price));
        }
        let mut best_first: Vec<_> = (1..).zip(prices()).collect();
        best_first.sort_by_key(|(_, price)| if is_bid { 10_000 - price } else { *price });
        let both = |(number, _): &(u64, u16)| [*number, *number + 99];
        let all: Vec<_> = best_first.iter().flat_map(both).collect();
        assert_eq!(numbers(&books, is_bid), all);
        let (mut gone, mut left) = (false, Vec::new());
        for level in all.chunks_exact(2) {
            gone = !gone;
            if gone {
                for number in level {
                    books.remove(OrderNumber(*number));
                }
            } else {
                left.extend_from_slice(level);
            }
        }
        assert_eq!(numbers(&books, is_bid), left, "every other level went");
    }

    #[test]
    fn who_leaves_the_middle_or_an_end_of_a_queue_leaves_the_others_in_order() {
        let mut books = Books::default();
        let at = |price| order(Side::Buy, Outcome::Yes, price);
        for number in 1..=1_000 {
            books.insert(OrderNumber(number), at(5_000));
        }
        for number in 2..=999 {
            books.remove(OrderNumber(number));
        }
        assert_eq!(numbers(&books, true), [1, 1_000]);
        books.insert(OrderNumber(1_001), at(5_000));
        assert_eq!(books.standing.len(), 1_000, "places are used again");
        books.remove(OrderNumber(1));
        assert_eq!(numbers(&books, true), [1_000, 1_001]);
        books.remove(OrderNumber(1_001));
        books.insert(OrderNumber(1_002), at(5_000));
        assert_eq!(numbers(&books, true), [1_000, 1_002]);
        assert_eq!(books.count(), 2);
        for number in [1_000, 1_002] {
            assert!(books.get(OrderNumber(number)).is_ok());
            books.remove(OrderNumber(number));
            assert!(books.get(OrderNumber(number)).is_err());
        }
        assert!(books.is_empty(MarketNumber(0)));
    }
}
