//! A bounded cache of rendered answers: an entry is valid while its key, all inputs of the text, is
//! unchanged.

use bytes::Bytes;
use foretell_model::{MarketNumber, Outcome, Sequence, Side};
use foretell_view::Book;
use foretell_wire::batch::Sides;
use parking_lot::Mutex;

use crate::shared_view::ViewState;

/// Entries by index.
pub(crate) struct RenderedCache<Key>(Box<[CacheSlot<Key>]>);

/// The last text rendered at an index, with its key.
type CacheSlot<Key> = Mutex<Option<(Key, Bytes)>>;

impl<Key: PartialEq> RenderedCache<Key> {
    /// A cache of `slots` entries; indices wrap.
    pub(crate) fn with_slots(slots: usize) -> Self {
        Self((0..slots).map(|_| Mutex::new(None)).collect())
    }

    /// The text at an index, if it was rendered from this key.
    pub(crate) fn get(&self, slot: usize, key: &Key) -> Option<Bytes> {
        let slot = self.at(slot).lock();
        let (_, bytes) = slot.as_ref().filter(|(known, _)| known == key)?;
        Some(bytes.clone())
    }

    /// Stores a text. It is rendered outside of the lock, so concurrent misses may each render it.
    pub(crate) fn put(&self, slot: usize, key: Key, text: String) -> Bytes {
        let bytes = Bytes::from(text);
        let old = self.at(slot).lock().replace((key, bytes.clone()));
        drop(old);
        bytes
    }

    fn at(&self, slot: usize) -> &CacheSlot<Key> {
        &self.0[slot % self.0.len()]
    }
}

/// JSON bytes, compared by address.
#[derive(Clone, Debug)]
pub(crate) struct Json(pub(crate) Bytes);

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        (self.0.as_ptr(), self.0.len()) == (other.0.as_ptr(), other.0.len())
    }
}

impl AsRef<str> for Json {
    fn as_ref(&self) -> &str {
        std::str::from_utf8(&self.0).expect("JSON is written as text")
    }
}

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
pub(crate) type BookCache = RenderedCache<BookKey>;

impl Default for BookCache {
    fn default() -> Self {
        Self::with_slots(MARKETS * Outcome::ALL.len() * KINDS)
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
    fn a_text_is_good_for_what_it_was_made_of() {
        let texts = RenderedCache::with_slots(2);
        assert_eq!(texts.get(0, &"a"), None);
        texts.put(0, "a", "text of a".into());
        assert_eq!(texts.get(0, &"a").as_deref(), Some(&b"text of a"[..]));
        assert_eq!((texts.get(0, &"b"), texts.get(1, &"a")), (None, None));
        texts.put(2, "c", "text of c".into());
        assert_eq!(texts.get(0, &"a"), None, "it shares the place");
    }

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
