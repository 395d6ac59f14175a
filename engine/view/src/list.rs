//! Lists over a log: for each account, market and so on, which rows of another log concern it.
//!
//! An entry of a list is a posting: the posting before it in the same list, a jump to an earlier one
//! (Myers, "An applicative random-access stack"), and what it points at: jumps halve the way, so
//! that any place of a list is a logarithm of its length away, and nothing but the newest posting
//! of each list is in memory.
//!
//! A posting may also say what its entry is, and carry a [`Summary`] of all from itself back to
//! where it jumps, so that who looks for something rare jumps over what cannot be it, and who counts
//! jumps over what is known by number ([`walk`]). What such a posting points at follows from its own
//! slot ([`Summary::target`]): stored as well, it would take a second cache line.

mod walk;

pub(crate) use walk::{Look, Pause, Walk};

use foretell_memory::near::LINE;

use crate::error::Impossible;
use crate::log::Log;
use crate::row::{Fixed, Row, Stored, fixed};
use crate::slot::{self, Packed};

/// What is said of several entries of a list at once.
pub trait Summary: Fixed + Copy {
    /// What is kept of one.
    type Entry: Fixed + Copy + PartialEq + core::fmt::Debug;

    /// Of how many entries a summary can be at most. No posting jumps further; beyond that, a list is
    /// several such stretches in a row.
    const MOST: u64;

    /// Of one entry alone.
    fn of(entry: &Self::Entry) -> Self;

    /// Of the entries of both.
    #[must_use]
    fn join(self, other: Self) -> Self;

    /// What the posting at `slot` with this entry points at.
    fn target(slot: u64, entry: &Self::Entry) -> u64;
}

/// Nothing is said, and of an entry what it points at is kept.
impl Summary for () {
    type Entry = Packed;
    const MOST: u64 = u64::MAX;

    fn of(_: &Packed) -> Self {}

    fn join(self, (): Self) -> Self {}

    fn target(_: u64, entry: &Packed) -> u64 {
        entry.slot()
    }
}

/// One entry of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Posting<S: Summary> {
    /// The posting before it; the first names itself.
    before: u64,
    /// A posting further back; the first names itself.
    jump: u64,
    /// Its place in the list, from 0.
    rank: u64,
    /// What is kept of what it points at. Targets rise along a list.
    entry: S::Entry,
    /// Of itself and all before it up to, but not with, the one it jumps to.
    span: S,
}

impl<S: Summary> Stored for Posting<S> {
    fn put(&self, out: &mut Vec<u8>) {
        [self.before, self.jump, self.rank]
            .iter()
            .for_each(|slot| Packed::of(*slot).put(out));
        self.entry.put(out);
        self.span.put(out);
        out.resize(out.len() + Self::SIZE - Self::FIELDS, 0);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let posting = Self {
            before: Packed::take(from)?.slot(),
            jump: Packed::take(from)?.slot(),
            rank: Packed::take(from)?.slot(),
            entry: S::Entry::take(from)?,
            span: S::take(from)?,
        };
        (_, *from) = from.split_at_checked(Self::SIZE - Self::FIELDS)?;
        Some(posting)
    }
}

impl<S: Summary> Posting<S> {
    const ENTRY_AT: usize = 3 * Packed::SIZE;
    const SPAN_AT: usize = Self::ENTRY_AT + S::Entry::SIZE;
    const FIELDS: usize = Self::SPAN_AT + S::SIZE;
}

/// As much of a posting as says whether it is worth a look, and what comes next.
struct Outline<S> {
    before: u64,
    jump: u64,
    rank: u64,
    span: S,
}

impl<S: Summary> Outline<S> {
    fn read(posting: &[u8]) -> Option<Self> {
        let posting = posting.get(..Posting::<S>::SIZE)?;
        let mut slots = posting;
        Some(Self {
            before: Packed::take(&mut slots)?.slot(),
            jump: Packed::take(&mut slots)?.slot(),
            rank: Packed::take(&mut slots)?.slot(),
            span: S::take(&mut &posting[Posting::<S>::SPAN_AT..])?,
        })
    }

    /// The rest: what is kept of what it points at.
    fn entry(posting: &[u8]) -> Option<S::Entry> {
        S::Entry::take(&mut posting.get(Posting::<S>::ENTRY_AT..)?)
    }
}

