//! Withdrawals that wait (docs/verify/rules.md §27, §30).

use foretell_model::event::{WithdrawalReleased, WithdrawalRequested};
use foretell_model::evidence::WithdrawalEvidence;
use foretell_model::{AccountNumber, Command, Event, Micros, OperatorNumber};

use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::rows::withdrawals::{ShortText, Withdrawal, WithdrawalStatus};
use crate::view::View;

impl View {
    pub(super) fn fold_withdrawal(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        match *event {
            Event::WithdrawalRequested(requested) => self.ask(step, event, requested),
            Event::WithdrawalClaimed { withdrawal } => {
                let limit = self.people.payments.withdrawal_limit;
                let waiting = self.withdrawals.waiting.change(withdrawal);
                let claimed = waiting.ok_or_else(|| mismatch(event))?;
                claimed.status = WithdrawalStatus::Claimed;
                claimed.claimed_by = step.frame.operator;
                claimed.two_persons = !limit.is_zero() && claimed.amount > limit;
                (claimed.changed, claimed.sequence) = (step.now, step.frame.sequence);
                Ok(())
            }
            Event::WithdrawalReleased(released) => self.end(step, event, released),
            _ => Err(mismatch(event)),
        }
    }

    fn ask(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
        WithdrawalRequested { account, amount }: WithdrawalRequested,
    ) -> Result<(), Impossible> {
        let (reference, destination, status) = match step.frame.command {
            // The reference of an operator is all of its evidence.
            Command::Withdraw(_) => (step.evidence(), &[][..], WithdrawalStatus::Claimed),
            Command::RequestWithdrawal(_) => {
                let signed = WithdrawalEvidence::decode(step.evidence());
                let [reference, destination] = signed.map_or([&[][..]; 2], |signed| {
                    [signed.reference, signed.destination].map(str::as_bytes)
                });
                (reference, destination, WithdrawalStatus::Requested)
            }
            _ => return Err(mismatch(event)),
        };
        self.accounts.get_mut(account)?.reserve(amount)?;
        let asked = Withdrawal {
            reference: ShortText::new(reference),
            destination: ShortText::new(destination),
            ..asked(step, (account, amount), status)
        };
        self.withdrawals.waiting.add(asked)
    }

    /// Lists what an operator took out in one step, as requested, claimed and paid at once.
    pub(super) fn list_direct_withdrawal(
        &mut self,
        step: &FoldStep<'_>,
        account: AccountNumber,
        amount: Micros,
    ) -> Result<(), Impossible> {
        let reference = ShortText::new(step.evidence());
        self.withdrawals.end(&Withdrawal {
            reference,
            payment: reference,
            two_persons: false,
            ended_by: step.frame.operator,
            ..asked(step, (account, amount), WithdrawalStatus::Paid)
        })
    }

    fn end(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
        released: WithdrawalReleased,
    ) -> Result<(), Impossible> {
        let WithdrawalReleased {
            account,
            amount,
            asked,
        } = released;
        let waiting = self.withdrawals.waiting.remove(asked);
        let is_it = |it: &Withdrawal| (it.account, it.amount) == (account, amount);
        let mut ended = waiting.filter(is_it).ok_or_else(|| mismatch(event))?;
        ended.status = match step.frame.command {
            Command::PayWithdrawal(_) => WithdrawalStatus::Paid,
            Command::FailWithdrawal { .. } => WithdrawalStatus::Failed,
            Command::CancelWithdrawal(_) => WithdrawalStatus::Cancelled,
            _ => return Err(mismatch(event)),
        };
        if ended.status == WithdrawalStatus::Paid {
            ended.payment = ShortText::new(step.evidence());
        }
        ended.ended_by = step.frame.operator;
        (ended.sequence, ended.changed) = step.at();
        self.accounts.get_mut(account)?.release(amount)?;
        self.withdrawals.end(&ended)
    }
}

/// The row of a request by a frame, without its texts. An operator's is claimed, and waits for a second person.
fn asked(
    step: &FoldStep<'_>,
    (account, amount): (AccountNumber, Micros),
    status: WithdrawalStatus,
) -> Withdrawal {
    let operator = step.frame.operator;
    let (number, now) = step.at();
    Withdrawal {
        number,
        account,
        amount,
        reference: ShortText::default(),
        destination: ShortText::default(),
        status,
        asked_by: operator,
        asked: now,
        claimed_by: operator,
        two_persons: operator != OperatorNumber::NONE,
        ended_by: OperatorNumber::NONE,
        changed: now,
        sequence: number,
        payment: ShortText::default(),
    }
}
