//! A binary heap of items by key with an index by item, so that an item leaves it, or gets another
//! key, wherever it is.

use crate::slab::NONE;

/// Items with keys, at most one key an item. Items are small numbers, such as slots.
#[derive(Debug)]
pub(crate) struct IndexedHeap<K> {
    entries: Vec<(K, u32)>,
    /// By item: index in `entries`, or `NONE`. Shorter than the range of items when the last have none.
    positions: Vec<u32>,
}

impl<K: Copy + Ord> IndexedHeap<K> {
    /// Reserves memory for so many keys of items below `items`.
    pub(crate) fn with_capacity(keys: usize, items: usize) -> Self {
        Self {
            entries: Vec::with_capacity(keys),
            positions: Vec::with_capacity(items),
        }
    }

    /// The smallest key and its item.
    pub(crate) fn first(&self) -> Option<(K, u32)> {
        self.entries.first().copied()
    }

    pub(crate) const fn len(&self) -> usize {
        self.entries.len()
    }

    /// The key of an item.
    pub(crate) fn get(&self, item: u32) -> Option<K> {
        self.position(item).map(|at| self.entries[at].0)
    }

    /// Replaces the key of an item.
    pub(crate) fn set(&mut self, item: u32, key: Option<K>) {
        match (self.position(item), key) {
            (None, None) => {}
            (None, Some(key)) => {
                let index = item as usize;
                if self.positions.len() <= index {
                    self.positions.resize(index + 1, NONE);
                }
                self.entries.push((key, item));
                self.rise(self.entries.len() - 1);
            }
            (Some(at), Some(key)) => {
                self.entries[at].0 = key;
                let at = self.rise(at);
                self.sink(at);
            }
            (Some(at), None) => {
                self.entries.swap_remove(at);
                self.positions[item as usize] = NONE;
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
                return Err(format!("heap: item {} is not indexed", entry.1));
            }
            if at > 0 && self.entries[(at - 1) / 2] > *entry {
                return Err(format!("heap: entry {at} is before its parent"));
            }
        }
        Ok(())
    }

    fn position(&self, item: u32) -> Option<usize> {
        let at = self.positions.get(item as usize).copied();
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

    fn put(&mut self, at: usize, entry: (K, u32)) {
        self.entries[at] = entry;
        self.positions[entry.1 as usize] = u32::try_from(at).expect("as many entries as items");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_smallest_whatever_is_set(
            steps in prop::collection::vec((0_u32..12, prop::option::of(0_u64..20)), 1..200),
        ) {
            let mut heap = IndexedHeap::with_capacity(0, 0);
            let mut model = std::collections::BTreeMap::new();
            for (item, key) in steps {
                heap.set(item, key);
                match key {
                    Some(key) => model.insert(item, key),
                    None => model.remove(&item),
                };
                prop_assert_eq!(heap.check(), Ok(()));
                prop_assert_eq!(heap.len(), model.len());
                prop_assert_eq!(heap.get(item), key);
                let smallest = model.iter().map(|(item, key)| (*key, *item)).min();
                prop_assert_eq!(heap.first(), smallest);
            }
        }
    }
}
