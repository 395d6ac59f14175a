//! A market's book: an array of price levels, one per tick, in Yes prices.

use foretell_memory::prefetch;
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{Price, Tick};

use crate::level::Level;
use crate::level_bitmap::LevelBitmap;
use crate::order_pool::{BookSide, OrderPool};
use crate::slab::NONE;

/// The book of one market. Level `i` has the price of `i + 1` ticks. At most one side's bitmap
/// marks a level; the level belongs to that side.
#[derive(Debug)]
pub(crate) struct Ladder {
    levels: Vec<Level>,
    bids: LevelBitmap,
    asks: LevelBitmap,
    /// Best level of `[bids, asks]`, `NONE` when a side is empty: cached from the bitmaps.
    best: [u32; 2],
    tick: Tick,
    /// 2^18 over the units of the tick, rounded up. A price on the grid times this, over 2^18, is its
    /// number of ticks and less than 0.03 more.
    ticks_per_unit: u32,
}

impl Ladder {
    pub(crate) fn new(tick: Tick) -> Self {
        let levels = usize::from(PRICE_ONE / tick.units() - 1);
        Self {
            levels: vec![Level::EMPTY; levels],
            bids: LevelBitmap::new(levels),
            asks: LevelBitmap::new(levels),
            best: [NONE; 2],
            tick,
            ticks_per_unit: (1_u32 << 18).div_ceil(tick.units().into()),
        }
    }

    pub(crate) const fn tick(&self) -> Tick {
        self.tick
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.best == [NONE; 2]
    }

    /// First order to match on a side.
    pub(crate) fn best(&self, side: BookSide) -> Option<u32> {
        self.best_level(side).map(|(_, first)| first)
    }

    /// The best price of a side and the first order to match there.
    pub(crate) fn best_level(&self, side: BookSide) -> Option<(Price, u32)> {
        let index = self.best[side as usize];
        let level = self.levels.get(index as usize)?;
        Some((self.price(index), level.first))
    }

    /// Prefetches the level of a price, which may be off the grid.
    pub(crate) fn prefetch_level(&self, price: Price) {
        let steps = usize::from(price.0 / self.tick.units());
        if let Some(level) = steps
            .checked_sub(1)
            .and_then(|index| self.levels.get(index))
        {
            prefetch::item(level);
        }
    }

    /// First order to match on `side` at prices worse than `price`.
    pub(crate) fn best_beyond(&self, price: Price, side: BookSide) -> Option<u32> {
        let here = self.index(price);
        let level = match side {
            BookSide::Bid => self.bids.below(here),
            BookSide::Ask => self.asks.at_or_above(here + 1),
        };
        level.map(|level| self.levels[level].first)
    }

    /// Appends an order as the last of its price.
    #[inline(always)]
    pub(crate) fn append(&mut self, slot: u32, orders: &mut OrderPool) {
        let order = &orders[slot];
        let (level, side) = (self.index(order.yes_price), order.book_side());
        if self.levels[level].append(slot, orders) {
            self.occupy(level, side);
        }
    }

    fn occupy(&mut self, level: usize, side: BookSide) {
        self.side_mut(side).set(level);
        let best = &mut self.best[side as usize];
        let level = level_index(level);
        *best = match side {
            _ if *best == NONE => level,
            BookSide::Bid => level.max(*best),
            BookSide::Ask => level.min(*best),
        };
    }

    /// Removes an order.
    #[inline(always)]
    pub(crate) fn remove(&mut self, slot: u32, orders: &mut OrderPool) {
        let order = &orders[slot];
        let (level, side) = (self.index(order.yes_price), order.book_side());
        if self.levels[level].unlink(slot, orders) {
            self.side_mut(side).clear(level);
            if self.best[side as usize] == level_index(level) {
                self.best[side as usize] = self.search_best(side);
            }
        }
    }

    /// Computes the best level of a side from the bitmaps.
    fn search_best(&self, side: BookSide) -> u32 {
        let level = match side {
            BookSide::Bid => self.bids.below(self.levels.len()),
            BookSide::Ask => self.asks.at_or_above(0),
        };
        level.map_or(NONE, level_index)
    }

    /// Whether the cached best levels agree with the bitmaps.
    pub(crate) fn is_best_cached(&self) -> bool {
        self.best == [BookSide::Bid, BookSide::Ask].map(|side| self.search_best(side))
    }

    /// Redistributes the levels to a finer tick. Orders keep their price and their time priority.
    pub(crate) fn refine(&mut self, tick: Tick) {
        let mut finer = Self::new(tick);
        let context = usize::from(self.tick.units() / tick.units());
        for (index, level) in self.levels.iter().enumerate() {
            let at = (index + 1) * context - 1;
            finer.levels[at] = *level;
            if self.bids.contains(index) {
                finer.bids.set(at);
            }
            if self.asks.contains(index) {
                finer.asks.set(at);
            }
        }
        finer.best = [BookSide::Bid, BookSide::Ask].map(|side| finer.search_best(side));
        *self = finer;
    }

    /// Every level with its price and its bid and ask marks, lowest price first.
    pub(crate) fn levels(&self) -> impl Iterator<Item = (Price, Level, bool, bool)> {
        (1..)
            .zip(&self.levels)
            .zip(0..)
            .map(|((context, level), index)| {
                let price = Price(context * self.tick.units());
                let marks = (self.bids.contains(index), self.asks.contains(index));
                (price, *level, marks.0, marks.1)
            })
    }

