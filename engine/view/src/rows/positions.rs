//! Positions of wallets (docs/verify/rules.md §18): open ones as live state, closed ones as
//! history, and the holders of each token.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use foretell_model::codec::fixed;
use foretell_model::{AccountNumber, MarketNumber, Outcome, Sequence, TimeNs, WalletAddress};

use crate::error::Impossible;
use crate::rows::accounts::Accounts;
use crate::rows::holders::{Holders, Token};
use crate::rows::markets::Markets;
use crate::rows::position::Position;
use crate::storage::by_number::ByNumber;
use crate::storage::list::Lists;
use crate::storage::log::Log;
use crate::storage::row::LogRow;
use crate::storage::slot::count;

/// A position with shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenPosition {
    /// Its cost and profit.
    pub position: Position,
    /// When it last changed.
    pub time: TimeNs,
}

fixed!(OpenPosition {
    position: Position,
    time: TimeNs,
});

/// A position without shares left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClosedPosition {
    /// Its market.
    pub market: MarketNumber,
    /// Its outcome.
    pub outcome: Outcome,
    /// Its cost and profit.
    pub position: Position,
    /// When its last share was removed.
    pub time: TimeNs,
    /// Sequence of that frame. A frame closes a token of a wallet at most once.
    pub closed_by: Sequence,
}

fixed!(ClosedPosition {
    market: MarketNumber,
    outcome: Outcome,
    position: Position,
    time: TimeNs,
    closed_by: Sequence,
});

impl LogRow for ClosedPosition {
    const CHUNK_BITS: u32 = 14;
}

/// The open positions of each account, by token.
pub(crate) type Open = ByNumber<AccountNumber, BTreeMap<Token, OpenPosition>>;

/// All positions.
#[derive(Debug)]
pub struct Positions {
    pub(crate) open: Open,
    pub(crate) closed: Log<ClosedPosition>,
    /// Lists of the closed positions of each account.
    pub(crate) closed_of: Lists,
    /// Computed from `open`.
    holders: Holders,
}

impl Positions {
    /// No positions.
    pub(crate) fn new(closed: Log<ClosedPosition>, closed_of: Lists) -> Self {
        Self {
            open: ByNumber::default(),
            closed,
            closed_of,
            holders: Holders::default(),
        }
    }

    /// Restores the positions of a snapshot; `None` when they refer to unknown accounts or markets.
    pub(crate) fn of(
        open: Open,
        closed: Log<ClosedPosition>,
        closed_of: Lists,
        accounts: &Accounts,
        markets: &Markets,
    ) -> Option<Self> {
        if open.len() != accounts.count() {
            return None;
        }
        let mut holders = Holders::default();
        markets.iter().for_each(|_| holders.open());
        for (account, tokens) in open.iter() {
            let wallet = accounts.get(account)?.wallet;
            for (token, held) in tokens {
                markets.get(token.0)?;
                holders.add(*token, wallet, held.position.lots());
            }
        }
        Some(Self {
            open,
            closed,
            closed_of,
            holders,
        })
    }

    /// The open position of an account in a token.
    #[must_use]
    pub fn open(
        &self,
        account: AccountNumber,
        market: MarketNumber,
        outcome: Outcome,
    ) -> Option<&OpenPosition> {
        self.open.get(account)?.get(&(market, outcome))
    }

    /// The open positions of an account, ordered by market and outcome: those after a token, or
    /// all.
    pub fn open_of(
        &self,
        account: AccountNumber,
        after: Option<(MarketNumber, Outcome)>,
    ) -> impl Iterator<Item = (MarketNumber, Outcome, &OpenPosition)> {
        use core::ops::Bound::{Excluded, Unbounded};
        let from = after.map_or(Unbounded, Excluded);
        let tokens = self.open.get(account).into_iter();
        let open = tokens.flat_map(move |tokens| tokens.range((from, Unbounded)));
        open.map(|(&(market, outcome), position)| (market, outcome, position))
    }

    /// Number of closed positions of an account.
    #[must_use]
    pub fn closed_count(&self, account: AccountNumber) -> usize {
        count(self.closed_of.list(account.0 as usize).len())
    }

    /// The `end` oldest closed positions of an account, newest first.
    pub fn closed(
        &self,
        account: AccountNumber,
        end: usize,
    ) -> impl Iterator<Item = ClosedPosition> {
        let slots = (self.closed_of.list(account.0 as usize)).newest_first(end as u64);
        slots.filter_map(|slot| self.closed.get(slot))
    }

    /// The holders of a token with their lots, the largest first, equal ones by address.
    pub fn holders(
        &self,
        market: MarketNumber,
        outcome: Outcome,
    ) -> impl Iterator<Item = (WalletAddress, foretell_model::Lots)> {
        self.holders.of((market, outcome))
    }

    /// Adds an account without positions.
    pub(crate) fn open_account(&mut self, account: AccountNumber) -> Result<(), Impossible> {
        self.open.push(account, BTreeMap::new())
    }

    /// Adds a market without holders.
    pub(crate) fn open_market(&mut self) {
        self.holders.open();
    }

    /// Changes an account's position in a token, and closes it when no share is left. Returns the
    /// profit that the change realized, in micros.
    pub(crate) fn change(
        &mut self,
        (account, wallet): (AccountNumber, WalletAddress),
        token: Token,
        (sequence, time): (Sequence, TimeNs),
        change: impl FnOnce(&mut Position) -> Result<(), Impossible>,
    ) -> Result<i128, Impossible> {
        let open = self.open.get_mut(account);
        let open = open.ok_or(Impossible::UnknownAccount(account))?;
        let mut entry = match open.entry(token) {
            Entry::Occupied(entry) => entry,
            Entry::Vacant(entry) => entry.insert_entry(OpenPosition {
                position: Position::default(),
                time,
            }),
        };
        let held = entry.get_mut();
        let (before, realized) = (held.position.lots(), held.position.realized());
        change(&mut held.position)?;
        held.time = time;
        let position = held.position;
        if position.is_closed() {
            entry.remove();
            self.closed_of.push(account.0 as usize, self.closed.len())?;
            self.closed.push(&ClosedPosition {
                market: token.0,
                outcome: token.1,
                position,
                time,
                closed_by: sequence,
            })?;
        }
        self.holders.remove(token, wallet, before);
        self.holders.add(token, wallet, position.lots());
        Ok(position.realized() - realized)
    }
}
