//! Walks a list from new to old and skips entries that do not match.

use foretell_memory::prefetch;

use super::{List, Posting, PostingAt, PostingHeader, Summary};
use foretell_model::codec::Stored;

/// A walk over the entries of a list from rank `from`, newest first.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'a, S: Summary> {
    list: List<'a, S>,
    from: u64,
    /// The rank last examined: all remaining entries have lower ranks.
    before: u64,
    /// Slot and bytes of the next posting. They are read only when it is examined, so that several
    /// walks in turn wait for their cache misses together.
    next: Option<(u64, &'a [u8])>,
}

/// The position of a walk. It stays valid when the list grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct WalkPosition {
    from: u64,
    before: u64,
    next: Option<u64>,
}

/// The result of examining one entry, or several at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Probe<T> {
    /// It matches: its rank, its target, and the match result.
    Match(u64, u64, T),
    /// No match in the examined entries.
    NoMatch,
    /// The walk has ended.
    End,
}

impl<'a, S: Summary> Walk<'a, S> {
    /// A walk over the entries with ranks `from..to`.
    pub(crate) fn of(list: List<'a, S>, (from, to): (u64, u64)) -> Self {
        let before = to.min(list.len());
        let slot = before.checked_sub(1).and_then(|rank| list.slot(rank));
        Self::through(list, (from, before), slot)
    }

    /// Continues a walk over the same list.
    pub(crate) fn resume(
        list: List<'a, S>,
        WalkPosition { from, before, next }: WalkPosition,
    ) -> Self {
        Self::through(list, (from, before), next)
    }

    fn through(list: List<'a, S>, (from, before): (u64, u64), slot: Option<u64>) -> Self {
        let mut walk = Self {
            list,
            from,
            before,
            next: None,
        };
        if let Some(slot) = slot {
            walk.move_to(before, slot);
        }
        walk
    }

    /// The current position.
    pub(crate) fn position(&self) -> WalkPosition {
        WalkPosition {
            from: self.from,
            before: self.before,
            next: self.next.map(|(slot, _)| slot),
        }
    }

    /// The target of the newest remaining entry.
    pub(crate) fn target(&self) -> Option<u64> {
        self.at().map(|next| next.target())
    }

    /// Number of oldest entries of the list that contain all remaining ones; 0 after the end.
    pub(crate) fn end(&self) -> u64 {
        self.at().map_or(0, |next| next.rank + 1)
    }

    /// Examines the next entry, or skips to the target of its jump if `may_be` excludes a match in
    /// the summary of that stretch.
    pub(crate) fn probe<T>(
        &mut self,
        may_match: impl Fn(&S) -> bool,
        matches: impl Fn(&S::Entry) -> Option<T>,
    ) -> Probe<T> {
        let next = self.next.and_then(|(slot, bytes)| {
            let header = PostingHeader::<S>::read(bytes)?;
            self.is_remaining(header.rank)
                .then_some((header, slot, bytes))
        });
        let Some((at, slot, bytes)) = next else {
            return Probe::End;
        };
        if !may_match(&at.summary) {
            self.move_to(at.rank, at.jump);
            return Probe::NoMatch;
        }
        self.move_to(at.rank, at.before);
        let Some(entry) = PostingHeader::<S>::entry(bytes) else {
            self.next = None;
            return Probe::End;
        };
        match matches(&entry) {
            Some(found) => Probe::Match(at.rank, S::target(slot, &entry), found),
            None => Probe::NoMatch,
        }
    }

    /// Skips entries while their counts fit into `left`, and subtracts the counts. Afterwards
    /// either the next entry does not fit, or the walk has ended.
    pub(crate) fn skip(&mut self, left: &mut usize, count: impl Fn(&S) -> usize) {
        while let Some(at) = self.at() {
            let jump = self.list.earlier(&at, at.jump);
            // A jump to below `from` covers entries outside of this walk.
            let is_whole = jump.is_none_or(|jump| jump.rank + 1 >= self.from);
            if let Some(rest) = left.checked_sub(count(&at.summary)).filter(|_| is_whole) {
                *left = rest;
                self.move_to(at.rank, at.jump);
            } else if let Some(rest) = left.checked_sub(count(&S::of(&at.entry))) {
                *left = rest;
                self.move_to(at.rank, at.before);
            } else {
                return;
            }
        }
    }

    /// The next entry of this walk.
    fn at(&self) -> Option<PostingAt<S>> {
        let (slot, mut bytes) = self.next?;
        let posting = Posting::<S>::take(&mut bytes).ok()?;
        self.is_remaining(posting.rank)
            .then_some(PostingAt { slot, posting })
    }

    /// Whether a rank is among the remaining ones. So every walk ends, even over invalid bytes.
    fn is_remaining(&self, rank: u64) -> bool {
        self.from <= rank && rank < self.before
    }

