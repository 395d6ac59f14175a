//! Events by tag, series or creator.

use super::RowSet;

/// Pairs of a key and the row of an event, ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    pairs: Vec<(i64, u32)>,
}

impl Links {
    /// The events of a key, ascending by row.
    pub(crate) fn rows_of(&self, key: i64) -> impl Iterator<Item = u32> {
        let start = self.pairs.partition_point(|(of, _)| *of < key);
        let of_key = self.pairs[start..]
            .iter()
            .take_while(move |(of, _)| *of == key);
        of_key.map(|(_, row)| *row)
    }

    /// The keys that have an event in the set, ascending.
    pub(crate) fn keys_of(&self, events: &RowSet) -> Vec<i64> {
        let with_some = self
            .pairs
            .chunk_by(|one, other| one.0 == other.0)
            .filter(|pairs| pairs.iter().any(|(_, row)| events.contains(*row)));
        with_some.map(|pairs| pairs[0].0).collect()
    }

    /// The keys that have an event in the set, ascending, and how many.
    pub(crate) fn counts(&self, events: &RowSet) -> Vec<(i64, usize)> {
        let count = |pairs: &[(i64, u32)]| {
            let of_set = pairs.iter().filter(|(_, row)| events.contains(*row));
            (pairs[0].0, of_set.count())
        };
        let counts = self
            .pairs
            .chunk_by(|one, other| one.0 == other.0)
            .map(count);
        counts.filter(|(_, events)| *events > 0).collect()
    }

    /// Replaces the pairs of the changed events with `new`; `None` when they are equal.
    pub(super) fn with(&self, changed: &RowSet, mut new: Vec<(i64, u32)>) -> Option<Self> {
        new.sort_unstable();
        new.dedup();
        let had = self.pairs.iter().filter(|(_, row)| changed.contains(*row));
        if had.eq(&new) {
            return None;
        }
        let kept = self.pairs.iter().filter(|(_, row)| !changed.contains(*row));
        let mut pairs = Vec::with_capacity(self.pairs.len() + new.len());
        let mut new = new.into_iter().peekable();
        for pair in kept {
            pairs.extend(std::iter::from_fn(|| new.next_if(|new| new < pair)));
            pairs.push(*pair);
        }
        pairs.extend(new);
        Some(Self { pairs })
    }
}
