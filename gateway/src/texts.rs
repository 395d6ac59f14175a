//! Answers as they were last sent: bytes, good as long as what they were made of is the same, in memory
//! that never grows.

use bytes::Bytes;
use foretell_model::{MarketNumber, Outcome, Sequence, Side};
use foretell_view::Book;
use foretell_wire::batch::Sides;
use parking_lot::Mutex;

use crate::replica::State;

/// Texts, each at a place.
pub(crate) struct Texts<Key>(Box<[Place<Key>]>);

/// Where the text is that was made last, with what it was made of.
type Place<Key> = Mutex<Option<(Key, Bytes)>>;

impl<Key: PartialEq> Texts<Key> {
    /// Room for so many texts. Those beyond share their places.
    pub(crate) fn with_places(places: usize) -> Self {
        Self((0..places).map(|_| Mutex::new(None)).collect())
    }

    /// The text at a place, if it was made of this.
    pub(crate) fn get(&self, place: usize, key: &Key) -> Option<Bytes> {
        let kept = self.at(place).lock();
        let (_, bytes) = kept.as_ref().filter(|(known, _)| known == key)?;
        Some(bytes.clone())
    }

    /// Takes a text, which was made without a lock: two that find it missing make the same.
    pub(crate) fn put(&self, place: usize, key: Key, text: String) -> Bytes {
        let bytes = Bytes::from(text);
        let old = self.at(place).lock().replace((key, bytes.clone()));
        drop(old);
        bytes
    }

    fn at(&self, place: usize) -> &Place<Key> {
        &self.0[place % self.0.len()]
    }
}

/// JSON bytes. They are the same as long as they stand in the same memory.
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

/// Markets whose answers do not push each other out.
const MARKETS: usize = 1 << 10;
/// Answers of a token.
const KINDS: usize = 8;

/// What is said about a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Saying {
    /// Its book.
    Book(Sides),
    /// A figure of its book.
    Quote(Quote),
}

/// A figure of a book.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quote {
    /// The best price of this side of its book.
    Price(Side),
    /// The middle.
    Midpoint,
    /// The distance of the best prices.
    Spread,
}

impl Saying {
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

/// What an answer about a token was made of: its market's book as of the frame that changed it last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct BookKey {
    market: MarketNumber,
    epoch: u64,
    changed: Sequence,
}

impl BookKey {
    /// Of a market's book, as it stands.
    pub(crate) fn of(state: &State, market: MarketNumber, book: &Book) -> Self {
        Self {
            market,
            epoch: state.epoch,
            changed: book.changed(),
        }
    }
}

/// The answers about books of the process.
pub(crate) type BookTexts = Texts<BookKey>;

impl Default for BookTexts {
    fn default() -> Self {
        Self::with_places(MARKETS * Outcome::ALL.len() * KINDS)
    }
}

/// Where an answer about a token is kept.
pub(crate) fn place_of((market, outcome): (MarketNumber, Outcome), saying: Saying) -> usize {
    let token = (market.0 as usize % MARKETS) * Outcome::ALL.len() + outcome.index();
    token * KINDS + saying.kind()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_good_for_what_it_was_made_of() {
        let texts = Texts::with_places(2);
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
            .flat_map(|buy| side.map(|sell| Saying::Book(Sides { buy, sell })));
        let prices = [Side::Buy, Side::Sell].map(Quote::Price);
        let quotes = prices.into_iter().chain([Quote::Midpoint, Quote::Spread]);
        let sayings = books.chain(quotes.map(Saying::Quote));
        let mut kinds: Vec<_> = sayings.map(Saying::kind).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, Vec::from_iter(0..KINDS));
    }
}
