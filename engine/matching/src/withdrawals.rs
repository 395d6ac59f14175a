//! Withdrawals that wait: asked for by users, or by operators above the limit
//! (docs/verify/rules.md §27, §30).

use foretell_model::command::{CancelWithdrawal, PayWithdrawal, RequestWithdrawal};
use foretell_model::event::{WithdrawalReleased, WithdrawalRequested};
use foretell_model::limits::{MAX_WITHDRAWAL_VALIDITY_MS, WITHDRAWALS_PER_ACCOUNT};
use foretell_model::state::PendingWithdrawal;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Micros, OperatorNumber, OperatorRole, Reference,
    Rejection, RejectionReason, Sequence, TimeMs,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::funds::{ensure_collateral, money};
use crate::idempotency::ActionContent;
use crate::operators::ensure_named;
use crate::slab::Slab;
use crate::table::{KeyHasher, Table};

/// Withdrawals that room is made for at the start.
const ROOM: usize = 1 << 14;

/// All withdrawals that wait: at most [`WITHDRAWALS_PER_ACCOUNT`] of an account, so that no account takes the
/// room of another one.
#[derive(Debug)]
pub(crate) struct Withdrawals {
    waiting: Slab<PendingWithdrawal>,
    by_number: Table,
    hasher: KeyHasher,
}

impl Withdrawals {
    /// Makes room for one withdrawal of each of these accounts, up to [`ROOM`]; beyond it grows.
    pub(crate) fn with_capacity(accounts: usize, hasher: KeyHasher) -> Self {
        let withdrawals = accounts.min(ROOM);
        Self {
            waiting: Slab::with_capacity(withdrawals),
            by_number: Table::with_capacity(withdrawals),
            hasher,
        }
    }

    pub(crate) fn add(&mut self, withdrawal: PendingWithdrawal) {
        let hash = self.hash(withdrawal.withdrawal);
        let slot = self.waiting.insert(withdrawal);
        self.by_number.insert(hash, slot);
    }

    fn remove(&mut self, slot: u32) -> PendingWithdrawal {
        let removed = self.waiting[slot];
        let hash = self.hash(removed.withdrawal);
        self.by_number.remove(hash, slot);
        self.waiting.release(slot);
        removed
    }

    /// By number. Allocates: only for checks and listings.
    pub(crate) fn sorted(&self) -> Vec<PendingWithdrawal> {
        let waiting = self.waiting.iter().map(|(_, withdrawal)| *withdrawal);
        let mut sorted = Vec::from_iter(waiting);
        sorted.sort_unstable_by_key(|withdrawal| withdrawal.withdrawal);
        sorted
    }

    fn find(&self, number: Sequence) -> Option<u32> {
        let is_it = |slot| self.waiting[slot].withdrawal == number;
        self.by_number.find(self.hash(number), is_it)
    }

    /// The slot of the withdrawal with this number.
    fn place(&self, number: Sequence) -> Result<u32, NotApplied> {
        let found = self.find(number);
        found.ok_or_else(|| RejectionReason::UnknownWithdrawal.into())
    }

    fn hash(&self, number: Sequence) -> u32 {
        self.hasher.number(number.0.into())
    }
}

impl Exchange {
    /// Whether a withdrawal of this amount needs two persons; none does with a limit of 0.
    pub(crate) fn needs_two_persons(&self, amount: Micros) -> bool {
        let limit = self.rebates.payments.withdrawal_limit;
        !limit.is_zero() && amount > limit
    }

    /// Rejects what moves money out while the journal may lack what was paid.
    pub(crate) fn ensure_withdrawals_open(&self) -> Result<(), NotApplied> {
        let is_open = !self.system.withdrawals_shut;
        ensure(is_open, RejectionReason::WithdrawalsShut)
    }

    /// Rejects what books a payment while the journal may lack payments, but an admin's: who reconciles books
    /// what was paid before others may ask for it.
    pub(crate) fn ensure_may_book(&self, context: &CommandContext<'_>) -> Result<(), NotApplied> {
        match self.is_admin(context) {
            true => Ok(()),
            false => self.ensure_withdrawals_open(),
        }
    }

