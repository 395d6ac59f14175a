//! Money in and out.

use foretell_model::limits::MAX_BALANCE;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Micros, Reference, Refusal, RefusalReason, WalletAddress,
};

use crate::exchange::Exchange;
use crate::references::Content;
use crate::step::{Answer, NotApplied, Step, ensure};

impl Exchange {
    pub(crate) fn deposit(
        &mut self,
        wallet: WalletAddress,
        amount: Micros,
        reference: Reference,
        step: &mut Step<'_>,
    ) -> Answer {
        let known = self
            .accounts
            .find(wallet)
            .map(|account| money(account, amount));
        self.references.ensure_new(None, reference, known, step)?;
        ensure(!amount.is_zero(), RefusalReason::AmountZero)?;
        let limit = Refusal::with(RefusalReason::BalanceLimit, amount.0, MAX_BALANCE.0);
        let collateral = self
            .system
            .collateral
            .checked_add(amount)
            .filter(|collateral| *collateral <= MAX_BALANCE)
            .ok_or(limit)?;

        let account = self.account_or_open(wallet, step);
        self.system.collateral = collateral;
        self.accounts[account].free += amount;
        step.event(Event::Deposited { account, amount });
        let outcome = CommandOutcome::Account(account);
        self.references
            .remember(None, reference, money(account, amount), outcome, step);
        Ok(outcome)
    }

    pub(crate) fn withdraw(
        &mut self,
        wallet: WalletAddress,
        amount: Micros,
        reference: Reference,
        step: &mut Step<'_>,
    ) -> Answer {
        let known = self.accounts.find(wallet);
        let content = known.map(|account| money(account, amount));
        self.references.ensure_new(None, reference, content, step)?;
        let account = known.ok_or(RefusalReason::UnknownAccount)?;
        ensure(!amount.is_zero(), RefusalReason::AmountZero)?;
        ensure_collateral(amount, self.accounts[account].free)?;

        self.accounts[account].free -= amount;
        self.system.collateral -= amount;
        step.event(Event::Withdrawn { account, amount });
        let outcome = CommandOutcome::Account(account);
        self.references
            .remember(None, reference, money(account, amount), outcome, step);
        Ok(outcome)
    }

    pub(crate) fn withdraw_fees(
        &mut self,
        amount: Micros,
        reference: Reference,
        step: &mut Step<'_>,
    ) -> Answer {
        let content = money(AccountNumber(0), amount);
        self.references
            .ensure_new(None, reference, Some(content), step)?;
        ensure(!amount.is_zero(), RefusalReason::AmountZero)?;
        ensure_collateral(amount, self.system.fees)?;

        self.system.fees -= amount;
        self.system.collateral -= amount;
        step.event(Event::FeesWithdrawn { amount });
        let outcome = CommandOutcome::Done;
        self.references
            .remember(None, reference, content, outcome, step);
        Ok(outcome)
    }
}

/// Passes when `free` collateral covers what is `needed`.
pub(crate) fn ensure_collateral(needed: Micros, free: Micros) -> Result<(), NotApplied> {
    let lacking = RefusalReason::NotEnoughCollateral;
    ensure(needed <= free, Refusal::with(lacking, needed.0, free.0))
}

fn money(account: AccountNumber, amount: Micros) -> Content {
    Content {
        account,
        amount: amount.0,
        ..Content::default()
    }
}