    /// Moves to the posting at a slot, after the entry with this rank, and prefetches it.
    fn move_to(&mut self, rank: u64, slot: u64) {
        self.before = rank;
        self.next = self.list.postings.bytes(slot).map(|bytes| (slot, bytes));
        if let Some((_, bytes)) = self.next {
            prefetch::short_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::storage::chunk::Chunking;
    use crate::storage::list::{ListEnds, Lists};
    use crate::storage::log::Log;
    use crate::storage::slot::count;
    use foretell_model::codec::{CodecError, Fixed};

    /// The largest of some numbers, and their sum, with at most `MAX_ENTRIES` numbers per summary.
    #[derive(Clone, Copy)]
    struct Sizes<const MAX_ENTRIES: u64>(u32, u32);

    /// Small, so that a list of some hundred entries has many stretches.
    const FEW: u64 = 15;

    impl<const MAX_ENTRIES: u64> Stored for Sizes<MAX_ENTRIES> {
        fn put(&self, out: &mut Vec<u8>) {
            (self.0, self.1).put(out);
        }

        fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
            let (largest, sum) = Stored::take(from)?;
            Ok(Self(largest, sum))
        }
    }

    impl<const MAX_ENTRIES: u64> Fixed for Sizes<MAX_ENTRIES> {
        const SIZE: usize = 8;
    }

    impl<const MAX_ENTRIES: u64> Summary for Sizes<MAX_ENTRIES> {
        type Entry = u32;
        const MAX_ENTRIES: u64 = MAX_ENTRIES;

        fn of(entry: &u32) -> Self {
            Self(*entry, *entry)
        }

        fn join(self, other: Self) -> Self {
            Self(self.0.max(other.0), self.1 + other.1)
        }

        fn target(slot: u64, _: &u32) -> u64 {
            slot
        }
    }

    fn filled<const MAX_ENTRIES: u64>(bits: u8, sizes: &[u32]) -> Lists<Sizes<MAX_ENTRIES>> {
        let mut lists = Lists::of(Log::new(Chunking::Bits(bits)), ListEnds::default());
        for size in sizes {
            lists.push_with(1, *size).unwrap();
        }
        lists
    }

    /// Finds sizes of at least `least`, resuming each time at the last position.
    fn is_found<const MAX_ENTRIES: u64>(
        sizes: &[u32],
        least: u32,
        ends: (u64, u64),
        probes: usize,
    ) {
        let lists = filled::<MAX_ENTRIES>(3, sizes);
        let list = lists.list(1);
        let matches = (0..)
            .zip(sizes)
            .filter(|(rank, size)| ends.0 <= *rank && *rank < ends.1 && **size >= least);
        let mut matches: Vec<u64> = matches.map(|(rank, _)| rank).collect();
        matches.reverse();
        let mut found = Vec::new();
        let (mut end, mut pauses) = (ends.1, 0);
        while end > ends.0 {
            let mut walk = Walk::of(list, (ends.0, end));
            let mut probes = probes;
            let matches = |size: &u32| (*size >= least).then_some(*size);
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
            end = walk.end();
            pauses += 1;
            assert!(pauses <= 300);
        }
        assert_eq!(found, matches);
    }

    fn is_skipped<const MAX_ENTRIES: u64>(sizes: &[u32], ends: (u64, u64), left: usize) {
        let lists = filled::<MAX_ENTRIES>(3, sizes);
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
            is_found::<{ u64::MAX }>(&sizes, least, ends, probes);
            is_found::<FEW>(&sizes, least, ends, probes);
        }

        #[test]
        fn skipped_entries_are_counted(
            sizes in prop::collection::vec(0..4_u32, 0..300),
            ends in (0..310_u64, 0..310_u64),
            left in 0..700_usize,
        ) {
            is_skipped::<{ u64::MAX }>(&sizes, ends, left);
            is_skipped::<FEW>(&sizes, ends, left);
        }
    }

    #[test]
    fn no_summary_is_of_more_entries_than_it_can_be() {
        let lists = filled::<FEW>(3, &[1; 400]);
        let counts = (0..400).map(|slot| lists.postings().get(slot).unwrap().summary.1);
        assert_eq!(counts.map(u64::from).max(), Some(FEW));
    }

    const LONG: u64 = 100_000;

    #[test]
    fn a_rare_entry_is_found_in_few_probes() {
        let mut sizes = vec![0; count(LONG)];
        sizes[777] = 1;
        let lists = filled::<{ u64::MAX }>(10, &sizes);
        let mut walk = Walk::of(lists.list(1), (0, LONG));
        let probes = std::iter::from_fn(|| {
            let matches = |size: &u32| (*size > 0).then_some(*size);
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
        let lists = filled::<{ u64::MAX }>(10, &sizes);
        for left in [0, 1, 17, 1_000, 4_999] {
            let mut walk = Walk::of(lists.list(1), (0, LONG));
            let steps = core::cell::Cell::new(0);
            let (mut rest, counted) = (left, |summary: &Sizes<{ u64::MAX }>| {
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
