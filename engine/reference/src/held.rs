//! Withdrawals that wait for a second person (docs/verify/rules.md §27).

use foretell_model::event::{WithdrawalHeld, WithdrawalReleased, Withdrawn};
use foretell_model::limits::MAX_HELD_WITHDRAWALS;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Micros, OperatorNumber, Reference, RejectionReason,
    Sequence,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};

/// A held withdrawal. Its amount is reserved.
#[derive(Clone, Debug)]
pub(crate) struct HeldWithdrawal {
    /// Who asked for it.
    pub(crate) operator: OperatorNumber,
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

    pub(crate) fn check_room_for_held(&self) -> Result<(), NotApplied> {
        let has_room = self.held.len() < MAX_HELD_WITHDRAWALS;
        ensure(has_room, RejectionReason::TooManyHeld)
    }

    /// Holds a withdrawal that passed all checks.
    pub(crate) fn hold(
        &mut self,
        account: AccountNumber,
        amount: Micros,
        reference: Reference,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> CommandOutcome {
        self.account_mut(account).free -= amount;
        self.held.insert(
            at.sequence,
            HeldWithdrawal {
                operator: at.operator,
                account,
                amount,
                reference,
            },
        );
        events.push(Event::WithdrawalHeld(WithdrawalHeld { account, amount }));
        CommandOutcome::Held(account)
    }

    pub(crate) fn confirm_withdrawal(
        &mut self,
        reference: Reference,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let (asked, asker) = self.find_held(reference, at)?;
        self.check_two_persons(asker, at)?;
        let HeldWithdrawal {
            account, amount, ..
        } = self.free_held(asked, events);
        self.account_mut(account).free -= amount;
        self.collateral -= amount;
        events.push(Event::Withdrawn(Withdrawn { account, amount }));
        Ok(CommandOutcome::Account(account))
    }

    pub(crate) fn release_withdrawal(
        &mut self,
        reference: Reference,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let (asked, _) = self.find_held(reference, at)?;
        let account = self.free_held(asked, events).account;
        self.references.release(asked);
        Ok(CommandOutcome::Account(account))
    }

    /// The sequence and the operator of the held withdrawal with this reference.
    fn find_held(
        &self,
        reference: Reference,
        at: Stamp,
    ) -> Result<(Sequence, OperatorNumber), NotApplied> {
        let has_operator = at.operator != OperatorNumber::NONE;
        ensure(has_operator, RejectionReason::OperatorRequired)?;
        let mut all = self.held.iter();
        let found = all.find(|(_, held)| held.reference == reference);
        let (asked, held) = found.ok_or(RejectionReason::UnknownWithdrawal)?;
        Ok((*asked, held.operator))
    }

    /// The amount is free again.
    fn free_held(&mut self, asked: Sequence, events: &mut Vec<Event>) -> HeldWithdrawal {
        let held = self.held.remove(&asked).expect("it was found");
        let (account, amount) = (held.account, held.amount);
        self.account_mut(account).free += amount;
        events.push(Event::WithdrawalReleased(WithdrawalReleased {
            account,
            amount,
            asked,
        }));
        held
    }
}
