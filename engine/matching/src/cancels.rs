//! Ending resting orders: one by id, many by owner, market or time, in bounded steps.

use foretell_model::digest::PendingWork;
use foretell_model::limits::MAX_TOUCHED;
use foretell_model::{
    AccountNumber, CloseReason, CommandOutcome, Digest16, Event, MarketNumber, OrderId, Outcome,
    RefusalReason, Side, TimeSeconds,
};

use crate::exchange::Exchange;
use crate::expiry::is_expired;
use crate::ladder;
use crate::order_pool::BookSide;
use crate::rules::Rules;
use crate::slab::NONE;
use crate::step::{Answer, NotApplied, Step, ensure};

impl Exchange {
    pub(crate) fn cancel_order(
        &mut self,
        owner: AccountNumber,
        order: &OrderId,
        step: &mut Step<'_>,
    ) -> Answer {
        self.account(owner)?;
        let remembered = self.index.find(self.index.hash(order), order);
        let slot = remembered
            .map(|remembered| remembered.slot)
            .filter(|slot| *slot != NONE)
            .ok_or(RefusalReason::OrderNotFound)?;
        let account = self.orders[slot].account;
        ensure(
            self.accounts[account].owner == owner,
            RefusalReason::OrderOfAnotherOwner,
        )?;
        self.close_order(slot, CloseReason::User, step);
        Ok(CommandOutcome::Cancelled { orders: 1 })
    }

    pub(crate) fn cancel_all(
        &mut self,
        owner: AccountNumber,
        heartbeat: bool,
        request: Digest16,
        step: &mut Step<'_>,
    ) -> Answer {
        self.account(owner)?;
        self.ensure_new_request(owner, request, step)?;
        let reason = if heartbeat {
            CloseReason::Heartbeat
        } else {
            CloseReason::User
        };
        self.cancel_orders_of(owner, (None, None), (reason, request), step)
    }

    pub(crate) fn cancel_market_orders(
        &mut self,
        owner: AccountNumber,
        market: MarketNumber,
        outcome: Option<Outcome>,
        request: Digest16,
        step: &mut Step<'_>,
    ) -> Answer {
        self.account(owner)?;
        self.ensure_new_request(owner, request, step)?;
        self.markets.get(market)?;
        let reason = CloseReason::User;
        self.cancel_orders_of(owner, (Some(market), outcome), (reason, request), step)
    }

    /// Rules 1: passes a cancel request that was not carried out before.
    fn ensure_new_request(
        &self,
        owner: AccountNumber,
        request: Digest16,
        step: &Step<'_>,
    ) -> Result<(), NotApplied> {
        match step.rules {
            Rules::One => self.requests.ensure_new(owner, request),
            Rules::Two => Ok(()),
        }
    }

    /// Carries a checked cancel of an owner's orders out. Under rules 2 one that finds none is not
    /// applied, so that nobody without orders can fill the journal.
    fn cancel_orders_of(
        &mut self,
        owner: AccountNumber,
        (market, outcome): (Option<MarketNumber>, Option<Outcome>),
        (reason, request): (CloseReason, Digest16),
        step: &mut Step<'_>,
    ) -> Answer {
        match step.rules {
            Rules::One => self.requests.remember(owner, request, step),
            Rules::Two => ensure(
                self.orders_of(owner, market, outcome).next().is_some(),
                NotApplied::already(CommandOutcome::Cancelled { orders: 0 }),
            )?,
        }
        let work = PendingWork::CancelOwner {
            owner,
            market,
            outcome,
            reason,
            first: step.sequence,
            request,
        };
        let orders = self.work(work, step);
        Ok(CommandOutcome::Cancelled { orders })
    }

    /// Ends what is due, by (expiration, number). What is more than one command may touch is
    /// simply still due.
    pub(crate) fn advance_time(&mut self, step: &mut Step<'_>) -> Answer {
        let mut orders = 0;
        while let Some(slot) = self.expiry.first()
            && (orders as usize) < MAX_TOUCHED
            && self.is_expired(self.orders[slot].expiration, step)
        {
            self.close_order(slot, CloseReason::Expired, step);
            orders += 1;
        }
        ensure(orders > 0, RefusalReason::NothingDue)?;
        Ok(CommandOutcome::Cancelled { orders })
    }

    pub(crate) fn continue_work(&mut self, step: &mut Step<'_>) -> Answer {
        let work = self.system.pending.take();
        let work = work.ok_or(RefusalReason::NothingPending)?;
        let orders = self.work(work, step);
        Ok(CommandOutcome::Cancelled { orders })
    }

