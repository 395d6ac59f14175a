//! Makes resting orders smaller. They keep their place in the queue.

use foretell_model::command::DecreaseOrder;
use foretell_model::event::OrderDecreased;
use foretell_model::{CloseReason, CommandOutcome, Event, Lots, RejectionReason, Side};

use crate::command_context::{CommandContext, HandlerResult, NotApplied, ensure};
use crate::exchange::Exchange;

impl Exchange {
    pub(crate) fn decrease_order(
        &mut self,
        &DecreaseOrder {
            owner,
            ref order,
            lots,
        }: &DecreaseOrder,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let slot = self.own_order(owner, order)?;
        let order = &self.orders[slot];
        ensure(order.delayed().is_none(), RejectionReason::OrderNotResting)?;
        ensure(!lots.is_zero(), RejectionReason::AmountZero)?;
        ensure(
            lots < order.lots,
            NotApplied::already(CommandOutcome::Left(order.lots)),
        )?;
        // What is left of a fill may be below the minimum; what its owner leaves may not.
        if lots < self.markets[order.market].minimum_size {
            self.close_order(slot, CloseReason::User, context);
            return Ok(CommandOutcome::Left(Lots::ZERO));
        }
        self.decrease(slot, lots, context);
        Ok(CommandOutcome::Left(lots))
    }

    /// Leaves a resting order these lots, fewer than it has, and releases the reservation of the others.
    pub(crate) fn decrease(&mut self, slot: u32, lots: Lots, context: &mut CommandContext<'_>) {
        let order = &mut self.orders[slot];
        let others = order.lots - lots;
        order.lots = lots;
        let (number, account) = (order.number, order.account);
        match order.side {
            Side::Buy => self.accounts[account].release(others.value_at(order.own_price())),
            Side::Sell => self.positions[order.position].release(order.outcome, others),
        }
        context.event(Event::OrderDecreased(OrderDecreased {
            order: number,
            account,
            lots,
        }));
    }
}
