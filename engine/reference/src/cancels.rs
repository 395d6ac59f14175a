//! Cancels by owners and operators, and work that continues in `Continue`.
//!
//! An owner's cancel of a delayed order ends nothing: it is noted, unless the order is not released now
//! (docs/verify/rules.md §22).

use foretell_model::command::{CancelAll, CancelMarketOrders, CancelOrder};
use foretell_model::limits::{MAX_VISITED_ORDERS, QUOTE_GROUPS};
use foretell_model::state::PendingWork;
use foretell_model::{
    AccountNumber, CloseReason, CommandOutcome, Event, MarketNumber, OrderId, OrderNumber,
    RejectionReason, Side,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::live_order::LiveOrder;

impl Exchange {
    pub(crate) fn cancel_order(
        &mut self,
        &CancelOrder { owner, order: id }: &CancelOrder,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let order = self.own_order(owner, id)?;
        let nothing = CommandOutcome::Cancelled { orders: 0 };
        ensure(
            self.is_cancelled_by_asking(order),
            NotApplied::already(nothing),
        )?;

        let number = order.number();
        let orders = self.cancel_or_ask(number, CloseReason::User, events);
        Ok(CommandOutcome::Cancelled { orders })
    }

    /// The live order that an owner names.
    pub(crate) fn own_order(
        &self,
        owner: AccountNumber,
        id: OrderId,
    ) -> Result<LiveOrder<'_>, NotApplied> {
        self.account(owner)?;
        // The id of an order is remembered at least while the order lives.
        let known = self.order_ids.get(id);
        let order = known
            .and_then(|known| self.live_order(known.number))
            .ok_or(RejectionReason::OrderNotFound)?;
        ensure(
            self.account(order.account())?.owner == owner,
            RejectionReason::OrderOfAnotherOwner,
        )?;
        Ok(order)
    }

    /// Ends a resting order, or notes the cancel of a delayed one. Returns the number ended.
    fn cancel_or_ask(
        &mut self,
        number: OrderNumber,
        reason: CloseReason,
        events: &mut Vec<Event>,
    ) -> u32 {
        let delayed = self.delayed.get(number);
        if delayed.is_some_and(|delayed| self.are_released(delayed.order.market)) {
            self.request_cancel(number, reason, events);
            0
        } else {
            self.close_order(number, reason, events);
            1
        }
    }

    /// Whether a cancel of an order changes anything.
    fn is_cancelled_by_asking(&self, order: LiveOrder<'_>) -> bool {
        !(order.is_asked() && self.are_released(order.market()))
    }

    pub(crate) fn cancel_all(
        &mut self,
        &CancelAll { owner, heartbeat }: &CancelAll,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.account(owner)?;

        let work = PendingWork::CancelOwner {
            owner,
            market: None,
            outcome: None,
            reason: if heartbeat {
                CloseReason::Heartbeat
            } else {
                CloseReason::User
            },
            first: at.sequence,
        };
        self.cancel_for(work, at, events)
    }

    pub(crate) fn cancel_market_orders(
        &mut self,
        &CancelMarketOrders {
            owner,
            market,
            outcome,
        }: &CancelMarketOrders,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.account(owner)?;
        self.market(market)?;

        let work = PendingWork::CancelOwner {
            owner,
            market: Some(market),
            outcome,
            reason: CloseReason::User,
            first: at.sequence,
        };
        self.cancel_for(work, at, events)
    }

    /// A cancel without orders is not applied.
    fn cancel_for(
        &mut self,
        work: PendingWork,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let nothing = CommandOutcome::Cancelled { orders: 0 };
        ensure(
            !self.orders_of(&work).is_empty(),
            NotApplied::already(nothing),
        )?;
        let orders = self.do_work(work, at, events);
        Ok(CommandOutcome::Cancelled { orders })
    }

    pub(crate) fn continue_work(&mut self, at: Stamp, events: &mut Vec<Event>) -> HandlerResult {
        let work = self.pending.ok_or(RejectionReason::NothingPending)?;
        let orders = self.do_work(work, at, events);
        Ok(CommandOutcome::Cancelled { orders })
    }

    /// Cancels at most `MAX_VISITED_ORDERS` orders of the work, less those that its group touched, and
    /// leaves the rest pending. Returns the number ended.
    pub(crate) fn do_work(&mut self, work: PendingWork, at: Stamp, events: &mut Vec<Event>) -> u32 {
        let mut orders = self.orders_of(&work);
        let more = orders.len() > at.visits();
        orders.truncate(at.visits());
        let mut cancelled = 0;
        for number in orders {
            let reason = reason_of(&work);
            if matches!(work, PendingWork::CancelOwner { .. }) {
                cancelled += self.cancel_or_ask(number, reason, events);
            } else {
                self.close_order(number, reason, events);
                cancelled += 1;
            }
        }
        self.pending = more.then_some(work);
        if more {
            events.push(Event::WorkPending);
        }
        cancelled
    }

    /// Bids, asks, then delayed orders.
    fn orders_of_market(&self, market: MarketNumber) -> impl Iterator<Item = OrderNumber> + '_ {
        let bids = self.book_side(market, true);
        let asks = self.book_side(market, false);
        bids.chain(asks)
            .map(|order| order.number)
            .chain(self.delayed.of_market(market))
    }

    /// The orders that the work cancels, in its order. One more than a command may visit means that
    /// there are more.
    pub(crate) fn orders_of(&self, work: &PendingWork) -> Vec<OrderNumber> {
        match *work {
            PendingWork::CancelOwner {
                owner,
                market,
                outcome,
                ..
            } => self
                .wallets_of(owner)
                .into_iter()
                .flat_map(|wallet| self.live_orders_of(wallet))
                .filter(|order| self.is_cancelled_by_asking(*order))
                .filter(|order| market.is_none_or(|market| order.market() == market))
                .filter(|order| outcome.is_none_or(|outcome| order.outcome() == outcome))
                .map(|order| order.number())
                .take(MAX_VISITED_ORDERS + 1)
                .collect(),
            PendingWork::CloseMarket { market } | PendingWork::ClearMarket { market } => self
                .orders_of_market(market)
                .take(MAX_VISITED_ORDERS + 1)
                .collect(),
            PendingWork::CloseQuestions { event } => self
                .questions_of(event)
                .into_iter()
                .flat_map(|question| self.orders_of_market(question))
                .take(MAX_VISITED_ORDERS + 1)
                .collect(),
            PendingWork::ClosedOnly { account } => self
                .live_orders_of(account)
                .into_iter()
                .filter(|order| order.side() == Side::Buy)
                .map(|order| order.number())
                .take(MAX_VISITED_ORDERS + 1)
                .collect(),
            PendingWork::FrozenQuotes => self
                .orders
                .quoting_groups()
                .filter(|group| self.quote_groups[group].frozen)
                .flat_map(|group| self.orders.of_group(group))
                .map(|order| order.number)
                .take(MAX_VISITED_ORDERS + 1)
                .collect(),
            PendingWork::KeyQuotes { key } => self
                .wallets_of(self.keys[key.0 as usize].owner)
                .into_iter()
                .flat_map(|wallet| (0..QUOTE_GROUPS).map(move |group| (wallet, group)))
                .flat_map(|name| self.orders.of_group(name))
                .map(|order| order.number)
                .filter(|number| self.order_ids.key_of(*number) == key)
                .take(MAX_VISITED_ORDERS + 1)
                .collect(),
        }
    }
}

const fn reason_of(work: &PendingWork) -> CloseReason {
    match work {
        PendingWork::CancelOwner { reason, .. } => *reason,
        PendingWork::CloseMarket { .. } | PendingWork::CloseQuestions { .. } => {
            CloseReason::MarketClosed
        }
        PendingWork::ClosedOnly { .. } => CloseReason::ClosedOnly,
        PendingWork::ClearMarket { .. } => CloseReason::Cleared,
        PendingWork::FrozenQuotes => CloseReason::LimitReached,
        PendingWork::KeyQuotes { .. } => CloseReason::KeyRevoked,
    }
}
