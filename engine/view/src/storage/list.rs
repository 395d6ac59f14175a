//! Lists over a log: the rows of another log for each account, market and so on.
//!
//! A posting, that is an entry of a list, holds the previous posting of the same list, a jump to an
//! earlier one (Myers, "An applicative random-access stack"), and its target row. Jumps make any
//! posting reachable in logarithmic time, so memory holds only the newest of each list.
//!
//! A posting may also hold an entry and a [`Summary`] of the postings from itself back to the
//! target of its jump. A search for rare rows jumps over stretches without them, and a count adds
//! up stretches without reading them ([`walk`]). The target of such a posting is computed from its
//! own slot ([`Summary::target`]): storing it would need a second cache line.

mod walk;

pub(crate) use walk::{Probe, Walk, WalkPosition};

use foretell_memory::prefetch::CACHE_LINE;

use foretell_model::codec::{CodecError, Fixed, Stored, fixed};

use crate::error::Impossible;
use crate::storage::log::Log;
use crate::storage::row::LogRow;
use crate::storage::slot::{self, Packed};

/// A summary of several entries of a list.
pub trait Summary: Fixed + Copy {
    /// The stored part of one entry.
    type Entry: Fixed + Copy + PartialEq + core::fmt::Debug;

    /// Maximum number of entries in a summary. No posting jumps further; longer lists consist of
    /// several such stretches.
    const MAX_ENTRIES: u64;

    /// The summary of one entry.
    fn of(entry: &Self::Entry) -> Self;

    /// The summary of the entries of both.
    #[must_use]
    fn join(self, other: Self) -> Self;

    /// The target of the posting at `slot` with this entry.
    fn target(slot: u64, entry: &Self::Entry) -> u64;
}

/// No summary; the entry is the target itself.
impl Summary for () {
    type Entry = Packed;
    const MAX_ENTRIES: u64 = u64::MAX;

    fn of(_: &Packed) -> Self {}

    fn join(self, (): Self) -> Self {}

    fn target(_: u64, entry: &Packed) -> u64 {
        entry.slot()
    }
}

/// One posting of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Posting<S: Summary> {
    /// Slot of the previous posting; the first refers to itself.
    before: u64,
    /// Slot of an earlier posting; the first refers to itself.
    jump: u64,
    /// Its index in the list, from 0.
    rank: u64,
    /// The stored part of its target. Targets ascend along a list.
    entry: S::Entry,
    /// Summary of itself and all earlier ones, up to but excluding the one it jumps to.
    summary: S,
}

impl<S: Summary> Stored for Posting<S> {
    fn put(&self, out: &mut Vec<u8>) {
        [self.before, self.jump, self.rank]
            .iter()
            .for_each(|slot| Packed::of(*slot).put(out));
        self.entry.put(out);
        self.summary.put(out);
        out.resize(out.len() + Self::SIZE - Self::FIELDS, 0);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let posting = Self {
            before: Packed::take(from)?.slot(),
            jump: Packed::take(from)?.slot(),
            rank: Packed::take(from)?.slot(),
            entry: S::Entry::take(from)?,
            summary: S::take(from)?,
        };
        let padding = Self::SIZE - Self::FIELDS;
        (_, *from) = from.split_at_checked(padding).ok_or(CodecError::Cut)?;
        Ok(posting)
    }
}

impl<S: Summary> Posting<S> {
    const ENTRY_AT: usize = 3 * Packed::SIZE;
    const SUMMARY_AT: usize = Self::ENTRY_AT + S::Entry::SIZE;
    const FIELDS: usize = Self::SUMMARY_AT + S::SIZE;
}

/// The part of a posting that decides about reading its entry, and about the next step.
struct PostingHeader<S> {
    before: u64,
    jump: u64,
    rank: u64,
    summary: S,
}

