//! Selects the best matches from matches that arrive newest first.

use crate::search_match::MATCH_CLASSES;

/// Matches by class, in each class as many as the page may need, and the total count.
pub(super) struct Ranked {
    needed: usize,
    found: [Vec<i64>; MATCH_CLASSES],
    total: u64,
}

impl Ranked {
    /// For a page that ends at this match.
    pub(super) fn up_to(needed: usize) -> Self {
        Self {
            needed,
            found: Default::default(),
            total: 0,
        }
    }

    /// Adds a match that is older than all earlier ones.
    pub(super) fn push(&mut self, match_class: usize, id: i64) {
        self.total += 1;
        if self.found[match_class].len() < self.needed {
            self.found[match_class].push(id);
        }
    }

    pub(super) const fn total(&self) -> u64 {
        self.total
    }

    /// Best class first, newest first within a class.
    pub(super) fn page(&self, offset: usize, limit: usize) -> Vec<i64> {
        let all = self.found.iter().flatten().copied();
        all.skip(offset).take(limit).collect()
    }
}
