//! Orders ended by their owners, by operators and by time, and the work that goes on in `Continue`.

use foretell_model::digest::PendingWork;
use foretell_model::limits::MAX_TOUCHED;
use foretell_model::{
    AccountNumber, CloseReason, CommandOutcome, Digest16, Event, MarketNumber, OrderId,
    OrderNumber, Outcome, RefusalReason, Side,
};

use crate::answer::{Answer, Stop, ensure};
use crate::exchange::{At, Exchange};

impl Exchange {
    pub(crate) fn cancel_order(
        &mut self,
        owner: AccountNumber,
        id: OrderId,
        events: &mut Vec<Event>,
    ) -> Answer {
        self.account(owner)?;
        let order = self
            .orders
            .values()
            .find(|order| order.id == id)
            .ok_or(RefusalReason::OrderNotFound)?;
        ensure(
            self.account(order.account)?.owner == owner,
            RefusalReason::OrderOfAnotherOwner,
        )?;

        self.close_order(order.number, CloseReason::User, events);
        Ok(CommandOutcome::Cancelled { orders: 1 })
    }

    pub(crate) fn cancel_all(
        &mut self,
        owner: AccountNumber,
        heartbeat: bool,
        request: Digest16,
        at: At,
        events: &mut Vec<Event>,
    ) -> Answer {
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
        at: At,
        events: &mut Vec<Event>,
    ) -> Answer {
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

    /// Rules 1 remember the request, whatever it ends. Rules 2 remember none; with no order to end,
    /// nothing happens.
    fn cancel_for(
        &mut self,
        owner: AccountNumber,
        request: Digest16,
        work: PendingWork,
        at: At,
        events: &mut Vec<Event>,
    ) -> Answer {
        if self.rules == 1 {
            self.remember_request(owner, request, at);
        } else {
            let nothing = CommandOutcome::Cancelled { orders: 0 };
            ensure(!self.orders_of(&work).is_empty(), Stop::already(nothing))?;
        }
        let orders = self.work_on(work, at, events);
        Ok(CommandOutcome::Cancelled { orders })
    }

    /// Ends the orders whose time has come, by expiration, then number. What is more than one
    /// command may touch stays due for the next.
    pub(crate) fn advance_time(&mut self, at: At, events: &mut Vec<Event>) -> Answer {
        let mut due: Vec<_> = self
            .orders
            .values()
            .filter(|order| order.is_expired(&self.settings, at.time))
            .map(|order| (order.expiration, order.number))
            .collect();
        ensure(!due.is_empty(), RefusalReason::NothingDue)?;

        due.sort();
        due.truncate(MAX_TOUCHED);
        for (_, number) in &due {
            self.close_order(*number, CloseReason::Expired, events);
        }
        Ok(CommandOutcome::Cancelled {
            orders: count(due.len()),
        })
    }

    pub(crate) fn continue_work(&mut self, at: At, events: &mut Vec<Event>) -> Answer {
        let work = self.pending.ok_or(RefusalReason::NothingPending)?;
        let orders = self.work_on(work, at, events);
        Ok(CommandOutcome::Cancelled { orders })
    }

    /// Cancels as many of the work's orders as one command may touch; what is left is pending.
    /// Returns how many it cancelled.
    pub(crate) fn work_on(&mut self, work: PendingWork, at: At, events: &mut Vec<Event>) -> u32 {
        let mut orders = self.orders_of(&work);
        let more = orders.len() > MAX_TOUCHED;
        orders.truncate(MAX_TOUCHED);
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

    /// The orders that a piece of work cancels, in its order.
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
                .flat_map(|wallet| {
                    self.orders
                        .values()
                        .filter(move |order| order.account == wallet)
                })
                .filter(|order| market.is_none_or(|market| order.market == market))
                .filter(|order| outcome.is_none_or(|outcome| order.outcome == outcome))
                .map(|order| order.number)
                .collect(),
            PendingWork::CloseMarket { market } => {
                let bids = self.book_side(market, true);
                let asks = self.book_side(market, false);
                bids.into_iter()
                    .chain(asks)
                    .map(|order| order.number)
                    .collect()
            }
            PendingWork::ClosedOnly { account } => self
                .orders
                .values()
                .filter(|order| order.account == account && order.side == Side::Buy)
                .map(|order| order.number)
                .collect(),
        }
    }
}

const fn reason_of(work: &PendingWork) -> CloseReason {
    match work {
        PendingWork::CancelOwner { reason, .. } => *reason,
        PendingWork::CloseMarket { .. } => CloseReason::MarketClosed,
        PendingWork::ClosedOnly { .. } => CloseReason::ClosedOnly,
    }
}

fn count(orders: usize) -> u32 {
    u32::try_from(orders).expect("at most MAX_TOUCHED")
}
