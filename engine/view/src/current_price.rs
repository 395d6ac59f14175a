//! What a share is worth now: `curPrice` of protocol 12, and every price that is said of a market.

use foretell_model::{MarketNumber, Outcome, Price};

use crate::books::TokenBook;
use crate::midpoints::Midpoint;
use crate::view::View;

/// The widest spread whose midpoint is still a price: 0.10.
const WIDE_SPREAD: u16 = 1_000;
/// The price of what nobody has traded or bid and asked for.
const HALF: Price = Price(5_000);

impl View {
    /// The current price of a token, exactly: its payout once the market is resolved; before,
    /// computed for Yes, of which No is the complement. `None` when there is no such market.
    #[must_use]
    pub fn current_price(&self, market: MarketNumber, outcome: Outcome) -> Option<Midpoint> {
        if let Some(payout) = self.markets.get(market)?.payout {
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

/// The midpoint when both sides exist and are near each other, else the last trade, else the
/// midpoint, else one half.
fn price_of_yes(book: TokenBook<'_>) -> Midpoint {
    let both = book.best_bid().zip(book.best_ask());
    let near = both.filter(|(bid, ask)| ask.0.saturating_sub(bid.0) <= WIDE_SPREAD);
    let last = book.last_trade().map(|last| (last.price, last.price));
    let (low, high) = near.or(last).or(both).unwrap_or((HALF, HALF));
    Midpoint::between(low, high)
}
