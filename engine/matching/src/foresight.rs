//! Looking ahead: brings near what a command will touch while commands before it are applied.
//!
//! A command's memory is found in steps, each behind the one before: id, memory of the id, order,
//! its neighbours. A caller that holds several commands looks at each of them a few times, some
//! commands apart, so that by its turn most of it is near. Looking changes nothing and promises
//! nothing: what was foreseen may be gone by then, and `apply` looks everything up itself.

use foretell_memory::near::bring;
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{AccountNumber, Command, MarketNumber, PlaceOrder, Price, Reference, Side};

use crate::exchange::Exchange;
use crate::order_pool::{BookSide, Order, in_yes};
use crate::slab::NONE;

/// How far a command was looked into.
#[derive(Clone, Copy, Debug)]
pub struct Foresight {
    next: Look,
    /// Hash that the next look searches.
    hash: u32,
    /// What was found last: a place in the id memory, or an order it will end or meet.
    found: u32,
}

/// What to look at next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Look {
    /// The tables in which its names are searched.
    Tables,
    /// A placement's position, level, and the order it meets first.
    Position,
    /// The position whose sets are made, taken apart or paid.
    Sets,
    /// A cancel's place in the id memory.
    Memory,
    /// The order remembered there.
    Order,
    /// The neighbours of an order found.
    Around,
    /// Nothing more to find.
    Over,
}

impl Foresight {
    /// Not looked at yet.
    pub const NONE: Self = Self {
        next: Look::Tables,
        hash: 0,
        found: NONE,
    };
    /// Commands between two looks at one: about what memory takes to answer.
    pub const GAP: usize = 4;
    /// Looks after which nothing more is found.
    pub const LOOKS: usize = 4;
}

impl Exchange {
    /// Looks one step deeper into a command that will be applied soon: [`Foresight::LOOKS`] times
    /// in all, a few commands apart.
    #[inline]
    pub fn foresee(&self, command: &Command, foresight: &mut Foresight) {
        if foresight.next != Look::Over {
            self.look(command, foresight);
        }
    }

    fn look(&self, command: &Command, foresight: &mut Foresight) {
        foresight.next = match (foresight.next, command) {
            (Look::Tables, Command::PlaceOrder(order)) => self.look_up_order(order, foresight),
            (Look::Tables, Command::CancelOrder { order, .. }) => {
                foresight.hash = self.index.hash(order);
                self.index.bring_entry(foresight.hash);
                Look::Memory
            }
            (
                Look::Tables,
                &(Command::Split {
                    account,
                    market,
                    reference,
                    ..
                }
                | Command::Merge {
                    account,
                    market,
                    reference,
                    ..
                }
                | Command::Redeem {
                    account,
                    market,
                    reference,
                }),
            ) => self.look_up_sets((account, market), reference, foresight),
            (Look::Position, Command::PlaceOrder(order)) => self.look_at_order(order, foresight),
            (Look::Sets, _) => {
                self.positions.bring_likely(foresight.hash);
                Look::Over
            }
            (Look::Memory, _) => {
                foresight.found = self.index.guess(foresight.hash).unwrap_or(NONE);
                self.index.get(foresight.found).map_or(Look::Over, |known| {
                    bring(known);
                    Look::Order
                })
            }
            (Look::Order, _) => {
                let known = self.index.get(foresight.found);
                foresight.found = known.map_or(NONE, |known| known.slot);
                self.bring_order(foresight.found);
                Look::Around
            }
            (Look::Around, _) => {
                self.bring_around(foresight.found);
                Look::Over
            }
            _ => Look::Over,
        };
    }

    fn look_up_order(&self, order: &PlaceOrder, foresight: &mut Foresight) -> Look {
        self.index.bring_entry(self.index.hash(&order.order));
        self.look_up_position(order.account, order.market, foresight);
        if let Some(key) = self.keys.get(order.key) {
            bring(key);
        }
        Look::Position
    }

    fn look_up_sets(
        &self,
        (account, market): (AccountNumber, MarketNumber),
        reference: Reference,
        foresight: &mut Foresight,
    ) -> Look {
        self.references.bring_entry(Some(account), reference);
        self.look_up_position(account, market, foresight);
        Look::Sets
    }

    fn look_up_position(
        &self,
        account: AccountNumber,
        market: MarketNumber,
        foresight: &mut Foresight,
    ) {
        foresight.hash = self.positions.hash(account, market);
        self.positions.bring_entry(foresight.hash);
        if let Some(account) = self.accounts.get(account) {
            bring(account);
        }
        if let Ok(market) = self.markets.get(market) {
            bring(market);
        }
    }

    fn look_at_order(&self, order: &PlaceOrder, foresight: &mut Foresight) -> Look {
        self.positions.bring_likely(foresight.hash);
        let (Ok(market), Some(limit)) = (self.markets.get(order.market), yes_limit(order)) else {
            return Look::Over;
        };
        market.ladder.bring_level(limit);
        let side = BookSide::of(order.outcome, order.side);
        let meets = market
            .ladder
            .best_level(side.opposite())
            .filter(|(price, _)| match side {
                BookSide::Bid => *price <= limit,
                BookSide::Ask => *price >= limit,
            });
        meets.map_or(Look::Over, |(_, slot)| {
            foresight.found = slot;
            self.bring_order(slot);
            Look::Around
        })
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
        // The position's entry, too: one that holds nothing is given up with its last order.
        if let Some(position) = self.positions.get(order.position) {
            bring(position);
            let hash = self.positions.hash(order.account, order.market);
            self.positions.bring_entry(hash);
        }
        if let Some(account) = self.accounts.get(order.account) {
            bring(account);
        }
        if let Ok(market) = self.markets.get(order.market) {
            bring(market);
            market.ladder.bring_level(order.yes_price);
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