    /// Does a bounded part of some work and leaves the rest pending. How many orders ended.
    pub(crate) fn work(&mut self, work: PendingWork, step: &mut Step<'_>) -> u32 {
        let mut slots = std::mem::take(&mut self.scratch);
        self.collect(&work, &mut slots);
        let is_more = slots.len() > MAX_TOUCHED;
        slots.truncate(MAX_TOUCHED);
        for slot in &slots {
            self.close_order(*slot, reason_of(&work), step);
        }
        let orders = u32::try_from(slots.len()).expect("at most MAX_TOUCHED");
        slots.clear();
        self.scratch = slots;

        if let PendingWork::CancelOwner { owner, request, .. } = work {
            self.requests.count(owner, request, orders, step.sequence);
        }
        if is_more {
            self.system.pending = Some(work);
            step.event(Event::WorkPending);
        }
        orders
    }

    /// The next orders of some work, in its order: one more than a command may touch tells that
    /// there are more. Those of earlier steps are gone, so every step starts at the beginning.
    pub(crate) fn collect(&self, work: &PendingWork, slots: &mut Vec<u32>) {
        let most = MAX_TOUCHED + 1;
        match *work {
            PendingWork::CancelOwner {
                owner,
                market,
                outcome,
                ..
            } => slots.extend(self.orders_of(owner, market, outcome).take(most)),
            PendingWork::CloseMarket { market } => {
                for side in [BookSide::Bid, BookSide::Ask] {
                    slots.extend(self.book(market, side).take(most - slots.len()));
                }
            }
            PendingWork::ClosedOnly { account } => {
                let all = self.accounts.orders_of(account, &self.orders);
                let buys = all.filter(|slot| self.orders[*slot].side == Side::Buy);
                slots.extend(buys.take(most));
            }
        }
    }

    /// The live orders of an owner's wallets, if asked for in one market or of one outcome.
    fn orders_of(
        &self,
        owner: AccountNumber,
        market: Option<MarketNumber>,
        outcome: Option<Outcome>,
    ) -> impl Iterator<Item = u32> {
        let wallets = self.accounts.wallets_of(owner);
        let all = wallets.flat_map(|wallet| self.accounts.orders_of(wallet, &self.orders));
        all.filter(move |slot| {
            let order = &self.orders[*slot];
            market.is_none_or(|market| market == order.market)
                && outcome.is_none_or(|outcome| outcome == order.outcome)
        })
    }

    /// A side of a book by price, then arrival.
    pub(crate) fn book(&self, market: MarketNumber, side: BookSide) -> impl Iterator<Item = u32> {
        let ladder = &self.markets[market].ladder;
        std::iter::successors(ladder.best(side), move |slot| {
            ladder::after(ladder, &self.orders, *slot, side)
        })
    }

    /// Ends a resting order with something unfilled: its reserve is free again.
    pub(crate) fn close_order(&mut self, slot: u32, reason: CloseReason, step: &mut Step<'_>) {
        let order = &self.orders[slot];
        let (number, account, lots) = (order.number, order.account, order.lots);
        match order.side {
            Side::Buy => self.accounts[account].release(order.reserved_value()),
            Side::Sell => self.positions[order.position].release(order.outcome, lots),
        }
        self.remove_order(slot);
        step.event(Event::OrderClosed {
            order: number,
            account,
            lots,
            reason,
        });
    }

    /// Takes an order out of everything that links it; nothing of it is reserved any more.
    #[inline(always)]
    pub(crate) fn remove_order(&mut self, slot: u32) {
        let order = &self.orders[slot];
        let (position, memory, heap) = (order.position, order.memory, order.heap);
        let ladder = &mut self.markets[order.market].ladder;
        ladder.remove(slot, &mut self.orders);
        self.accounts.unlink_order(slot, &mut self.orders);
        if heap != NONE {
            self.expiry.remove(slot, &mut self.orders);
        }
        self.index.ended(memory);
        self.positions[position].orders -= 1;
        self.positions.close_if_idle(position);
        self.orders.release(slot);
    }

    pub(crate) fn is_expired(&self, expiration: TimeSeconds, step: &Step<'_>) -> bool {
        let safety = self.system.settings.gtd_safety_seconds;
        is_expired(expiration, step.now, safety)
    }
}

const fn reason_of(work: &PendingWork) -> CloseReason {
    match *work {
        PendingWork::CancelOwner { reason, .. } => reason,
        PendingWork::CloseMarket { .. } => CloseReason::MarketClosed,
        PendingWork::ClosedOnly { .. } => CloseReason::ClosedOnly,
    }
}