    fn is_admin(&self, context: &CommandContext<'_>) -> bool {
        self.operators.role(context.operator) == Some(OperatorRole::Admin)
    }

    /// Rejects the reference of an earlier withdrawal of operators. A repeat answers `Waits` while it
    /// waits.
    pub(crate) fn ensure_new_withdrawal(
        &self,
        reference: Reference,
        content: Option<ActionContent>,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        let known = self
            .references
            .ensure_new(None, reference, content, context);
        known.map_err(|answer| match answer {
            NotApplied::Repeated {
                first,
                last,
                outcome: CommandOutcome::Account(account),
            } if self.withdrawals.find(first).is_some() => NotApplied::Repeated {
                first,
                last,
                outcome: CommandOutcome::Waits(account),
            },
            other => other,
        })
    }

    /// Holds a checked withdrawal of an operator for a second person.
    pub(crate) fn hold(
        &mut self,
        account: AccountNumber,
        amount: Micros,
        reference: Reference,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.ensure_room_for_withdrawal(account)?;
        let asked = PendingWithdrawal {
            withdrawal: context.sequence,
            by_operator: true,
            claimed_by: context.operator,
            two_persons: true,
            account,
            amount,
            reference,
        };
        Ok(self.add_withdrawal(asked, context))
    }

    pub(crate) fn request_withdrawal(
        &mut self,
        &RequestWithdrawal {
            owner,
            account,
            amount,
            reference,
            valid_until,
        }: &RequestWithdrawal,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let content = money(account, amount);
        self.references
            .ensure_new(Some(account), reference, Some(content), context)?;
        self.references.ensure_room(account, context)?;
        let asking = self.account(account)?;
        let free = asking.free;
        ensure(asking.owner == owner, RejectionReason::KeyOfAnotherOwner)?;
        self.ensure_withdrawals_open()?;
        self.ensure_validity(account, valid_until, context)?;
        ensure(!amount.is_zero(), RejectionReason::AmountZero)?;
        ensure_collateral(amount, free)?;
        self.ensure_room_for_withdrawal(account)?;

        self.accounts.identity_mut(account).withdrawal_valid_until = valid_until;
        let asked = PendingWithdrawal {
            withdrawal: context.sequence,
            by_operator: false,
            claimed_by: OperatorNumber::NONE,
            two_persons: false,
            account,
            amount,
            reference,
        };
        let outcome = self.add_withdrawal(asked, context);
        self.references
            .remember(Some(account), reference, content, outcome, context);
        Ok(outcome)
    }

    pub(crate) fn cancel_withdrawal(
        &mut self,
        &CancelWithdrawal {
            account,
            withdrawal,
        }: &CancelWithdrawal,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.ensure_withdrawals_open()?;
        let at = self.withdrawals.place(withdrawal)?;
        let asked = &self.withdrawals.waiting[at];
        ensure(asked.account == account, RejectionReason::UnknownWithdrawal)?;
        ensure_unclaimed(asked)?;
        self.end_withdrawal(at, context);
        Ok(CommandOutcome::Account(account))
    }

    pub(crate) fn claim_withdrawal(
        &mut self,
        withdrawal: Sequence,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure_named(context)?;
        self.ensure_may_book(context)?;
        let at = self.withdrawals.place(withdrawal)?;
        let asked = self.withdrawals.waiting[at];
        let outcome = CommandOutcome::Waits(asked.account);
        ensure(
            asked.claimed_by != context.operator,
            NotApplied::already(outcome),
        )?;
        ensure_unclaimed(&asked)?;

        let two_persons = self.needs_two_persons(asked.amount);
        let claimed = &mut self.withdrawals.waiting[at];
        (claimed.claimed_by, claimed.two_persons) = (context.operator, two_persons);
        context.event(Event::WithdrawalClaimed { withdrawal });
        Ok(outcome)
    }

