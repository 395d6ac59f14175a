//! Records of one kind in one block of memory, addressed by `u32`.

use std::mem::MaybeUninit;
use std::ops::{Index, IndexMut};

/// The link that leads nowhere.
pub(crate) const NONE: u32 = u32::MAX;

/// A growing block with a stack of its free places. Within the reserved capacity nothing
/// allocates.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    /// Room for so many, every page of it touched: its first use meets no page fault.
    pub(crate) fn with_capacity(items: usize) -> Self {
        let mut slab = Self {
            items: Vec::with_capacity(items),
            free: Vec::with_capacity(items),
        };
        touch(slab.items.spare_capacity_mut());
        touch(slab.free.spare_capacity_mut());
        slab
    }

    /// How many places are in use.
    pub(crate) const fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }

    /// How many places there are, in use or not.
    pub(crate) const fn places(&self) -> usize {
        self.items.len()
    }

    /// The item at a place that is or was in use.
    pub(crate) fn get(&self, place: u32) -> Option<&T> {
        self.items.get(place as usize)
    }

    /// Stores an item and says where. At most `u32::MAX` items fit.
    #[inline(always)]
    pub(crate) fn insert(&mut self, item: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self.items[place as usize] = item;
            return place;
        }
        let place = u32::try_from(self.items.len()).expect("memory ends before 2^32 records");
        self.items.push(item);
        if self.free.capacity() < self.items.capacity() {
            self.free.reserve(self.items.capacity() - self.free.len());
        }
        place
    }

    /// Frees a place in use. What it held stays readable until the next insert, which lets a
    /// caller read the item it just removed; nobody may keep its number.
    pub(crate) fn release(&mut self, place: u32) {
        debug_assert!((place as usize) < self.items.len());
        self.free.push(place);
    }

    /// Every place in use with its item. Allocates: for checks and listings only.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let mut in_use = vec![true; self.items.len()];
        for place in &self.free {
            in_use[*place as usize] = false;
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
    fn index(&self, place: u32) -> &T {
        &self.items[place as usize]
    }
}

impl<T> IndexMut<u32> for Slab<T> {
    fn index_mut(&mut self, place: u32) -> &mut T {
        &mut self.items[place as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again_and_listed_once() {
        let mut slab = Slab::with_capacity(1);
        let places = [10, 11, 12].map(|item| slab.insert(item));
        slab.release(places[1]);
        assert_eq!(slab.len(), 2);
        assert_eq!(slab.insert(13), places[1]);
        let listed: Vec<_> = slab.iter().map(|(place, item)| (place, *item)).collect();
        assert_eq!(listed, [(0, 10), (1, 13), (2, 12)]);
    }

    #[test]
    fn the_free_stack_never_grows_on_release() {
        let mut slab = Slab::with_capacity(0);
        let places: Vec<u32> = (0..100).map(|item| slab.insert(item)).collect();
        let reserved = slab.free.capacity();
        places.iter().for_each(|place| slab.release(*place));
        assert_eq!(slab.free.capacity(), reserved);
    }
}
