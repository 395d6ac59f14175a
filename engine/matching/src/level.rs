//! One price level: its orders by arrival, linked through the order pool.

use crate::order_pool::OrderPool;
use crate::slab::NONE;

/// First and last order of a price; both `NONE` when the level is empty. A book is never crossed,
/// so all orders of a level are on one side.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Level {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

impl Level {
    pub(crate) const EMPTY: Self = Self {
        first: NONE,
        last: NONE,
    };

    pub(crate) const fn is_empty(self) -> bool {
        self.first == NONE
    }

    /// Appends an order as the last. Returns whether the level was empty.
    pub(crate) fn append(&mut self, slot: u32, orders: &mut OrderPool) -> bool {
        let last = std::mem::replace(&mut self.last, slot);
        let order = &mut orders[slot];
        (order.previous, order.next) = (last, NONE);
        if last == NONE {
            self.first = slot;
        } else {
            orders[last].next = slot;
        }
        last == NONE
    }

    /// Unlinks an order from the level. Returns whether the level is empty now.
    #[inline(always)]
    pub(crate) fn unlink(&mut self, slot: u32, orders: &mut OrderPool) -> bool {
        let (previous, next) = (orders[slot].previous, orders[slot].next);
        if previous == NONE {
            self.first = next;
        } else {
            orders[previous].next = next;
        }
        if next == NONE {
            self.last = previous;
        } else {
            orders[next].previous = previous;
        }
        previous == NONE && next == NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_pool::order_of;
    use foretell_model::{Outcome, Side};

    fn listed(level: Level, orders: &OrderPool) -> Vec<u64> {
        let mut numbers = Vec::new();
        let mut slot = level.first;
        while slot != NONE {
            numbers.push(orders[slot].number.0);
            slot = orders[slot].next;
        }
        numbers
    }

    #[test]
    fn orders_stand_by_arrival_whichever_leaves() {
        for leaver in 0..3_usize {
            let mut orders = OrderPool::with_capacity(3);
            let mut level = Level::EMPTY;
            let slots = [1, 2, 3]
                .map(|number| orders.insert(order_of(number, 5_000, Outcome::Yes, Side::Buy)));
            for slot in slots {
                level.append(slot, &mut orders);
            }
            assert_eq!(listed(level, &orders), [1, 2, 3]);
            level.unlink(slots[leaver], &mut orders);
            let mut rest = vec![1, 2, 3];
            rest.remove(leaver);
            assert_eq!(listed(level, &orders), rest);
            for slot in slots.into_iter().filter(|slot| *slot != slots[leaver]) {
                level.unlink(slot, &mut orders);
            }
            assert_eq!(level, Level::EMPTY);
        }
    }
}
