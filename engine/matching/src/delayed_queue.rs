//! Delayed orders by market: a list by number, and a leftist heap by (due time, number). Both are
//! linked through the records, so a market needs no memory of its own.
//!
//! An [`IndexedHeap`](crate::indexed_heap::IndexedHeap) keeps its entries in a vector; one for each market would grow on
//! the matching thread. A leftist heap is no replacement for those either: to give another key to one of 100,000 orders,
//! it takes 1,334 instructions and 9.5 misses of the first cache, an indexed heap 373 and 5.8 (cachegrind).

use std::ops::{Index, IndexMut};

use foretell_model::{
    CloseReason, FeeSchedule, Lots, MarketNumber, Micros, OrderNumber, OrderType, TimeNs,
};

use crate::slab::{NONE, Slab};

/// What a delayed order has in addition to its entry in the order pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DelayedOrder {
    /// Slot in the order pool.
    pub(crate) order: u32,
    pub(crate) number: OrderNumber,
    pub(crate) market: MarketNumber,
    pub(crate) order_type: OrderType,
    /// Signed amount of a budget BUY; 0 otherwise.
    pub(crate) budget: Micros,
    /// Lots that make a fee-stopped FOK BUY whole; 0 otherwise.
    pub(crate) minimum_lots: Lots,
    pub(crate) due: TimeNs,
    /// Fee schedule at admission.
    pub(crate) fee: FeeSchedule,
    /// Maker's share of the fee at admission.
    pub(crate) rebate_ppm: u32,
    /// Micros of a BUY, lots of a SELL.
    pub(crate) reserved: u64,
    /// Reason of the first cancel that asked for it.
    pub(crate) cancel: Option<CloseReason>,
}

#[derive(Debug)]
struct Node {
    delayed: DelayedOrder,
    /// Neighbours in the market's list.
    next: u32,
    previous: u32,
    parent: u32,
    left: u32,
    right: u32,
    /// Length of the right spine; that of the left child is at least as long.
    rank: u32,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
    root: u32,
}

const EMPTY: Queue = Queue {
    first: NONE,
    last: NONE,
    root: NONE,
};

/// All delayed orders.
#[derive(Debug)]
pub(crate) struct DelayedQueue {
    nodes: Slab<Node>,
    /// By market; shorter than the list of markets when the last have none.
    markets: Vec<Queue>,
}

impl DelayedQueue {
    pub(crate) fn with_capacity(orders: usize, markets: usize) -> Self {
        Self {
            nodes: Slab::with_capacity(orders),
            markets: Vec::with_capacity(markets),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Adds an order and returns its slot. Its number is the highest of its market.
    pub(crate) fn insert(&mut self, delayed: DelayedOrder) -> u32 {
        let index = delayed.market.0 as usize;
        if self.markets.len() <= index {
            self.markets.resize(index + 1, EMPTY);
        }
        let Queue { last, root, .. } = self.markets[index];
        let slot = self.nodes.insert(Node {
            delayed,
            next: NONE,
            previous: last,
            parent: NONE,
            left: NONE,
            right: NONE,
            rank: 1,
        });
        if last == NONE {
            self.markets[index].first = slot;
        } else {
            self.nodes[last].next = slot;
        }
        self.markets[index].last = slot;
        self.markets[index].root = self.meld(root, slot);
        slot
    }

    /// Removes an order.
    pub(crate) fn remove(&mut self, slot: u32) -> DelayedOrder {
        let Node {
            delayed,
            next,
            previous,
            ..
        } = self.nodes[slot];
        let queue = &mut self.markets[delayed.market.0 as usize];
        if previous == NONE {
            queue.first = next;
        } else {
            self.nodes[previous].next = next;
        }
        if next == NONE {
            queue.last = previous;
        } else {
            self.nodes[next].previous = previous;
        }
        self.remove_from_heap(slot);
        self.nodes.release(slot);
        delayed
    }

    /// The first order of a market that falls due.
    pub(crate) fn first_due(&self, market: MarketNumber) -> Option<&DelayedOrder> {
        let root = self.queue(market).root;
        (root != NONE).then(|| &self.nodes[root].delayed)
    }

    /// The orders of a market by number.
    pub(crate) fn of_market(&self, market: MarketNumber) -> impl Iterator<Item = &DelayedOrder> {
        let some = |slot: u32| (slot != NONE).then_some(slot);
        let slots = std::iter::successors(some(self.queue(market).first), move |slot| {
            some(self.nodes[*slot].next)
        });
        slots.map(|slot| &self.nodes[slot].delayed)
    }

    /// Every order with its slot. Allocates.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &DelayedOrder)> {
        self.nodes.iter().map(|(slot, node)| (slot, &node.delayed))
    }

    /// Checks lists and heaps; returns the first inconsistency.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (mut listed, mut heaped) = (0, 0);
        for (market, queue) in (0..).map(MarketNumber).zip(&self.markets) {
            let numbers: Vec<_> = self.of_market(market).map(|order| order.number).collect();
            if !numbers.is_sorted_by(|one, next| one < next) {
                return Err(format!("delayed orders of market {market} are unsorted"));
            }
            listed += numbers.len();
            let mut open = vec![(queue.root, NONE)];
            while let Some((slot, parent)) = open.pop() {
                if slot == NONE {
                    continue;
                }
                heaped += 1;
                let node = &self.nodes[slot];
                let is_ordered = parent == NONE || self.key(parent) < self.key(slot);
                let (left, right) = (self.rank(node.left), self.rank(node.right));
                let is_leftist = left >= right && node.rank == right + 1;
                if node.parent != parent || !is_ordered || !is_leftist || heaped > listed {
                    return Err(format!(
                        "delayed order {} is misplaced",
                        node.delayed.number
                    ));
                }
                open.extend([(node.left, slot), (node.right, slot)]);
            }
        }
        if (listed, heaped) == (self.len(), self.len()) {
            Ok(())
        } else {
            Err(format!("{listed} delayed orders listed, {heaped} in heaps"))
        }
    }

