//! Balances of an account in the two tokens of one market.

use foretell_model::codec::fixed;
use foretell_model::{Lots, Outcome};

use crate::error::Impossible;

fixed! {
    /// Balances in one market, each pair `[Yes, No]`.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub struct Balance {
        /// Not reserved.
        pub free: [Lots; 2],
        /// Reserved by live SELLs.
        pub reserved: [Lots; 2],
    }
}

impl Balance {
    /// Total shares of an outcome.
    #[must_use]
    pub fn total(&self, outcome: Outcome) -> Lots {
        Lots(
            self.free(outcome)
                .0
                .saturating_add(self.reserved(outcome).0),
        )
    }

    /// Free shares of an outcome.
    #[must_use]
    pub fn free(&self, outcome: Outcome) -> Lots {
        self.free[outcome.index()]
    }

    /// Shares of an outcome reserved by live SELLs.
    #[must_use]
    pub fn reserved(&self, outcome: Outcome) -> Lots {
        self.reserved[outcome.index()]
    }

    /// Whether all balances are zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn give(&mut self, outcome: Outcome, lots: Lots) -> Result<(), Impossible> {
        raise(&mut self.free[outcome.index()], lots)
    }

    pub(crate) fn take(&mut self, outcome: Outcome, lots: Lots) -> Result<(), Impossible> {
        lower(&mut self.free[outcome.index()], lots)
    }

    pub(crate) fn take_reserved(&mut self, outcome: Outcome, lots: Lots) -> Result<(), Impossible> {
        lower(&mut self.reserved[outcome.index()], lots)
    }

    pub(crate) fn reserve(&mut self, outcome: Outcome, lots: Lots) -> Result<(), Impossible> {
        self.take(outcome, lots)?;
        raise(&mut self.reserved[outcome.index()], lots)
    }

    pub(crate) fn release(&mut self, outcome: Outcome, lots: Lots) -> Result<(), Impossible> {
        self.take_reserved(outcome, lots)?;
        self.give(outcome, lots)
    }
}

pub(crate) fn raise(amount: &mut Lots, by: Lots) -> Result<(), Impossible> {
    *amount = amount.checked_add(by).ok_or(Impossible::AmountOutOfRange)?;
    Ok(())
}

pub(crate) fn lower(amount: &mut Lots, by: Lots) -> Result<(), Impossible> {
    *amount = amount.checked_sub(by).ok_or(Impossible::AmountOutOfRange)?;
    Ok(())
}