impl<S: Summary> Fixed for Posting<S> {
    /// Where something is said, as many cache lines as hold it: in a mapped chunk, whose rows begin on one,
    /// it is waited for once.
    const SIZE: usize = match S::SIZE {
        0 => Self::FIELDS,
        _ => Self::FIELDS.next_multiple_of(LINE),
    };
}

impl<S: Summary> Row for Posting<S> {
    const CHUNK_BITS: u32 = if S::SIZE == 0 { 17 } else { 16 };
}

/// Where a list ends.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Head {
    /// Its newest posting, when it has one.
    last: Packed,
    /// How many it has.
    len: Packed,
}

fixed!(Head {
    last: Packed,
    len: Packed,
});

impl Head {
    fn of(last: u64, len: u64) -> Self {
        Self {
            last: Packed::of(last),
            len: Packed::of(len),
        }
    }

    /// The newest posting of a list that has one.
    pub(crate) fn last(self) -> u64 {
        self.last.slot()
    }

    /// How many it has.
    fn len(self) -> u64 {
        self.len.slot()
    }
}

/// The ends of all lists of one kind, by number; those past the end are empty.
pub(crate) type Heads = Vec<Head>;

/// Lists of one kind, by a dense number: those of all accounts, say.
#[derive(Debug)]
pub(crate) struct Lists<S: Summary = ()> {
    postings: Log<Posting<S>>,
    heads: Heads,
}

impl Lists {
    /// Appends to a list of which nothing is said. Targets rise along it.
    pub(crate) fn push(&mut self, number: usize, target: u64) -> Result<(), Impossible> {
        self.push_with(number, Packed::of(target))
    }
}

impl<S: Summary> Lists<S> {
    /// Lists with these postings, of which `heads` names the last ones.
    pub(crate) fn of(postings: Log<Posting<S>>, heads: Heads) -> Self {
        Self { postings, heads }
    }

    /// The list with this number; it may be empty.
    pub(crate) fn list(&self, number: usize) -> List<'_, S> {
        List {
            postings: &self.postings,
            head: self.heads.get(number).copied().unwrap_or_default(),
        }
    }

    /// A list without entries.
    pub(crate) fn empty(&self) -> List<'_, S> {
        List {
            postings: &self.postings,
            head: Head::default(),
        }
    }

    /// Appends an entry of which this is kept. Targets rise along a list.
    pub(crate) fn push_with(&mut self, number: usize, entry: S::Entry) -> Result<(), Impossible> {
        if self.heads.len() <= number {
            self.heads.resize(number + 1, Head::default());
        }
        let head = &mut self.heads[number];
        *head = append(&mut self.postings, *head, entry)?;
        Ok(())
    }

    /// Where the lists end.
    pub(crate) fn heads(&self) -> &Heads {
        &self.heads
    }

    pub(crate) fn postings(&self) -> &Log<Posting<S>> {
        &self.postings
    }

    pub(crate) fn postings_mut(&mut self) -> &mut Log<Posting<S>> {
        &mut self.postings
    }
}

/// Appends an entry to the list that ends there, and says where it ends then.
pub(crate) fn append<S: Summary>(
    postings: &mut Log<Posting<S>>,
    head: Head,
    entry: S::Entry,
) -> Result<Head, Impossible> {
    let (own, len) = (postings.len(), head.len() + 1);
    // Only bytes from outside say so many of a list.
    if len >= slot::END {
        return Err(Impossible::HistoryUnreadable);
    }
    let said = S::of(&entry);
    let (before, jump, span) = if head.len() == 0 {
        (own, own, said)
    } else {
        let (jump, between) =
            next_jump(postings, head.last()).ok_or(Impossible::HistoryUnreadable)?;
        let span = between.map_or(said, |between| said.join(between));
        (head.last(), jump, span)
    };
    postings.push(&Posting {
        before,
        jump,
        rank: head.len(),
        entry,
        span,
    })?;
    Ok(Head::of(own, len))
}

/// Where the posting after `last` jumps to, over two equal jumps at once, else to `last`; and what
/// is said of those between.
fn next_jump<S: Summary>(postings: &Log<Posting<S>>, last: u64) -> Option<(u64, Option<S>)> {
    let one = postings.get(last)?;
    let two = postings.get(one.jump)?;
    let three = postings.get(two.jump)?;
    let over = one.rank.checked_sub(two.rank)?;
    let equal = over == two.rank.checked_sub(three.rank)?;
    // The first one names itself: over it there is no jump.
    Some(match equal && one.rank > 0 && 2 * over < S::MOST {
        true => (two.jump, Some(one.span.join(two.span))),
        false => (last, None),
    })
}

