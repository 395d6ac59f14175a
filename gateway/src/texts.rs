//! Answers about a book as they were last sent: bytes, good until the book changes, in memory that
//! never grows.

use bytes::Bytes;
use foretell_model::{MarketNumber, Outcome, Sequence, Side};
use foretell_view::Book;
use foretell_wire::batch::Sides;
use parking_lot::Mutex;

use crate::replica::State;

/// Markets whose answers do not push each other out; those beyond share their places.
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

/// The answers of the process.
pub(crate) struct Texts(Box<[Mutex<Option<Text>>]>);

struct Text {
    market: MarketNumber,
    epoch: u64,
    changed: Sequence,
    bytes: Bytes,
}

impl Default for Texts {
    fn default() -> Self {
        let places = MARKETS * Outcome::ALL.len() * KINDS;
        Self((0..places).map(|_| Mutex::new(None)).collect())
    }
}

impl Texts {
    /// What is said about a token; `write` writes it anew when its book has changed, `None` when
    /// there is no such thing.
    pub(crate) fn get<E>(
        &self,
        state: &State,
        (market, outcome): (MarketNumber, Outcome),
        saying: Saying,
        write: impl FnOnce(&Book) -> Result<String, E>,
    ) -> Option<Result<Bytes, E>> {
        let book = state.view.books().get(market)?;
        let (epoch, changed) = (state.epoch, book.changed());
        let place = self.place(market, outcome, saying);
        if let Some(text) = &*place.lock()
            && (text.market, text.epoch, text.changed) == (market, epoch, changed)
        {
            return Some(Ok(text.bytes.clone()));
        }
        // Written outside the lock: two that find it old write the same.
        let bytes = match write(book) {
            Ok(text) => Bytes::from(text),
            Err(error) => return Some(Err(error)),
        };
        *place.lock() = Some(Text {
            market,
            epoch,
            changed,
            bytes: bytes.clone(),
        });
        Some(Ok(bytes))
    }

    fn place(
        &self,
        market: MarketNumber,
        outcome: Outcome,
        saying: Saying,
    ) -> &Mutex<Option<Text>> {
        let token = (market.0 as usize % MARKETS) * Outcome::ALL.len() + outcome.index();
        &self.0[token * KINDS + saying.kind()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
