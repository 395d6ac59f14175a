//! Accounts: opening, binding, flags, deposits and withdrawals, full sets, payouts, conversions.

use foretell_model::event::{
    AccountOpened, ClosedOnlySet, Converted, Deposited, HeartbeatSet, Merged, Redeemed, Split,
    WalletBound, WalletUnbound, Withdrawn,
};
use foretell_model::{
    AccountNumber, Command, Event, EventNumber, Lots, MarketNumber, Micros, Outcome, QuestionSet,
};

use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::rows::accounts::{add, subtract};
use crate::rows::actions::{ActionKind, NO_MARKET};
use crate::rows::balance::{lower, raise};
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

    pub(super) fn fold_shares(&mut self, event: &Event) -> Result<(), Impossible> {
        match *event {
            Event::Split(Split {
                account,
                market,
                lots,
            }) => {
                self.accounts.get_mut(account)?.debit(lots.full_value())?;
                self.issue(account, market, Outcome::Yes, lots)?;
                self.issue(account, market, Outcome::No, lots)
            }
            Event::Merged(Merged {
                account,
                market,
                lots,
            }) => {
                self.burn(account, market, Outcome::Yes, lots)?;
                self.burn(account, market, Outcome::No, lots)?;
                self.accounts.get_mut(account)?.credit(lots.full_value())
            }
            Event::Redeemed(Redeemed {
                account,
                market,
                lots: [yes, no],
                payout,
            }) => {
                self.burn(account, market, Outcome::Yes, yes)?;
                self.burn(account, market, Outcome::No, no)?;
                self.accounts.get_mut(account)?.credit(payout)
            }
            Event::Converted(Converted {
                account,
                event,
                questions,
                lots,
                collateral,
            }) => self.convert(account, event, questions, lots, collateral),
            _ => Err(mismatch(event)),
        }
    }

    /// Burns No of the given questions, issues Yes of all other open ones and of the outside question,
    /// and credits the collateral.
    fn convert(
        &mut self,
        account: AccountNumber,
        event: EventNumber,
        given: QuestionSet,
        lots: Lots,
        collateral: Micros,
    ) -> Result<(), Impossible> {
        let group = self.events.get_mut(event)?;
        let (questions, outside) = (group.questions.clone(), group.outside);
        for (index, market) in (0..).zip(questions) {
            if given.contains(index) {
                self.burn(account, market, Outcome::No, lots)?;
            } else if self.markets.get_mut(market)?.is_open() {
                self.issue(account, market, Outcome::Yes, lots)?;
            }
        }
        self.issue(account, outside, Outcome::Yes, lots)?;
        self.accounts.get_mut(account)?.credit(collateral)?;
        self.events.convert(event, lots)
    }

    /// Issues new shares to an account.
    fn issue(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        outcome: Outcome,
        lots: Lots,
    ) -> Result<(), Impossible> {
        (self.holdings).change_balance(account, market, |held| held.give(outcome, lots))?;
        let supply = &mut self.markets.get_mut(market)?.supply;
        raise(&mut supply[outcome.index()], lots)
    }

    /// Burns free shares of an account.
    fn burn(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        outcome: Outcome,
        lots: Lots,
    ) -> Result<(), Impossible> {
        (self.holdings).change_balance(account, market, |held| held.take(outcome, lots))?;
        let supply = &mut self.markets.get_mut(market)?.supply;
        lower(&mut supply[outcome.index()], lots)
    }
}
