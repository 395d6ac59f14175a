//! What accounts did and received beside trading: splits, merges, redeems, converts
//! (docs/verify/rules.md §10), payments of rebates (§23), deposits and withdrawals.

use foretell_model::codec::{coded, fixed};
use foretell_model::{
    AccountNumber, FramePosition, Lots, MarketNumber, Micros, Outcome, Sequence, TimeNs,
};

use crate::error::Impossible;
use crate::part::Part;
use crate::storage::chunk::Chunking;
use crate::storage::listed_log::ListedLog;
use crate::storage::row::LogRow;
use crate::storage::slot::count;

/// The kind of an action. The discriminant is stored in the row.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum ActionKind {
    /// Collateral was exchanged for full sets.
    Split = 0,
    /// Full sets were exchanged for collateral.
    Merge = 1,
    /// A token of a resolved market was exchanged for its payout.
    Redeem = 2,
    /// No of some questions was exchanged for collateral and Yes of the others.
    Convert = 3,
    /// Accrued rebates of all markets were paid; its market is [`NO_MARKET`].
    Rebate = 4,
    /// An operator deposited collateral; its market is [`NO_MARKET`].
    Deposit = 5,
    /// Collateral was paid out; its market is [`NO_MARKET`].
    Withdrawal = 6,
}

/// The market of an action without one.
pub const NO_MARKET: MarketNumber = MarketNumber(u32::MAX);

impl ActionKind {
    pub(crate) const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Split),
            1 => Some(Self::Merge),
            2 => Some(Self::Redeem),
            3 => Some(Self::Convert),
            4 => Some(Self::Rebate),
            5 => Some(Self::Deposit),
            6 => Some(Self::Withdrawal),
            _ => None,
        }
    }
}

coded! { ActionKind: u8, "kind of action"; }

fixed! {
    /// One action of an account.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Action {
        /// Its kind.
        pub kind: ActionKind,
        /// Its market; for a convert that of the first question given; [`NO_MARKET`] for money alone.
        pub market: MarketNumber,
        /// The outcome redeemed: a redeem of both outcomes is two actions. `None` for every other kind.
        pub outcome: Option<Outcome>,
        /// The full sets, the No of each question given, the shares redeemed; 0 for money alone.
        pub lots: Lots,
        /// Paid for a split or by a withdrawal, received for every other kind.
        pub collateral: Micros,
        /// When it happened.
        pub time: TimeNs,
        /// Sequence of its frame.
        pub sequence: Sequence,
        /// Place of that frame, whose bytes are the receipt.
        pub place: FramePosition,
    }
}

impl LogRow for Action {
    const CHUNK_BITS: u32 = 15;
}

impl Action {
    /// Its place among the account's actions of one frame: a frame redeems at most both outcomes.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.outcome.map_or(0, |outcome| u32::from(outcome.code()))
    }
}

/// All actions, listed by account.
#[derive(Debug)]
pub struct Actions {
    pub(crate) all: ListedLog<Action>,
}

impl Part for Actions {
    fn new(chunking: Chunking) -> Self {
        Self {
            all: ListedLog::new(chunking),
        }
    }
}

impl Actions {
    /// Number of actions of an account.
    #[must_use]
    pub fn count_of(&self, account: AccountNumber) -> usize {
        count(self.all.count(account.0 as usize))
    }

    /// Number of those before an instant, whose largest value is no bound.
    #[must_use]
    pub fn count_before(&self, account: AccountNumber, time: TimeNs) -> usize {
        match time {
            TimeNs(u64::MAX) => self.count_of(account),
            _ => self.count_while(account, |action| action.time < time),
        }
    }

    /// Number of those before an action, named by its frame and [`Action::index`].
    #[must_use]
    pub fn count_older(&self, account: AccountNumber, named: (Sequence, u32)) -> usize {
        self.count_while(account, |action| (action.sequence, action.index()) < named)
    }

    fn count_while(&self, account: AccountNumber, early: impl Fn(&Action) -> bool) -> usize {
        count(self.all.count_while(account.0 as usize, early))
    }

    /// The action of an account at an index, the oldest at 0.
    #[must_use]
    pub fn get(&self, account: AccountNumber, index: usize) -> Option<Action> {
        self.all.get(account.0 as usize, index as u64)
    }

    /// The `end` oldest actions of an account, newest first.
    pub fn newest_first(&self, account: AccountNumber, end: usize) -> impl Iterator<Item = Action> {
        self.all.newest_first(account.0 as usize, end as u64)
    }

    pub(crate) fn push(
        &mut self,
        account: AccountNumber,
        action: &Action,
    ) -> Result<(), Impossible> {
        self.all.push(account.0 as usize, action)
    }
}
