//! Withdrawals that wait (docs/verify/rules.md §27, §30).

use foretell_model::command::{CancelWithdrawal, PayWithdrawal, RequestWithdrawal};
use foretell_model::event::{WithdrawalReleased, WithdrawalRequested, Withdrawn};
use foretell_model::limits::{MAX_WITHDRAWAL_VALIDITY_MS, WITHDRAWALS_PER_ACCOUNT};
use foretell_model::{
    AccountNumber, CommandKind, CommandOutcome, Event, Micros, OperatorNumber, OperatorRole,
    QuestionSet, Reference, Rejection, RejectionReason, Sequence,
};

use crate::collateral::content;
use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::references::Content;

/// A withdrawal that waits. Its amount is reserved.
#[derive(Clone, Debug)]
pub(crate) struct Withdrawal {
    /// Whether an operator asked for it.
    pub(crate) by_operator: bool,
    pub(crate) claimed_by: Option<OperatorNumber>,
    /// Whether it was above the limit when it was claimed.
    pub(crate) two_persons: bool,
    pub(crate) account: AccountNumber,
    pub(crate) amount: Micros,
    pub(crate) reference: Reference,
}

impl Exchange {
    /// Whether a withdrawal of this amount needs two persons.
    pub(crate) fn needs_two_persons(&self, amount: Micros) -> bool {
        let limit = self.payments.withdrawal_limit;
        limit > Micros::ZERO && amount > limit
    }

    pub(crate) fn check_withdrawals_open(&self) -> Result<(), NotApplied> {
        ensure(!self.withdrawals_shut, RejectionReason::WithdrawalsShut)
    }

    /// An admin books what was paid before withdrawals are open.
    pub(crate) fn check_may_book(&self, at: Stamp) -> Result<(), NotApplied> {
        ensure(
            !self.withdrawals_shut || self.is_by_admin(at),
            RejectionReason::WithdrawalsShut,
        )
    }

    fn is_by_admin(&self, at: Stamp) -> bool {
        at.operator != OperatorNumber::NONE && self.role_of(at.operator) == OperatorRole::Admin
    }

    pub(crate) fn check_room_for_withdrawal(
        &self,
        account: AccountNumber,
    ) -> Result<(), NotApplied> {
        let all = self.withdrawals.values();
        let of_account = all.filter(|it| it.account == account).count() as u64;
        let allowed = u64::from(WITHDRAWALS_PER_ACCOUNT);
        let too_many = Rejection::with(RejectionReason::TooManyWithdrawals, of_account, allowed);
        ensure(of_account < allowed, too_many)
    }

