//! Walks a list from new to old and skips entries that do not match.

use super::{Cursor, List, Nodes, Summary};

/// A walk over the entries of a list from rank `from`, newest first.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'a, S: Summary> {
    list: List<'a, S>,
    from: u64,
    /// The remaining entries. Their newest node is read only when it is examined, so that several
    /// walks in turn wait for their cache misses together.
    next: Option<Cursor>,
}

/// The position of a walk. It stays valid when the list grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WalkPosition {
    from: u64,
    next: Option<Cursor>,
}

/// The result of examining one node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Probe<T> {
    /// Its entry matches: its rank, its target, and the match result.
    Match(u64, u64, T),
    /// No match yet.
    NoMatch,
    /// The walk has ended.
    End,
}

impl<'a, S: Summary> Walk<'a, S> {
    /// A walk over the entries with ranks `from..to`.
    pub(crate) fn of(list: List<'a, S>, (from, to): (u64, u64)) -> Self {
        let next = list.oldest(to.min(list.len()));
        Self::resume(list, WalkPosition { from, next })
    }

    /// Continues a walk over the same list.
    pub(crate) fn resume(list: List<'a, S>, WalkPosition { from, next }: WalkPosition) -> Self {
        let mut walk = Self { list, from, next };
        walk.move_to(next);
        walk
    }

    /// The current position.
    pub(crate) fn position(&self) -> WalkPosition {
        WalkPosition {
            from: self.from,
            next: self.next,
        }
    }

    /// The target of the newest remaining entry.
    pub(crate) fn target(&self) -> Option<u64> {
        self.list.target(self.next?)
    }

    /// Number of oldest entries of the list that contain all remaining ones; 0 after the end.
    pub(crate) fn end(&self) -> u64 {
        self.next.map_or(0, |at| at.len)
    }

    /// Examines the next node: skips a span if `may_match` excludes a match in its summary.
    pub(crate) fn probe<T>(
        &mut self,
        may_match: impl Fn(&S) -> bool,
        matches: impl Fn(&S::Entry) -> Option<T>,
    ) -> Probe<T> {
        match self.next {
            None => Probe::End,
            Some(at) if at.level == 0 => self.probe_entry(at, matches),
            Some(at) => {
                let span = self.list.nodes.span(at.slot);
                self.move_to(span.map(|span| match may_match(&span.summary) {
                    true => span.inside(at),
                    false => span.before(at),
                }));
                Probe::NoMatch
            }
        }
    }

    fn probe_entry<T>(&mut self, at: Cursor, matches: impl Fn(&S::Entry) -> Option<T>) -> Probe<T> {
        let Some((older, entry)) = self.list.nodes.posting(at.slot) else {
            self.next = None;
            return Probe::End;
        };
        self.move_to(Some(Cursor::at::<S>(older, at.len - 1)));
        let found = matches(&entry).zip(self.list.nodes.target(at.slot));
        found.map_or(Probe::NoMatch, |(found, target)| {
            Probe::Match(at.len - 1, target, found)
        })
    }

    /// Skips entries while their counts fit into `left`, and subtracts the counts. Afterwards
    /// either the next entry does not fit, or the walk has ended.
    pub(crate) fn skip(&mut self, left: &mut usize, count: impl Fn(&S) -> usize) {
        while let Some(at) = self.next {
            // A span may have entries outside of this walk.
            let is_whole = at.len - at.width() >= self.from;
            let Some((older, summary)) = self.list.node(at) else {
                self.next = None;
                return;
            };
            if let Some(rest) = left.checked_sub(count(&summary)).filter(|_| is_whole) {
                *left = rest;
                self.move_to(Some(older));
            } else if at.level > 0 {
                self.move_to(self.list.inside(at));
            } else {
                return;
            }
        }
    }

