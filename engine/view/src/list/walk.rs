//! From new to old through a list, over what is not meant.

use foretell_memory::near::bring_short;

use super::{List, Outline, Posting, Summary};
use crate::row::Stored;

/// A way through the entries of a list from place `from` on, the newest first.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'a, S: Summary> {
    list: List<'a, S>,
    from: u32,
    /// The entry after the last one that was looked at: all that are ahead lie before this place.
    before: u32,
    /// Where the next entry is said to stand, and the bytes there. They are read when it is looked at,
    /// not before: who goes several ways at once need not wait for the memory of each.
    next: Option<(u32, &'a [u8])>,
}

/// How far a way has come: what its list's growth does not change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pause {
    from: u32,
    before: u32,
    next: Option<u32>,
}

/// What a look at an entry, or at several at once, showed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Look<T> {
    /// It is meant: its place, what it points at, and what was found in it.
    Meant(u32, u32, T),
    /// None of them is.
    Passed,
    /// Nothing was left.
    End,
}

impl<'a, S: Summary> Walk<'a, S> {
    /// Through the entries from place `from` on and before place `to`.
    pub(crate) fn of(list: List<'a, S>, (from, to): (u32, u32)) -> Self {
        let before = to.min(list.len());
        let slot = before.checked_sub(1).and_then(|rank| list.slot(rank));
        Self::through(list, (from, before), slot)
    }

    /// Goes on along the same list.
    pub(crate) fn resume(list: List<'a, S>, Pause { from, before, next }: Pause) -> Self {
        Self::through(list, (from, before), next)
    }

    fn through(list: List<'a, S>, (from, before): (u32, u32), slot: Option<u32>) -> Self {
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
    pub(crate) fn target(&self) -> Option<u32> {
        self.at().map(|next| next.target)
    }

    /// How many of the list's oldest entries hold all that is left; 0 when nothing is.
    pub(crate) fn end(&self) -> u32 {
        self.at().map_or(0, |next| next.rank + 1)
    }

    /// Looks at the next entry, or passes over as many as end where it jumps: only where `may_be` holds
    /// of several entries they are looked at one by one.
    pub(crate) fn look<T>(
        &mut self,
        may_be: impl Fn(&S) -> bool,
        meant: impl Fn(&S::Entry) -> Option<T>,
    ) -> Look<T> {
        let next = self.next.and_then(|(_, bytes)| {
            let outline = Outline::<S>::read(bytes)?;
            self.is_ahead(outline.rank).then_some((outline, bytes))
        });
        let Some((at, bytes)) = next else {
            return Look::End;
        };
        if !may_be(&at.span) {
            self.go_on(at.rank, at.jump);
            return Look::Passed;
        }
        self.go_on(at.rank, at.before);
        let Some((target, entry)) = Outline::<S>::rest(bytes) else {
            self.next = None;
            return Look::End;
        };
        match meant(&entry) {
            Some(found) => Look::Meant(at.rank, target, found),
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
    fn at(&self) -> Option<Posting<S>> {
        let (_, mut bytes) = self.next?;
        let at = Posting::<S>::take(&mut bytes)?;
        self.is_ahead(at.rank).then_some(at)
    }

    /// Whether a place lies on this way before all that was looked at: every way ends, whatever the
    /// bytes say.
    fn is_ahead(&self, rank: u32) -> bool {
        self.from <= rank && rank < self.before
    }

    /// Goes on with the posting at a slot, behind that of a place; its memory is on its way then.
    fn go_on(&mut self, rank: u32, slot: u32) {
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

    /// The largest of some numbers, and their sum.
    type Sizes = (u32, u32);

    impl Summary for Sizes {
        type Entry = u32;

        fn of(entry: &u32) -> Self {
            (*entry, *entry)
        }

        fn join(self, other: Self) -> Self {
            (self.0.max(other.0), self.1 + other.1)
        }
    }

    fn filled(bits: u8, sizes: &[u32]) -> Lists<Sizes> {
        let mut lists = Lists::of(Log::new(Chunking::Bits(bits)), Heads::default());
        for (target, size) in (0..).zip(sizes) {
            lists.push_with(1, target, *size).unwrap();
        }
        lists
    }

    proptest! {
        #[test]
        fn what_is_meant_is_found(
            sizes in prop::collection::vec(prop_oneof![0..10_u32, 0..1_000_u32], 0..300),
            least in 0..1_000_u32,
            ends in (0..310_u32, 0..310_u32),
            looks in 1..40_usize,
        ) {
            let lists = filled(3, &sizes);
            let list = lists.list(1);
            let meant = (0..).zip(&sizes).filter(|(rank, size)| {
                ends.0 <= *rank && *rank < ends.1 && **size >= least
            });
            let mut meant: Vec<u32> = meant.map(|(rank, _)| rank).collect();
            meant.reverse();
            let mut found = Vec::new();
            let (mut end, mut pauses) = (ends.1, 0);
            // Again and again from where the last way came to.
            while end > ends.0 {
                let mut walk = Walk::of(list, (ends.0, end));
                let mut looks = looks;
                let meant = |size: &u32| (*size >= least).then_some(*size);
                while looks > 0 {
                    looks -= 1;
                    match walk.look(|span| span.0 >= least, meant) {
                        Look::Meant(rank, target, size) => {
                            prop_assert_eq!((rank, size), (target, sizes[rank as usize]));
                            found.push(rank);
                        }
                        Look::Passed => {}
                        Look::End => break,
                    }
                }
                end = walk.end();
                pauses += 1;
                prop_assert!(pauses <= 300);
            }
            prop_assert_eq!(found, meant);
        }

        #[test]
        fn what_is_passed_over_is_counted(
            sizes in prop::collection::vec(0..4_u32, 0..300),
            ends in (0..310_u32, 0..310_u32),
            left in 0..700_usize,
        ) {
            let lists = filled(3, &sizes);
            let mut walk = Walk::of(lists.list(1), ends);
            let mut rest = left;
            walk.pass(&mut rest, |span| span.1 as usize);
            // One by one.
            let mut expected = left;
            let mut place = ends.1.min(u32::try_from(sizes.len()).unwrap());
            while place > ends.0 && sizes[place as usize - 1] as usize <= expected {
                place -= 1;
                expected -= sizes[place as usize] as usize;
            }
            let end = if place > ends.0 { place } else { 0 };
            prop_assert_eq!((rest, walk.end()), (expected, end));
        }
    }

    const LONG: u32 = 100_000;

    #[test]
    fn something_rare_is_found_in_few_looks() {
        let mut sizes = vec![0; LONG as usize];
        sizes[777] = 1;
        let lists = filled(10, &sizes);
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
        let lists = filled(10, &sizes);
        for left in [0, 1, 17, 1_000, 4_999] {
            let mut walk = Walk::of(lists.list(1), (0, LONG));
            let steps = core::cell::Cell::new(0);
            let (mut rest, counted) = (left, |span: &Sizes| {
                steps.set(steps.get() + 1);
                span.1 as usize
            });
            walk.pass(&mut rest, counted);
            assert_eq!(rest, 0);
            assert_eq!(walk.end() as usize, LONG as usize - 19 - 20 * left);
            assert!(steps.get() < 200, "{} steps over {left}", steps.get());
        }
    }
}
