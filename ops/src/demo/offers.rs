//! Orders of the bots: for a quote, and to take quotes.

use foretell_model::Side;

use crate::demo::market::BotMarket;
use crate::demo::quotes::Quote;
use crate::demo::random::Random;
use crate::trader::Terms;

/// Quotes that are replaced, of 16, after which somebody takes them.
const TAKEN: u64 = 9;

/// Whether quotes that were just replaced are taken.
pub(super) fn are_taken(random: &mut Random) -> bool {
    random.below(16) < TAKEN
}

/// The lots of a usual taker.
pub(super) fn taken_lots(random: &mut Random) -> u64 {
    500 + random.below(1_500)
}

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
        // Four decimals of shares, which say the limit exactly enough for every tick.
        order.taker_amount = budget * 10_000 / u64::from(high) / 100 * 100;
    }
    order
}

#[cfg(test)]
mod tests {
    use foretell_model::TokenId;

    use super::*;

    #[test]
    fn a_taker_pays_up_to_the_last_tick_however_little_it_spends() {
        for tick in [1, 10, 25, 50, 100, 1_000] {
            let market = BotMarket {
                condition: String::new(),
                tokens: [TokenId([1; 32]), TokenId([2; 32])],
                texts: [String::new(), String::new()],
                question: None,
                tick,
                fair: 300,
            };
            for lots in [1, 500, 1_999, 40_000] {
                let order = taking(&market, 0, lots, Side::Buy);
                let price = order.maker_amount * 10_000 / order.taker_amount;
                let tick = u64::from(tick);
                assert_eq!(
                    price / tick * tick,
                    10_000 - tick,
                    "{lots} lots, tick {tick}"
                );
            }
        }
    }
}
