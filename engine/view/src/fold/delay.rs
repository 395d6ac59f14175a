//! Delayed orders (docs/verify/rules.md §22): waiting, release, requested cancels.

use foretell_model::event::{CancelRequested, OrderDelayed, OrderReleased};
use foretell_model::{Event, Lots, OrderNumber};

use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::rows::order::Order;
use crate::rows::orders::Delay;
use crate::view::View;

impl View {
    pub(super) fn fold_delay(
        &mut self,
        step: &FoldStep<'_>,
        placed: &mut Option<Order>,
        event: &Event,
    ) -> Result<(), Impossible> {
        match *event {
            Event::OrderDelayed(OrderDelayed {
                price,
                lots,
                reserved,
                due,
            }) => {
                let mut order = placed.take().ok_or_else(|| mismatch(event))?;
                if order.price != price {
                    return Err(Impossible::OrderDiffers(order.number));
                }
                order.left = lots;
                let delay = Delay {
                    due,
                    reserved,
                    cancel: None,
                };
                self.reserve(&order, reserved)?;
                self.orders.delay(order, delay)
            }
            Event::OrderReleased(OrderReleased {
                order,
                account,
                market,
            }) => {
                let mut order = self.remove_delayed(order)?;
                let is_it = order.account == account && order.market == market;
                if placed.is_some() || !is_it {
                    return Err(Impossible::OrderDiffers(order.number));
                }
                order.first_taken = self.trades.next_slot();
                order.left = Lots::ZERO;
                order.updated = step.now;
                *placed = Some(order);
                Ok(())
            }
            Event::CancelRequested(CancelRequested { order, reason, .. }) => {
                self.orders.request_cancel(order, reason)
            }
            _ => Err(mismatch(event)),
        }
    }

    /// Removes a delayed order; all it reserved is free again.
    pub(super) fn remove_delayed(&mut self, number: OrderNumber) -> Result<Order, Impossible> {
        let (order, delay) = self.orders.remove_delayed(number)?;
        self.release(&order, delay.reserved)?;
        Ok(order)
    }
}
