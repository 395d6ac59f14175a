//! Things that fall due (docs/verify/rules.md §21), and the queue of markets by their first due thing.

use foretell_model::{MarketNumber, TimeNs};

use crate::slab::NONE;

/// Kind of a due thing; at equal times a smaller one comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Rank {
    Expiry,
    Open,
    Clear,
    Close,
    /// A delayed order.
    Release,
    Finalise,
    Rebates,
}

/// A due thing, in the order in which things happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Due {
    pub(crate) at: TimeNs,
    pub(crate) rank: Rank,
    /// Market or order number; 0 for rebates.
    pub(crate) number: u64,
}

/// An indexed binary heap of markets by due thing, at most one a market.
#[derive(Debug)]
pub(crate) struct DueQueue {
    entries: Vec<(Due, MarketNumber)>,
    /// By market: index in `entries`, or `NONE`. Shorter than the list of markets when the last have none.
    positions: Vec<u32>,
}

impl DueQueue {
    pub(crate) fn with_capacity(markets: usize) -> Self {
        Self {
            entries: Vec::with_capacity(markets),
            positions: Vec::with_capacity(markets),
        }
    }

    pub(crate) fn first(&self) -> Option<(Due, MarketNumber)> {
        self.entries.first().copied()
    }

    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// The due thing of a market.
    pub(crate) fn get(&self, market: MarketNumber) -> Option<Due> {
        self.position(market).map(|at| self.entries[at].0)
    }

    /// Replaces the due thing of a market.
    pub(crate) fn set(&mut self, market: MarketNumber, due: Option<Due>) {
        match (self.position(market), due) {
            (None, None) => {}
            (None, Some(due)) => {
                let index = market.0 as usize;
                if self.positions.len() <= index {
                    self.positions.resize(index + 1, NONE);
                }
                self.entries.push((due, market));
                self.rise(self.entries.len() - 1);
            }
            (Some(at), Some(due)) => {
                self.entries[at].0 = due;
                let at = self.rise(at);
                self.sink(at);
            }
            (Some(at), None) => {
                self.entries.swap_remove(at);
                self.positions[market.0 as usize] = NONE;
                if at < self.entries.len() {
                    let at = self.rise(at);
                    self.sink(at);
                }
            }
        }
    }

    /// Checks the heap and its index; returns the first inconsistency.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (at, entry) in self.entries.iter().enumerate() {
            if self.position(entry.1) != Some(at) {
                return Err(format!("due queue: market {} is not indexed", entry.1));
            }
            if at > 0 && self.entries[(at - 1) / 2] > *entry {
                return Err(format!("due queue: entry {at} is before its parent"));
            }
        }
        Ok(())
    }

    fn position(&self, market: MarketNumber) -> Option<usize> {
        let at = self.positions.get(market.0 as usize).copied();
        at.filter(|at| *at != NONE).map(|at| at as usize)
    }

    fn rise(&mut self, mut at: usize) -> usize {
        let entry = self.entries[at];
        while at > 0 && entry < self.entries[(at - 1) / 2] {
            self.put(at, self.entries[(at - 1) / 2]);
            at = (at - 1) / 2;
        }
        self.put(at, entry);
        at
    }

    fn sink(&mut self, mut at: usize) {
        let entry = self.entries[at];
        while let Some(child) = self.smaller_child(at)
            && self.entries[child] < entry
        {
            self.put(at, self.entries[child]);
            at = child;
        }
        self.put(at, entry);
    }

    fn smaller_child(&self, at: usize) -> Option<usize> {
        let (left, right) = (at * 2 + 1, at * 2 + 2);
        match (self.entries.get(left), self.entries.get(right)) {
            (Some(first), Some(second)) if second < first => Some(right),
            (Some(_), _) => Some(left),
            _ => None,
        }
    }

    fn put(&mut self, at: usize, entry: (Due, MarketNumber)) {
        self.entries[at] = entry;
        self.positions[entry.1.0 as usize] = u32::try_from(at).expect("as many entries as markets");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn due(at: u64, market: u32) -> Due {
        Due {
            at: TimeNs(at),
            rank: Rank::Close,
            number: market.into(),
        }
    }

    proptest! {
        #[test]
        fn the_first_is_the_smallest_whatever_is_set(
            steps in prop::collection::vec((0_u32..12, prop::option::of(0_u64..20)), 1..200),
        ) {
            let mut queue = DueQueue::with_capacity(0);
            let mut model = std::collections::BTreeMap::new();
            for (market, at) in steps {
                let number = MarketNumber(market);
                queue.set(number, at.map(|at| due(at, market)));
                match at {
                    Some(at) => model.insert(market, due(at, market)),
                    None => model.remove(&market),
                };
                prop_assert_eq!(queue.check(), Ok(()));
                prop_assert_eq!(queue.len(), model.len());
                prop_assert_eq!(queue.get(number), model.get(&market).copied());
                prop_assert_eq!(queue.first().map(|(due, _)| due), model.values().min().copied());
            }
        }
    }

    #[test]
    fn at_one_time_the_rank_decides_then_the_number() {
        let open = Due {
            rank: Rank::Open,
            ..due(5, 9)
        };
        assert!(open < due(5, 1) && due(5, 1) < due(5, 2) && due(4, 3) < open);
    }
}
