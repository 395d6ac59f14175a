//! Makes resting orders smaller (docs/verify/rules.md §15).

use foretell_model::command::DecreaseOrder;
use foretell_model::event::OrderDecreased;
use foretell_model::{CloseReason, CommandOutcome, Event, Lots, RejectionReason};

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

        let before = order.clone();
        if lots < self.market(before.market)?.minimum_size {
            self.close_order(before.number, CloseReason::User, events);
            return Ok(CommandOutcome::Left(Lots::ZERO));
        }
        let after = self.orders.reduce(before.number, before.lots - lots);
        let (account, market) = (before.account, before.market);
        self.account_mut(account).free +=
            before.reserved_collateral() - after.reserved_collateral();
        self.shares(account, market)[before.outcome.index()] +=
            before.reserved_shares() - after.reserved_shares();
        events.push(Event::OrderDecreased(OrderDecreased {
            order: before.number,
            account,
            lots,
        }));
        Ok(CommandOutcome::Left(lots))
    }
}
