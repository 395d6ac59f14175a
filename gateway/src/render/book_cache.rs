//! The cache of answers about books: rendered again after the book changed.

use bytes::Bytes;
use foretell_model::{MarketNumber, Outcome, Sequence, Side};
use foretell_view::Book;
use foretell_wire::markets::batch::Sides;

use crate::http::connections::slot_cache::SlotCache;
use crate::view::shared_view::ViewState;

/// Markets a multiple of this apart evict each other.
const MARKETS: usize = 1 << 10;
/// Kinds of answers about a token.
const KINDS: usize = 8;

/// A kind of answer about a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RenderKey {
    /// The token's book.
    Book(Sides),
    /// A figure of the token's book.
    Quote(Quote),
}

/// A figure of a book.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quote {
    /// The best price of one side.
    Price(Side),
    /// The midpoint of the best prices.
    Midpoint,
    /// The difference of the best prices.
    Spread,
}

impl RenderKey {
    fn kind(self) -> usize {
        match self {
            Self::Book(sides) => usize::from(sides.buy) << 1 | usize::from(sides.sell),
            Self::Quote(Quote::Price(Side::Buy)) => 4,
            Self::Quote(Quote::Price(Side::Sell)) => 5,
            Self::Quote(Quote::Midpoint) => 6,
            Self::Quote(Quote::Spread) => 7,
        }
    }
}

/// The inputs of an answer about a token: its market's book as of the frame that last changed it.
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

/// The process's cache of answers about books.
pub(crate) struct BookCache(SlotCache<BookKey, Bytes>);

impl Default for BookCache {
    fn default() -> Self {
        Self(SlotCache::with_slots(MARKETS * Outcome::ALL.len() * KINDS))
    }
}

impl BookCache {
    /// The text of an answer about a token, if it was rendered from this book.
    pub(crate) fn get(&self, slot: usize, key: &BookKey) -> Option<Bytes> {
        self.0.get(slot, key)
    }

    pub(crate) fn put(&self, slot: usize, key: BookKey, text: String) -> Bytes {
        let bytes = Bytes::from(text);
        self.0.put(slot, key, bytes.clone());
        bytes
    }
}

/// The cache index of an answer about a token.
pub(crate) fn slot_of((market, outcome): (MarketNumber, Outcome), key: RenderKey) -> usize {
    let token = (market.0 as usize % MARKETS) * Outcome::ALL.len() + outcome.index();
    token * KINDS + key.kind()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_saying_of_a_token_has_a_place_of_its_own() {
        let side = [true, false];
        let books = side
            .into_iter()
            .flat_map(|buy| side.map(|sell| RenderKey::Book(Sides { buy, sell })));
        let prices = [Side::Buy, Side::Sell].map(Quote::Price);
        let quotes = prices.into_iter().chain([Quote::Midpoint, Quote::Spread]);
        let sayings = books.chain(quotes.map(RenderKey::Quote));
        let mut kinds: Vec<_> = sayings.map(RenderKey::kind).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, Vec::from_iter(0..KINDS));
    }
}
