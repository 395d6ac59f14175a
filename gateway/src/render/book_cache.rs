//! The cache of books as JSON: rendered again after the book changed. The shorter answers about a book, its prices, are
//! rendered for each request.

use bytes::Bytes;
use foretell_model::{MarketNumber, Outcome, Sequence};
use foretell_view::Book;
use foretell_wire::markets::batch::Sides;

use crate::http::connections::slot_cache::SlotCache;
use crate::view::shared_view::ViewState;

/// Markets a multiple of this apart evict each other.
const MARKETS: usize = 1 << 10;
/// Selections of the sides of a book.
const SIDES: usize = 4;

/// The inputs of a book's text: its market's book as of the frame that last changed it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BookKey {
    market: MarketNumber,
    epoch: u64,
    changed: Sequence,
}

impl BookKey {
    /// The key of a market's current book.
    pub(crate) fn of(state: &ViewState, market: MarketNumber, book: &Book) -> Self {
        Self {
            market,
            epoch: state.epoch,
            changed: book.changed(),
        }
    }
}

/// The process's cache of books.
pub(crate) struct BookCache(SlotCache<BookKey, Bytes>);

impl Default for BookCache {
    fn default() -> Self {
        Self(SlotCache::with_slots(MARKETS * Outcome::ALL.len() * SIDES))
    }
}

impl BookCache {
    /// The text of a token's book, if it was rendered from this book.
    pub(crate) fn get(&self, slot: usize, key: &BookKey) -> Option<Bytes> {
        self.0.get(slot, key)
    }

    pub(crate) fn put(&self, slot: usize, key: BookKey, text: String) -> Bytes {
        let bytes = Bytes::from(text);
        self.0.put(slot, key, bytes.clone());
        bytes
    }
}

/// The cache index of the sides of a token's book.
pub(crate) fn slot_of((market, outcome): (MarketNumber, Outcome), sides: Sides) -> usize {
    let token = (market.0 as usize % MARKETS) * Outcome::ALL.len() + outcome.index();
    token * SIDES + (usize::from(sides.buy) << 1 | usize::from(sides.sell))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_book_has_a_place_of_its_own() {
        let flag = [false, true];
        let sides = flag
            .into_iter()
            .flat_map(|buy| flag.map(|sell| Sides { buy, sell }));
        let tokens = Outcome::ALL
            .iter()
            .map(|outcome| (MarketNumber(0), *outcome));
        let parts = tokens.flat_map(|token| sides.clone().map(move |sides| slot_of(token, sides)));
        let mut slots: Vec<_> = parts.collect();
        slots.sort_unstable();
        assert_eq!(slots, Vec::from_iter(0..Outcome::ALL.len() * SIDES));
    }
}
