//! Lists over a log: for each account, market and so on, which rows of another log concern it.
//!
//! An entry of a list is a posting: what it points at, the posting before it in the same list, and
//! a jump to an earlier one (Myers, "An applicative random-access stack"): jumps halve the way, so
//! that any place of a list is a logarithm of its length away, and nothing but the newest posting
//! of each list is in memory.
//!
//! A posting may also say what its entry is, and carry a [`Summary`] of all from itself back to
//! where it jumps, so that who looks for something rare jumps over what cannot be it, and who counts
//! jumps over what is known by number ([`walk`]).

mod walk;

pub(crate) use walk::{Look, Pause, Walk};

use foretell_memory::near::LINE;

use crate::error::Impossible;
use crate::log::Log;
use crate::row::{Fixed, Row, Stored, stored};

/// What is said of several entries of a list at once.
pub trait Summary: Fixed + Copy {
    /// What is said of one.
    type Entry: Fixed + Copy + PartialEq + core::fmt::Debug;

    /// Of one entry alone.
    fn of(entry: &Self::Entry) -> Self;

    /// Of the entries of both.
    #[must_use]
    fn join(self, other: Self) -> Self;
}

/// Nothing is said.
impl Summary for () {
    type Entry = ();

    fn of((): &Self::Entry) -> Self {}

    fn join(self, (): Self) -> Self {}
}

/// One entry of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Posting<S: Summary> {
    /// What it points at; rises along a list.
    target: u32,
    /// The posting before it; the first names itself.
    before: u32,
    /// A posting further back; the first names itself.
    jump: u32,
    /// Its place in the list, from 0.
    rank: u32,
    /// What is said of what it points at.
    entry: S::Entry,
    /// Of itself and all before it up to, but not with, the one it jumps to.
    span: S,
}

impl<S: Summary> Stored for Posting<S> {
    fn put(&self, out: &mut Vec<u8>) {
        [self.target, self.before, self.jump, self.rank]
            .iter()
            .for_each(|field| field.put(out));
        self.entry.put(out);
        self.span.put(out);
        out.resize(out.len() + Self::SIZE - Self::FIELDS, 0);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let posting = Self {
            target: u32::take(from)?,
            before: u32::take(from)?,
            jump: u32::take(from)?,
            rank: u32::take(from)?,
            entry: S::Entry::take(from)?,
            span: S::take(from)?,
        };
        (_, *from) = from.split_at_checked(Self::SIZE - Self::FIELDS)?;
        Some(posting)
    }
}

impl<S: Summary> Posting<S> {
    const ENTRY_AT: usize = 4 * u32::SIZE;
    const SPAN_AT: usize = Self::ENTRY_AT + S::Entry::SIZE;
    const FIELDS: usize = Self::SPAN_AT + S::SIZE;
}

/// As much of a posting as says whether it is worth a look, and what comes next.
struct Outline<S> {
    before: u32,
    jump: u32,
    rank: u32,
    span: S,
}

impl<S: Summary> Outline<S> {
    fn read(posting: &[u8]) -> Option<Self> {
        let posting = posting.get(..Posting::<S>::SIZE)?;
        let mut places = &posting[u32::SIZE..];
        Some(Self {
            before: u32::take(&mut places)?,
            jump: u32::take(&mut places)?,
            rank: u32::take(&mut places)?,
            span: S::take(&mut &posting[Posting::<S>::SPAN_AT..])?,
        })
    }

