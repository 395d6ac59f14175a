//! Restores positions, resting orders and order ids.

use foretell_model::limits::MAX_ORDER_LOTS;
use foretell_model::state::OrderIdState;
use foretell_model::{OrderId, OrderNumber, Price, Settings, Side, TimeMs};

use crate::exchange::Exchange;
use crate::id_memory::OrderTerms;
use crate::order_pool::{Order, in_yes};
use crate::positions::Position;
use crate::restore::registry::check_shares;
use crate::restore::{Checked, Restorer, check};
use crate::slab::NONE;

/// Largest distance of a signed timestamp after the time of its command, for any valid settings.
const FURTHEST_AHEAD_MS: u64 = 24 * 3_600 * 1_000;

/// The slot of a live order's position: of a SELL, whose shares are reserved there.
pub(super) fn seller_position(exchange: &Exchange, order: &Order) -> Result<u32, &'static str> {
    match order.side {
        Side::Buy => Ok(NONE),
        Side::Sell => {
            let position = exchange.positions.find(order.account, order.market);
            position.ok_or("the seller has no shares")
        }
    }
}

impl Restorer {
    pub(super) fn put_position(&mut self, position: Position) -> Checked {
        self.check_pair(position.account, position.market)?;
        check(position.has_shares(), "the position is empty")?;
        check_shares(position.free)?;
        check_shares(position.reserved)?;
        let positions = &mut self.exchange.positions;
        let slot = positions.open(position.account, position.market);
        positions[slot] = position;
        Ok(())
    }

    /// Adds an order to every structure except the list of its account, which is sorted by number.
    /// Orders of one price come in order of arrival.
    pub(super) fn put_order(&mut self, id: OrderId, price: Price, mut order: Order) -> Checked {
        self.check_pair(order.account, order.market)?;
        self.check_sequence(order.number.0)?;
        let is_sized = !order.lots.is_zero() && order.lots <= MAX_ORDER_LOTS;
        check(is_sized, "size out of range")?;
        let exchange = &mut self.exchange;
        let tick = exchange.markets[order.market].ladder.tick();
        check(price.fits(tick), "price is off the tick grid")?;

        order.yes_price = in_yes(price, order.outcome);
        order.position = seller_position(exchange, &order)?;
        let (market, number, expires) = (order.market, order.number, order.expiration.0 != 0);
        let slot = exchange.orders.insert(order);
        let ladder = &mut exchange.markets[market].ladder;
        ladder.append(slot, &mut exchange.orders);
        if expires {
            exchange.expiry.insert(slot, &mut exchange.orders);
        }
        self.awaiting_id.push((number, slot, id));
        Ok(())
    }

    /// Sorts the resting orders after the last one: ids come by number.
    pub(super) fn sort_awaiting(&mut self) -> Checked {
        self.awaiting_id
            .sort_unstable_by_key(|(number, ..)| *number);
        let resting = self.awaiting_id.iter();
        self.live
            .extend(resting.map(|(number, slot, _)| (*number, *slot)));
        self.awaiting_id.reverse();
        Ok(())
    }

    /// Fills the accounts' lists with all live orders.
    pub(super) fn link_account_orders(&mut self) -> Checked {
        self.live.sort_unstable();
        let is_unique = self.live.is_sorted_by(|(one, _), (next, _)| one < next);
        check(is_unique, "duplicate order number")?;
        let exchange = &mut self.exchange;
        for (_, slot) in &self.live {
            exchange.accounts.append_order(*slot, &mut exchange.orders);
        }
        Ok(())
    }

    /// Remembers the id of an order, and links it to the order if that rests.
    pub(super) fn put_order_id(
        &mut self,
        (number, id): (OrderNumber, OrderId),
        timestamp: TimeMs,
        terms: OrderTerms,
        (state, in_expiry_queue): (OrderIdState, bool),
    ) -> Checked {
        self.check_sequence(number.0)?;
        let exchange = &mut self.exchange;
        let latest = exchange.system.time.millis().0 + FURTHEST_AHEAD_MS;
        check(timestamp.0 <= latest, "timestamp is outside of any window")?;
        let owner = exchange.keys.owner_of(terms.key).ok_or("unknown key")?;
        let named = (exchange.ids.hash(&id), id);
        let id_slot = exchange
            .ids
            .restore(named, number, timestamp, terms, in_expiry_queue);
        exchange.accounts[owner].order_ids += u32::from(in_expiry_queue);
        match state {
            OrderIdState::Done => {}
            OrderIdState::Killed { reason, minimum } => {
                let is_possible = minimum <= Settings::MAX_MARKETABLE_MINIMUM;
                check(is_possible, "minimum out of range")?;
                exchange.ids.killed(id_slot, reason, minimum);
            }
            OrderIdState::Live => {
                let resting = self
                    .awaiting_id
                    .pop_if(|(next, _, stated)| *next == number && *stated == id);
                let Some((_, slot, _)) = resting else {
                    self.awaiting_delayed.push_back((number, id_slot));
                    return Ok(());
                };
                check(
                    terms.order_type.may_rest(),
                    "a live order has a type that cannot rest",
                )?;
                exchange.orders[slot].id_slot = id_slot;
                exchange.ids.rests(id_slot, slot);
            }
        }
        Ok(())
    }
}
