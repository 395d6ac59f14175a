//! What accounts hold and want: positions, resting orders, and the ids of orders.

use foretell_model::digest::Fate;
use foretell_model::limits::MAX_ORDER_LOTS;
use foretell_model::{OrderId, OrderNumber, Price, Settings, TimeMs};

use crate::order_index::Terms;
use crate::order_pool::{Order, in_yes};
use crate::positions::Position;
use crate::restore::registry::check_shares;
use crate::restore::{Checked, Restoring, check};

/// How far a signed timestamp can lie after the time of its command, whatever the settings.
const FURTHEST_AHEAD_MS: u64 = 24 * 3_600 * 1_000;

impl Restoring {
    pub(super) fn put_position(&mut self, position: Position) -> Checked {
        self.check_pair(position.account, position.market)?;
        check(position.holds_something(), "it holds nothing")?;
        check_shares(position.free)?;
        check_shares(position.reserved)?;
        let positions = &mut self.exchange.positions;
        let place = positions.open(position.account, position.market);
        positions[place] = position;
        Ok(())
    }

    /// Puts an order behind those of its price, which came before it, and all but into the list
    /// of its account, which goes by number.
    pub(super) fn put_order(&mut self, id: OrderId, price: Price, mut order: Order) -> Checked {
        self.check_pair(order.account, order.market)?;
        self.check_sequence(order.number.0)?;
        let is_sized = !order.lots.is_zero() && order.lots <= MAX_ORDER_LOTS;
        check(is_sized, "its size is out of range")?;
        let exchange = &mut self.exchange;
        let tick = exchange.markets[order.market].ladder.tick();
        check(price.fits(tick), "its price is not on the ladder")?;

        order.yes_price = in_yes(price, order.outcome);
        order.position = exchange.positions.open(order.account, order.market);
        exchange.positions[order.position].orders += 1;
        let (market, number, expires) = (order.market, order.number, order.expiration.0 != 0);
        let slot = exchange.orders.insert(order);
        let ladder = &mut exchange.markets[market].ladder;
        ladder.append(slot, &mut exchange.orders);
        if expires {
            exchange.expiry.insert(slot, &mut exchange.orders);
        }
        self.unremembered.push((number, slot, id));
        Ok(())
    }

    /// Fills the lists of the accounts, once all orders are there.
    pub(super) fn list_orders_of_accounts(&mut self) -> Checked {
        let exchange = &mut self.exchange;
        self.unremembered
            .sort_unstable_by_key(|(number, ..)| *number);
        for (_, slot, _) in &self.unremembered {
            exchange.accounts.append_order(*slot, &mut exchange.orders);
        }
        let is_unique = self
            .unremembered
            .is_sorted_by(|(one, ..), (next, ..)| one < next);
        self.unremembered.reverse();
        check(is_unique, "two orders have one number")
    }

    /// Remembers the id of an order, and leads from it to the order if that rests.
    pub(super) fn put_order_id(
        &mut self,
        (number, id): (OrderNumber, OrderId),
        timestamp: TimeMs,
        terms: Terms,
        (fate, in_timeline): (Fate, bool),
    ) -> Checked {
        self.check_sequence(number.0)?;
        let exchange = &mut self.exchange;
        let latest = exchange.system.time.millis().0 + FURTHEST_AHEAD_MS;
        check(
            timestamp.0 <= latest,
            "its timestamp is out of every window",
        )?;
        check(
            exchange.keys.get(terms.key).is_some(),
            "its key is not known",
        )?;
        let named = (exchange.index.hash(&id), id);
        let place =
            exchange
                .index
                .put_back(named, number, timestamp, terms, in_timeline, &exchange.keys);
        match fate {
            Fate::Done => {}
            Fate::Killed { reason, minimum } => {
                let is_possible = minimum <= Settings::MAX_MARKETABLE_MINIMUM;
                check(is_possible, "its minimum is out of range")?;
                exchange.index.killed(place, reason, minimum);
            }
            Fate::Live => {
                let resting = self
                    .unremembered
                    .pop_if(|(next, _, stated)| *next == number && *stated == id);
                let (_, slot, _) = resting.ok_or("no order with its number and id rests")?;
                check(terms.order_type.may_rest(), "its type does not rest")?;
                exchange.orders[slot].memory = place;
                exchange.index.rests(place, slot);
            }
        }
        Ok(())
    }
}