impl<S: Summary> PostingHeader<S> {
    fn read(posting: &[u8]) -> Option<Self> {
        let posting = posting.get(..Posting::<S>::SIZE)?;
        let mut slots = posting;
        Some(Self {
            before: Packed::take(&mut slots).ok()?.slot(),
            jump: Packed::take(&mut slots).ok()?.slot(),
            rank: Packed::take(&mut slots).ok()?.slot(),
            summary: S::take(&mut &posting[Posting::<S>::SUMMARY_AT..]).ok()?,
        })
    }

    /// The rest of the posting: its entry.
    fn entry(posting: &[u8]) -> Option<S::Entry> {
        S::Entry::take(&mut posting.get(Posting::<S>::ENTRY_AT..)?).ok()
    }
}

impl<S: Summary> Fixed for Posting<S> {
    /// With a summary, padded to whole cache lines: rows of a mapped chunk start on one, so a read
    /// costs one cache miss.
    const SIZE: usize = match S::SIZE {
        0 => Self::FIELDS,
        _ => Self::FIELDS.next_multiple_of(CACHE_LINE),
    };
}

impl<S: Summary> LogRow for Posting<S> {
    const CHUNK_BITS: u32 = if S::SIZE == 0 { 17 } else { 16 };
}

/// The end of a list.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct ListEnd {
    /// Slot of its newest posting; meaningless for an empty list.
    last: Packed,
    /// Its length.
    len: Packed,
}

fixed!(ListEnd {
    last: Packed,
    len: Packed,
});

impl ListEnd {
    fn of(last: u64, len: u64) -> Self {
        Self {
            last: Packed::of(last),
            len: Packed::of(len),
        }
    }

    /// The newest posting of a non-empty list.
    pub(crate) fn last(self) -> u64 {
        self.last.slot()
    }

    /// Its length.
    fn len(self) -> u64 {
        self.len.slot()
    }
}

/// The ends of all lists of one kind, by number; missing ones are empty.
pub(crate) type ListEnds = Vec<ListEnd>;

/// Lists of one kind by a dense number, such as those of all accounts.
#[derive(Debug)]
pub(crate) struct Lists<S: Summary = ()> {
    postings: Log<Posting<S>>,
    ends: ListEnds,
}

impl Lists {
    /// Appends to a list without summaries. Targets ascend along a list.
    pub(crate) fn push(&mut self, number: usize, target: u64) -> Result<(), Impossible> {
        self.push_with(number, Packed::of(target))
    }
}

impl<S: Summary> Lists<S> {
    /// Restores lists from their postings and ends.
    pub(crate) fn of(postings: Log<Posting<S>>, ends: ListEnds) -> Self {
        Self { postings, ends }
    }

    /// The list with this number; it may be empty.
    pub(crate) fn list(&self, number: usize) -> List<'_, S> {
        List {
            postings: &self.postings,
            end: self.ends.get(number).copied().unwrap_or_default(),
        }
    }

    /// An empty list.
    pub(crate) fn empty(&self) -> List<'_, S> {
        List {
            postings: &self.postings,
            end: ListEnd::default(),
        }
    }

    /// Appends an entry. Targets ascend along a list.
    pub(crate) fn push_with(&mut self, number: usize, entry: S::Entry) -> Result<(), Impossible> {
        if self.ends.len() <= number {
            self.ends.resize(number + 1, ListEnd::default());
        }
        let end = &mut self.ends[number];
        *end = append(&mut self.postings, *end, entry)?;
        Ok(())
    }

    /// Prefetches the newest posting of a list.
    pub(crate) fn prefetch(&self, number: usize) {
        if let Some(end) = self.ends.get(number) {
            self.postings.prefetch(end.last());
        }
    }

    /// The ends of the lists.
    pub(crate) fn ends(&self) -> &ListEnds {
        &self.ends
    }

    pub(crate) fn postings(&self) -> &Log<Posting<S>> {
        &self.postings
    }

    pub(crate) fn postings_mut(&mut self) -> &mut Log<Posting<S>> {
        &mut self.postings
    }
}

