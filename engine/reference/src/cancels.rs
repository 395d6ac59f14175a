//! Cancels by owners, operators and time, and work that continues in `Continue`.

use foretell_model::digest::PendingWork;
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    AccountNumber, CloseReason, CommandOutcome, Digest16, Event, MarketNumber, OrderId,
    OrderNumber, Outcome, RejectionReason, Side,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{HandlerResult, NotApplied, ensure};

impl Exchange {
    pub(crate) fn cancel_order(
        &mut self,
        owner: AccountNumber,
        id: OrderId,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.account(owner)?;
        // The id of an order is remembered at least while the order lives.
        let order = self
            .order_ids
            .get(id)
            .and_then(|known| self.orders.get(known.number))
            .ok_or(RejectionReason::OrderNotFound)?;
        ensure(
            self.account(order.account)?.owner == owner,
            RejectionReason::OrderOfAnotherOwner,
        )?;

        self.close_order(order.number, CloseReason::User, events);
        Ok(CommandOutcome::Cancelled { orders: 1 })
    }

    pub(crate) fn cancel_all(
        &mut self,
        owner: AccountNumber,
        heartbeat: bool,
        request: Digest16,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.account(owner)?;
        self.check_request(owner, request)?;

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
            request,
        };
        self.cancel_for(owner, request, work, at, events)
    }

    pub(crate) fn cancel_market_orders(
        &mut self,
        owner: AccountNumber,
        market: MarketNumber,
        outcome: Option<Outcome>,
        request: Digest16,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        self.account(owner)?;
        self.check_request(owner, request)?;
        self.market(market)?;

        let work = PendingWork::CancelOwner {
            owner,
            market: Some(market),
            outcome,
            reason: CloseReason::User,
            first: at.sequence,
            request,
        };
        self.cancel_for(owner, request, work, at, events)
    }

    /// Rules 1 remember the request even when it cancels nothing. Rules 2 remember none; a cancel
    /// without orders is not applied.
    fn cancel_for(
        &mut self,
        owner: AccountNumber,
        request: Digest16,
        work: PendingWork,
        at: Stamp,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        if self.rules == 1 {
            self.remember_request(owner, request, at);
        } else {
            let nothing = CommandOutcome::Cancelled { orders: 0 };
            ensure(
                !self.orders_of(&work).is_empty(),
                NotApplied::already(nothing),
            )?;
        }
        let orders = self.do_work(work, at, events);
        Ok(CommandOutcome::Cancelled { orders })
    }

    /// Closes expired orders by expiration, then number, at most `MAX_VISITED_ORDERS`. The rest stay due
    /// for the next command.
    pub(crate) fn advance_time(&mut self, at: Stamp, events: &mut Vec<Event>) -> HandlerResult {
        let due: Vec<_> = self
            .orders
            .expiring()
            .take_while(|order| order.is_expired(&self.settings, at.time))
            .map(|order| order.number)
            .take(MAX_VISITED_ORDERS)
            .collect();
        ensure(!due.is_empty(), RejectionReason::NothingDue)?;

        for number in &due {
            self.close_order(*number, CloseReason::Expired, events);
        }
        Ok(CommandOutcome::Cancelled {
            orders: count(due.len()),
        })
    }

    pub(crate) fn continue_work(&mut self, at: Stamp, events: &mut Vec<Event>) -> HandlerResult {
        let work = self.pending.ok_or(RejectionReason::NothingPending)?;
        let orders = self.do_work(work, at, events);
        Ok(CommandOutcome::Cancelled { orders })
    }

    /// Cancels at most `MAX_VISITED_ORDERS` orders of the work and leaves the rest pending. Returns the
    /// number cancelled.
    pub(crate) fn do_work(&mut self, work: PendingWork, at: Stamp, events: &mut Vec<Event>) -> u32 {
        let mut orders = self.orders_of(&work);
        let more = orders.len() > MAX_VISITED_ORDERS;
        orders.truncate(MAX_VISITED_ORDERS);
        for number in &orders {
            self.close_order(*number, reason_of(&work), events);
        }
        self.pending = more.then_some(work);
        if more {
            events.push(Event::WorkPending);
        }
        let cancelled = count(orders.len());
        if let PendingWork::CancelOwner { first, .. } = work {
            self.count_for_request(first, cancelled, at);
        }
        cancelled
    }

    /// The orders that the work cancels, in its order. One more than a command may visit means that
    /// there are more.
    fn orders_of(&self, work: &PendingWork) -> Vec<OrderNumber> {
        match *work {
            PendingWork::CancelOwner {
                owner,
                market,
                outcome,
                ..
            } => self
                .wallets_of(owner)
                .into_iter()
                .flat_map(|wallet| self.orders.of_account(wallet))
                .filter(|order| market.is_none_or(|market| order.market == market))
                .filter(|order| outcome.is_none_or(|outcome| order.outcome == outcome))
                .map(|order| order.number)
                .take(MAX_VISITED_ORDERS + 1)
                .collect(),
            PendingWork::CloseMarket { market } | PendingWork::ClearMarket { market } => {
                let bids = self.book_side(market, true);
                let asks = self.book_side(market, false);
                bids.chain(asks)
                    .map(|order| order.number)
                    .take(MAX_VISITED_ORDERS + 1)
                    .collect()
            }
            PendingWork::ClosedOnly { account } => self
                .orders
                .of_account(account)
                .filter(|order| order.side == Side::Buy)
                .map(|order| order.number)
                .take(MAX_VISITED_ORDERS + 1)
                .collect(),
        }
    }
}

const fn reason_of(work: &PendingWork) -> CloseReason {
    match work {
        PendingWork::CancelOwner { reason, .. } => *reason,
        PendingWork::CloseMarket { .. } => CloseReason::MarketClosed,
        PendingWork::ClosedOnly { .. } => CloseReason::ClosedOnly,
        PendingWork::ClearMarket { .. } => CloseReason::Cleared,
    }
}

fn count(orders: usize) -> u32 {
    u32::try_from(orders).expect("at most MAX_VISITED_ORDERS")
}
