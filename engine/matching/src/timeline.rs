//! The remembered ids by (second of the signed timestamp, number), oldest at the front.
//!
//! Numbers only grow, so the ids of one second are a queue; a heap of the seconds tells which
//! queue is the front. A placement pays for one lookup of its second, and for the heap only when
//! it is the first of its second.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::slab::{NONE, Slab};
use crate::table::{KeyHasher, Table};

#[derive(Debug)]
struct Queue {
    second: u64,
    first: u32,
    last: u32,
}

/// Queues of places in the id memory; the links between places are kept there.
#[derive(Debug)]
pub(crate) struct Timeline {
    queues: Slab<Queue>,
    by_second: Table,
    /// (second, queue), smallest second on top.
    seconds: BinaryHeap<Reverse<(u64, u32)>>,
    /// The queue used last: most placements come in the same second.
    recent: u32,
    len: usize,
}

impl Timeline {
    pub(crate) fn with_capacity(seconds: usize) -> Self {
        Self {
            queues: Slab::with_capacity(seconds),
            by_second: Table::with_capacity(seconds),
            seconds: BinaryHeap::with_capacity(seconds),
            recent: NONE,
            len: 0,
        }
    }

    /// How many ids stand in it.
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Second of the front id.
    pub(crate) fn front_second(&self) -> Option<u64> {
        self.seconds.peek().map(|Reverse((second, _))| *second)
    }

    /// Adds a place at the end of its second, and says which place stood last there: that one's
    /// link must now lead to `place`. `NONE` when there was none.
    #[inline(always)]
    pub(crate) fn append(&mut self, second: u64, place: u32, hasher: &KeyHasher) -> u32 {
        self.len += 1;
        let queue = self.queue_of(second, hasher);
        let queue = &mut self.queues[queue];
        let before = std::mem::replace(&mut queue.last, place);
        if before == NONE {
            queue.first = place;
        }
        before
    }

    /// Takes the front off: its place. `next` reads a place's link.
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
            let queue = self.queues.insert(Queue {
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
            let mut timeline = Timeline::with_capacity(2);
            let mut links: Vec<u32> = Vec::new();
            let mut model = BTreeSet::new();
            for (second, kind) in steps {
                if kind < 2 {
                    let place = u32::try_from(links.len()).unwrap();
                    links.push(NONE);
                    let before = timeline.append(second, place, &hasher);
                    if before != NONE {
                        links[before as usize] = place;
                    }
                    model.insert((second, place));
                } else {
                    let popped = timeline.pop(&hasher, |place| links[place as usize]);
                    prop_assert_eq!(popped, model.pop_first().map(|(_, place)| place));
                }
                prop_assert_eq!(timeline.len(), model.len());
                prop_assert_eq!(timeline.front_second(), model.first().map(|(second, _)| *second));
            }
        }
    }
}
