//! Orders of the bots: for a quote, and to take quotes.

use foretell_model::Side;

use crate::demo::market::BotMarket;
use crate::demo::quotes::Quote;
use crate::trader::Terms;

/// The order for a quote: sells free shares before it buys the other outcome.
pub(super) fn quoting(market: &BotMarket, quote: Quote, held: &mut [u64; 2]) -> Terms<'static> {
    // A bid in Yes prices sells No at the complement, an ask sells Yes.
    let sold = usize::from(quote.bid);
    let own_price = |outcome: usize| {
        if outcome == 0 {
            quote.price
        } else {
            10_000 - quote.price
        }
    };
    if held[sold] >= quote.lots {
        held[sold] -= quote.lots;
        return Terms::limit(
            market.tokens[sold],
            market.is_neg_risk(),
            Side::Sell,
            quote.lots,
            own_price(sold),
        );
    }
    let bought = 1 - sold;
    Terms::limit(
        market.tokens[bought],
        market.is_neg_risk(),
        Side::Buy,
        quote.lots,
        own_price(bought),
    )
}

/// A FAK order for about these lots, whose price the book determines. A SELL needs them; a BUY spends
/// what they cost at about the fair price.
pub(super) fn taking(market: &BotMarket, outcome: usize, lots: u64, side: Side) -> Terms<'static> {
    let (low, high) = (market.tick, 10_000 - market.tick);
    let limit = match side {
        Side::Sell => low,
        Side::Buy => high,
    };
    let token = market.tokens[outcome];
    let mut order = Terms::limit(token, market.is_neg_risk(), side, lots, limit);
    order.order_type = "FAK";
    if side == Side::Buy {
        let fair = if outcome == 0 {
            market.fair
        } else {
            10_000 - market.fair
        };
        let budget = (lots * u64::from(fair)).max(1_100_000) / 10_000 * 10_000;
        order.maker_amount = budget;
        order.taker_amount = budget / u64::from(high) * 10_000;
    }
    order
}
