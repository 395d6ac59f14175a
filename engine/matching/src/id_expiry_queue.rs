//! Expiry queue of remembered ids, by (second of the signed timestamp, number), oldest first.
//!
//! Order numbers only grow, so the ids of one second form a FIFO queue. A heap of the seconds gives
//! the front queue. A placement costs one lookup of its second; the first of a second also costs a
//! heap insertion.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::slab::{NONE, Slab};
use crate::table::{KeyHasher, Table};

#[derive(Debug)]
struct SecondQueue {
    second: u64,
    first: u32,
    last: u32,
}

/// Queues of id slots; the links between slots are stored in the id memory.
#[derive(Debug)]
pub(crate) struct IdExpiryQueue {
    queues: Slab<SecondQueue>,
    by_second: Table,
    /// (second, queue), smallest second first.
    seconds: BinaryHeap<Reverse<(u64, u32)>>,
    /// The queue used last: most placements share a second.
    recent: u32,
    len: usize,
}

impl IdExpiryQueue {
    pub(crate) fn with_capacity(seconds: usize) -> Self {
        Self {
            queues: Slab::with_capacity(seconds),
            by_second: Table::with_capacity(seconds),
            seconds: BinaryHeap::with_capacity(seconds),
            recent: NONE,
            len: 0,
        }
    }

    /// Number of queued ids.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Second of the front id.
    pub(crate) fn front_second(&self) -> Option<u64> {
        self.seconds.peek().map(|Reverse((second, _))| *second)
    }

    /// Appends a slot to the queue of its second. Returns the previous last slot, whose link the
    /// caller must set to `slot`; `NONE` when the queue was empty.
    #[inline(always)]
    pub(crate) fn append(&mut self, second: u64, slot: u32, hasher: &KeyHasher) -> u32 {
        self.len += 1;
        let queue = self.queue_of(second, hasher);
        let queue = &mut self.queues[queue];
        let before = std::mem::replace(&mut queue.last, slot);
        if before == NONE {
            queue.first = slot;
        }
        before
    }

    /// Removes the front slot and returns it. `next` reads a slot's link.
    pub(crate) fn pop(&mut self, hasher: &KeyHasher, next: impl Fn(u32) -> u32) -> Option<u32> {
        let Reverse((second, number)) = *self.seconds.peek()?;
        self.len -= 1;
        let queue = &mut self.queues[number];
        let front = queue.first;
        queue.first = next(front);
        if queue.first == NONE {
            self.seconds.pop();
            self.by_second.remove(hasher.number(second.into()), number);
            self.queues.release(number);
            if self.recent == number {
                self.recent = NONE;
            }
        }
        Some(front)
    }

    #[inline(always)]
    fn queue_of(&mut self, second: u64, hasher: &KeyHasher) -> u32 {
        if self.recent != NONE && self.queues[self.recent].second == second {
            return self.recent;
        }
        let hash = hasher.number(second.into());
        let queues = &self.queues;
        let found = self
            .by_second
            .find(hash, |queue| queues[queue].second == second);
        self.recent = found.unwrap_or_else(|| {
            let queue = self.queues.insert(SecondQueue {
                second,
                first: NONE,
                last: NONE,
            });
            self.by_second.insert(hash, queue);
            self.seconds.push(Reverse((second, queue)));
            queue
        });
        self.recent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn ids_leave_by_second_then_number(
            steps in prop::collection::vec((0_u64..12, 0_u8..3), 1..300),
        ) {
            let hasher = KeyHasher::new(1);
            let mut queue = IdExpiryQueue::with_capacity(2);
            let mut links: Vec<u32> = Vec::new();
            let mut model = BTreeSet::new();
            for (second, kind) in steps {
                if kind < 2 {
                    let slot = u32::try_from(links.len()).unwrap();
                    links.push(NONE);
                    let before = queue.append(second, slot, &hasher);
                    if before != NONE {
                        links[before as usize] = slot;
                    }
                    model.insert((second, slot));
                } else {
                    let popped = queue.pop(&hasher, |slot| links[slot as usize]);
                    prop_assert_eq!(popped, model.pop_first().map(|(_, slot)| slot));
                }
                prop_assert_eq!(queue.len(), model.len());
                prop_assert_eq!(queue.front_second(), model.first().map(|(second, _)| *second));
            }
        }
    }
}
