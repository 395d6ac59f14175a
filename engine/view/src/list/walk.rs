//! From new to old through a list, over what is not meant.

use foretell_memory::near::bring_short;

use super::{At, List, Outline, Posting, Summary};
use crate::row::Stored;

/// A way through the entries of a list from place `from` on, the newest first.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'a, S: Summary> {
    list: List<'a, S>,
    from: u64,
    /// The entry after the last one that was looked at: all that are ahead lie before this place.
    before: u64,
    /// Where the next entry is said to stand, and the bytes there. They are read when it is looked at,
    /// not before: who goes several ways at once need not wait for the memory of each.
    next: Option<(u64, &'a [u8])>,
}

/// How far a way has come: what its list's growth does not change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pause {
    from: u64,
    before: u64,
    next: Option<u64>,
}

/// What a look at an entry, or at several at once, showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Look<T> {
    /// It is meant: its place, what it points at, and what was found in it.
    Meant(u64, u64, T),
    /// None of them is.
    Passed,
    /// Nothing was left.
    End,
}

impl<'a, S: Summary> Walk<'a, S> {
    /// Through the entries from place `from` on and before place `to`.
    pub(crate) fn of(list: List<'a, S>, (from, to): (u64, u64)) -> Self {
        let before = to.min(list.len());
        let slot = before.checked_sub(1).and_then(|rank| list.slot(rank));
        Self::through(list, (from, before), slot)
    }

