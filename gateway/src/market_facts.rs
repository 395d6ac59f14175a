//! A market of the view as the wire wants it, and its current prices.

use foretell_model::{MarketNumber, Outcome, Price};
use foretell_view::{TokenBook, View};
use foretell_wire::Decimal;
use foretell_wire::market::MarketFacts;

/// The widest spread whose midpoint is still a price (protocol 12): 0.10.
const WIDE_SPREAD: u16 = 1_000;

/// What the exchange knows of a market.
pub(crate) fn market_facts(view: &View, number: MarketNumber) -> Option<MarketFacts> {
    let market = view.markets().get(number)?;
    let yes = current_price(view.books().get(number)?.of(Outcome::Yes));
    Some(MarketFacts {
        condition: market.condition,
        tokens: market.tokens,
        state: market.state,
        archived: market.archived,
        tick: market.tick,
        minimum_size: market.minimum_size,
        fee: market.fee,
        neg_risk: market.is_neg_risk(),
        payout: market.payout,
        prices: yes,
        accepting_since: market.activated,
        mode: view.system().mode,
    })
}

/// The current prices of `[Yes, No]`, from the book as seen from Yes: the midpoint when both sides
/// exist and are at most 0.10 apart, else the last trade, else the midpoint, else one half.
fn current_price(yes: TokenBook<'_>) -> [Decimal; 2] {
    let both = yes.best_bid().zip(yes.best_ask());
    let narrow = both.filter(|(bid, ask)| ask.0.saturating_sub(bid.0) <= WIDE_SPREAD);
    let last = yes.last_trade().map(|last| (last.price, last.price));
    let half = (Price(5_000), Price(5_000));
    let (low, high) = narrow.or(last).or(both).unwrap_or(half);
    [
        Decimal::midpoint(low, high),
        Decimal::midpoint(high.complement(), low.complement()),
    ]
}
