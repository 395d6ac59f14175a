//! Where each resting order stands, by its number.

use foretell_memory::near::bring;
use foretell_model::OrderNumber;

/// Numbers of a page.
const PAGE: usize = 256;
/// No place.
const NOWHERE: u32 = u32::MAX;

/// Places by number. An order's number is its sequence in the journal: numbers rise from one order to
/// the next, neighbours come together, and most pages are of orders that ended long ago: those are given
/// up. No journal says where sequences begin, so pages are counted from the first that is needed.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pages: Vec<Page>,
    first: usize,
}

#[derive(Debug, Default)]
struct Page {
    /// `None` while none is taken.
    places: Option<Box<[u32; PAGE]>>,
    /// How many are: beside the address, so that a place is taken and forgotten without another line of
    /// memory.
    taken: u32,
}

impl Places {
    pub(crate) fn get(&self, number: OrderNumber) -> Option<u32> {
        let (page, at) = self.split(number)?;
        let place = self.pages.get(page)?.places.as_ref()?[at];
        (place != NOWHERE).then_some(place)
    }

    /// Brings a place near.
    pub(crate) fn foresee(&self, number: OrderNumber) {
        let split = self.split(number);
        let found = split.and_then(|(page, at)| self.pages.get(page)?.places.as_ref()?.get(at));
        if let Some(place) = found {
            bring(place);
        }
    }

    /// Remembers a place, which is not the last a `u32` can name, of an order that came after all others.
    pub(crate) fn put(&mut self, number: OrderNumber, place: u32) {
        if self.pages.is_empty() {
            self.first = whole(number) / PAGE;
        }
        let Some((page, at)) = self.split(number) else {
            debug_assert!(false, "order {number} came before the first");
            return;
        };
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, Page::default);
        }
        let Page { places, taken } = &mut self.pages[page];
        places.get_or_insert_with(|| Box::new([NOWHERE; PAGE]))[at] = place;
        *taken += 1;
    }

    /// Forgets a place, and tells it.
    pub(crate) fn take(&mut self, number: OrderNumber) -> Option<u32> {
        let place = self.get(number)?;
        let (page, at) = self.split(number)?;
        let Page { places, taken } = &mut self.pages[page];
        places.as_mut()?[at] = NOWHERE;
        *taken -= 1;
        if *taken == 0 {
            *places = None;
        }
        Some(place)
    }

    /// Its page, from the first, and its place there; `None` before the first.
    fn split(&self, number: OrderNumber) -> Option<(usize, usize)> {
        let number = whole(number);
        let page = (number / PAGE).checked_sub(self.first)?;
        Some((page, number % PAGE))
    }
}

fn whole(number: OrderNumber) -> usize {
    usize::try_from(number.0).expect("foretell runs on 64-bit systems")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_known_until_it_is_taken_and_empty_pages_are_given_up() {
        for begin in [0, 200, 1 << 61, u64::MAX - 100_000] {
            given_up_from(begin);
        }
    }

    fn given_up_from(begin: u64) {
        let mut places = Places::default();
        let numbers = [0, 1, 255, 256, 100_000].map(|number| begin + number);
        for (place, number) in (0..).zip(numbers) {
            assert_eq!(places.get(OrderNumber(number)), None);
            places.put(OrderNumber(number), place);
        }
        for (place, number) in (0..).zip(numbers) {
            assert_eq!(places.get(OrderNumber(number)), Some(place));
        }
        for other in [begin / 2 + 2, begin + 100_000 - 1] {
            assert_eq!(places.get(OrderNumber(other)), None);
        }
        for (place, number) in (0..).zip(numbers) {
            assert_eq!(places.take(OrderNumber(number)), Some(place));
            assert_eq!(places.take(OrderNumber(number)), None);
        }
        assert!(places.pages.iter().all(|page| page.places.is_none()));
        assert!(places.pages.len() < 400);
    }
}