    /// Goes on along the same list.
    pub(crate) fn resume(list: List<'a, S>, Pause { from, before, next }: Pause) -> Self {
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
            walk.go_on(before, slot);
        }
        walk
    }

    /// Where it would go on.
    pub(crate) fn pause(&self) -> Pause {
        Pause {
            from: self.from,
            before: self.before,
            next: self.next.map(|(slot, _)| slot),
        }
    }

    /// What the newest entry that is left points at.
    pub(crate) fn target(&self) -> Option<u64> {
        self.at().map(|next| next.target())
    }

    /// How many of the list's oldest entries hold all that is left; 0 when nothing is.
    pub(crate) fn end(&self) -> u64 {
        self.at().map_or(0, |next| next.rank + 1)
    }

    /// Looks at the next entry, or passes over as many as end where it jumps: only where `may_be` holds
    /// of several entries they are looked at one by one.
    pub(crate) fn look<T>(
        &mut self,
        may_be: impl Fn(&S) -> bool,
        meant: impl Fn(&S::Entry) -> Option<T>,
    ) -> Look<T> {
        let next = self.next.and_then(|(slot, bytes)| {
            let outline = Outline::<S>::read(bytes)?;
            self.is_ahead(outline.rank)
                .then_some((outline, slot, bytes))
        });
        let Some((at, slot, bytes)) = next else {
            return Look::End;
        };
        if !may_be(&at.span) {
            self.go_on(at.rank, at.jump);
            return Look::Passed;
        }
        self.go_on(at.rank, at.before);
        let Some(entry) = Outline::<S>::entry(bytes) else {
            self.next = None;
            return Look::End;
        };
        match meant(&entry) {
            Some(found) => Look::Meant(at.rank, S::target(slot, &entry), found),
            None => Look::Passed,
        }
    }

    /// Passes over entries while they make up no more than `left`, of which that is taken. What is
    /// left is less than the next entry makes, or nothing is left of the list.
    pub(crate) fn pass(&mut self, left: &mut usize, count: impl Fn(&S) -> usize) {
        while let Some(at) = self.at() {
            let jump = self.list.earlier(&at, at.jump);
            // Where it jumps below the first place, what is jumped over is not all of this way.
            let is_whole = jump.is_none_or(|jump| jump.rank + 1 >= self.from);
            if let Some(rest) = left.checked_sub(count(&at.span)).filter(|_| is_whole) {
                *left = rest;
                self.go_on(at.rank, at.jump);
            } else if let Some(rest) = left.checked_sub(count(&S::of(&at.entry))) {
                *left = rest;
                self.go_on(at.rank, at.before);
            } else {
                return;
            }
        }
    }

    /// The next entry, if there is one on this way.
    fn at(&self) -> Option<At<S>> {
        let (slot, mut bytes) = self.next?;
        let posting = Posting::<S>::take(&mut bytes)?;
        self.is_ahead(posting.rank).then_some(At { slot, posting })
    }

    /// Whether a place lies on this way before all that was looked at: every way ends, whatever the
    /// bytes say.
    fn is_ahead(&self, rank: u64) -> bool {
        self.from <= rank && rank < self.before
    }

    /// Goes on with the posting at a slot, behind that of a place; its memory is on its way then.
    fn go_on(&mut self, rank: u64, slot: u64) {
        self.before = rank;
        self.next = self.list.postings.bytes(slot).map(|bytes| (slot, bytes));
        if let Some((_, bytes)) = self.next {
            bring_short(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::Chunking;
    use crate::list::{Heads, Lists};
    use crate::log::Log;
    use crate::row::Fixed;
    use crate::slot::count;

    /// The largest of some numbers, and their sum; of so many numbers at most.
    #[derive(Clone, Copy)]
    struct Sizes<const MOST: u64>(u32, u32);

    /// So that a list of some hundred entries is many stretches.
    const FEW: u64 = 15;

    impl<const MOST: u64> Stored for Sizes<MOST> {
        fn put(&self, out: &mut Vec<u8>) {
            (self.0, self.1).put(out);
        }

        fn take(from: &mut &[u8]) -> Option<Self> {
            let (largest, sum) = Stored::take(from)?;
            Some(Self(largest, sum))
        }
    }

    impl<const MOST: u64> Fixed for Sizes<MOST> {
        const SIZE: usize = 8;
    }

    impl<const MOST: u64> Summary for Sizes<MOST> {
        type Entry = u32;
        const MOST: u64 = MOST;

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

    fn filled<const MOST: u64>(bits: u8, sizes: &[u32]) -> Lists<Sizes<MOST>> {
        let mut lists = Lists::of(Log::new(Chunking::Bits(bits)), Heads::default());
        for size in sizes {
            lists.push_with(1, *size).unwrap();
        }
        lists
    }

    /// Finds sizes of at least `least`, again and again from where the last way came to.
    fn is_found<const MOST: u64>(sizes: &[u32], least: u32, ends: (u64, u64), looks: usize) {
        let lists = filled::<MOST>(3, sizes);
        let list = lists.list(1);
        let meant = (0..)
            .zip(sizes)
            .filter(|(rank, size)| ends.0 <= *rank && *rank < ends.1 && **size >= least);
        let mut meant: Vec<u64> = meant.map(|(rank, _)| rank).collect();
        meant.reverse();
        let mut found = Vec::new();
        let (mut end, mut pauses) = (ends.1, 0);
        while end > ends.0 {
            let mut walk = Walk::of(list, (ends.0, end));
            let mut looks = looks;
            let meant = |size: &u32| (*size >= least).then_some(*size);
            while looks > 0 {
                looks -= 1;
                match walk.look(|span| span.0 >= least, meant) {
                    Look::Meant(rank, target, size) => {
                        assert_eq!((rank, size), (target, sizes[count(rank)]));
                        found.push(rank);
                    }
                    Look::Passed => {}
                    Look::End => break,
                }
            }
            end = walk.end();
            pauses += 1;
            assert!(pauses <= 300);
        }
        assert_eq!(found, meant);
    }

    fn is_passed_over<const MOST: u64>(sizes: &[u32], ends: (u64, u64), left: usize) {
        let lists = filled::<MOST>(3, sizes);
        let mut walk = Walk::of(lists.list(1), ends);
        let mut rest = left;
        walk.pass(&mut rest, |span| span.1 as usize);
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
        fn what_is_meant_is_found(
            sizes in prop::collection::vec(prop_oneof![0..10_u32, 0..1_000_u32], 0..300),
            least in 0..1_000_u32,
            ends in (0..310_u64, 0..310_u64),
            looks in 1..40_usize,
        ) {
            is_found::<{ u64::MAX }>(&sizes, least, ends, looks);
            is_found::<FEW>(&sizes, least, ends, looks);
        }

        #[test]
        fn what_is_passed_over_is_counted(
            sizes in prop::collection::vec(0..4_u32, 0..300),
            ends in (0..310_u64, 0..310_u64),
            left in 0..700_usize,
        ) {
            is_passed_over::<{ u64::MAX }>(&sizes, ends, left);
            is_passed_over::<FEW>(&sizes, ends, left);
        }
    }

    #[test]
    fn no_summary_is_of_more_entries_than_it_can_be() {
        let lists = filled::<FEW>(3, &[1; 400]);
        let spans = (0..400).map(|slot| lists.postings().get(slot).unwrap().span.1);
        assert_eq!(spans.map(u64::from).max(), Some(FEW));
    }

    const LONG: u64 = 100_000;

    #[test]
    fn something_rare_is_found_in_few_looks() {
        let mut sizes = vec![0; count(LONG)];
        sizes[777] = 1;
        let lists = filled::<{ u64::MAX }>(10, &sizes);
        let mut walk = Walk::of(lists.list(1), (0, LONG));
        let looks = std::iter::from_fn(|| {
            let meant = |size: &u32| (*size > 0).then_some(*size);
            let look = walk.look(|span| span.0 > 0, meant);
            (look != Look::End).then_some(look)
        });
        let looks: Vec<_> = looks.take(200).collect();
        assert!(looks.len() < 100, "{}", looks.len());
        let found = looks.into_iter().filter(|look| *look != Look::Passed);
        assert!(found.eq([Look::Meant(777, 777, 1)]));
        assert_eq!(walk.end(), 0);
    }

    #[test]
    fn many_are_passed_over_in_few_steps() {
        let sizes: Vec<u32> = (0..LONG).map(|rank| u32::from(rank % 20 == 0)).collect();
        let lists = filled::<{ u64::MAX }>(10, &sizes);
        for left in [0, 1, 17, 1_000, 4_999] {
            let mut walk = Walk::of(lists.list(1), (0, LONG));
            let steps = core::cell::Cell::new(0);
            let (mut rest, counted) = (left, |span: &Sizes<{ u64::MAX }>| {
                steps.set(steps.get() + 1);
                span.1 as usize
            });
            walk.pass(&mut rest, counted);
            assert_eq!(rest, 0);
            assert_eq!(count(walk.end()), count(LONG) - 19 - 20 * left);
            assert!(steps.get() < 200, "{} steps over {left}", steps.get());
        }
    }
}