/// Appends an entry to the list with this end, and returns the new end.
pub(crate) fn append<S: Summary>(
    postings: &mut Log<Posting<S>>,
    end: ListEnd,
    entry: S::Entry,
) -> Result<ListEnd, Impossible> {
    let (own, len) = (postings.len(), end.len() + 1);
    // Only invalid bytes can claim such a length.
    if len >= slot::END {
        return Err(Impossible::HistoryUnreadable);
    }
    let own_summary = S::of(&entry);
    let rank = end.len();
    let (before, jump, summary) = match rank.checked_sub(1) {
        None => (own, own, own_summary),
        Some(last) if joins_jumps(last, S::MAX_ENTRIES) => {
            let (jump, between) =
                jump_over_two(postings, end.last()).ok_or(Impossible::HistoryUnreadable)?;
            (end.last(), jump, own_summary.join(between))
        }
        Some(_) => (end.last(), end.last(), own_summary),
    };
    postings.push(&Posting {
        before,
        jump,
        rank,
        entry,
        summary,
    })?;
    Ok(ListEnd::of(own, len))
}

/// Whether the posting after rank `last` jumps over two jumps of equal length; else it jumps to
/// `last`. The ranks alone determine all jumps: their lengths are the digits of the rank in skew
/// binary, that is in multiples of 2^k - 1. So most appends read no earlier posting.
fn joins_jumps(last: u64, max_entries: u64) -> bool {
    let mut rest = last;
    while rest > 0 {
        // The largest length up to `rest` that a jump over two reaches.
        let mut length = (u64::MAX >> (rest + 1).leading_zeros()) >> 1;
        while length > 1 && length > max_entries {
            length >>= 1;
        }
        let multiple = rest / length;
        rest -= multiple * length;
        if rest == 0 {
            return multiple > 1 && 2 * length < max_entries;
        }
    }
    false
}

/// The end of the two jumps from `last`, and the summary of the postings jumped over.
fn jump_over_two<S: Summary>(postings: &Log<Posting<S>>, last: u64) -> Option<(u64, S)> {
    let one = PostingHeader::<S>::read(postings.bytes(last)?)?;
    let two = PostingHeader::<S>::read(postings.bytes(one.jump)?)?;
    Some((two.jump, one.summary.join(two.summary)))
}

/// A read view of one list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<'a, S: Summary = ()> {
    postings: &'a Log<Posting<S>>,
    end: ListEnd,
}

impl<'a, S: Summary> List<'a, S> {
    /// The list that ends with this posting; an empty one for `None`.
    pub(crate) fn ending_with(postings: &'a Log<Posting<S>>, newest: Option<u64>) -> Self {
        let end = newest.and_then(|last| {
            let len = postings.get(last)?.rank + 1;
            (len < slot::END).then(|| ListEnd::of(last, len))
        });
        Self {
            postings,
            end: end.unwrap_or_default(),
        }
    }

    /// Its end.
    pub(crate) fn end(&self) -> ListEnd {
        self.end
    }

    /// Its length.
    pub(crate) fn len(&self) -> u64 {
        self.end.len()
    }

    /// The target at an index, the oldest at 0.
    pub(crate) fn get(&self, rank: u64) -> Option<u64> {
        Some(self.at(self.slot(rank)?)?.target())
    }

    /// Number of oldest entries that satisfy `early`, which must hold for a prefix of the list.
    pub(crate) fn partition_point(&self, early: impl Fn(u64) -> bool) -> u64 {
        let Some(mut at) = self.newest() else {
            return 0;
        };
        if early(at.target()) {
            return self.len();
        }
        // `at` is never early; the loop ends at the oldest entry that is not.
        while let Some(before) = self.earlier(&at, at.before) {
            let jump = self
                .earlier(&at, at.jump)
                .filter(|jump| !early(jump.target()));
            match jump {
                Some(jump) => at = jump,
                None if early(before.target()) => break,
                None => at = before,
            }
        }
        at.rank
    }

