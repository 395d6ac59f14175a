//! What the book says to an order before it may trade.

use foretell_model::limits::MAX_TOUCHED;
use foretell_model::{OrderType, PlaceOrder, Refusal, RefusalReason, Side};

use crate::exchange::Exchange;
use crate::rules::Rules;
use crate::step::Step;
use crate::taker::Taker;

impl Exchange {
    /// Why the book refuses an admitted order that trades nothing for it. A FAK may yet find
    /// nothing on its walk.
    pub(crate) fn book_refusal(
        &self,
        order: &PlaceOrder,
        taker: &Taker,
        step: &Step<'_>,
    ) -> Option<Refusal> {
        if order.order_type == OrderType::Fok {
            return (!self.fills_whole(taker, step)).then_some(RefusalReason::FokNotFilled.into());
        }
        let minimum = self.system.settings.marketable_minimum.0;
        let is_small = order.side == Side::Buy && order.maker_amount < minimum;
        let must_not_cross = order.post_only || is_small;
        if !order.order_type.may_rest() || !must_not_cross || !self.crosses(taker, step) {
            return None;
        }
        let small = RefusalReason::MarketableBelowMinimum;
        Some(match step.rules {
            _ if order.post_only => RefusalReason::CrossesBook.into(),
            Rules::One => small.into(),
            Rules::Two => Refusal::with(small, order.maker_amount, minimum),
        })
    }

    /// Whether a resting order within the limit could trade, the taker's own ones included. If
    /// that cannot be seen behind more expired orders than a command may touch, it does.
    fn crosses(&self, taker: &Taker, step: &Step<'_>) -> bool {
        let makers = self.book(taker.market, taker.book_side().opposite());
        makers
            .take_while(|slot| taker.reaches(self.orders[*slot].yes_price))
            .enumerate()
            .any(|(met, slot)| {
                met >= MAX_TOUCHED || !self.is_expired(self.orders[slot].expiration, step)
            })
    }
}
