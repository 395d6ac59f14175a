//! Quotes of a demo market maker: pure arithmetic in price units of 0.0001.

use foretell_model::quantity::PRICE_ONE;

/// One resting quote in Yes prices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    /// Whether it is a bid.
    pub bid: bool,
    /// Yes price in 0.0001.
    pub price: u16,
    /// Lots.
    pub lots: u64,
}

/// Parameters of a market's quotes.
#[derive(Clone, Copy, Debug)]
pub struct QuoteParameters {
    /// Tick in price units.
    pub tick: u16,
    /// Levels per side.
    pub levels: u16,
    /// Distance of the best quote from fair, in price units.
    pub half_spread: u16,
    /// Lots at the best level; each further level adds half of this.
    pub lots: u64,
}

/// Lots of a bot's best quote.
pub const LOTS: u64 = 5_000;

impl QuoteParameters {
    /// Those of the running bots.
    #[must_use]
    pub const fn usual(tick: u16) -> Self {
        Self {
            tick,
            levels: 3,
            half_spread: 100,
            lots: LOTS,
        }
    }
}

/// Bids below and asks above `fair`, on the tick grid, strictly inside (0, 1), never crossing.
#[must_use]
pub fn ladder(fair: u16, parameters: QuoteParameters) -> Vec<Quote> {
    let tick = i32::from(parameters.tick);
    let (fair, half) = (i32::from(fair), i32::from(parameters.half_spread.max(1)));
    let best_bid = (fair - half).div_euclid(tick) * tick;
    let best_ask = -((-(fair + half)).div_euclid(tick)) * tick;
    let mut quotes = Vec::with_capacity(2 * usize::from(parameters.levels));
    for level in 0..parameters.levels {
        let lots = parameters.lots + parameters.lots * u64::from(level) / 2;
        let step = i32::from(level) * tick;
        for (bid, price) in [(true, best_bid - step), (false, best_ask + step)] {
            if let Ok(price) = u16::try_from(price)
                && price >= parameters.tick
                && price <= PRICE_ONE - parameters.tick
            {
                quotes.push(Quote { bid, price, lots });
            }
        }
    }
    quotes
}

/// The next fair price: a bounded step, pulled back from the edges.
#[must_use]
pub fn drift(fair: u16, random: u64, tick: u16) -> u16 {
    let reach = i64::from(tick.max(20)) / 2;
    let span = u64::try_from(2 * reach + 1).unwrap_or(1);
    let step = i64::try_from(random % span).unwrap_or(0) - reach;
    let edge = i64::from(tick) * 2;
    let next = (i64::from(fair) + step).clamp(edge, i64::from(PRICE_ONE) - edge);
    u16::try_from(next).unwrap_or(fair)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_lie_on_the_tick_grid_and_never_cross() {
        for tick in [1, 10, 100, 1_000] {
            for fair in (1..PRICE_ONE).step_by(7) {
                let parameters = QuoteParameters {
                    tick,
                    levels: 3,
                    half_spread: 100,
                    lots: 1_000,
                };
                let quotes = ladder(fair, parameters);
                let best_bid = quotes
                    .iter()
                    .filter(|quote| quote.bid)
                    .map(|quote| quote.price)
                    .max();
                let best_ask = quotes
                    .iter()
                    .filter(|quote| !quote.bid)
                    .map(|quote| quote.price)
                    .min();
                assert!(
                    quotes
                        .iter()
                        .all(|quote| quote.price % tick == 0 && quote.price >= tick)
                );
                assert!(quotes.iter().all(|quote| quote.price <= PRICE_ONE - tick));
                assert!(best_bid.is_none_or(|bid| bid < fair));
                assert!(best_ask.is_none_or(|ask| ask > fair));
            }
        }
    }

    #[test]
    fn drift_stays_inside() {
        let mut fair = 5_000;
        for random in 0..100_000_u64 {
            fair = drift(fair, random.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 7, 100);
            assert!((200..=9_800).contains(&fair));
        }
    }
}