    fn queue(&self, market: MarketNumber) -> Queue {
        self.markets
            .get(market.0 as usize)
            .copied()
            .unwrap_or(EMPTY)
    }

    fn key(&self, slot: u32) -> (TimeNs, OrderNumber) {
        let delayed = &self.nodes[slot].delayed;
        (delayed.due, delayed.number)
    }

    fn rank(&self, slot: u32) -> u32 {
        if slot == NONE {
            0
        } else {
            self.nodes[slot].rank
        }
    }

    /// Joins two heaps and returns the root. The recursion follows right spines, which have at most
    /// log2 of the orders.
    fn meld(&mut self, one: u32, other: u32) -> u32 {
        if one == NONE || other == NONE {
            return one.min(other);
        }
        let (root, lower) = if self.key(one) < self.key(other) {
            (one, other)
        } else {
            (other, one)
        };
        let right = self.meld(self.nodes[root].right, lower);
        self.nodes[root].right = right;
        self.nodes[right].parent = root;
        self.balance(root);
        root
    }

    /// Puts the child with the longer right spine left.
    fn balance(&mut self, slot: u32) {
        let Node { left, right, .. } = self.nodes[slot];
        let (left_rank, right_rank) = (self.rank(left), self.rank(right));
        let node = &mut self.nodes[slot];
        if left_rank < right_rank {
            (node.left, node.right) = (right, left);
        }
        node.rank = left_rank.min(right_rank) + 1;
    }

    fn remove_from_heap(&mut self, slot: u32) {
        let Node {
            parent,
            left,
            right,
            ..
        } = self.nodes[slot];
        let market = self.nodes[slot].delayed.market;
        let joined = self.meld(left, right);
        if joined != NONE {
            self.nodes[joined].parent = parent;
        }
        if parent == NONE {
            self.markets[market.0 as usize].root = joined;
            return;
        }
        let above = &mut self.nodes[parent];
        if above.left == slot {
            above.left = joined;
        } else {
            above.right = joined;
        }
        // The walk ends where a rank stays: at most log2 of the orders further up.
        let mut at = parent;
        while at != NONE {
            let rank = self.nodes[at].rank;
            self.balance(at);
            if self.nodes[at].rank == rank {
                break;
            }
            at = self.nodes[at].parent;
        }
    }
}

impl Index<u32> for DelayedQueue {
    type Output = DelayedOrder;
    fn index(&self, slot: u32) -> &DelayedOrder {
        &self.nodes[slot].delayed
    }
}

impl IndexMut<u32> for DelayedQueue {
    fn index_mut(&mut self, slot: u32) -> &mut DelayedOrder {
        &mut self.nodes[slot].delayed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(number: u64, market: u32, due: u64) -> DelayedOrder {
        DelayedOrder {
            order: 0,
            number: OrderNumber(number),
            market: MarketNumber(market),
            order_type: OrderType::Gtc,
            budget: Micros::ZERO,
            minimum_lots: Lots::ZERO,
            due: TimeNs(due),
            fee: FeeSchedule::default(),
            rebate_ppm: 0,
            reserved: 1,
            cancel: None,
        }
    }

    proptest! {
        #[test]
        fn orders_fall_due_by_time_then_number_whichever_leaves(
            steps in prop::collection::vec((0_u32..3, 1_u64..20, any::<bool>(), any::<usize>()), 1..200),
        ) {
            let mut queue = DelayedQueue::with_capacity(0, 0);
            let mut live: Vec<(u32, u64, u64, u32)> = Vec::new();
            for (number, (market, due, add, pick)) in (1..).zip(steps) {
                if add || live.is_empty() {
                    let slot = queue.insert(order(number, market, due));
                    live.push((market, due, number, slot));
                } else {
                    let (_, _, number, slot) = live.swap_remove(pick % live.len());
                    prop_assert_eq!(queue.remove(slot).number.0, number);
                }
                prop_assert_eq!(queue.check(), Ok(()));
                prop_assert_eq!(queue.len(), live.len());
                for market in 0..3 {
                    let own = live.iter().filter(|entry| entry.0 == market);
                    let first = queue.first_due(MarketNumber(market)).map(|order| order.number.0);
                    prop_assert_eq!(first, own.min().map(|entry| entry.2));
                }
            }
        }
    }
}
