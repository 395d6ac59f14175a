//! Accounts: opening, binding, flags, deposits and withdrawals.

use foretell_model::event::{
    AccountOpened, ClosedOnlySet, Deposited, HeartbeatSet, WalletBound, WalletUnbound, Withdrawn,
};
use foretell_model::{Command, Event, Lots};

use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::rows::accounts::{add, subtract};
use crate::rows::actions::{ActionKind, NO_MARKET};
use crate::view::View;

impl View {
    pub(super) fn fold_account(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        match *event {
            Event::AccountOpened(AccountOpened { account, wallet }) => {
                self.accounts.open(account, wallet, step.now)?;
                self.holdings.open_account(account)?;
                self.standings.open_account(account)?;
                self.builder_standings.open_account(account)
            }
            Event::Deposited(Deposited { account, amount }) => {
                add(&mut self.system.collateral, amount)?;
                self.accounts.get_mut(account)?.credit(amount)?;
                let row = (ActionKind::Deposit, NO_MARKET, None);
                self.list_action(step, account, row, (Lots::ZERO, amount))
            }
            Event::Withdrawn(Withdrawn { account, amount }) => {
                subtract(&mut self.system.collateral, amount)?;
                self.accounts.get_mut(account)?.debit(amount)?;
                let row = (ActionKind::Withdrawal, NO_MARKET, None);
                self.list_action(step, account, row, (Lots::ZERO, amount))?;
                match step.frame.command {
                    Command::Withdraw(_) => self.list_direct_withdrawal(step, account, amount),
                    _ => Ok(()),
                }
            }
            Event::FeesWithdrawn { amount } => {
                subtract(&mut self.system.collateral, amount)?;
                subtract(&mut self.system.fees, amount)
            }
            Event::WalletBound(WalletBound {
                owner,
                wallet,
                kind,
            }) => self.accounts.bind(owner, wallet, kind),
            Event::WalletUnbound(WalletUnbound { owner, wallet }) => {
                self.accounts.unbind(owner, wallet)
            }
            Event::ClosedOnlySet(ClosedOnlySet {
                account,
                closed_only,
            }) => {
                self.accounts.get_mut(account)?.closed_only = closed_only;
                Ok(())
            }
            Event::HeartbeatSet(HeartbeatSet { owner, on }) => {
                self.accounts.get_mut(owner)?.heartbeat = on;
                Ok(())
            }
            _ => Err(mismatch(event)),
        }
    }
}