    /// The `end` oldest entries, newest first.
    pub(crate) fn newest_first(&self, end: u64) -> NewestFirst<'a, S> {
        let end = end.min(self.len());
        NewestFirst {
            list: *self,
            next: (end.checked_sub(1))
                .and_then(|rank| self.slot(rank))
                .and_then(|slot| self.at(slot)),
        }
    }

    fn newest(&self) -> Option<PostingAt<S>> {
        if self.len() == 0 {
            return None;
        }
        self.at(self.end.last())
    }

    fn at(&self, slot: u64) -> Option<PostingAt<S>> {
        let posting = self.postings.get(slot)?;
        Some(PostingAt { slot, posting })
    }

    /// The slot of the posting with this rank.
    fn slot(&self, rank: u64) -> Option<u64> {
        if rank >= self.len() {
            return None;
        }
        let mut at = self.newest()?;
        while at.rank > rank {
            let jump = self.earlier(&at, at.jump).filter(|jump| jump.rank >= rank);
            at = match jump {
                Some(jump) => jump,
                None => self.earlier(&at, at.before)?,
            };
        }
        Some(at.slot)
    }

    /// The posting at a slot that `from` refers to, if it is earlier in the list. So every walk
    /// ends, even over invalid bytes.
    fn earlier(&self, from: &Posting<S>, slot: u64) -> Option<PostingAt<S>> {
        self.at(slot).filter(|at| at.rank < from.rank)
    }
}

/// A posting and its slot.
#[derive(Clone, Copy, Debug)]
struct PostingAt<S: Summary> {
    slot: u64,
    posting: Posting<S>,
}

impl<S: Summary> PostingAt<S> {
    fn target(&self) -> u64 {
        S::target(self.slot, &self.posting.entry)
    }
}

impl<S: Summary> core::ops::Deref for PostingAt<S> {
    type Target = Posting<S>;

    fn deref(&self) -> &Posting<S> {
        &self.posting
    }
}

/// Entries of a list, newest first.
#[derive(Clone, Debug)]
pub(crate) struct NewestFirst<'a, S: Summary> {
    list: List<'a, S>,
    next: Option<PostingAt<S>>,
}

