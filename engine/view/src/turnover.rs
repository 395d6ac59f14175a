//! How much was traded in each market.

use foretell_model::{MarketNumber, Micros};

use crate::dense::Dense;
use crate::error::Impossible;
use crate::row::stored;

/// Sums over all trades.
#[derive(Debug, Default)]
pub struct Turnover {
    value: Dense<MarketNumber, Micros>,
}

stored!(Turnover {
    value: Dense<MarketNumber, Micros>,
});

impl Turnover {
    /// The value of all trades of a market: of each what its taker paid or got for the shares,
    /// without the fee.
    #[must_use]
    pub fn value_in(&self, market: MarketNumber) -> Micros {
        self.value.get(market).copied().unwrap_or_default()
    }

    pub(crate) fn open_market(&mut self, market: MarketNumber) -> Result<(), Impossible> {
        self.value.push(market, Micros::ZERO)
    }

    /// A trade of this value, as its taker sees it. A sum past what 64 bits hold stays there: it
    /// is told to the curious, and no balance follows from it.
    pub(crate) fn trade(&mut self, market: MarketNumber, value: Micros) -> Result<(), Impossible> {
        let sum = self.value.get_mut(market);
        let sum = sum.ok_or(Impossible::UnknownMarket(market))?;
        *sum = Micros(sum.0.saturating_add(value.0));
        Ok(())
    }
}