    pub(crate) fn pay_withdrawal(
        &mut self,
        &PayWithdrawal {
            withdrawal,
            payment,
        }: &PayWithdrawal,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure_named(context)?;
        let content = ActionContent {
            amount: withdrawal.0,
            ..ActionContent::default()
        };
        self.references
            .ensure_new(None, payment, Some(content), context)?;
        self.ensure_may_book(context)?;
        let at = self.withdrawals.place(withdrawal)?;
        let claimed = self.withdrawals.waiting[at];
        let is_claimed = claimed.claimed_by != OperatorNumber::NONE;
        ensure(is_claimed, RejectionReason::WithdrawalNotClaimed)?;
        if claimed.two_persons || self.needs_two_persons(claimed.amount) {
            self.ensure_two_persons(claimed.claimed_by, context)?;
        }

        self.end_withdrawal(at, context);
        self.pay_out(claimed.account, claimed.amount, context);
        let outcome = CommandOutcome::Done;
        self.references
            .remember(None, payment, content, outcome, context);
        Ok(outcome)
    }

    pub(crate) fn fail_withdrawal(
        &mut self,
        withdrawal: Sequence,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure_named(context)?;
        self.ensure_withdrawals_open()?;
        let at = self.withdrawals.place(withdrawal)?;
        let asked = &self.withdrawals.waiting[at];
        if asked.claimed_by != context.operator && !asked.two_persons && !self.is_admin(context) {
            ensure_unclaimed(asked)?;
        }
        let failed = self.end_withdrawal(at, context);
        if failed.by_operator {
            let released = CommandOutcome::Released(failed.account);
            self.references.replace_outcome(failed.reference, released);
        }
        Ok(CommandOutcome::Account(failed.account))
    }

    /// Requests of an account are valid until later and later times, so that none is accepted twice
    /// however long its reference is remembered.
    fn ensure_validity(
        &self,
        account: AccountNumber,
        valid_until: TimeMs,
        context: &CommandContext<'_>,
    ) -> Result<(), NotApplied> {
        let (now, last) = (
            context.now.millis().0,
            self.accounts.identity(account).withdrawal_valid_until.0,
        );
        let (earliest, latest) = (now.max(last + 1), now + MAX_WITHDRAWAL_VALIDITY_MS);
        ensure(
            (earliest..=latest).contains(&valid_until.0),
            Rejection::with(RejectionReason::ValidityOutOfRange, earliest, latest),
        )
    }

    fn ensure_room_for_withdrawal(&self, account: AccountNumber) -> Result<(), NotApplied> {
        let waiting = u64::from(self.accounts[account].withdrawals);
        let allowed = u64::from(WITHDRAWALS_PER_ACCOUNT);
        let too_many = Rejection::with(RejectionReason::TooManyWithdrawals, waiting, allowed);
        ensure(waiting < allowed, too_many)
    }

    fn add_withdrawal(
        &mut self,
        asked: PendingWithdrawal,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        let PendingWithdrawal {
            account, amount, ..
        } = asked;
        self.accounts[account].reserve(amount);
        self.accounts[account].withdrawals += 1;
        self.withdrawals.add(asked);
        context.event(Event::WithdrawalRequested(WithdrawalRequested {
            account,
            amount,
        }));
        CommandOutcome::Waits(account)
    }

    /// The amount is free again.
    fn end_withdrawal(&mut self, at: u32, context: &mut CommandContext<'_>) -> PendingWithdrawal {
        let ended = self.withdrawals.remove(at);
        let account = &mut self.accounts[ended.account];
        account.release(ended.amount);
        account.withdrawals -= 1;
        context.event(Event::WithdrawalReleased(WithdrawalReleased {
            account: ended.account,
            amount: ended.amount,
            asked: ended.withdrawal,
        }));
        ended
    }
}

/// Rejects what only an unclaimed withdrawal allows.
fn ensure_unclaimed(asked: &PendingWithdrawal) -> Result<(), NotApplied> {
    let by = asked.claimed_by;
    ensure(
        by == OperatorNumber::NONE,
        Rejection::with(RejectionReason::WithdrawalClaimed, by.0.into(), 0),
    )
}
