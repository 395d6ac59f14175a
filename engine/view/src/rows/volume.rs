//! Traded volume of each market.

use foretell_model::codec::stored;
use foretell_model::{MarketNumber, Micros};

use crate::error::Impossible;
use crate::storage::by_number::ByNumber;

stored! {
    /// Sums over all trades.
    #[derive(Debug, Default)]
    pub struct Volume {
        value: ByNumber<MarketNumber, Micros>,
    }
}

impl Volume {
    /// The value of all trades of a market, as paid or received by the takers without fees.
    #[must_use]
    pub fn value_in(&self, market: MarketNumber) -> Micros {
        self.value.get(market).copied().unwrap_or_default()
    }

    pub(crate) fn open_market(&mut self, market: MarketNumber) -> Result<(), Impossible> {
        self.value.push(market, Micros::ZERO)
    }

    /// Adds a trade with the taker's value. The sum saturates at 64 bits; no balance depends on it.
    pub(crate) fn trade(&mut self, market: MarketNumber, value: Micros) -> Result<(), Impossible> {
        let sum = self.value.get_mut(market);
        let sum = sum.ok_or(Impossible::UnknownMarket(market))?;
        *sum = Micros(sum.0.saturating_add(value.0));
        Ok(())
    }
}
