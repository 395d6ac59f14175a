//! Expiry of resting GTD orders: an indexed heap, so that a closed order is removed at once.

use foretell_model::{OrderNumber, TimeNs, TimeSeconds};

use crate::order_pool::OrderPool;
use crate::slab::NONE;

/// Whether a GTD order is expired at `now`: from `safety` seconds before its expiration. An order
/// without expiration (0) never expires.
pub(crate) const fn is_expired(expiration: TimeSeconds, now: TimeNs, safety: u64) -> bool {
    expiration.0 != 0 && now.0 >= due(expiration, safety).0
}

/// The first instant at which the order is expired.
pub(crate) const fn due(expiration: TimeSeconds, safety: u64) -> TimeNs {
    TimeSeconds(expiration.0.saturating_sub(safety)).start()
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry {
    expiration: TimeSeconds,
    number: OrderNumber,
    slot: u32,
}

/// A binary heap of (expiration, number), smallest first. Each order stores its heap index.
#[derive(Debug)]
pub(crate) struct ExpiryHeap {
    entries: Vec<Entry>,
}

impl ExpiryHeap {
    pub(crate) fn with_capacity(orders: usize) -> Self {
        Self {
            entries: Vec::with_capacity(orders),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Slot of the order that expires first.
    pub(crate) fn first(&self) -> Option<u32> {
        self.entries.first().map(|entry| entry.slot)
    }

    /// Expiration of the order that expires first.
    pub(crate) fn first_expiration(&self) -> Option<TimeSeconds> {
        self.entries.first().map(|entry| entry.expiration)
    }

    pub(crate) fn insert(&mut self, slot: u32, orders: &mut OrderPool) {
        let order = &orders[slot];
        self.entries.push(Entry {
            expiration: order.expiration,
            number: order.number,
            slot,
        });
        self.rise(self.entries.len() - 1, orders);
    }

    /// Removes an order that is in the heap.
    pub(crate) fn remove(&mut self, slot: u32, orders: &mut OrderPool) {
        let at = orders[slot].heap as usize;
        debug_assert_eq!(self.entries[at].slot, slot);
        self.entries.swap_remove(at);
        orders[slot].heap = NONE;
        if at < self.entries.len() {
            let at = self.rise(at, orders);
            self.sink(at, orders);
        }
    }

    /// Checks the heap against the orders; returns the first inconsistency.
    pub(crate) fn check(&self, orders: &OrderPool) -> Result<(), String> {
        for (at, entry) in self.entries.iter().enumerate() {
            let order = &orders[entry.slot];
            if order.heap as usize != at
                || (order.expiration, order.number) != (entry.expiration, entry.number)
            {
                return Err(format!("heap entry {at} and order {} differ", order.number));
            }
            if at > 0 && self.entries[(at - 1) / 2] > *entry {
                return Err(format!("heap entry {at} is before its parent"));
            }
        }
        Ok(())
    }

    fn rise(&mut self, mut at: usize, orders: &mut OrderPool) -> usize {
        let entry = self.entries[at];
        while at > 0 && entry < self.entries[(at - 1) / 2] {
            self.put(at, self.entries[(at - 1) / 2], orders);
            at = (at - 1) / 2;
        }
        self.put(at, entry, orders);
        at
    }

    fn sink(&mut self, mut at: usize, orders: &mut OrderPool) {
        let entry = self.entries[at];
        while let Some(child) = self.smaller_child(at)
            && self.entries[child] < entry
        {
            self.put(at, self.entries[child], orders);
            at = child;
        }
        self.put(at, entry, orders);
    }

    fn smaller_child(&self, at: usize) -> Option<usize> {
        let (left, right) = (at * 2 + 1, at * 2 + 2);
        match (self.entries.get(left), self.entries.get(right)) {
            (Some(first), Some(second)) if second < first => Some(right),
            (Some(_), _) => Some(left),
            _ => None,
        }
    }

    fn put(&mut self, at: usize, entry: Entry, orders: &mut OrderPool) {
        self.entries[at] = entry;
        orders[entry.slot].heap = u32::try_from(at).expect("as many entries as orders");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order_pool::order_of;
    use foretell_model::{Outcome, Side};
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case::no_expiration(0, u64::MAX, false)]
    #[case::before(1_000, 939_999_999_999, false)]
    #[case::at(1_000, 940_000_000_000, true)]
    #[case::saturates_below(30, 0, true)]
    #[case::saturates_above(u64::MAX, u64::MAX - 1, false)]
    fn an_order_ends_a_safety_before_its_expiration(
        #[case] expiration: u64,
        #[case] now: u64,
        #[case] expired: bool,
    ) {
        assert_eq!(
            is_expired(TimeSeconds(expiration), TimeNs(now), 60),
            expired
        );
    }

    proptest! {
        #[test]
        fn orders_leave_by_expiration_then_number(
            steps in prop::collection::vec((1_u64..20, any::<bool>(), any::<usize>()), 1..200),
        ) {
            let mut heap = ExpiryHeap::with_capacity(0);
            let mut orders = OrderPool::with_capacity(0);
            let mut live: Vec<(u64, u64, u32)> = Vec::new();
            for (number, (expiration, add, pick)) in (1..).zip(steps) {
                if add || live.is_empty() {
                    let mut order = order_of(number, 5_000, Outcome::Yes, Side::Buy);
                    order.expiration = TimeSeconds(expiration);
                    let slot = orders.insert(order);
                    heap.insert(slot, &mut orders);
                    live.push((expiration, number, slot));
                } else {
                    let (_, _, slot) = live.swap_remove(pick % live.len());
                    heap.remove(slot, &mut orders);
                    orders.release(slot);
                }
                prop_assert_eq!(heap.check(&orders), Ok(()));
                prop_assert_eq!(heap.first(), live.iter().min().map(|entry| entry.2));
            }
            live.sort_unstable();
            for (_, _, slot) in live {
                prop_assert_eq!(heap.first(), Some(slot));
                heap.remove(slot, &mut orders);
            }
            prop_assert_eq!(heap.len(), 0);
        }
    }
}
