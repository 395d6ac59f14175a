//! Deposits and withdrawals.

use foretell_model::command::{Deposit, Withdraw, WithdrawFees};
use foretell_model::event::{Deposited, Withdrawn};
use foretell_model::limits::MAX_BALANCE;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Micros, OperatorNumber, Rejection, RejectionReason,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::idempotency::ActionContent;

impl Exchange {
    pub(crate) fn deposit(
        &mut self,
        &Deposit {
            wallet,
            amount,
            reference,
        }: &Deposit,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let known = self
            .accounts
            .find(wallet)
            .map(|account| money(account, amount));
        self.references
            .ensure_new(None, reference, known, context)?;
        ensure(!amount.is_zero(), RejectionReason::AmountZero)?;
        let limit = Rejection::with(RejectionReason::BalanceLimit, amount.0, MAX_BALANCE.0);
        let collateral = self
            .system
            .collateral
            .checked_add(amount)
            .filter(|collateral| *collateral <= MAX_BALANCE)
            .ok_or(limit)?;

        let account = self.account_or_open(wallet, context);
        self.system.collateral = collateral;
        self.accounts[account].free += amount;
        context.event(Event::Deposited(Deposited { account, amount }));
        let outcome = CommandOutcome::Account(account);
        self.references
            .remember(None, reference, money(account, amount), outcome, context);
        Ok(outcome)
    }

    pub(crate) fn withdraw(
        &mut self,
        &Withdraw {
            wallet,
            amount,
            reference,
        }: &Withdraw,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let known = self.accounts.find(wallet);
        let content = known.map(|account| money(account, amount));
        self.ensure_new_withdrawal(reference, content, context)?;
        self.ensure_may_book(context)?;
        let is_held = self.needs_two_persons(amount);
        ensure(
            !is_held || context.operator != OperatorNumber::NONE,
            RejectionReason::OperatorRequired,
        )?;
        let account = known.ok_or(RejectionReason::UnknownAccount)?;
        ensure(!amount.is_zero(), RejectionReason::AmountZero)?;
        ensure_collateral(amount, self.accounts[account].free)?;
        let outcome = if is_held {
            self.hold(account, amount, reference, context)?
        } else {
            self.pay_out(account, amount, context);
            CommandOutcome::Account(account)
        };
        let remembered = CommandOutcome::Account(account);
        self.references
            .remember(None, reference, money(account, amount), remembered, context);
        Ok(outcome)
    }

    /// Takes free collateral out of the exchange.
    pub(crate) fn pay_out(
        &mut self,
        account: AccountNumber,
        amount: Micros,
        context: &mut CommandContext<'_>,
    ) {
        self.accounts[account].free -= amount;
        self.system.collateral -= amount;
        context.event(Event::Withdrawn(Withdrawn { account, amount }));
    }

    pub(crate) fn withdraw_fees(
        &mut self,
        &WithdrawFees { amount, reference }: &WithdrawFees,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let content = money(AccountNumber(0), amount);
        self.references
            .ensure_new(None, reference, Some(content), context)?;
        self.ensure_withdrawals_open()?;
        ensure(!amount.is_zero(), RejectionReason::AmountZero)?;
        ensure_collateral(amount, self.system.fees)?;

        self.system.fees -= amount;
        self.system.collateral -= amount;
        context.event(Event::FeesWithdrawn { amount });
        let outcome = CommandOutcome::Done;
        self.references
            .remember(None, reference, content, outcome, context);
        Ok(outcome)
    }
}

/// Rejects when `free` collateral does not cover `needed`.
pub(crate) fn ensure_collateral(needed: Micros, free: Micros) -> Result<(), NotApplied> {
    let lacking = RejectionReason::NotEnoughCollateral;
    ensure(needed <= free, Rejection::with(lacking, needed.0, free.0))
}

pub(crate) fn money(account: AccountNumber, amount: Micros) -> ActionContent {
    ActionContent {
        account,
        amount: amount.0,
        ..ActionContent::default()
    }
}
