//! From new to old through a list, over what is not meant.

use super::{List, Posting, Summary};

/// A way through the entries of a list from place `from` on, the newest first.
#[derive(Clone, Debug)]
pub(crate) struct Walk<'a, S: Summary> {
    list: List<'a, S>,
    from: u32,
    next: Option<Posting<S>>,
}

impl<'a, S: Summary> Walk<'a, S> {
    /// Through the entries from place `from` on and before place `to`.
    pub(crate) fn of(list: List<'a, S>, (from, to): (u32, u32)) -> Self {
        let mut walk = Self {
            list,
            from,
            next: None,
        };
        walk.go_to(list.newest_first(to).next);
        walk
    }

    /// How many of the list's oldest entries hold all that is left; 0 when nothing is.
    pub(crate) fn end(&self) -> u32 {
        self.next.map_or(0, |next| next.rank + 1)
    }

    /// The next entry in which `meant` finds something: its place, what it points at, and what was
    /// found. `None` when there is none, or when so many `looks` at postings were not enough. Only
    /// where `may_be` holds of several entries they are looked at one by one.
    pub(crate) fn next_where<T>(
        &mut self,
        looks: &mut usize,
        may_be: impl Fn(&S) -> bool,
        meant: impl Fn(&S::Entry) -> Option<T>,
    ) -> Option<(u32, u32, T)> {
        while let Some(at) = self.next {
            *looks = looks.checked_sub(1)?;
            if !may_be(&at.span) {
                self.go_to(self.list.earlier(&at, at.jump));
                continue;
            }
            self.go_to(self.list.earlier(&at, at.before));
            if let Some(found) = meant(&at.entry) {
                return Some((at.rank, at.target, found));
            }
        }
        None
    }

    /// Passes over entries while they make up no more than `left`, of which that is taken. What is
    /// left is less than the next entry makes, or nothing is left of the list.
    pub(crate) fn pass(&mut self, left: &mut usize, count: impl Fn(&S) -> usize) {
        while let Some(at) = self.next {
            let jump = self.list.earlier(&at, at.jump);
            // Where it jumps below the first place, what is jumped over is not all of this way.
            let is_whole = jump.is_none_or(|jump| jump.rank + 1 >= self.from);
            if let Some(rest) = left.checked_sub(count(&at.span)).filter(|_| is_whole) {
                *left = rest;
                self.go_to(jump);
            } else if let Some(rest) = left.checked_sub(count(&S::of(&at.entry))) {
                *left = rest;
                self.go_to(self.list.earlier(&at, at.before));
            } else {
                return;
            }
        }
    }

    fn go_to(&mut self, next: Option<Posting<S>>) {
        self.next = next.filter(|next| next.rank >= self.from);
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
                let next = |walk: &mut Walk<'_, Sizes>, looks: &mut usize| {
                    let meant = |size: &u32| (*size >= least).then_some(*size);
                    walk.next_where(looks, |span| span.0 >= least, meant)
                };
                while let Some((rank, target, size)) = next(&mut walk, &mut looks) {
                    prop_assert_eq!((rank, size), (target, sizes[rank as usize]));
                    found.push(rank);
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
        let mut looks = 200;
        let mut next = || {
            let meant = |size: &u32| (*size > 0).then_some(*size);
            walk.next_where(&mut looks, |span| span.0 > 0, meant)
        };
        assert_eq!(next(), Some((777, 777, 1)));
        assert_eq!(next(), None);
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