    /// The rest: what it points at, and what is said of that.
    fn rest(mut posting: &[u8]) -> Option<(u32, S::Entry)> {
        let mut entry = posting.get(Posting::<S>::ENTRY_AT..)?;
        Some((u32::take(&mut posting)?, S::Entry::take(&mut entry)?))
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
    last: u32,
    /// How many it has.
    len: u32,
}

stored!(Head {
    last: u32,
    len: u32,
});

impl Head {
    /// The newest posting of a list that has one.
    pub(crate) fn last(self) -> u32 {
        self.last
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
    pub(crate) fn push(&mut self, number: usize, target: u32) -> Result<(), Impossible> {
        self.push_with(number, target, ())
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

    /// Appends an entry of which this is said. Targets rise along a list.
    pub(crate) fn push_with(
        &mut self,
        number: usize,
        target: u32,
        entry: S::Entry,
    ) -> Result<(), Impossible> {
        if self.heads.len() <= number {
            self.heads.resize(number + 1, Head::default());
        }
        let head = &mut self.heads[number];
        *head = append(&mut self.postings, *head, target, entry)?;
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
    target: u32,
    entry: S::Entry,
) -> Result<Head, Impossible> {
    let own = postings.len();
    let said = S::of(&entry);
    let (before, jump, span) = if head.len == 0 {
        (own, own, said)
    } else {
        let (jump, between) =
            next_jump(postings, head.last).ok_or(Impossible::HistoryUnreadable)?;
        let span = between.map_or(said, |between| said.join(between));
        (head.last, jump, span)
    };
    let len = head.len.checked_add(1).ok_or(Impossible::Full)?;
    postings.push(&Posting {
        target,
        before,
        jump,
        rank: head.len,
        entry,
        span,
    })?;
    Ok(Head { last: own, len })
}

/// Where the posting after `last` jumps to, over two equal jumps at once, else to `last`; and what
/// is said of those between.
fn next_jump<S: Summary>(postings: &Log<Posting<S>>, last: u32) -> Option<(u32, Option<S>)> {
    let one = postings.get(last)?;
    let two = postings.get(one.jump)?;
    let three = postings.get(two.jump)?;
    let equal = one.rank.checked_sub(two.rank)? == two.rank.checked_sub(three.rank)?;
    // The first one names itself: over it there is no jump.
    Some(match equal && one.rank > 0 {
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
    pub(crate) fn ending_with(postings: &'a Log<Posting<S>>, newest: Option<u32>) -> Self {
        let head = newest.and_then(|last| {
            let len = postings.get(last)?.rank.checked_add(1)?;
            Some(Head { last, len })
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
    pub(crate) fn len(&self) -> u32 {
        self.head.len
    }

    /// The entry at a place, from the oldest at 0.
    pub(crate) fn get(&self, rank: u32) -> Option<u32> {
        Some(self.posting(rank)?.target)
    }

    /// How many of the oldest entries satisfy `early`, which none does after one that does not.
    pub(crate) fn partition_point(&self, early: impl Fn(u32) -> bool) -> u32 {
        let Some(mut at) = self.newest() else {
            return 0;
        };
        if early(at.target) {
            return self.len();
        }
        // `at` is late all along; the way ends at the oldest that is.
        while let Some(before) = self.earlier(&at, at.before) {
            let jump = self
                .earlier(&at, at.jump)
                .filter(|jump| !early(jump.target));
            match jump {
                Some(jump) => at = jump,
                None if early(before.target) => break,
                None => at = before,
            }
        }
        at.rank
    }

    /// The `end` oldest entries, from the newest of them back.
    pub(crate) fn newest_first(&self, end: u32) -> NewestFirst<'a, S> {
        let end = end.min(self.len());
        NewestFirst {
            list: *self,
            next: end.checked_sub(1).and_then(|rank| self.posting(rank)),
        }
    }

    fn newest(&self) -> Option<Posting<S>> {
        if self.head.len == 0 {
            return None;
        }
        self.postings.get(self.head.last)
    }

    fn posting(&self, rank: u32) -> Option<Posting<S>> {
        self.postings.get(self.slot(rank)?)
    }

    /// Where the posting of a place stands.
    fn slot(&self, rank: u32) -> Option<u32> {
        if rank >= self.len() {
            return None;
        }
        let (mut slot, mut at) = (self.head.last, self.newest()?);
        while at.rank > rank {
            let jump = self.earlier(&at, at.jump).filter(|jump| jump.rank >= rank);
            (slot, at) = match jump {
                Some(jump) => (at.jump, jump),
                None => (at.before, self.earlier(&at, at.before)?),
            };
        }
        Some(slot)
    }

    /// A posting that `from` names, if it lies before it: every way along a list ends, whatever the
    /// bytes say.
    fn earlier(&self, from: &Posting<S>, slot: u32) -> Option<Posting<S>> {
        let posting = self.postings.get(slot)?;
        (posting.rank < from.rank).then_some(posting)
    }
}

/// Entries of a list, from new to old.
#[derive(Clone, Debug)]
pub(crate) struct NewestFirst<'a, S: Summary> {
    list: List<'a, S>,
    next: Option<Posting<S>>,
}

impl<S: Summary> Iterator for NewestFirst<'_, S> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let posting = self.next?;
        self.next = self.list.earlier(&posting, posting.before);
        Some(posting.target)
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use proptest::prelude::*;

    use super::*;
    use crate::chunk::Chunking;

    const NUMBERS: usize = 4;

    fn filled(bits: u8, pushes: &[usize]) -> (Lists, Vec<Vec<u32>>) {
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
            bound in 0..900_u32,
        ) {
            let (lists, plain) = filled(bits, &pushes);
            for (number, plain) in plain.iter().enumerate() {
                let list = lists.list(number);
                prop_assert_eq!(list.len() as usize, plain.len());
                for (rank, &target) in (0..).zip(plain) {
                    prop_assert_eq!(list.get(rank), Some(target));
                }
                prop_assert_eq!(list.get(list.len()), None);
                prop_assert_eq!(
                    list.partition_point(|target| target < bound) as usize,
                    plain.partition_point(|&target| target < bound)
                );
                for end in [0, list.len() / 2, list.len(), u32::MAX] {
                    let end_of_plain = plain.len().min(end as usize);
                    let newest: Vec<u32> = list.newest_first(end).collect();
                    let expected: Vec<u32> = plain[..end_of_plain].iter().rev().copied().collect();
                    prop_assert_eq!(newest, expected);
                }
            }
            prop_assert_eq!(lists.list(NUMBERS).len(), 0);
        }
    }

    #[test]
    fn every_place_of_a_long_list_is_near() {
        const LONG: u32 = 100_000;
        let (lists, _) = filled(10, &vec![0; LONG as usize]);
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
        let rows = [[9_u32, 0, 0, 3], [9, 1, 1, 3], [9, 7, 2, 1]];
        let mut lists = Lists::<()>::of(Log::new(Chunking::Bits(4)), Heads::default());
        for [target, before, jump, rank] in rows {
            let posting = Posting {
                target,
                before,
                jump,
                rank,
                entry: (),
                span: (),
            };
            lists.postings.push(&posting).unwrap();
        }
        for last in 0..5 {
            lists.heads = vec![Head { last, len: 4 }];
            let list = lists.list(0);
            assert!(list.newest_first(4).count() <= 1);
            assert_eq!(list.get(0), None);
            let _ = list.partition_point(|_| false);
            let _ = lists.push(0, 5);
        }
    }
}