impl<S: Summary> Iterator for NewestFirst<'_, S> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let at = self.next?;
        self.next = self.list.earlier(&at, at.before);
        Some(at.target())
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use proptest::prelude::*;

    use super::*;
    use crate::storage::chunk::Chunking;
    use crate::storage::slot::count;

    const NUMBERS: usize = 4;

    fn filled(bits: u8, pushes: &[usize]) -> (Lists, Vec<Vec<u64>>) {
        let mut lists = Lists::<()>::of(Log::new(Chunking::Bits(bits)), ListEnds::default());
        let mut plain = vec![Vec::new(); NUMBERS];
        for (target, &number) in (0..).zip(pushes) {
            lists.push(number, target * 2).unwrap();
            plain[number].push(target * 2);
        }
        (lists, plain)
    }

    proptest! {
        #[test]
        fn a_list_is_a_list(
            pushes in prop::collection::vec(0..NUMBERS, 0..400),
            bits in 0..6_u8,
            bound in 0..900_u64,
        ) {
            let (lists, plain) = filled(bits, &pushes);
            for (number, plain) in plain.iter().enumerate() {
                let list = lists.list(number);
                prop_assert_eq!(list.len(), plain.len() as u64);
                for (rank, &target) in (0..).zip(plain) {
                    prop_assert_eq!(list.get(rank), Some(target));
                }
                prop_assert_eq!(list.get(list.len()), None);
                prop_assert_eq!(
                    count(list.partition_point(|target| target < bound)),
                    plain.partition_point(|&target| target < bound)
                );
                for end in [0, list.len() / 2, list.len(), u64::MAX] {
                    let end_of_plain = plain.len().min(count(end));
                    let newest: Vec<u64> = list.newest_first(end).collect();
                    let expected: Vec<u64> = plain[..end_of_plain].iter().rev().copied().collect();
                    prop_assert_eq!(newest, expected);
                }
            }
            prop_assert_eq!(lists.list(NUMBERS).len(), 0);
        }
    }

    /// The largest number of entries, with at most `MAX` in a summary.
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Count<const MAX: u64>(u32);

    impl<const MAX: u64> Stored for Count<MAX> {
        fn put(&self, out: &mut Vec<u8>) {
            self.0.put(out);
        }

        fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
            u32::take(from).map(Self)
        }
    }

    impl<const MAX: u64> Fixed for Count<MAX> {
        const SIZE: usize = u32::SIZE;
    }

    impl<const MAX: u64> Summary for Count<MAX> {
        type Entry = Packed;
        const MAX_ENTRIES: u64 = MAX;

        fn of(_: &Packed) -> Self {
            Self(1)
        }

        fn join(self, other: Self) -> Self {
            Self(self.0 + other.0)
        }

        fn target(_: u64, entry: &Packed) -> u64 {
            entry.slot()
        }
    }

    /// Jumps go over two jumps of equal length when there are such, and summaries cover them.
    fn jumps_follow_the_definition<const MAX: u64>() {
        let mut lists = Lists::<Count<MAX>>::of(Log::new(Chunking::Bits(8)), ListEnds::default());
        for rank in 0..3_000 {
            lists.push_with(0, Packed::of(rank)).unwrap();
        }
        let at = |slot| lists.postings.get(slot).unwrap();
        for slot in 1..3_000 {
            let one = at(slot - 1);
            let two = at(one.jump);
            let (over, next) = (one.rank - two.rank, two.rank - at(two.jump).rank);
            let joins = one.rank > 0 && over == next && 2 * over < MAX;
            let expected = if joins { two.jump } else { slot - 1 };
            assert_eq!(at(slot).jump, expected, "posting {slot}");
            assert_eq!(u64::from(at(slot).summary.0), slot - expected);
        }
    }

    #[test]
    fn jumps_depend_on_the_rank_alone() {
        jumps_follow_the_definition::<{ u64::MAX }>();
        jumps_follow_the_definition::<1>();
        jumps_follow_the_definition::<2>();
        jumps_follow_the_definition::<15>();
        jumps_follow_the_definition::<16>();
        jumps_follow_the_definition::<100>();
    }

    #[test]
    fn every_place_of_a_long_list_is_near() {
        const LONG: u64 = 100_000;
        let (lists, _) = filled(10, &vec![0; count(LONG)]);
        let list = lists.list(0);
        for rank in (0..LONG).step_by(997) {
            let steps = Cell::new(0);
            let early = |target| {
                steps.set(steps.get() + 1);
                target < rank * 2
            };
            assert_eq!(list.partition_point(early), rank);
            let steps = steps.get();
            assert!(steps <= 4 * LONG.ilog2(), "{steps} steps to {rank}");
        }
    }

    #[test]
    fn a_chain_that_leads_nowhere_ends() {
        let rows = [[9_u64, 0, 0, 3], [9, 1, 1, 3], [9, 7, 2, 1]];
        let mut lists = Lists::<()>::of(Log::new(Chunking::Bits(4)), ListEnds::default());
        for [target, before, jump, rank] in rows {
            let posting = Posting {
                before,
                jump,
                rank,
                entry: Packed::of(target),
                summary: (),
            };
            lists.postings.push(&posting).unwrap();
        }
        for last in 0..5 {
            lists.ends = vec![ListEnd::of(last, 4)];
            let list = lists.list(0);
            assert!(list.newest_first(4).count() <= 1);
            assert_eq!(list.get(0), None);
            let _ = list.partition_point(|_| false);
            let _ = lists.push(0, 5);
        }
    }
}
