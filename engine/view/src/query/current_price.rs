//! The current price of a share: `curPrice` of docs/api/data.md §2, and every other price shown for
//! a market.

use foretell_model::{MarketNumber, Outcome, Price};

use crate::rows::books::TokenBook;
use crate::rows::midpoints::Midpoint;
use crate::view::View;

/// The widest spread whose midpoint counts as a price: 0.10.
const WIDE_SPREAD: u16 = 1_000;
/// The price of a token without trades and without a two-sided book.
const HALF: Price = Price(5_000);

impl View {
    /// The current price of a token, exactly. For a resolved market it is the payout. Otherwise it
    /// is computed for Yes; No is the complement. `None` when there is no such market, or it is not
    /// shown.
    #[must_use]
    pub fn current_price(&self, market: MarketNumber, outcome: Outcome) -> Option<Midpoint> {
        let shown = self
            .markets
            .get(market)
            .filter(|market| market.is_shown())?;
        if let Some(payout) = shown.payout {
            let pays = Price(payout.price_units()[outcome.index()]);
            return Some(Midpoint::between(pays, pays));
        }
        let yes = price_of_yes(self.books.get(market)?.of(Outcome::Yes));
        Some(match outcome {
            Outcome::Yes => yes,
            Outcome::No => yes.complement(),
        })
    }
}

/// The midpoint if the spread is narrow enough, else the last trade, else the midpoint, else one
/// half.
fn price_of_yes(book: TokenBook<'_>) -> Midpoint {
    let both = book.best_bid().zip(book.best_ask());
    let near = both.filter(|(bid, ask)| ask.0.saturating_sub(bid.0) <= WIDE_SPREAD);
    let last = book.last_trade().map(|last| (last.price, last.price));
    let (low, high) = near.or(last).or(both).unwrap_or((HALF, HALF));
    Midpoint::between(low, high)
}
