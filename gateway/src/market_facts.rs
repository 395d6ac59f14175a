//! Converts a market of the view for the wire.

use foretell_model::{MarketNumber, Outcome};
use foretell_view::View;
use foretell_wire::Decimal;
use foretell_wire::market::MarketFacts;

/// The exchange's facts about a market.
pub(crate) fn market_facts(view: &View, number: MarketNumber) -> Option<MarketFacts> {
    let market = view.markets().get(number)?;
    let price = |outcome| {
        let price = view.current_price(number, outcome)?;
        // In half price units of 0.00005.
        Some(Decimal::new(i128::from(price.half_units()) * 5, 5))
    };
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
        prices: [price(Outcome::Yes)?, price(Outcome::No)?],
        accepting_since: market.activated,
        mode: view.system().mode,
    })
}
