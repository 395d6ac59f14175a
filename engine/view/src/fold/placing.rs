//! Orders: placing, resting, ending, and their reservations.

use foretell_model::event::{OrderClosed, OrderDecreased, OrderKilled, OrderRested};
use foretell_model::{
    Command, Event, Lots, Micros, OrderNumber, PlaceOrder, Price, Sequence, Side,
};

use super::{FoldStep, mismatch};
use crate::error::Impossible;
use crate::rows::books::{LadderPlace, QueuePlace};
use crate::rows::order::{Order, OrderState, limit_price};
use crate::view::View;

impl View {
    /// An order of the frame before any of its events. Killed orders have no evidence, so no builder;
    /// invalid evidence does not stop the fold.
    pub(super) fn place(
        &mut self,
        step: &FoldStep<'_>,
        command: &PlaceOrder,
        number: OrderNumber,
        builder: Option<[u8; 32]>,
    ) -> Result<Order, Impossible> {
        if self.orders.is_live(&command.order) {
            return Err(Impossible::DuplicateName);
        }
        let market = self.markets.get_mut(command.market)?;
        let price = limit_price(command, market.tick).ok_or(Impossible::NoPrice)?;
        let account = self.accounts.get_mut(command.account)?;
        let builder = match builder {
            Some(builder) => self.builders.intern(&builder)?,
            None => None,
        };
        Ok(Order {
            id: command.order,
            number,
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
            size: match command.side {
                Side::Buy => command.taker_amount,
                Side::Sell => command.maker_amount,
            },
            expiration: command.expiration,
            left: Lots::ZERO,
            matched: Lots::ZERO,
            value: Micros::ZERO,
            fee: Micros::ZERO,
            arrival: Sequence(0),
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
                let mut order = if is_own || number == OrderNumber::of(step.frame.sequence, 0) {
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
            Event::OrderDecreased(ref decreased) => return self.decrease(step, decreased),
            _ => return Err(mismatch(event)),
        };
        self.orders.finish(order, state, step.frame.sequence)
    }

    /// Rests the remainder of the frame's order.
    fn rest(
        &mut self,
        step: &FoldStep<'_>,
        order: Order,
        lots: Lots,
        price: Price,
    ) -> Result<(), Impossible> {
        if order.price != price {
            return Err(Impossible::OrderDiffers(order.number));
        }
        self.enter_book(step, order, lots)
    }

    /// Reserves what so many lots of an order need, and adds it to the book.
    pub(super) fn enter_book(
        &mut self,
        step: &FoldStep<'_>,
        mut order: Order,
        lots: Lots,
    ) -> Result<(), Impossible> {
        (order.left, order.arrival) = (lots, step.frame.sequence);
        self.reserve(&order, needed(&order, lots))?;
        let book = self.books.touch(order.market, step.at())?;
        book.join(&order)?;
        self.orders.rest(order)
    }

    /// Takes lots off a resting order, off its level and off its reservation.
    fn decrease(
        &mut self,
        step: &FoldStep<'_>,
        &OrderDecreased {
            order: number,
            account,
            lots,
        }: &OrderDecreased,
    ) -> Result<(), Impossible> {
        let order = self.orders.live_mut(number)?;
        let differs = Impossible::OrderDiffers(number);
        if order.account != account || order.state != OrderState::Live || lots.is_zero() {
            return Err(differs);
        }
        let off = order.left.checked_sub(lots).ok_or(differs)?;
        let size = order.size.checked_sub(off.micro_shares());
        order.size = size.ok_or(differs)?;
        (order.left, order.updated) = (lots, step.now);
        let order = order.clone();
        self.release(&order, needed(&order, off))?;
        let book = self.books.touch(order.market, step.at())?;
        book.lower(LadderPlace::of_order(&order), off)
    }

    /// Reserves micros for a BUY, lots for a SELL.
    pub(super) fn reserve(&mut self, order: &Order, amount: u64) -> Result<(), Impossible> {
        match order.side {
            Side::Buy => (self.accounts.get_mut(order.account)?).reserve(Micros(amount)),
            Side::Sell => (self.holdings).change_balance(order.account, order.market, |held| {
                held.reserve(order.outcome, Lots(amount))
            }),
        }
    }

    /// Releases micros of a BUY, lots of a SELL.
    pub(super) fn release(&mut self, order: &Order, amount: u64) -> Result<(), Impossible> {
        match order.side {
            Side::Buy => (self.accounts.get_mut(order.account)?).release(Micros(amount)),
            Side::Sell => (self.holdings).change_balance(order.account, order.market, |held| {
                held.release(order.outcome, Lots(amount))
            }),
        }
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
        self.release(&order, needed(&order, lots))?;
        let book = self.books.touch(order.market, step.at())?;
        book.leave(QueuePlace::of(&order), lots)?;
        Ok(order)
    }
}

/// What these lots of a resting order reserve: micros of a BUY, lots of a SELL.
fn needed(order: &Order, lots: Lots) -> u64 {
    match order.side {
        Side::Buy => lots.value_at(order.price).0,
        Side::Sell => lots.0,
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
