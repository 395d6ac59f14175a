//! Makes resting orders smaller (docs/verify/rules.md §15).

use foretell_model::command::DecreaseOrder;
use foretell_model::event::OrderDecreased;
use foretell_model::{CloseReason, CommandOutcome, Event, Lots, OrderNumber, RejectionReason};

use crate::exchange::Exchange;
use crate::handler_result::{HandlerResult, NotApplied, ensure};
use crate::live_order::LiveOrder;

impl Exchange {
    pub(crate) fn decrease_order(
        &mut self,
        &DecreaseOrder {
            owner,
            order: id,
            lots,
        }: &DecreaseOrder,
        events: &mut Vec<Event>,
    ) -> HandlerResult {
        let LiveOrder::Resting(order) = self.own_order(owner, id)? else {
            return Err(RejectionReason::OrderNotResting.into());
        };
        ensure(lots != Lots::ZERO, RejectionReason::AmountZero)?;
        let same = NotApplied::already(CommandOutcome::Left(order.lots));
        ensure(lots < order.lots, same)?;

        let (number, market) = (order.number, order.market);
        if lots < self.market(market)?.minimum_size {
            self.close_order(number, CloseReason::User, events);
            return Ok(CommandOutcome::Left(Lots::ZERO));
        }
        self.take_off(number, lots, events);
        Ok(CommandOutcome::Left(lots))
    }

    /// Leaves a resting order these lots, fewer than it has. The reservation of the others is free again.
    pub(crate) fn take_off(&mut self, number: OrderNumber, lots: Lots, events: &mut Vec<Event>) {
        let before = self.orders.get(number).expect("it rests").clone();
        let after = self.orders.reduce(number, before.lots - lots);
        let (account, market) = (before.account, before.market);
        self.account_mut(account).free +=
            before.reserved_collateral() - after.reserved_collateral();
        self.shares(account, market)[before.outcome.index()] +=
            before.reserved_shares() - after.reserved_shares();
        events.push(Event::OrderDecreased(OrderDecreased {
            order: number,
            account,
            lots,
        }));
    }
}
