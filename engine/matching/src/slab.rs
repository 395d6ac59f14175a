//! A slab of records of one type, addressed by `u32` slots.

use std::mem::MaybeUninit;
use std::ops::{Index, IndexMut};

/// The null slot of links.
pub(crate) const NONE: u32 = u32::MAX;

/// A growing array with a stack of free slots. Does not allocate within the reserved capacity.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    /// Reserves `items` slots and touches every page, so that first use causes no page fault.
    pub(crate) fn with_capacity(items: usize) -> Self {
        let mut slab = Self {
            items: Vec::with_capacity(items),
            free: Vec::with_capacity(items),
        };
        touch(slab.items.spare_capacity_mut());
        touch(slab.free.spare_capacity_mut());
        slab
    }

    /// Number of slots in use.
    pub(crate) const fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }

    /// Number of slots, in use or free.
    pub(crate) const fn slots(&self) -> usize {
        self.items.len()
    }

    /// The item in a slot that is or was in use.
    pub(crate) fn get(&self, slot: u32) -> Option<&T> {
        self.items.get(slot as usize)
    }

    /// Stores an item and returns its slot. At most `u32::MAX` items fit.
    #[inline(always)]
    pub(crate) fn insert(&mut self, item: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.items[slot as usize] = item;
            return slot;
        }
        let slot = u32::try_from(self.items.len()).expect("memory ends before 2^32 records");
        if self.items.len() == self.items.capacity() {
            self.grow();
        }
        self.items.push(item);
        slot
    }

    #[cold]
    fn grow(&mut self) {
        self.items.reserve(1);
        self.free.reserve(self.items.capacity() - self.free.len());
    }

    /// Frees a slot in use. No link to the slot may remain.
    pub(crate) fn release(&mut self, slot: u32) {
        debug_assert!((slot as usize) < self.items.len());
        self.free.push(slot);
    }

    /// Every slot in use with its item. Allocates: only for checks and listings.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let mut in_use = vec![true; self.items.len()];
        for slot in &self.free {
            in_use[*slot as usize] = false;
        }
        (0..)
            .zip(&self.items)
            .zip(in_use)
            .filter_map(|(item, used)| used.then_some(item))
    }
}

fn touch<T>(room: &mut [MaybeUninit<T>]) {
    const PAGE: usize = 4_096;
    for item in room
        .iter_mut()
        .step_by((PAGE / size_of::<T>().max(1)).max(1))
    {
        *item = MaybeUninit::zeroed();
    }
}

impl<T> Index<u32> for Slab<T> {
    type Output = T;
    fn index(&self, slot: u32) -> &T {
        &self.items[slot as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, slot: u32) -> &mut T {
        &mut self.items[slot as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again_and_listed_once() {
        let mut slab = Slab::with_capacity(1);
        let slots = [10, 11, 12].map(|item| slab.insert(item));
        slab.release(slots[1]);
        assert_eq!(slab.len(), 2);
        assert_eq!(slab.insert(13), slots[1]);
        let listed: Vec<_> = slab.iter().map(|(slot, item)| (slot, *item)).collect();
        assert_eq!(listed, [(0, 10), (1, 13), (2, 12)]);
    }

    #[test]
    fn the_free_stack_never_grows_on_release() {
        let mut slab = Slab::with_capacity(0);
        let slots: Vec<u32> = (0..100).map(|item| slab.insert(item)).collect();
        let reserved = slab.free.capacity();
        slots.iter().for_each(|slot| slab.release(*slot));
        assert_eq!(slab.free.capacity(), reserved);
    }
}
