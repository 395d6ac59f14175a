//! The holders of a token, the largest first.

use core::cmp::Reverse;
use core::ops::Bound;
use std::collections::BTreeSet;

use foretell_model::{AccountNumber, Lots, MarketNumber, Outcome};

/// A token by market and outcome.
pub(crate) type Token = (MarketNumber, Outcome);

/// The holders of all tokens, kept sorted: a reader pays only for the rows it requests.
#[derive(Debug, Default)]
pub(crate) struct Holders {
    of_token: Vec<BTreeSet<(Reverse<Lots>, AccountNumber)>>,
}

impl Holders {
    /// Adds the two tokens of the next market.
    pub(crate) fn open(&mut self) {
        let tokens = Outcome::ALL.iter().map(|_| BTreeSet::new());
        self.of_token.extend(tokens);
    }

    /// Adds an account's balance of a token.
    pub(crate) fn add(&mut self, token: Token, account: AccountNumber, lots: Lots) {
        if !lots.is_zero()
            && let Some(holders) = self.of_token.get_mut(number(token))
        {
            holders.insert((Reverse(lots), account));
        }
    }

    /// Removes an account's balance of a token.
    pub(crate) fn remove(&mut self, token: Token, account: AccountNumber, lots: Lots) {
        if let Some(holders) = self.of_token.get_mut(number(token)) {
            holders.remove(&(Reverse(lots), account));
        }
    }

    /// The holders of a token, the largest first, equal ones by the age of their accounts: all, or
    /// those after one of them.
    pub(crate) fn after(
        &self,
        token: Token,
        last: Option<(AccountNumber, Lots)>,
    ) -> impl Iterator<Item = (AccountNumber, Lots)> {
        let first = match last {
            Some((account, lots)) => Bound::Excluded((Reverse(lots), account)),
            None => Bound::Unbounded,
        };
        let holders = self.of_token.get(number(token)).into_iter();
        let holders = holders.flat_map(move |holders| holders.range((first, Bound::Unbounded)));
        holders.map(|&(Reverse(lots), account)| (account, lots))
    }
}

fn number((market, outcome): Token) -> usize {
    market.0 as usize * Outcome::ALL.len() + outcome.index()
}