/// One list, as it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List<'a, S: Summary = ()> {
    postings: &'a Log<Posting<S>>,
    head: Head,
}

impl<'a, S: Summary> List<'a, S> {
    /// The list whose newest posting this is; an empty one if there is none.
    pub(crate) fn ending_with(postings: &'a Log<Posting<S>>, newest: Option<u64>) -> Self {
        let head = newest.and_then(|last| {
            let len = postings.get(last)?.rank + 1;
            (len < slot::END).then(|| Head::of(last, len))
        });
        Self {
            postings,
            head: head.unwrap_or_default(),
        }
    }

    /// Where it ends.
    pub(crate) fn head(&self) -> Head {
        self.head
    }

    /// How many entries it has.
    pub(crate) fn len(&self) -> u64 {
        self.head.len()
    }

    /// The entry at a place, from the oldest at 0.
    pub(crate) fn get(&self, rank: u64) -> Option<u64> {
        Some(self.at(self.slot(rank)?)?.target())
    }

    /// How many of the oldest entries satisfy `early`, which none does after one that does not.
    pub(crate) fn partition_point(&self, early: impl Fn(u64) -> bool) -> u64 {
        let Some(mut at) = self.newest() else {
            return 0;
        };
        if early(at.target()) {
            return self.len();
        }
        // `at` is late all along; the way ends at the oldest that is.
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

    /// The `end` oldest entries, from the newest of them back.
    pub(crate) fn newest_first(&self, end: u64) -> NewestFirst<'a, S> {
        let end = end.min(self.len());
        NewestFirst {
            list: *self,
            next: (end.checked_sub(1))
                .and_then(|rank| self.slot(rank))
                .and_then(|slot| self.at(slot)),
        }
    }

    fn newest(&self) -> Option<At<S>> {
        if self.len() == 0 {
            return None;
        }
        self.at(self.head.last())
    }

    fn at(&self, slot: u64) -> Option<At<S>> {
        let posting = self.postings.get(slot)?;
        Some(At { slot, posting })
    }

    /// Where the posting of a place stands.
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

    /// A posting that `from` names, if it lies before it: every way along a list ends, whatever the
    /// bytes say.
    fn earlier(&self, from: &Posting<S>, slot: u64) -> Option<At<S>> {
        self.at(slot).filter(|at| at.rank < from.rank)
    }
}

/// A posting, and where it stands.
#[derive(Clone, Copy, Debug)]
struct At<S: Summary> {
    slot: u64,
    posting: Posting<S>,
}

impl<S: Summary> At<S> {
    fn target(&self) -> u64 {
        S::target(self.slot, &self.posting.entry)
    }
}

impl<S: Summary> core::ops::Deref for At<S> {
    type Target = Posting<S>;

    fn deref(&self) -> &Posting<S> {
        &self.posting
    }
}

/// Entries of a list, from new to old.
#[derive(Clone, Debug)]
pub(crate) struct NewestFirst<'a, S: Summary> {
    list: List<'a, S>,
    next: Option<At<S>>,
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
    use crate::chunk::Chunking;
    use crate::slot::count;

    const NUMBERS: usize = 4;

    fn filled(bits: u8, pushes: &[usize]) -> (Lists, Vec<Vec<u64>>) {
        let mut lists = Lists::<()>::of(Log::new(Chunking::Bits(bits)), Heads::default());
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
        let mut lists = Lists::<()>::of(Log::new(Chunking::Bits(4)), Heads::default());
        for [target, before, jump, rank] in rows {
            let posting = Posting {
                before,
                jump,
                rank,
                entry: Packed::of(target),
                span: (),
            };
            lists.postings.push(&posting).unwrap();
        }
        for last in 0..5 {
            lists.heads = vec![Head::of(last, 4)];
            let list = lists.list(0);
            assert!(list.newest_first(4).count() <= 1);
            assert_eq!(list.get(0), None);
            let _ = list.partition_point(|_| false);
            let _ = lists.push(0, 5);
        }
    }
}
