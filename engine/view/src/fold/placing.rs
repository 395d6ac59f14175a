//! Orders: placing, resting, ending, and what they reserve meanwhile.

use foretell_model::evidence::OrderEvidence;
use foretell_model::{Event, Lots, Micros, OrderNumber, PlaceOrder, Price, Side};

use super::{Step, mismatch};
use crate::books::LadderPlace;
use crate::error::Impossible;
use crate::order::{Order, OrderState, limit_price};
use crate::orders::OrderSlot;
use crate::view::View;

impl View {
    /// Adds the frame's order; its events say what becomes of it.
    pub(super) fn place(
        &mut self,
        step: &Step<'_>,
        command: &PlaceOrder,
    ) -> Result<OrderSlot, Impossible> {
        let market = self.markets.get_mut(command.market)?;
        let price = limit_price(command, market.tick).ok_or(Impossible::NoPrice)?;
        let account = self.accounts.get_mut(command.account)?;
        // Killed orders have no evidence; what no auditor would accept is no reason to stop here.
        let evidence = OrderEvidence::decode(step.frame.evidence);
        let builder = match evidence {
            Some(evidence) => self.builders.intern(evidence.builder())?,
            None => None,
        };
        self.orders.add(Order {
            id: command.order,
            number: OrderNumber(step.frame.sequence.0),
            account: command.account,
            key: command.key,
            market: command.market,
            outcome: command.outcome,
            side: command.side,
            order_type: command.order_type,
            post_only: command.post_only,
            signature_type: account.kind,
            price,
            state: OrderState::Completed,
            maker_amount: command.maker_amount,
            taker_amount: command.taker_amount,
            expiration: command.expiration,
            left: Lots::ZERO,
            matched: Lots::ZERO,
            value: Micros::ZERO,
            fee: Micros::ZERO,
            created: step.now,
            updated: step.now,
            place: step.frame.place,
            builder,
            first_taken: self.trades.next_slot()?,
            taken: 0,
            last_made: None,
        })
    }

    pub(super) fn fold_order(
        &mut self,
        step: &mut Step<'_>,
        event: &Event,
    ) -> Result<(), Impossible> {
        let (slot, state) = match *event {
            Event::Fill(ref fill) => {
                let placed = step.placed.filter(|placed| !placed.settled);
                let placed = placed.ok_or_else(|| mismatch(event))?;
                return self.fill(step, placed.slot, fill);
            }
            Event::OrderRested { lots, price } => {
                let slot = settle(step, event)?;
                return self.rest(step, slot, lots, price);
            }
            Event::OrderCompleted => (settle(step, event)?, OrderState::Completed),
            Event::OrderKilled { reason } => (settle(step, event)?, OrderState::Killed(reason)),
            Event::OrderClosed {
                order,
                account,
                lots,
                reason,
            } => {
                let own = OrderNumber(step.frame.sequence.0);
                let slot = if order == own {
                    let slot = settle(step, event)?;
                    self.orders.at_mut(slot).left = lots;
                    slot
                } else {
                    self.unrest(step, order, lots)?
                };
                let closed = self.orders.at_mut(slot);
                if closed.account != account {
                    return Err(Impossible::OrderDiffers(order));
                }
                closed.updated = step.now;
                (slot, OrderState::Closed(reason))
            }
            _ => return Err(mismatch(event)),
        };
        self.orders.finish(slot, state, step.frame.sequence);
        Ok(())
    }

    /// What is left of the frame's order rests: it reserves and stands in the book.
    fn rest(
        &mut self,
        step: &Step<'_>,
        slot: OrderSlot,
        lots: Lots,
        price: Price,
    ) -> Result<(), Impossible> {
        let order = self.orders.at_mut(slot);
        if order.price != price {
            return Err(Impossible::OrderDiffers(order.number));
        }
        order.left = lots;
        let (market, outcome, side) = (order.market, order.outcome, order.side);
        let account = self.accounts.get_mut(order.account)?;
        match side {
            Side::Buy => account.reserve(lots.value_at(price))?,
            Side::Sell => account.hold(market, |held| held.reserve(outcome, lots))?,
        }
        let book = self.books.touch(market, step.at())?;
        book.add(LadderPlace::of(outcome, side, price), lots)?;
        self.orders.rest(slot);
        Ok(())
    }

    /// A resting order leaves the book and what it had reserved is free again.
    fn unrest(
        &mut self,
        step: &Step<'_>,
        number: OrderNumber,
        lots: Lots,
    ) -> Result<OrderSlot, Impossible> {
        let slot = self.orders.live_slot(number)?;
        let order = self.orders.at_mut(slot);
        if order.left != lots {
            return Err(Impossible::OrderDiffers(number));
        }
        let (market, outcome, side, price) = (order.market, order.outcome, order.side, order.price);
        let account = self.accounts.get_mut(order.account)?;
        match side {
            Side::Buy => account.release(lots.value_at(price))?,
            Side::Sell => account.hold(market, |held| held.release(outcome, lots))?,
        }
        let book = self.books.touch(market, step.at())?;
        book.remove(LadderPlace::of(outcome, side, price), lots)?;
        Ok(slot)
    }
}

/// The one ending of the frame's own order.
fn settle(step: &mut Step<'_>, event: &Event) -> Result<OrderSlot, Impossible> {
    let placed = step.placed.as_mut().ok_or_else(|| mismatch(event))?;
    if core::mem::replace(&mut placed.settled, true) {
        return Err(Impossible::PlacementUnfinished);
    }
    Ok(placed.slot)
}
