//! Where each resting order stands, by its number.

use foretell_model::OrderNumber;

/// Numbers of a page.
const PAGE: usize = 256;
/// No place.
const NOWHERE: u32 = u32::MAX;

/// Places by number. An order's number is its sequence in the journal, so that neighbours come
/// together, and most pages are of orders that ended long ago: those are given up.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pages: Vec<Option<Box<Page>>>,
}

#[derive(Debug)]
struct Page {
    places: [u32; PAGE],
    taken: u32,
}

impl Places {
    pub(crate) fn get(&self, number: OrderNumber) -> Option<u32> {
        let (page, at) = split(number);
        let place = self.pages.get(page)?.as_ref()?.places[at];
        (place != NOWHERE).then_some(place)
    }

    /// Remembers a place, which is not the last a `u32` can name, of an order that has none.
    pub(crate) fn put(&mut self, number: OrderNumber, place: u32) {
        let (page, at) = split(number);
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page].get_or_insert_with(|| {
            Box::new(Page {
                places: [NOWHERE; PAGE],
                taken: 0,
            })
        });
        page.places[at] = place;
        page.taken += 1;
    }

    /// Forgets a place, and tells it.
    pub(crate) fn take(&mut self, number: OrderNumber) -> Option<u32> {
        let place = self.get(number)?;
        let (page, at) = split(number);
        let known = self.pages[page].as_mut()?;
        known.places[at] = NOWHERE;
        known.taken -= 1;
        if known.taken == 0 {
            self.pages[page] = None;
        }
        Some(place)
    }
}

fn split(number: OrderNumber) -> (usize, usize) {
    let number = usize::try_from(number.0).unwrap_or(usize::MAX);
    (number / PAGE, number % PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_known_until_it_is_taken_and_empty_pages_are_given_up() {
        let mut places = Places::default();
        let numbers = [0, 1, 255, 256, 100_000];
        for (place, number) in (0..).zip(numbers) {
            assert_eq!(places.get(OrderNumber(number)), None);
            places.put(OrderNumber(number), place);
        }
        for (place, number) in (0..).zip(numbers) {
            assert_eq!(places.get(OrderNumber(number)), Some(place));
        }
        assert_eq!(places.get(OrderNumber(u64::MAX)), None);
        for (place, number) in (0..).zip(numbers) {
            assert_eq!(places.take(OrderNumber(number)), Some(place));
            assert_eq!(places.take(OrderNumber(number)), None);
        }
        assert!(places.pages.iter().all(Option::is_none));
    }
}
