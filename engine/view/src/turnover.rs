//! How much was traded: in each market its value, by each account in how many markets.

use std::collections::BTreeSet;

use foretell_model::{AccountNumber, MarketNumber, Micros};

use crate::dense::Dense;
use crate::error::Impossible;
use crate::row::stored;

/// Sums over all trades.
#[derive(Debug, Default)]
pub struct Turnover {
    value: Dense<MarketNumber, Micros>,
    /// A few bytes for each market an account ever traded in.
    markets: Dense<AccountNumber, BTreeSet<MarketNumber>>,
}

stored!(Turnover {
    value: Dense<MarketNumber, Micros>,
    markets: Dense<AccountNumber, BTreeSet<MarketNumber>>,
});

impl Turnover {
    /// The value of all trades of a market: of each what its taker paid or got for the shares,
    /// without the fee.
    #[must_use]
    pub fn value_in(&self, market: MarketNumber) -> Micros {
        self.value.get(market).copied().unwrap_or_default()
    }

    /// In how many markets an account has traded.
    #[must_use]
    pub fn markets_of(&self, account: AccountNumber) -> usize {
        self.markets.get(account).map_or(0, BTreeSet::len)
    }

    /// Whether an account has traded in a market.
    #[must_use]
    pub fn has_traded(&self, account: AccountNumber, market: MarketNumber) -> bool {
        let markets = self.markets.get(account);
        markets.is_some_and(|markets| markets.contains(&market))
    }

    pub(crate) fn open_account(&mut self, account: AccountNumber) -> Result<(), Impossible> {
        self.markets.push(account, BTreeSet::new())
    }

    pub(crate) fn open_market(&mut self, market: MarketNumber) -> Result<(), Impossible> {
        self.value.push(market, Micros::ZERO)
    }

    /// A trade of this value, as its taker sees it. A sum past what 64 bits hold stays there: it
    /// is told to the curious, and no balance follows from it.
    pub(crate) fn trade(
        &mut self,
        market: MarketNumber,
        accounts: [AccountNumber; 2],
        value: Micros,
    ) -> Result<(), Impossible> {
        let sum = self.value.get_mut(market);
        let sum = sum.ok_or(Impossible::UnknownMarket(market))?;
        *sum = Micros(sum.0.saturating_add(value.0));
        for account in accounts {
            let markets = self.markets.get_mut(account);
            let markets = markets.ok_or(Impossible::UnknownAccount(account))?;
            markets.insert(market);
        }
        Ok(())
    }
}
