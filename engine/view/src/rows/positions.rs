//! Positions of wallets (docs/verify/rules.md §18): closed ones, as history, and the holders of each
//! token. Open ones are part of holdings.

use foretell_model::codec::fixed;
use foretell_model::{AccountNumber, Lots, MarketNumber, Outcome, Sequence, TimeNs};

use crate::error::Impossible;
use crate::part::Part;
use crate::rows::holders::{Holders, Token};
use crate::rows::holdings::{Holding, OpenPosition};
use crate::rows::position::Position;
use crate::storage::chunk::Chunking;
use crate::storage::listed_log::ListedLog;
use crate::storage::row::LogRow;
use crate::storage::slot::count;

fixed! {
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
}

impl LogRow for ClosedPosition {
    const CHUNK_BITS: u32 = 14;
}

/// Closed positions, and the holders of each token.
#[derive(Debug)]
pub struct Positions {
    /// Listed by account.
    pub(crate) closed: ListedLog<ClosedPosition>,
    /// Computed from the holdings.
    pub(crate) holders: Holders,
}

impl Part for Positions {
    fn new(chunking: Chunking) -> Self {
        Self {
            closed: ListedLog::new(chunking),
            holders: Holders::default(),
        }
    }
}

impl Positions {
    /// Number of closed positions of an account.
    #[must_use]
    pub fn closed_count(&self, account: AccountNumber) -> usize {
        count(self.closed.count(account.0 as usize))
    }

    /// The `end` oldest closed positions of an account, newest first.
    pub fn closed(
        &self,
        account: AccountNumber,
        end: usize,
    ) -> impl Iterator<Item = ClosedPosition> {
        self.closed.newest_first(account.0 as usize, end as u64)
    }

    /// The holders of a token with their lots, the largest first, equal ones by the age of their
    /// accounts.
    pub fn holders(
        &self,
        market: MarketNumber,
        outcome: Outcome,
    ) -> impl Iterator<Item = (AccountNumber, Lots)> {
        self.holders.after((market, outcome), None)
    }

    /// Those after one of them, whether it still has these lots or not.
    pub fn holders_after(
        &self,
        market: MarketNumber,
        outcome: Outcome,
        last: Option<(AccountNumber, Lots)>,
    ) -> impl Iterator<Item = (AccountNumber, Lots)> {
        self.holders.after((market, outcome), last)
    }

    /// Adds a market without holders.
    pub(crate) fn open_market(&mut self) {
        self.holders.open();
    }

    /// Changes an account's position in a token, and closes it when no share is left. Returns the
    /// profit that the change realized, in micros.
    pub(crate) fn change(
        &mut self,
        holding: &mut Holding,
        (account, token): (AccountNumber, Token),
        (sequence, time): (Sequence, TimeNs),
        change: impl FnOnce(&mut Position) -> Result<(), Impossible>,
    ) -> Result<i128, Impossible> {
        let open = holding.shares_mut().open_mut(token.1);
        let (before, realized) = (open.position.lots(), open.position.realized());
        change(&mut open.position)?;
        open.time = time;
        let position = open.position;
        if position.is_closed() {
            *open = OpenPosition::default();
            holding.drop_empty_shares();
            let closed = ClosedPosition {
                market: token.0,
                outcome: token.1,
                position,
                time,
                closed_by: sequence,
            };
            self.closed.push(account.0 as usize, &closed)?;
        }
        self.holders.remove(token, account, before);
        self.holders.add(token, account, position.lots());
        Ok(position.realized() - realized)
    }
}