    /// Moves to the remaining entries, if any, and prefetches their newest node.
    fn move_to(&mut self, next: Option<Cursor>) {
        self.next = next.filter(|at| at.len > self.from);
        if let Some(at) = self.next {
            self.list.nodes.prefetch(at.slot, at.level > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::storage::chunk::Chunking;
    use crate::storage::list::{Lists, Span};
    use crate::storage::log::Log;
    use crate::storage::slot::count;
    use foretell_model::codec::{CodecError, Fixed, Stored};

    /// The largest of some numbers, and their sum, with spans up to a level.
    #[derive(Clone, Copy, Default, PartialEq, Debug)]
    struct Sizes<const LEVEL: u32>(u32, u32);

    impl<const LEVEL: u32> Stored for Sizes<LEVEL> {
        fn put(&self, out: &mut Vec<u8>) {
            (self.0, self.1).put(out);
        }

        fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
            let (largest, sum) = Stored::take(from)?;
            Ok(Self(largest, sum))
        }
    }

    impl<const LEVEL: u32> Fixed for Sizes<LEVEL> {
        const SIZE: usize = 8;
    }

    impl<const LEVEL: u32> Summary for Sizes<LEVEL> {
        type Entry = Self;
        type Nodes<'a> = &'a Log<Span<Self>>;
        const MAX_LEVEL: u32 = LEVEL;

        fn of(entry: &Self) -> Self {
            *entry
        }

        fn join(self, other: Self) -> Self {
            Self(self.0.max(other.0), self.1 + other.1)
        }
    }

    fn filled<const LEVEL: u32>(bits: u8, sizes: &[u32]) -> Lists<Sizes<LEVEL>> {
        let mut lists = Lists::new(Chunking::Bits(bits));
        for (rank, size) in (0..).zip(sizes) {
            lists.push_with(1, rank, Sizes(*size, *size)).unwrap();
        }
        lists
    }

    /// Finds sizes of at least `least`, resuming each time at the last position.
    fn is_found<const LEVEL: u32>(sizes: &[u32], least: u32, ends: (u64, u64), probes: usize) {
        let lists = filled::<LEVEL>(3, sizes);
        let list = lists.list(1);
        let matches = (0..)
            .zip(sizes)
            .filter(|(rank, size)| ends.0 <= *rank && *rank < ends.1 && **size >= least);
        let mut matches: Vec<u64> = matches.map(|(rank, _)| rank).collect();
        matches.reverse();
        let mut found = Vec::new();
        let (mut position, mut pauses) = (Walk::of(list, ends).position(), 0);
        while position.next.is_some() {
            let mut walk = Walk::resume(list, position);
            let mut probes = probes;
            let matches = |size: &Sizes<LEVEL>| (size.0 >= least).then_some(size.0);
            while probes > 0 {
                probes -= 1;
                match walk.probe(|summary| summary.0 >= least, matches) {
                    Probe::Match(rank, target, size) => {
                        assert_eq!((rank, size), (target, sizes[count(rank)]));
                        found.push(rank);
                    }
                    Probe::NoMatch => {}
                    Probe::End => break,
                }
            }
            position = walk.position();
            pauses += 1;
            assert!(pauses <= 350);
        }
        assert_eq!(found, matches);
    }

    fn is_skipped<const LEVEL: u32>(sizes: &[u32], ends: (u64, u64), left: usize) {
        let lists = filled::<LEVEL>(3, sizes);
        let mut walk = Walk::of(lists.list(1), ends);
        let mut rest = left;
        walk.skip(&mut rest, |summary| summary.1 as usize);
        // One by one.
        let mut expected = left;
        let mut place = ends.1.min(sizes.len() as u64);
        while place > ends.0 && sizes[count(place - 1)] as usize <= expected {
            place -= 1;
            expected -= sizes[count(place)] as usize;
        }
        let end = if place > ends.0 { place } else { 0 };
        assert_eq!((rest, walk.end()), (expected, end));
    }

    proptest! {
        #[test]
        fn all_matches_are_found(
            sizes in prop::collection::vec(prop_oneof![0..10_u32, 0..1_000_u32], 0..300),
            least in 0..1_000_u32,
            ends in (0..310_u64, 0..310_u64),
            probes in 1..40_usize,
        ) {
            is_found::<10>(&sizes, least, ends, probes);
            is_found::<1>(&sizes, least, ends, probes);
        }

        #[test]
        fn skipped_entries_are_counted(
            sizes in prop::collection::vec(0..4_u32, 0..300),
            ends in (0..310_u64, 0..310_u64),
            left in 0..700_usize,
        ) {
            is_skipped::<10>(&sizes, ends, left);
            is_skipped::<1>(&sizes, ends, left);
        }
    }

    #[test]
    fn the_largest_spans_follow_one_another() {
        let lists = filled::<1>(3, &[1; 400]);
        let nodes = (0..lists.nodes.len()).filter_map(|slot| lists.nodes.get(slot));
        let sums: Vec<u32> = nodes.map(|node| node.summary.1).collect();
        assert_eq!((sums.len(), sums.iter().max()), (400 + 400 / 8, Some(&8)));
    }

    const LONG: u64 = 100_000;

    #[test]
    fn a_rare_entry_is_found_in_few_probes() {
        let mut sizes = vec![0; count(LONG)];
        sizes[777] = 1;
        let lists = filled::<10>(10, &sizes);
        let mut walk = Walk::of(lists.list(1), (0, LONG));
        let probes = std::iter::from_fn(|| {
            let matches = |size: &Sizes<10>| (size.0 > 0).then_some(size.0);
            let probe = walk.probe(|summary| summary.0 > 0, matches);
            (probe != Probe::End).then_some(probe)
        });
        let probes: Vec<_> = probes.take(200).collect();
        assert!(probes.len() < 100, "{}", probes.len());
        let found = probes.into_iter().filter(|probe| *probe != Probe::NoMatch);
        assert!(found.eq([Probe::Match(777, 777, 1)]));
        assert_eq!(walk.end(), 0);
    }

    #[test]
    fn many_entries_are_skipped_in_few_steps() {
        let sizes: Vec<u32> = (0..LONG).map(|rank| u32::from(rank % 20 == 0)).collect();
        let lists = filled::<10>(10, &sizes);
        for left in [0, 1, 17, 1_000, 4_999] {
            let mut walk = Walk::of(lists.list(1), (0, LONG));
            let steps = core::cell::Cell::new(0);
            let (mut rest, counted) = (left, |summary: &Sizes<10>| {
                steps.set(steps.get() + 1);
                summary.1 as usize
            });
            walk.skip(&mut rest, counted);
            assert_eq!(rest, 0);
            assert_eq!(count(walk.end()), count(LONG) - 19 - 20 * left);
            assert!(steps.get() < 200, "{} steps over {left}", steps.get());
        }
    }
}
