//! Cancels live orders in bounded steps: one by id, many by owner, market or time.

use foretell_model::command::{CancelAll, CancelMarketOrders, CancelOrder};
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::state::PendingWork;
use foretell_model::{
    AccountNumber, CloseReason, CommandOutcome, Event, MarketNumber, OrderId, Outcome,
    RejectionReason, Side,
};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;
use crate::order_pool::BookSide;
use crate::slab::NONE;

impl Exchange {
    #[inline(always)]
    pub(crate) fn cancel_order(
        &mut self,
        &CancelOrder { owner, ref order }: &CancelOrder,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let slot = self.own_order(owner, order)?;
        let orders = self.cancel_live(slot, CloseReason::User, context);
        Ok(CommandOutcome::Cancelled {
            orders: orders.ok_or(NotApplied::already(CommandOutcome::Cancelled { orders: 0 }))?,
        })
    }

    /// The live order that an owner names.
    #[inline(always)]
    pub(crate) fn own_order(
        &self,
        owner: AccountNumber,
        order: &OrderId,
    ) -> Result<u32, NotApplied> {
        self.account(owner)?;
        let remembered = self.ids.find(self.ids.hash(order), order);
        let slot = remembered
            .map(|remembered| remembered.order)
            .filter(|slot| *slot != NONE)
            .ok_or(RejectionReason::OrderNotFound)?;
        let account = self.orders[slot].account;
        ensure(
            self.accounts[account].owner == owner,
            RejectionReason::OrderOfAnotherOwner,
        )?;
        Ok(slot)
    }

    pub(crate) fn cancel_all(
        &mut self,
        &CancelAll { owner, heartbeat }: &CancelAll,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.account(owner)?;
        let reason = if heartbeat {
            CloseReason::Heartbeat
        } else {
            CloseReason::User
        };
        self.cancel_orders_of(owner, (None, None), reason, context)
    }

    pub(crate) fn cancel_market_orders(
        &mut self,
        &CancelMarketOrders {
            owner,
            market,
            outcome,
        }: &CancelMarketOrders,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        self.account(owner)?;
        self.markets.get(market)?;
        self.cancel_orders_of(owner, (Some(market), outcome), CloseReason::User, context)
    }

    /// Applies a checked cancel of an owner's orders. A cancel that matches no order is not applied,
    /// so a client without orders cannot fill the journal.
    fn cancel_orders_of(
        &mut self,
        owner: AccountNumber,
        (market, outcome): (Option<MarketNumber>, Option<Outcome>),
        reason: CloseReason,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        ensure(
            self.orders_of(owner, market, outcome).next().is_some(),
            NotApplied::already(CommandOutcome::Cancelled { orders: 0 }),
        )?;
        let work = PendingWork::CancelOwner {
            owner,
            market,
            outcome,
            reason,
            first: context.sequence,
        };
        let orders = self.do_work(work, context);
        Ok(CommandOutcome::Cancelled { orders })
    }

    /// Cancels an order for its owner. Returns the number of ended orders: none when it is delayed and
    /// will be released, which only notes the cancel. `None` when the cancel is noted already.
    #[inline(always)]
    fn cancel_live(
        &mut self,
        slot: u32,
        reason: CloseReason,
        context: &mut CommandContext<'_>,
    ) -> Option<u32> {
        if let Some(at) = self.orders[slot].delayed()
            && self.releases(self.orders[slot].market)
        {
            return self.request_cancel(slot, at, reason, context).then_some(0);
        }
        self.close_order(slot, reason, context);
        Some(1)
    }

    pub(crate) fn continue_work(&mut self, context: &mut CommandContext<'_>) -> HandlerResult {
        let work = self.system.pending.take();
        let work = work.ok_or(RejectionReason::NothingPending)?;
        let orders = self.do_work(work, context);
        Ok(CommandOutcome::Cancelled { orders })
    }

