//! Full sets: collateral into shares, shares into collateral, and the payout of what was held.

use foretell_model::limits::MAX_ORDER_LOTS;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Lots, MarketNumber, Micros, Outcome, Reference, Refusal,
    RefusalReason,
};

use crate::accounts::Account;
use crate::exchange::Exchange;
use crate::funds::ensure_collateral;
use crate::references::Content;
use crate::step::{Answer, NotApplied, Step, ensure};

impl Exchange {
    pub(crate) fn split(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        lots: Lots,
        reference: Reference,
        step: &mut Step<'_>,
    ) -> Answer {
        let content = shares(account, market, lots);
        self.references
            .ensure_new(Some(account), reference, Some(content), step)?;
        self.references.ensure_room(account, step)?;
        let who = self.account(account)?;
        let sets = self.markets.get(market)?;
        ensure_amount(lots)?;
        self.system.ensure_takes_risk()?;
        sets.ensure_trading()?;
        ensure(!who.closed_only, RefusalReason::ClosedOnlyAccount)?;
        let value = lots.full_value();
        ensure_collateral(value, who.free)?;

        self.accounts[account].free -= value;
        self.markets[market].mint(lots);
        for outcome in [Outcome::Yes, Outcome::No] {
            self.positions.credit(account, market, outcome, lots);
        }
        step.event(Event::Split {
            account,
            market,
            lots,
        });
        let outcome = CommandOutcome::Collateral(value);
        self.references
            .remember(Some(account), reference, content, outcome, step);
        Ok(outcome)
    }

    pub(crate) fn merge(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        lots: Lots,
        reference: Reference,
        step: &mut Step<'_>,
    ) -> Answer {
        let content = shares(account, market, lots);
        self.references
            .ensure_new(Some(account), reference, Some(content), step)?;
        self.references.ensure_room_to_leave(account, step)?;
        self.account(account)?;
        let sets = self.markets.get(market)?;
        ensure_amount(lots)?;
        sets.ensure_mergeable()?;
        let [yes, no] = self.positions.free(account, market);
        ensure_shares(lots, yes.min(no))?;

        let value = lots.full_value();
        self.accounts[account].free += value;
        self.markets[market].burn(lots);
        for outcome in [Outcome::Yes, Outcome::No] {
            self.positions.debit(account, market, outcome, lots);
        }
        step.event(Event::Merged {
            account,
            market,
            lots,
        });
        let outcome = CommandOutcome::Collateral(value);
        self.references
            .remember(Some(account), reference, content, outcome, step);
        Ok(outcome)
    }

    pub(crate) fn redeem(
        &mut self,
        account: AccountNumber,
        market: MarketNumber,
        reference: Reference,
        step: &mut Step<'_>,
    ) -> Answer {
        let content = shares(account, market, Lots::ZERO);
        self.references
            .ensure_new(Some(account), reference, Some(content), step)?;
        self.references.ensure_room_to_leave(account, step)?;
        self.account(account)?;
        let paid = self.markets.get(market)?.payout;
        let prices = paid.ok_or(RefusalReason::NotResolved)?.price_units();
        // A resolved market has no orders, so nothing of it is reserved.
        let place = self
            .positions
            .find(account, market)
            .ok_or(RefusalReason::NothingToRedeem)?;

        let lots = std::mem::take(&mut self.positions[place].free);
        self.positions.close_if_idle(place);
        let supply = &mut self.markets[market].supply;
        let mut payout = Micros::ZERO;
        for index in 0..2 {
            supply[index] -= lots[index];
            payout += Micros(lots[index].0 * u64::from(prices[index]));
        }
        self.accounts[account].free += payout;
        step.event(Event::Redeemed {
            account,
            market,
            lots,
            payout,
        });
        let outcome = CommandOutcome::Collateral(payout);
        self.references
            .remember(Some(account), reference, content, outcome, step);
        Ok(outcome)
    }

    pub(crate) fn account(&self, account: AccountNumber) -> Result<&Account, NotApplied> {
        self.accounts
            .get(account)
            .ok_or_else(|| RefusalReason::UnknownAccount.into())
    }
}

/// Passes an amount of shares an account action may move.
pub(crate) fn ensure_amount(lots: Lots) -> Result<(), NotApplied> {
    ensure(!lots.is_zero(), RefusalReason::AmountZero)?;
    ensure(lots <= MAX_ORDER_LOTS, RefusalReason::AmountTooLarge)
}

/// Passes when `free` shares cover what is `needed`.
pub(crate) fn ensure_shares(needed: Lots, free: Lots) -> Result<(), NotApplied> {
    let lacking = RefusalReason::NotEnoughShares;
    ensure(needed <= free, Refusal::with(lacking, needed.0, free.0))
}

fn shares(account: AccountNumber, market: MarketNumber, lots: Lots) -> Content {
    Content {
        account,
        object: market.0,
        amount: lots.0,
        ..Content::default()
    }
}
