//! Operators, payments of rebates (docs/verify/rules.md §23, §27).

use foretell_model::command::AddOperator;
use foretell_model::event::RebatePaid;
use foretell_model::{Command, Event, Lots};

use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::rows::accounts::{add, subtract};
use crate::rows::actions::{ActionKind, NO_MARKET};
use crate::rows::people::Operator;
use crate::view::View;

impl View {
    pub(super) fn fold_people(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        match (event, step.frame.command) {
            (
                &Event::OperatorAdded { operator },
                &Command::AddOperator(AddOperator { role, name, token }),
            ) => {
                let added = Operator {
                    name,
                    role,
                    token,
                    added: step.now,
                    revoked: None,
                };
                self.people.add(operator, added)
            }
            (&Event::OperatorRevoked { operator }, _) => self.people.revoke(operator, step.now),
            (&Event::PaymentsSet { payments }, _) => {
                self.people.payments = payments;
                Ok(())
            }
            _ => Err(mismatch(event)),
        }
    }

    pub(super) fn fold_rebates(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        match *event {
            Event::RebatePaymentStarted { accounts } => {
                (self.background).start(step.frame.sequence, None, accounts);
                Ok(())
            }
            Event::RebatePaid(RebatePaid { account, amount }) => {
                subtract(&mut self.system.accrued, amount)?;
                let paid = self.accounts.get_mut(account)?;
                subtract(&mut paid.accrued, amount)?;
                add(&mut paid.rebates_paid, amount)?;
                paid.credit(amount)?;
                self.background.pay(amount)?;
                let row = (ActionKind::Rebate, NO_MARKET, None);
                self.list_action(step, account, row, (Lots::ZERO, amount))
            }
            Event::RebatePaymentEnded { .. } => {
                let ended = self.background.end(None);
                ended.map(drop).ok_or_else(|| mismatch(event))
            }
            _ => Err(mismatch(event)),
        }
    }
}