    /// Ends up to `MAX_VISITED_ORDERS` orders of the work, less those that its replace touched, or notes their
    /// cancels, and returns how many ended; the rest stays pending.
    pub(crate) fn do_work(&mut self, work: PendingWork, context: &mut CommandContext<'_>) -> u32 {
        let mut slots = std::mem::take(&mut self.scratch);
        self.collect(&work, &mut slots);
        let most = MAX_VISITED_ORDERS.saturating_sub(context.touched.into());
        let is_more = slots.len() > most;
        slots.truncate(most);
        let is_asked = matches!(work, PendingWork::CancelOwner { .. });
        let mut orders = 0;
        for slot in &slots {
            if is_asked {
                orders += self
                    .cancel_live(*slot, reason_of(&work), context)
                    .unwrap_or(0);
            } else {
                self.close_order(*slot, reason_of(&work), context);
                orders += 1;
            }
        }
        slots.clear();
        self.scratch = slots;

        if is_more {
            self.system.pending = Some(work);
            context.event(Event::WorkPending);
        }
        orders
    }

    /// The next orders of the work, up to `MAX_VISITED_ORDERS + 1`: the extra one shows that more remain.
    /// Earlier steps removed their orders, so each step starts at the beginning.
    pub(crate) fn collect(&self, work: &PendingWork, slots: &mut Vec<u32>) {
        let most = MAX_VISITED_ORDERS + 1;
        match *work {
            PendingWork::CancelOwner {
                owner,
                market,
                outcome,
                ..
            } => slots.extend(self.orders_of(owner, market, outcome).take(most)),
            PendingWork::CloseMarket { market } | PendingWork::ClearMarket { market } => {
                self.collect_of_market(market, most, slots);
            }
            PendingWork::ClosedOnly { account } => {
                let all = self.accounts.orders_of(account, &self.orders);
                let buys = all.filter(|slot| self.orders[*slot].side == Side::Buy);
                slots.extend(buys.take(most));
            }
            PendingWork::FrozenQuotes => {
                let groups = self.quotes.frozen.iter().map(|slot| &self.quotes[*slot]);
                slots.extend(groups.flat_map(|group| &group.quotes).take(most));
            }
            PendingWork::KeyQuotes { key } => {
                let owner = self.keys.owner_of(key);
                let wallets = owner
                    .into_iter()
                    .flat_map(|owner| self.accounts.wallets_of(owner));
                let groups = wallets.flat_map(|wallet| self.quotes.of_wallet(wallet));
                let quotes = groups.flat_map(|group| &group.quotes).copied();
                let is_of_key =
                    |slot: &u32| self.ids.at(self.orders[*slot].id_slot).terms.key == key;
                slots.extend(quotes.filter(is_of_key).take(most));
            }
            PendingWork::CloseQuestions { event } => {
                for question in &self.event_groups[event].questions {
                    self.collect_of_market(*question, most, slots);
                }
            }
        }
    }

    /// A market's orders up to `most` slots in total: bids, then asks, each best first, then delayed ones.
    fn collect_of_market(&self, market: MarketNumber, most: usize, slots: &mut Vec<u32>) {
        for side in [BookSide::Bid, BookSide::Ask] {
            slots.extend(self.book(market, side).take(most - slots.len()));
        }
        let delayed = self.delayed.of_market(market).map(|delayed| delayed.order);
        slots.extend(delayed.take(most - slots.len()));
    }

    /// The live orders of an owner's wallets that a cancel affects, optionally of one market and one
    /// outcome.
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
                && self.is_cancellable(order)
        })
    }
}

const fn reason_of(work: &PendingWork) -> CloseReason {
    match *work {
        PendingWork::CancelOwner { reason, .. } => reason,
        PendingWork::CloseMarket { .. } | PendingWork::CloseQuestions { .. } => {
            CloseReason::MarketClosed
        }
        PendingWork::ClosedOnly { .. } => CloseReason::ClosedOnly,
        PendingWork::ClearMarket { .. } => CloseReason::Cleared,
        PendingWork::FrozenQuotes => CloseReason::LimitReached,
        PendingWork::KeyQuotes { .. } => CloseReason::KeyRevoked,
    }
}
