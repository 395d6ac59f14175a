//! Placing an order: `admission` checks all but the book, `plan` says what the order would do to the
//! book, `commit` does it, and `delay` is about orders that wait before they meet the book.

pub(crate) mod admission;
pub(crate) mod plan;

mod commit;
mod delay;

use foretell_model::event::OrderKilled;
use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{
    CommandOutcome, Event, Micros, OrderStatus, PlaceOrder, Rejection, RejectionReason, Side,
};

use crate::command_context::{CommandContext, HandlerResult};
use crate::exchange::Exchange;
use crate::placement::commit::result;
use crate::placement::plan::{Book, Incoming, Plan, Stop, Totals};

impl Exchange {
    pub(crate) fn place_order(
        &mut self,
        order: &PlaceOrder,
        context: &mut CommandContext<'_>,
    ) -> HandlerResult {
        let id = (self.ids.hash(&order.order), order.order);
        let checked = self.check(order, id.0, context)?;
        let incoming = self.admit(order, id, checked, context);
        let market = &self.markets[order.market];
        let may_wait = market.delay_ms > 0 && !order.post_only;
        let may_visit = usize::from(context.touched) < MAX_VISITED_ORDERS;
        if incoming.first_maker(&market.ladder).is_some() {
            if let Some(rejection) = self.must_not_cross(order) {
                return Ok(self.kill(&incoming, rejection, context));
            }
        } else if order.order_type.may_rest() && may_visit {
            // Most orders reach no other one, which the best price shows.
            self.rest(&incoming, incoming.demand.lots(), context);
            return Ok(result(OrderStatus::Live, &Totals::default()));
        }
        let plan = self.plan(&incoming, context.touched.into(), may_wait, context);
        if plan.stop == Stop::CouldTrade {
            return Ok(self.delay(&incoming, context));
        }
        if let Some((reason, _)) = plan.unfilled(&incoming) {
            return Ok(self.kill(&incoming, reason.into(), context));
        }
        Ok(self.commit(&incoming, &plan, None, context))
    }

    /// The rejection of an order that must not cross, should it do so; own orders count. No order of
    /// the book is expired, as what is due precedes every placement (docs/verify/rules.md §14).
    fn must_not_cross(&self, order: &PlaceOrder) -> Option<Rejection> {
        if order.post_only {
            return Some(RejectionReason::CrossesBook.into());
        }
        let minimum = self.system.settings.marketable_minimum.0;
        let is_small = order.side == Side::Buy && order.maker_amount < minimum;
        let small = RejectionReason::MarketableBelowMinimum;
        is_small.then(|| Rejection::with(small, order.maker_amount, minimum))
    }

    /// Plans an order that has visited so many orders already; `steps` has what it does.
    #[inline(always)]
    fn plan(
        &mut self,
        incoming: &Incoming,
        visited: usize,
        may_wait: bool,
        context: &mut CommandContext<'_>,
    ) -> Plan {
        let Self {
            markets,
            orders,
            quotes,
            steps,
            system,
            ..
        } = self;
        let book = Book {
            ladder: &markets[incoming.market].ladder,
            orders,
            quotes,
            now: context.now,
            safety: system.settings.gtd_safety_seconds,
        };
        let plan = Plan::of(incoming, &book, visited, may_wait, steps);
        context.visited = plan.visited;
        plan
    }

    #[inline(never)]
    fn kill(
        &mut self,
        incoming: &Incoming,
        rejection: Rejection,
        context: &mut CommandContext<'_>,
    ) -> CommandOutcome {
        let Rejection { reason, details } = rejection;
        // A kill has details only when the order was below the marketable minimum.
        let [_, minimum] = details;
        self.ids.killed(incoming.id_slot, reason, Micros(minimum));
        context.event(Event::OrderKilled(OrderKilled { reason, details }));
        result(OrderStatus::Killed(rejection), &Totals::default())
    }
}
