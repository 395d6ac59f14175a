//! Full sets, payouts and conversions: collateral, shares, positions, and the rows of these actions.

use foretell_model::event::{Converted, Merged, Redeemed, Split};
use foretell_model::{AccountNumber, Command, Event, Lots, MarketNumber, Micros, Outcome};

use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::rows::actions::ActionKind;
use crate::rows::balance::{lower, raise};
use crate::view::View;

impl View {
    pub(super) fn fold_shares(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        match *event {
            Event::Split(Split {
                account,
                market,
                lots,
            }) => {
                self.accounts.get_mut(account)?.debit(lots.full_value())?;
                self.issue(account, market, Outcome::Yes, lots)?;
                self.issue(account, market, Outcome::No, lots)?;
                self.each_outcome(step, account, market, |position| {
                    position.split(lots);
                    Ok(())
                })?;
                let row = (ActionKind::Split, market, None);
                self.list_action(step, account, row, (lots, lots.full_value()))
            }
            Event::Merged(Merged {
                account,
                market,
                lots,
            }) => {
                self.burn(account, market, Outcome::Yes, lots)?;
                self.burn(account, market, Outcome::No, lots)?;
                self.accounts.get_mut(account)?.credit(lots.full_value())?;
                self.each_outcome(step, account, market, |position| position.merge(lots))?;
                let row = (ActionKind::Merge, market, None);
                self.list_action(step, account, row, (lots, lots.full_value()))
            }
            Event::Redeemed(redeemed) => self.redeem(step, event, redeemed),
            Event::Converted(converted) => self.convert(step, event, converted),
            _ => Err(mismatch(event)),
        }
    }

    /// Pays for the shares of a resolved market, with a row for each token of which shares were held.
    fn redeem(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
        redeemed: Redeemed,
    ) -> Result<(), Impossible> {
        let (account, market) = (redeemed.account, redeemed.market);
        for (&outcome, lots) in Outcome::ALL.iter().zip(redeemed.lots) {
            self.burn(account, market, outcome, lots)?;
        }
        self.accounts.get_mut(account)?.credit(redeemed.payout)?;
        if let Command::Step = step.frame.command {
            self.background.pay(redeemed.payout)?;
        }
        let resolved = self.markets.get_mut(market)?;
        let (is_shown, payout) = (resolved.is_shown(), resolved.payout);
        let payout = payout.ok_or_else(|| mismatch(event))?;
        for (&outcome, lots) in Outcome::ALL.iter().zip(redeemed.lots) {
            if lots.is_zero() {
                continue;
            }
            let mut paid = Micros::ZERO;
            self.change_position(step, account, (market, outcome), |position| {
                paid = position.redeem(lots, payout, outcome)?;
                Ok(())
            })?;
            if is_shown {
                let row = (ActionKind::Redeem, market, Some(outcome));
                self.list_action(step, account, row, (lots, paid))?;
            }
        }
        Ok(())
    }

    /// Burns No of the given questions, issues Yes of all other open ones and of the outside question,
    /// and credits the collateral.
    fn convert(
        &mut self,
        step: &FoldStep<'_>,
        event: &Event,
        converted: Converted,
    ) -> Result<(), Impossible> {
        let (account, lots) = (converted.account, converted.lots);
        let group = self.events.get_mut(converted.event)?;
        let (questions, outside) = (group.questions.clone(), group.outside);
        let (mut no, mut yes) = (Vec::new(), Vec::new());
        for (index, market) in (0..).zip(questions) {
            if converted.questions.contains(index) {
                self.burn(account, market, Outcome::No, lots)?;
                no.push(market);
            } else if self.markets.get_mut(market)?.is_open() {
                self.issue(account, market, Outcome::Yes, lots)?;
                yes.push(market);
            }
        }
        self.issue(account, outside, Outcome::Yes, lots)?;
        (self.accounts.get_mut(account)?).credit(converted.collateral)?;
        self.events.convert(converted.event, lots)?;
        self.convert_positions(step, account, (&no, &yes, outside), lots)?;
        let first = no.first().ok_or_else(|| mismatch(event))?;
        let row = (ActionKind::Convert, *first, None);
        self.list_action(step, account, row, (lots, converted.collateral))
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
