//! Full sets: split, merge, and redemption of resolved shares.

use foretell_model::command::{self, Merge, Redeem};
use foretell_model::event::{Merged, Redeemed, Split};
use foretell_model::limits::MAX_ORDER_LOTS;
use foretell_model::{
    AccountNumber, CommandOutcome, Event, Lots, MarketNumber, Micros, Outcome, Payout, Rejection,
    RejectionReason,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::funds::ensure_collateral;
use crate::idempotency::ActionContent;
use crate::market::Market;

impl Exchange {
    pub(crate) fn split(
        &mut self,
        &command::Split {
            account,
            market,
            lots,
            reference,
        }: &command::Split,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let content = shares(account, market, lots);
        self.references
            .ensure_new(Some(account), reference, Some(content), context)?;
        self.references.ensure_room(account, context)?;
        let who = self.account(account)?;
        let sets = self.markets.get(market)?;
        ensure_amount(lots)?;
        self.system.ensure_takes_risk()?;
        sets.ensure_trading()?;
        ensure(!who.closed_only, RejectionReason::ClosedOnlyAccount)?;
        let value = lots.full_value();
        ensure_collateral(value, who.free)?;

        self.accounts[account].free -= value;
        self.markets[market].mint(lots);
        for outcome in [Outcome::Yes, Outcome::No] {
            self.positions.credit(account, market, outcome, lots);
        }
        context.event(Event::Split(Split {
            account,
            market,
            lots,
        }));
        let outcome = CommandOutcome::Collateral(value);
        self.references
            .remember(Some(account), reference, content, outcome, context);
        Ok(outcome)
    }

    pub(crate) fn merge(
        &mut self,
        &Merge {
            account,
            market,
            lots,
            reference,
        }: &Merge,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let content = shares(account, market, lots);
        self.references
            .ensure_new(Some(account), reference, Some(content), context)?;
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
        context.event(Event::Merged(Merged {
            account,
            market,
            lots,
        }));
        let outcome = CommandOutcome::Collateral(value);
        self.references
            .remember(Some(account), reference, content, outcome, context);
        Ok(outcome)
    }

    pub(crate) fn redeem(
        &mut self,
        &Redeem {
            account,
            market,
            reference,
        }: &Redeem,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let content = shares(account, market, Lots::ZERO);
        self.references
            .ensure_new(Some(account), reference, Some(content), context)?;
        self.account(account)?;
        let redeemed = self.markets.get_any(market);
        let paid = redeemed.ok_or(RejectionReason::UnknownMarket)?.payout;
        ensure(paid.is_some(), RejectionReason::NotResolved)?;
        let slot = self
            .positions
            .find(account, market)
            .ok_or(RejectionReason::NothingToRedeem)?;

        let payout = self.burn_resolved(slot, context);
        let outcome = CommandOutcome::Collateral(payout);
        self.references
            .remember(Some(account), reference, content, outcome, context);
        Ok(outcome)
    }
}

impl Exchange {
    /// Burns the shares of a position in a resolved market and pays them. Such a market has no orders,
    /// so none of its shares are reserved.
    pub(crate) fn burn_resolved(&mut self, slot: u32, context: &mut CommandContext<'_>) -> Micros {
        let position = &mut self.positions[slot];
        let (account, market) = (position.account, position.market);
        let lots = std::mem::take(&mut position.free);
        self.positions.close_if_idle(slot);
        let Market { payout, supply, .. } = &mut self.markets[market];
        let prices = payout.map_or([0; 2], Payout::price_units);
        let mut payout = Micros::ZERO;
        for index in 0..2 {
            supply[index] -= lots[index];
            payout += Micros(lots[index].0 * u64::from(prices[index]));
        }
        self.accounts[account].free += payout;
        context.event(Event::Redeemed(Redeemed {
            account,
            market,
            lots,
            payout,
        }));
        payout
    }
}

/// Rejects an amount of shares outside the bounds of an account action.
pub(crate) fn ensure_amount(lots: Lots) -> Result<(), NotApplied> {
    ensure(!lots.is_zero(), RejectionReason::AmountZero)?;
    ensure(lots <= MAX_ORDER_LOTS, RejectionReason::AmountTooLarge)
}

/// Rejects when `free` shares do not cover `needed`.
pub(crate) fn ensure_shares(needed: Lots, free: Lots) -> Result<(), NotApplied> {
    let lacking = RejectionReason::NotEnoughShares;
    ensure(needed <= free, Rejection::with(lacking, needed.0, free.0))
}

fn shares(account: AccountNumber, market: MarketNumber, lots: Lots) -> ActionContent {
    ActionContent {
        account,
        object: market.0,
        amount: lots.0,
        ..ActionContent::default()
    }
}
