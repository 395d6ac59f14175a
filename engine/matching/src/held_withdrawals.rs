//! Withdrawals that wait for a second person (docs/verify/rules.md §27).

use foretell_model::event::{WithdrawalHeld, WithdrawalReleased};
use foretell_model::limits::MAX_HELD_WITHDRAWALS;
use foretell_model::state::HeldWithdrawal;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Micros, Reference, RejectionReason, Sequence,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::idempotency::ActionContent;
use crate::operators::ensure_named;

/// All held withdrawals by sequence, at most [`MAX_HELD_WITHDRAWALS`]: searched, not indexed.
#[derive(Debug)]
pub(crate) struct HeldWithdrawals {
    held: Vec<HeldWithdrawal>,
}

impl HeldWithdrawals {
    pub(crate) fn new() -> Self {
        Self {
            held: Vec::with_capacity(MAX_HELD_WITHDRAWALS),
        }
    }

    const fn is_full(&self) -> bool {
        self.held.len() >= MAX_HELD_WITHDRAWALS
    }

    /// Adds the withdrawal with the highest sequence.
    pub(crate) fn add(&mut self, held: HeldWithdrawal) {
        self.held.push(held);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &HeldWithdrawal> {
        self.held.iter()
    }

    fn contains(&self, sequence: Sequence) -> bool {
        let found = self
            .held
            .binary_search_by_key(&sequence, |held| held.sequence);
        found.is_ok()
    }

    fn find(&self, reference: Reference) -> Option<usize> {
        self.held
            .iter()
            .position(|held| held.reference == reference)
    }
}

impl Exchange {
    /// Whether a withdrawal of this amount waits for a second person; never with a limit of 0.
    pub(crate) fn needs_second_person(&self, amount: Micros) -> bool {
        let limit = self.rebates.payments.withdrawal_limit;
        !limit.is_zero() && amount > limit
    }

    /// Rejects the reference of an earlier withdrawal. A repeat answers `Held` while it is held.
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
            } if self.held.contains(first) => NotApplied::Repeated {
                first,
                last,
                outcome: CommandOutcome::Held(account),
            },
            other => other,
        })
    }

    /// Holds a checked withdrawal.
    pub(crate) fn hold(
        &mut self,
        account: AccountNumber,
        amount: Micros,
        reference: Reference,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure(!self.held.is_full(), RejectionReason::TooManyHeld)?;
        self.accounts[account].reserve(amount);
        self.held.add(HeldWithdrawal {
            sequence: context.sequence,
            operator: context.operator,
            account,
            amount,
            reference,
        });
        context.event(Event::WithdrawalHeld(WithdrawalHeld { account, amount }));
        Ok(CommandOutcome::Held(account))
    }

    pub(crate) fn confirm_withdrawal(
        &mut self,
        reference: Reference,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let at = self.find_held(reference, context)?;
        let asked_by = self.held.held[at].operator;
        self.ensure_two_persons(asked_by, context)?;
        let held = self.release_held(at, context);
        self.pay_out(held.account, held.amount, context);
        Ok(CommandOutcome::Account(held.account))
    }

    pub(crate) fn release_withdrawal(
        &mut self,
        reference: Reference,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let at = self.find_held(reference, context)?;
        let held = self.release_held(at, context);
        let released = CommandOutcome::Released(held.account);
        self.references.replace_outcome(reference, released);
        Ok(CommandOutcome::Account(held.account))
    }

    fn find_held(
        &self,
        reference: Reference,
        context: &CommandContext<'_>,
    ) -> Result<usize, NotApplied> {
        ensure_named(context)?;
        let found = self.held.find(reference);
        found.ok_or_else(|| RejectionReason::UnknownWithdrawal.into())
    }

    fn release_held(&mut self, at: usize, context: &mut CommandContext<'_>) -> HeldWithdrawal {
        let held = self.held.held.remove(at);
        self.accounts[held.account].release(held.amount);
        context.event(Event::WithdrawalReleased(WithdrawalReleased {
            account: held.account,
            amount: held.amount,
            asked: held.sequence,
        }));
        held
    }
}
