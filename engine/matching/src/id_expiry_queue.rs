//! Expiry queue of remembered ids, by (second of the signed timestamp, number), oldest first.
//!
//! Order numbers only grow, so the ids of one second form a FIFO queue. The seconds form a ring,
//! sorted: most placements belong to its last second.

use std::collections::VecDeque;

use crate::slab::NONE;

#[derive(Debug)]
struct SecondQueue {
    second: u64,
    first: u32,
    last: u32,
}

/// Queues of id slots, none empty; the links between slots are stored in the id memory.
#[derive(Debug)]
pub(crate) struct IdExpiryQueue {
    seconds: VecDeque<SecondQueue>,
    len: usize,
}

impl IdExpiryQueue {
    pub(crate) fn with_capacity(seconds: usize) -> Self {
        Self {
            seconds: VecDeque::with_capacity(seconds),
            len: 0,
        }
    }

    /// Number of queued ids.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Second of the front id.
    pub(crate) fn front_second(&self) -> Option<u64> {
        self.seconds.front().map(|queue| queue.second)
    }

    /// Appends a slot to the queue of its second. Returns the previous last slot, whose link the
    /// caller must set to `slot`; `NONE` when the second is new.
    #[inline(always)]
    pub(crate) fn append(&mut self, second: u64, slot: u32) -> u32 {
        self.len += 1;
        match self.seconds.back_mut() {
            Some(queue) if queue.second == second => std::mem::replace(&mut queue.last, slot),
            _ => self.append_to_other(second, slot),
        }
    }

    /// Appends to a second that is not the last one. A new second moves those after it, or those
    /// before it: at most half of a window's seconds, of 16 bytes each.
    #[cold]
    fn append_to_other(&mut self, second: u64, slot: u32) -> u32 {
        match (self.seconds).binary_search_by_key(&second, |queue| queue.second) {
            Ok(at) => std::mem::replace(&mut self.seconds[at].last, slot),
            Err(at) => {
                let (first, last) = (slot, slot);
                let queue = SecondQueue {
                    second,
                    first,
                    last,
                };
                self.seconds.insert(at, queue);
                NONE
            }
        }
    }

    /// Removes the front slot and returns it. `next` reads a slot's link.
    pub(crate) fn pop(&mut self, next: impl Fn(u32) -> u32) -> Option<u32> {
        let queue = self.seconds.front_mut()?;
        self.len -= 1;
        let front = queue.first;
        if front == queue.last {
            self.seconds.pop_front();
        } else {
            queue.first = next(front);
        }
        Some(front)
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
            let mut queue = IdExpiryQueue::with_capacity(2);
            let mut links: Vec<u32> = Vec::new();
            let mut model = BTreeSet::new();
            for (second, kind) in steps {
                if kind < 2 {
                    let slot = u32::try_from(links.len()).unwrap();
                    links.push(NONE);
                    let before = queue.append(second, slot);
                    if before != NONE {
                        links[before as usize] = slot;
                    }
                    model.insert((second, slot));
                } else {
                    let popped = queue.pop(|slot| links[slot as usize]);
                    prop_assert_eq!(popped, model.pop_first().map(|(_, slot)| slot));
                }
                prop_assert_eq!(queue.len(), model.len());
                prop_assert_eq!(queue.front_second(), model.first().map(|(second, _)| *second));
            }
        }
    }
}
