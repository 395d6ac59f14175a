//! Checks of an admitted order against the book before matching starts.

use foretell_model::limits::MAX_VISITED_ORDERS;
use foretell_model::{OrderType, PlaceOrder, Rejection, RejectionReason, Side};

use crate::command_context::CommandContext;
use crate::exchange::Exchange;
use crate::taker::Taker;

impl Exchange {
    /// The reason to kill an admitted order before it trades, if any. A FAK may still find no match
    /// in the match loop.
    #[inline(always)]
    pub(crate) fn pre_match_rejection(
        &self,
        order: &PlaceOrder,
        taker: &Taker,
        context: &CommandContext<'_>,
    ) -> Option<Rejection> {
        if order.order_type == OrderType::Fok {
            return (!self.would_fill(taker, context))
                .then_some(RejectionReason::FokNotFilled.into());
        }
        let minimum = self.system.settings.marketable_minimum.0;
        let is_small = order.side == Side::Buy && order.maker_amount < minimum;
        let must_not_cross = order.post_only || is_small;
        if !order.order_type.may_rest() || !must_not_cross || !self.crosses(taker, context) {
            return None;
        }
        let small = RejectionReason::MarketableBelowMinimum;
        Some(if order.post_only {
            RejectionReason::CrossesBook.into()
        } else {
            Rejection::with(small, order.maker_amount, minimum)
        })
    }

    /// Whether a resting order within the limit could trade; the taker's own orders count. Also
    /// true when more than `MAX_VISITED_ORDERS` expired orders come first.
    fn crosses(&self, taker: &Taker, context: &CommandContext<'_>) -> bool {
        let makers = self.book(taker.market, taker.book_side().opposite());
        makers
            .take_while(|slot| taker.reaches(self.orders[*slot].yes_price))
            .enumerate()
            .any(|(met, slot)| {
                met >= MAX_VISITED_ORDERS || !self.is_expired(self.orders[slot].expiration, context)
            })
    }
}
