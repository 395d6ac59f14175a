//! Orders: placing, resting, ending, and their reservations.

use foretell_model::event::{OrderClosed, OrderKilled, OrderRested};
use foretell_model::evidence::OrderEvidence;
use foretell_model::{Command, Event, Lots, Micros, OrderNumber, PlaceOrder, Price, Side};

use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::rows::books::LadderPlace;
use crate::rows::order::{Order, OrderState, limit_price};
use crate::view::View;

impl View {
    /// The frame's order before any of its events.
    pub(super) fn place(
        &mut self,
        step: &FoldStep<'_>,
        command: &PlaceOrder,
    ) -> Result<Order, Impossible> {
        if self.orders.is_live(&command.order) {
            return Err(Impossible::DuplicateName);
        }
        let market = self.markets.get_mut(command.market)?;
        let price = limit_price(command, market.tick).ok_or(Impossible::NoPrice)?;
        let account = self.accounts.get_mut(command.account)?;
        // Killed orders have no evidence. Invalid evidence does not stop the fold.
        let evidence = OrderEvidence::decode(step.frame.evidence);
        let builder = match evidence {
            Some(evidence) => self.builders.intern(evidence.builder())?,
            None => None,
        };
        Ok(Order {
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
            first_taken: self.trades.next_slot(),
            taken: 0,
            last_made: None,
        })
    }

    /// `placed` holds the frame's own order, if any, until it ends.
    pub(super) fn fold_order(
        &mut self,
        step: &FoldStep<'_>,
        placed: &mut Option<Order>,
        event: &Event,
    ) -> Result<(), Impossible> {
        let (order, state) = match *event {
            Event::Fill(ref fill) => {
                let taker = placed.as_mut().ok_or_else(|| mismatch(event))?;
                return self.fill(step, taker, fill);
            }
            Event::OrderRested(OrderRested { lots, price }) => {
                let order = take_placed(step, placed, event)?;
                return self.rest(step, order, lots, price);
            }
            Event::OrderCompleted => (take_placed(step, placed, event)?, OrderState::Completed),
            Event::OrderKilled(OrderKilled { reason, .. }) => (
                take_placed(step, placed, event)?,
                OrderState::Killed(reason),
            ),
            Event::OrderClosed(OrderClosed {
                order: number,
                account,
                lots,
                reason,
            }) => {
                let is_own = placed.as_ref().is_some_and(|order| order.number == number);
                let mut order = if is_own || number == OrderNumber(step.frame.sequence.0) {
                    take_placed(step, placed, event)?
                } else if self.orders.delay_of(number).is_some() {
                    self.remove_delayed(number)?
                } else {
                    self.remove_resting(step, number, lots)?
                };
                if order.account != account {
                    return Err(Impossible::OrderDiffers(number));
                }
                order.left = lots;
                order.updated = step.now;
                (order, OrderState::Closed(reason))
            }
            _ => return Err(mismatch(event)),
        };
        self.orders.finish(order, state, step.frame.sequence)
    }

    /// Rests the remainder of the frame's order: reserves funds and adds it to the book.
    fn rest(
        &mut self,
        step: &FoldStep<'_>,
        mut order: Order,
        lots: Lots,
        price: Price,
    ) -> Result<(), Impossible> {
        if order.price != price {
            return Err(Impossible::OrderDiffers(order.number));
        }
        order.left = lots;
        let (market, outcome, side) = (order.market, order.outcome, order.side);
        match side {
            Side::Buy => (self.accounts.get_mut(order.account)?).reserve(lots.value_at(price))?,
            Side::Sell => (self.holdings)
                .change_balance(order.account, market, |held| held.reserve(outcome, lots))?,
        }
        let book = self.books.touch(market, step.at())?;
        book.add(LadderPlace::of(outcome, side, price), lots)?;
        self.orders.rest(order)
    }

    /// Removes a resting order from the book and releases its reservation.
    fn remove_resting(
        &mut self,
        step: &FoldStep<'_>,
        number: OrderNumber,
        lots: Lots,
    ) -> Result<Order, Impossible> {
        let order = self.orders.remove_live(number)?;
        if order.left != lots {
            return Err(Impossible::OrderDiffers(number));
        }
        let (market, outcome, side, price) = (order.market, order.outcome, order.side, order.price);
        match side {
            Side::Buy => (self.accounts.get_mut(order.account)?).release(lots.value_at(price))?,
            Side::Sell => (self.holdings)
                .change_balance(order.account, market, |held| held.release(outcome, lots))?,
        }
        let book = self.books.touch(market, step.at())?;
        book.remove(LadderPlace::of(outcome, side, price), lots)?;
        Ok(order)
    }
}

/// Takes the frame's own order at its single ending.
fn take_placed(
    step: &FoldStep<'_>,
    placed: &mut Option<Order>,
    event: &Event,
) -> Result<Order, Impossible> {
    placed.take().ok_or_else(|| match step.frame.command {
        Command::PlaceOrder(_) => Impossible::PlacementUnfinished,
        _ => mismatch(event),
    })
}