    /// Adds a withdrawal that passed all checks.
    pub(crate) fn add_withdrawal(
        &mut self,
        asked: Withdrawal,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> CommandOutcome {
        let (account, amount) = (asked.account, asked.amount);
        self.account_mut(account).free -= amount;
        self.withdrawals.insert(at.sequence, asked);
        events.push(Event::WithdrawalRequested(WithdrawalRequested {
            account,
            amount,
        }));
        CommandOutcome::Waits(account)
    }

    pub(crate) fn request_withdrawal(
        &mut self,
        request: &RequestWithdrawal,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let &RequestWithdrawal {
            owner,
            account,
            amount,
            reference,
            valid_until,
        } = request;
        let content = content(CommandKind::RequestWithdrawal, account, amount);
        self.check_reference(Some(account), reference, Some(content), at)?;
        let who = self.account(account)?;
        let (free, last) = (who.free, who.withdrawal_valid_until);
        ensure(who.owner == owner, RejectionReason::KeyOfAnotherOwner)?;
        self.check_withdrawals_open()?;
        let now = at.time.millis().0;
        let (earliest, latest) = (now.max(last.0 + 1), now + MAX_WITHDRAWAL_VALIDITY_MS);
        ensure(
            earliest <= valid_until.0 && valid_until.0 <= latest,
            Rejection::with(RejectionReason::ValidityOutOfRange, earliest, latest),
        )?;
        ensure(amount > Micros::ZERO, RejectionReason::AmountZero)?;
        ensure(
            amount <= free,
            Rejection::with(RejectionReason::NotEnoughCollateral, amount.0, free.0),
        )?;
        self.check_room_for_withdrawal(account)?;

        self.account_mut(account).withdrawal_valid_until = valid_until;
        let asked = Withdrawal {
            by_operator: false,
            claimed_by: None,
            two_persons: false,
            account,
            amount,
            reference,
        };
        let outcome = self.add_withdrawal(asked, at, events);
        self.remember_reference(Some(account), reference, content, outcome, at);
        Ok(outcome)
    }

    pub(crate) fn cancel_withdrawal(
        &mut self,
        command: &CancelWithdrawal,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.check_withdrawals_open()?;
        let asked = self.withdrawal(command.withdrawal)?;
        let is_own = asked.account == command.account;
        ensure(is_own, RejectionReason::UnknownWithdrawal)?;
        check_unclaimed(asked)?;
        self.free_withdrawal(command.withdrawal, events);
        Ok(CommandOutcome::Account(command.account))
    }

    pub(crate) fn claim_withdrawal(
        &mut self,
        number: Sequence,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        check_named(at)?;
        self.check_may_book(at)?;
        let asked = self.withdrawal(number)?.clone();
        let outcome = CommandOutcome::Waits(asked.account);
        if asked.claimed_by == Some(at.operator) {
            return Err(NotApplied::already(outcome));
        }
        check_unclaimed(&asked)?;
        let claimed = Withdrawal {
            claimed_by: Some(at.operator),
            two_persons: self.needs_two_persons(asked.amount),
            ..asked
        };
        self.withdrawals.insert(number, claimed);
        events.push(Event::WithdrawalClaimed { withdrawal: number });
        Ok(outcome)
    }

    pub(crate) fn pay_withdrawal(
        &mut self,
        command: &PayWithdrawal,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        check_named(at)?;
        let content = Content {
            kind: CommandKind::PayWithdrawal,
            account: AccountNumber(0),
            object: 0,
            amount: command.withdrawal.0,
            questions: QuestionSet::default(),
        };
        self.check_reference(None, command.payment, Some(content), at)?;
        self.check_may_book(at)?;
        let asked = self.withdrawal(command.withdrawal)?.clone();
        let claimed_by = asked.claimed_by;
        let claimed_by = claimed_by.ok_or(RejectionReason::WithdrawalNotClaimed)?;
        if asked.two_persons || self.needs_two_persons(asked.amount) {
            self.check_two_persons(claimed_by, at)?;
        }

        self.free_withdrawal(command.withdrawal, events);
        let (account, amount) = (asked.account, asked.amount);
        self.account_mut(account).free -= amount;
        self.collateral -= amount;
        events.push(Event::Withdrawn(Withdrawn { account, amount }));
        let outcome = CommandOutcome::Done;
        self.remember_reference(None, command.payment, content, outcome, at);
        Ok(outcome)
    }

    pub(crate) fn fail_withdrawal(
        &mut self,
        number: Sequence,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        check_named(at)?;
        self.check_withdrawals_open()?;
        let asked = self.withdrawal(number)?;
        let account = asked.account;
        let may_fail = asked.two_persons || asked.claimed_by == Some(at.operator);
        if !may_fail && !self.is_by_admin(at) {
            check_unclaimed(asked)?;
        }
        self.free_withdrawal(number, events);
        self.references.release(number);
        Ok(CommandOutcome::Account(account))
    }

    fn withdrawal(&self, number: Sequence) -> Result<&Withdrawal, NotApplied> {
        let found = self.withdrawals.get(&number);
        found.ok_or_else(|| RejectionReason::UnknownWithdrawal.into())
    }

    /// The amount is free again.
    fn free_withdrawal(&mut self, number: Sequence, events: &mut Vec<Event>) {
        let ended = self.withdrawals.remove(&number).expect("it was found");
        let (account, amount) = (ended.account, ended.amount);
        self.account_mut(account).free += amount;
        events.push(Event::WithdrawalReleased(WithdrawalReleased {
            account,
            amount,
            asked: number,
        }));
    }
}

fn check_named(at: Stamp) -> Result<(), NotApplied> {
    let is_named = at.operator != OperatorNumber::NONE;
    ensure(is_named, RejectionReason::OperatorRequired)
}

fn check_unclaimed(asked: &Withdrawal) -> Result<(), NotApplied> {
    match asked.claimed_by {
        None => Ok(()),
        Some(by) => Err(Rejection::with(RejectionReason::WithdrawalClaimed, by.0.into(), 0).into()),
    }
}
