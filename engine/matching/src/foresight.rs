//! Looking ahead: brings near what a command will touch while commands before it are applied.
//!
//! A command's memory is found in steps, each behind the one before: id, memory of the id, order,
//! its neighbours. A caller that holds several commands looks at each of them a few times, some
//! commands apart, so that by its turn most of it is near. Looking changes nothing and promises
//! nothing: what was foreseen may be gone by then, and `apply` looks everything up itself.

use foretell_model::quantity::PRICE_ONE;
use foretell_model::{AccountNumber, Command, MarketNumber, OrderId, PlaceOrder, Price, Side};

use crate::exchange::Exchange;
use crate::near::bring;
use crate::order_pool::{BookSide, Order, in_yes};
use crate::slab::NONE;

/// How far a command was looked into.
#[derive(Clone, Copy, Debug)]
pub struct Foresight {
    looks: u8,
    /// Hash of its order's id.
    id: u32,
    /// What was found last: a place in the id memory or in the positions, then an order.
    found: u32,
}

impl Foresight {
    /// Not looked at yet.
    pub const NONE: Self = Self {
        looks: 0,
        id: 0,
        found: NONE,
    };
    /// Looks that find something.
    pub const LOOKS: usize = 4;
}

impl Exchange {
    /// Looks one step deeper into a command that will be applied soon: [`Foresight::LOOKS`] times
    /// in all, a few commands apart.
    pub fn foresee(&self, command: &Command, foresight: &mut Foresight) {
        match command {
            Command::PlaceOrder(order) => self.foresee_order(order, foresight),
            Command::CancelOrder { order, .. } => self.foresee_cancel(order, foresight),
            _ => {}
        }
        foresight.looks = foresight.looks.saturating_add(1);
    }

    fn foresee_order(&self, order: &PlaceOrder, foresight: &mut Foresight) {
        match foresight.looks {
            0 => {
                self.index.bring_entry(self.index.hash(&order.order));
                self.positions.bring_entry(order.account, order.market);
                self.bring_account(order.account);
                if let Ok(market) = self.markets.get(order.market) {
                    bring(market);
                }
            }
            1 => {
                if let Some(place) = self.positions.guess(order.account, order.market) {
                    bring(&self.positions[place]);
                }
                self.bring_level(order.market, yes_limit(order));
            }
            2 => {
                foresight.found = self.maker_in_reach(order).unwrap_or(NONE);
                self.bring_order(foresight.found);
            }
            3 => self.bring_around(foresight.found),
            _ => {}
        }
    }

    fn foresee_cancel(&self, id: &OrderId, foresight: &mut Foresight) {
        match foresight.looks {
            0 => {
                foresight.id = self.index.hash(id);
                self.index.bring_entry(foresight.id);
            }
            1 => {
                foresight.found = self.index.guess(foresight.id).unwrap_or(NONE);
                if let Some(remembered) = self.index.get(foresight.found) {
                    bring(remembered);
                }
            }
            2 => {
                let remembered = self.index.get(foresight.found);
                foresight.found = remembered.map_or(NONE, |remembered| remembered.slot);
                self.bring_order(foresight.found);
            }
            3 => self.bring_around(foresight.found),
            _ => {}
        }
    }

    /// The first order of the other side, when it is within the limit.
    fn maker_in_reach(&self, order: &PlaceOrder) -> Option<u32> {
        let market = self.markets.get(order.market).ok()?;
        let side = BookSide::of(order.outcome, order.side);
        let limit = yes_limit(order)?;
        let (price, slot) = market.ladder.best_level(side.opposite())?;
        let is_reached = match side {
            BookSide::Bid => price <= limit,
            BookSide::Ask => price >= limit,
        };
        is_reached.then_some(slot)
    }

    fn bring_order(&self, slot: u32) {
        if let Some(order) = self.orders.get(slot) {
            bring(order);
        }
    }

    /// What ending an order touches beside itself.
    fn bring_around(&self, slot: u32) {
        let Some(order) = self.orders.get(slot) else {
            return;
        };
        let Order {
            next,
            previous,
            account_next,
            account_previous,
            ..
        } = *order;
        for neighbour in [next, previous, account_next, account_previous] {
            self.bring_order(neighbour);
        }
        if let Some(remembered) = self.index.get(order.memory) {
            bring(remembered);
        }
        if let Some(position) = self.positions.get(order.position) {
            bring(position);
        }
        self.bring_account(order.account);
        if let Ok(market) = self.markets.get(order.market) {
            bring(market);
        }
    }

    fn bring_account(&self, account: AccountNumber) {
        if let Some(account) = self.accounts.get(account) {
            bring(account);
        }
    }

    fn bring_level(&self, market: MarketNumber, price: Option<Price>) {
        let market = self.markets.get(market);
        if let (Ok(market), Some(price)) = (market, price) {
            market.ladder.bring_level(price);
        }
    }
}

/// The limit of an unchecked order in Yes prices, about: what admission will make of it may be
/// finer. `None` when it has none.
fn yes_limit(order: &PlaceOrder) -> Option<Price> {
    let (collateral, shares) = match order.side {
        Side::Buy => (order.maker_amount, order.taker_amount),
        Side::Sell => (order.taker_amount, order.maker_amount),
    };
    let price = collateral
        .checked_mul(PRICE_ONE.into())?
        .checked_div(shares)?;
    let price = u16::try_from(price)
        .ok()
        .filter(|price| *price < PRICE_ONE)?;
    Some(in_yes(Price(price), order.outcome))
}
