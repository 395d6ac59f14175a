//! Collateral comes in and goes out, and fees are taken out (protocol 5, 6).

use foretell_model::limits::MAX_BALANCE;
use foretell_model::{
    AccountNumber, Command, CommandOutcome, Event, Micros, QuestionSet, Reference, Refusal,
    RefusalReason, WalletAddress,
};

use crate::answer::{Answer, ensure};
use crate::exchange::{At, Exchange};
use crate::memory::Content;

impl Exchange {
    /// All collateral of the exchange together stays within one largest balance, so that no sum
    /// can pass it.
    pub(crate) fn deposit(
        &mut self,
        wallet: WalletAddress,
        amount: Micros,
        reference: Reference,
        at: At,
        events: &mut Vec<Event>,
    ) -> Answer {
        let code = Command::Deposit {
            wallet,
            amount,
            reference,
        }
        .code();
        let known = self.find_account(wallet);
        self.check_reference(
            None,
            reference,
            known.map(|who| content(code, who, amount)),
            at,
        )?;
        ensure(amount > Micros::ZERO, RefusalReason::AmountZero)?;
        let total = self.collateral.checked_add(amount);
        ensure(
            total.is_some_and(|total| total <= MAX_BALANCE),
            Refusal::with(RefusalReason::BalanceLimit, amount.0, MAX_BALANCE.0),
        )?;

        let account = self.open_account(wallet, events);
        self.account_mut(account).free += amount;
        self.collateral += amount;
        events.push(Event::Deposited { account, amount });
        let outcome = CommandOutcome::Account(account);
        self.remember_reference(None, reference, content(code, account, amount), outcome, at);
        Ok(outcome)
    }

    pub(crate) fn withdraw(
        &mut self,
        wallet: WalletAddress,
        amount: Micros,
        reference: Reference,
        at: At,
        events: &mut Vec<Event>,
    ) -> Answer {
        let code = Command::Withdraw {
            wallet,
            amount,
            reference,
        }
        .code();
        let known = self.find_account(wallet);
        self.check_reference(
            None,
            reference,
            known.map(|who| content(code, who, amount)),
            at,
        )?;
        let account = known.ok_or(RefusalReason::UnknownAccount)?;
        ensure(amount > Micros::ZERO, RefusalReason::AmountZero)?;
        let free = self.account(account)?.free;
        ensure(
            amount <= free,
            Refusal::with(RefusalReason::NotEnoughCollateral, amount.0, free.0),
        )?;

        self.account_mut(account).free -= amount;
        self.collateral -= amount;
        events.push(Event::Withdrawn { account, amount });
        let outcome = CommandOutcome::Account(account);
        self.remember_reference(None, reference, content(code, account, amount), outcome, at);
        Ok(outcome)
    }

    pub(crate) fn withdraw_fees(
        &mut self,
        amount: Micros,
        reference: Reference,
        at: At,
        events: &mut Vec<Event>,
    ) -> Answer {
        let code = Command::WithdrawFees { amount, reference }.code();
        let content = content(code, AccountNumber(0), amount);
        self.check_reference(None, reference, Some(content), at)?;
        ensure(amount > Micros::ZERO, RefusalReason::AmountZero)?;
        ensure(
            amount <= self.fees,
            Refusal::with(RefusalReason::NotEnoughCollateral, amount.0, self.fees.0),
        )?;

        self.fees -= amount;
        self.collateral -= amount;
        events.push(Event::FeesWithdrawn { amount });
        self.remember_reference(None, reference, content, CommandOutcome::Done, at);
        Ok(CommandOutcome::Done)
    }
}

fn content(code: u16, account: AccountNumber, amount: Micros) -> Content {
    Content {
        code,
        account,
        object: 0,
        amount: amount.0,
        questions: QuestionSet::default(),
    }
}
