//! Work in the background: settlements and payments of rebates (docs/verify/rules.md §25).

use std::collections::VecDeque;

use foretell_model::codec::{CodecError, Stored, stored};
use foretell_model::limits::ACCOUNTS_PER_STEP;
use foretell_model::{AccountNumber, MarketNumber, Micros, Sequence};

use crate::error::Impossible;
use crate::rows::accounts::add;

stored! {
    /// One work: `Step` commands look at all accounts below `end`.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct BackgroundTask {
        /// The command that started it.
        pub first: Sequence,
        /// The market that is settled; `None` = a payment of rebates.
        pub market: Option<MarketNumber>,
        /// The next account to look at.
        pub next: AccountNumber,
        /// The account after the last one.
        pub end: AccountNumber,
        /// Paid so far by steps.
        pub paid: Micros,
    }
}

/// The queue of work, the first one at the front.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Background {
    tasks: VecDeque<BackgroundTask>,
}

impl Background {
    /// All work that is not done, in the order in which it is done.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = &BackgroundTask> {
        self.tasks.iter()
    }

    /// The settlement of a market.
    #[must_use]
    pub fn settlement_of(&self, market: MarketNumber) -> Option<&BackgroundTask> {
        (self.tasks.iter()).find(|task| task.market == Some(market))
    }

    pub(crate) fn start(&mut self, first: Sequence, market: Option<MarketNumber>, accounts: u32) {
        self.tasks.push_back(BackgroundTask {
            first,
            market,
            next: AccountNumber(0),
            end: AccountNumber(accounts),
            paid: Micros::ZERO,
        });
    }

    /// A step paid an account.
    pub(crate) fn pay(&mut self, amount: Micros) -> Result<(), Impossible> {
        match self.tasks.front_mut() {
            Some(task) => add(&mut task.paid, amount),
            None => Ok(()),
        }
    }

    /// A step looked at its accounts.
    pub(crate) fn advance(&mut self) {
        if let Some(task) = self.tasks.front_mut() {
            let next = task.next.0.saturating_add(ACCOUNTS_PER_STEP);
            task.next = AccountNumber(next.min(task.end.0));
        }
    }

    /// The first work is done.
    pub(crate) fn end(&mut self, market: Option<MarketNumber>) -> Option<BackgroundTask> {
        let is_first = self.tasks.front().is_some_and(|task| task.market == market);
        if is_first {
            self.tasks.pop_front()
        } else {
            None
        }
    }
}

impl Stored for Background {
    fn put(&self, out: &mut Vec<u8>) {
        let tasks: Vec<BackgroundTask> = self.tasks.iter().copied().collect();
        tasks.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let tasks = Vec::<BackgroundTask>::take(from)?;
        Ok(Self {
            tasks: tasks.into(),
        })
    }
}
