//! The match loop: visits resting orders by price, then arrival, and fills against them.

use foretell_model::CloseReason;

use crate::command_context::CommandContext;
use crate::exchange::Exchange;
use crate::ladder;
use crate::order_pool::Order;
use crate::taker::{StopReason, Taker};

impl Exchange {
    /// Whether a FOK would be filled: a dry run of the match loop.
    pub(crate) fn would_fill(&self, taker: &Taker, context: &CommandContext<'_>) -> bool {
        let mut taker = taker.clone();
        let stop = self.dry_run(&mut taker, context);
        context.visited.set(taker.visited);
        taker.is_filled(stop)
    }

    fn dry_run(&self, taker: &mut Taker, context: &CommandContext<'_>) -> StopReason {
        for slot in self.book(taker.market, taker.book_side().opposite()) {
            let maker = &self.orders[slot];
            if let Some(stop) = taker.stop_before_next() {
                return stop;
            }
            if !taker.reaches(maker.yes_price) {
                break;
            }
            taker.visited += 1;
            if self.skip_reason(taker, maker, context).is_none()
                && let Some(stop) = taker.take(maker).stop
            {
                return stop;
            }
        }
        taker.stop_without_maker()
    }

    /// Visits resting orders by price, then arrival, until the taker stops.
    #[inline(always)]
    pub(crate) fn run_match_loop(
        &mut self,
        taker: &mut Taker,
        context: &mut CommandContext<'_>,
    ) -> StopReason {
        let makers = taker.book_side().opposite();
        // Most orders match nothing: the best price shows that without reading an order.
        let best = self.markets[taker.market].ladder.best_level(makers);
        let mut next = best
            .filter(|(price, _)| taker.reaches(*price))
            .map(|(_, slot)| slot);
        loop {
            if let Some(stop) = taker.stop_before_next() {
                return stop;
            }
            let Some(slot) = next else {
                return taker.stop_without_maker();
            };
            taker.visited += 1;
            if let Some(stop) = self.visit(taker, slot, context) {
                return stop;
            }
            // A removed order keeps its links, so its successor can be found.
            let ladder = &self.markets[taker.market].ladder;
            next = ladder::next_order(ladder, &self.orders, slot, makers)
                .filter(|slot| taker.reaches(self.orders[*slot].yes_price));
        }
    }

    /// Fills against a resting order, closes it, or skips it.
    #[inline(always)]
    fn visit(
        &mut self,
        taker: &mut Taker,
        slot: u32,
        context: &mut CommandContext<'_>,
    ) -> Option<StopReason> {
        let maker = &self.orders[slot];
        if let Some(reason) = self.skip_reason(taker, maker, context) {
            if taker.order_type.may_rest() {
                self.close_order(slot, reason, context);
            } else {
                // Closed only if a fill with another account follows.
                self.scratch.push(slot);
            }
            return None;
        }
        let take = taker.take(maker);
        if !take.lots.is_zero() {
            if !self.scratch.is_empty() {
                self.close_skipped(taker, context);
            }
            self.fill(taker, slot, take, context);
        }
        take.stop
    }

    /// The reason why a resting order does not trade with the taker, if any.
    pub(crate) fn skip_reason(
        &self,
        taker: &Taker,
        maker: &Order,
        context: &CommandContext<'_>,
    ) -> Option<CloseReason> {
        if self.is_expired(maker.expiration, context) {
            Some(CloseReason::Expired)
        } else if maker.account == taker.account {
            Some(CloseReason::SelfTrade)
        } else {
            None
        }
    }

    #[cold]
    fn close_skipped(&mut self, taker: &Taker, context: &mut CommandContext<'_>) {
        let mut slots = std::mem::take(&mut self.scratch);
        for slot in slots.drain(..) {
            if let Some(reason) = self.skip_reason(taker, &self.orders[slot], context) {
                self.close_order(slot, reason, context);
            }
        }
        self.scratch = slots;
    }
}
