//! The best matches, when matches of every way come newest first.

use crate::search_match::WAYS;

/// Matches in the ways they fit, as many of each as the page can need, and how many there are.
pub(super) struct Ranked {
    needed: usize,
    found: [Vec<i64>; WAYS],
    total: u64,
}

impl Ranked {
    /// For a page that ends behind this many matches.
    pub(super) fn up_to(needed: usize) -> Self {
        Self {
            needed,
            found: Default::default(),
            total: 0,
        }
    }

    /// Takes a match that is older than those before it.
    pub(super) fn push(&mut self, way: usize, id: i64) {
        self.total += 1;
        if self.found[way].len() < self.needed {
            self.found[way].push(id);
        }
    }

    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// The best ways first, in each the newest.
    pub(super) fn page(&self, offset: usize, limit: usize) -> Vec<i64> {
        let all = self.found.iter().flatten().copied();
        all.skip(offset).take(limit).collect()
    }
}