    fn side_mut(&mut self, side: BookSide) -> &mut LevelBitmap {
        match side {
            BookSide::Bid => &mut self.bids,
            BookSide::Ask => &mut self.asks,
        }
    }

    /// Price of a level.
    fn price(&self, level: u32) -> Price {
        let steps = u16::try_from(level + 1).expect("a ladder has at most 9,999 levels");
        Price(steps * self.tick.units())
    }

    /// Level of a price on the grid, without a division.
    fn index(&self, price: Price) -> usize {
        debug_assert!(price.fits(self.tick), "{price:?} at {:?}", self.tick);
        ((u32::from(price.0) * self.ticks_per_unit) >> 18) as usize - 1
    }
}

/// A level index as stored in `best`.
fn level_index(level: usize) -> u32 {
    u32::try_from(level).expect("a ladder has at most 9,999 levels")
}

/// The order of `side` that matches after `slot`.
pub(crate) fn next_order(
    ladder: &Ladder,
    orders: &OrderPool,
    slot: u32,
    side: BookSide,
) -> Option<u32> {
    let order = &orders[slot];
    if order.next == NONE {
        ladder.best_beyond(order.yes_price, side)
    } else {
        Some(order.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_pool::order_of;
    use foretell_model::{Outcome, Side};
    use rstest::rstest;

    fn walk(ladder: &Ladder, orders: &OrderPool, side: BookSide) -> Vec<u64> {
        std::iter::successors(ladder.best(side), |slot| {
            next_order(ladder, orders, *slot, side)
        })
        .map(|slot| orders[slot].number.0)
        .collect()
    }

    fn filled(tick: Tick) -> (Ladder, OrderPool, Vec<u32>) {
        let (mut ladder, mut orders) = (Ladder::new(tick), OrderPool::with_capacity(8));
        let rows = [
            (1, 4_000, Outcome::Yes, Side::Buy),
            (2, 3_000, Outcome::No, Side::Sell),
            (3, 4_000, Outcome::No, Side::Sell),
            (4, 7_000, Outcome::Yes, Side::Sell),
            (5, 6_000, Outcome::No, Side::Buy),
            (6, 7_000, Outcome::No, Side::Buy),
        ];
        let slots = rows.map(|(number, price, outcome, side)| {
            let slot = orders.insert(order_of(number, price, outcome, side));
            ladder.append(slot, &mut orders);
            slot
        });
        (ladder, orders, slots.to_vec())
    }

    #[rstest]
    fn both_sides_are_served_by_price_then_arrival(
        #[values(Tick::Tenth, Tick::Hundredth, Tick::Thousandth, Tick::TenThousandth)] tick: Tick,
    ) {
        let (mut ladder, mut orders, slots) = filled(tick);
        assert_eq!(walk(&ladder, &orders, BookSide::Bid), [1, 3, 2]);
        assert_eq!(walk(&ladder, &orders, BookSide::Ask), [5, 4, 6]);
        ladder.remove(slots[4], &mut orders);
        ladder.remove(slots[0], &mut orders);
        assert_eq!(walk(&ladder, &orders, BookSide::Bid), [3, 2]);
        assert_eq!(walk(&ladder, &orders, BookSide::Ask), [4, 6]);
        assert!(!ladder.is_empty() && ladder.is_best_cached());
        for slot in [1, 2, 3, 5] {
            ladder.remove(slots[slot], &mut orders);
        }
        assert!(ladder.is_empty());
    }

    #[rstest]
    fn a_finer_tick_moves_no_order(
        #[values(Tick::Hundredth, Tick::Thousandth, Tick::TenThousandth)] tick: Tick,
    ) {
        let (mut ladder, orders, _) = filled(Tick::Tenth);
        ladder.refine(tick);
        assert_eq!(ladder.tick(), tick);
        assert!(ladder.is_best_cached());
        assert_eq!(walk(&ladder, &orders, BookSide::Bid), [1, 3, 2]);
        assert_eq!(walk(&ladder, &orders, BookSide::Ask), [5, 4, 6]);
        let occupied: Vec<u16> = ladder
            .levels()
            .filter(|(_, level, _, _)| !level.is_empty())
            .map(|(price, ..)| price.0)
            .collect();
        assert_eq!(occupied, [3_000, 4_000, 6_000, 7_000]);
    }

    #[test]
    fn every_price_has_the_level_of_its_ticks() {
        for tick in [
            Tick::Tenth,
            Tick::Hundredth,
            Tick::Thousandth,
            Tick::TenThousandth,
        ] {
            let ladder = Ladder::new(tick);
            for level in 0..u32::from(10_000 / tick.units()) - 1 {
                let found = level_index(ladder.index(ladder.price(level)));
                assert_eq!(found, level, "{tick:?}");
            }
        }
    }

    #[test]
    fn the_extreme_prices_have_levels() {
        for (tick, levels) in [
            (Tick::Tenth, 9),
            (Tick::Hundredth, 99),
            (Tick::TenThousandth, 9_999),
        ] {
            let ladder = Ladder::new(tick);
            assert_eq!(ladder.levels().count(), levels);
            assert_eq!(
                ladder.levels().last().unwrap().0,
                Price(10_000 - tick.units())
            );
        }
    }
}
