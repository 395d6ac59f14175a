//! Deposits, withdrawals, and withdrawals of fees (docs/verify/rules.md §13, §16).

use foretell_model::command::{Deposit, Withdraw, WithdrawFees};
use foretell_model::event::{Deposited, Withdrawn};
use foretell_model::limits::MAX_BALANCE;
use foretell_model::{
    AccountNumber, CommandKind, CommandOutcome, Event, Micros, OperatorNumber, QuestionSet,
    Rejection, RejectionReason,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, ensure};
use crate::references::Content;
use crate::withdrawals::Withdrawal;

impl Exchange {
    /// All collateral of the exchange together stays within the largest balance, so that no sum
    /// exceeds it.
    pub(crate) fn deposit(
        &mut self,
        &Deposit {
            wallet,
            amount,
            reference,
        }: &Deposit,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let kind = CommandKind::Deposit;
        let known = self.find_account(wallet);
        self.check_reference(
            None,
            reference,
            known.map(|who| content(kind, who, amount)),
            at,
        )?;
        ensure(amount > Micros::ZERO, RejectionReason::AmountZero)?;
        let total = self.collateral.checked_add(amount);
        ensure(
            total.is_some_and(|total| total <= MAX_BALANCE),
            Rejection::with(RejectionReason::BalanceLimit, amount.0, MAX_BALANCE.0),
        )?;

        let account = self.open_account(wallet, events);
        self.account_mut(account).free += amount;
        self.collateral += amount;
        events.push(Event::Deposited(Deposited { account, amount }));
        let outcome = CommandOutcome::Account(account);
        self.remember_reference(None, reference, content(kind, account, amount), outcome, at);
        Ok(outcome)
    }

    pub(crate) fn withdraw(
        &mut self,
        &Withdraw {
            wallet,
            amount,
            reference,
        }: &Withdraw,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let kind = CommandKind::Withdraw;
        let known = self.find_account(wallet);
        self.check_reference(
            None,
            reference,
            known.map(|who| content(kind, who, amount)),
            at,
        )?;
        self.check_may_book(at)?;
        let is_held = self.needs_two_persons(amount);
        ensure(
            !is_held || at.operator != OperatorNumber::NONE,
            RejectionReason::OperatorRequired,
        )?;
        let account = known.ok_or(RejectionReason::UnknownAccount)?;
        ensure(amount > Micros::ZERO, RejectionReason::AmountZero)?;
        let free = self.account(account)?.free;
        ensure(
            amount <= free,
            Rejection::with(RejectionReason::NotEnoughCollateral, amount.0, free.0),
        )?;
        let outcome = if is_held {
            self.check_room_for_withdrawal(account)?;
            let asked = Withdrawal {
                by_operator: true,
                claimed_by: Some(at.operator),
                two_persons: true,
                account,
                amount,
                reference,
            };
            self.add_withdrawal(asked, at, events)
        } else {
            self.account_mut(account).free -= amount;
            self.collateral -= amount;
            events.push(Event::Withdrawn(Withdrawn { account, amount }));
            CommandOutcome::Account(account)
        };
        self.remember_reference(None, reference, content(kind, account, amount), outcome, at);
        Ok(outcome)
    }

    pub(crate) fn withdraw_fees(
        &mut self,
        &WithdrawFees { amount, reference }: &WithdrawFees,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let kind = CommandKind::WithdrawFees;
        let content = content(kind, AccountNumber(0), amount);
        self.check_reference(None, reference, Some(content), at)?;
        self.check_withdrawals_open()?;
        ensure(amount > Micros::ZERO, RejectionReason::AmountZero)?;
        ensure(
            amount <= self.fees,
            Rejection::with(RejectionReason::NotEnoughCollateral, amount.0, self.fees.0),
        )?;

        self.fees -= amount;
        self.collateral -= amount;
        events.push(Event::FeesWithdrawn { amount });
        self.remember_reference(None, reference, content, CommandOutcome::Done, at);
        Ok(CommandOutcome::Done)
    }
}

pub(crate) fn content(kind: CommandKind, account: AccountNumber, amount: Micros) -> Content {
    Content {
        kind,
        account,
        object: 0,
        amount: amount.0,
        questions: QuestionSet::default(),
    }
}
