//! Prefetch: loads the memory of a queued command while earlier commands are applied.
//!
//! The addresses of a command depend on each other: id, remembered id, order, its neighbours. A
//! caller with several queued commands calls [`Exchange::prefetch`] on each several times, a few
//! commands apart, so that most of its memory is cached when it is applied. Prefetching changes no
//! state. Its results may be stale, so `apply` repeats every lookup.

use foretell_memory::prefetch;
use foretell_model::command::{CancelOrder, DecreaseOrder, Merge, Redeem, Split};
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{AccountNumber, Command, MarketNumber, PlaceOrder, Price, Reference, Side};

use crate::exchange::Exchange;
use crate::order_pool::{BookSide, Order, in_yes};
use crate::slab::NONE;

/// Prefetch progress of one command.
#[derive(Clone, Copy, Debug)]
pub struct PrefetchState {
    next: PrefetchStep,
    /// Hash that the next step looks up.
    hash: u32,
    /// Last slot found: of a remembered id, or of an order that the command will close or match.
    found: u32,
}

/// The next prefetch step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PrefetchStep {
    /// Hash table entries of the command's keys.
    Entries,
    /// Level and first maker of a placement, and the position that it needs.
    Book,
    /// Position of a split, merge or redeem.
    SetPosition,
    /// Remembered id of a cancel.
    RememberedId,
    /// The order of that id.
    Order,
    /// Neighbours of the found order.
    Neighbours,
    /// Nothing left to prefetch.
    Done,
}

impl PrefetchState {
    /// No step done yet.
    pub const NONE: Self = Self {
        next: PrefetchStep::Entries,
        hash: 0,
        found: NONE,
    };
    /// Commands between two steps of one command: about the latency of main memory.
    pub const DISTANCE: usize = 4;
    /// Steps after which nothing is left to prefetch.
    pub const STEPS: usize = 4;
}

impl Exchange {
    /// Does the next prefetch step of a command that will be applied soon. Call it
    /// [`PrefetchState::STEPS`] times per command, [`PrefetchState::DISTANCE`] commands apart.
    #[inline]
    pub fn prefetch(&self, command: &Command, state: &mut PrefetchState) {
        if state.next != PrefetchStep::Done {
            self.next_step(command, state);
        }
    }

    fn next_step(&self, command: &Command, state: &mut PrefetchState) {
        state.next = match (state.next, command) {
            (PrefetchStep::Entries, Command::PlaceOrder(order)) => {
                self.prefetch_order_entries(order, state)
            }
            (
                PrefetchStep::Entries,
                Command::CancelOrder(CancelOrder { order, .. })
                | Command::DecreaseOrder(DecreaseOrder { order, .. }),
            ) => {
                state.hash = self.ids.hash(order);
                self.ids.prefetch_entry(state.hash);
                PrefetchStep::RememberedId
            }
            (
                PrefetchStep::Entries,
                &(Command::Split(Split {
                    account,
                    market,
                    reference,
                    ..
                })
                | Command::Merge(Merge {
                    account,
                    market,
                    reference,
                    ..
                })
                | Command::Redeem(Redeem {
                    account,
                    market,
                    reference,
                })),
            ) => self.prefetch_set_entries((account, market), reference, state),
            (PrefetchStep::Book, Command::PlaceOrder(order)) => {
                self.prefetch_first_maker(order, state)
            }
            (PrefetchStep::SetPosition, _) => {
                self.positions.prefetch_likely(state.hash);
                PrefetchStep::Done
            }
            (PrefetchStep::RememberedId, _) => {
                state.found = self.ids.guess(state.hash).unwrap_or(NONE);
                self.ids
                    .get(state.found)
                    .map_or(PrefetchStep::Done, |known| {
                        prefetch::item(known);
                        PrefetchStep::Order
                    })
            }
            (PrefetchStep::Order, _) => {
                let known = self.ids.get(state.found);
                state.found = known.map_or(NONE, |known| known.order);
                self.prefetch_order(state.found);
                PrefetchStep::Neighbours
            }
            (PrefetchStep::Neighbours, _) => {
                self.prefetch_neighbours(state.found);
                PrefetchStep::Done
            }
            _ => PrefetchStep::Done,
        };
    }

    fn prefetch_order_entries(
        &self,
        order: &PlaceOrder,
        state: &mut PrefetchState,
    ) -> PrefetchStep {
        self.ids.prefetch_entry(self.ids.hash(&order.order));
        self.prefetch_position_entry(order.account, order.market, state);
        if let Some(key) = self.keys.get(order.key) {
            prefetch::item(key);
        }
        PrefetchStep::Book
    }

    fn prefetch_set_entries(
        &self,
        (account, market): (AccountNumber, MarketNumber),
        reference: Reference,
        state: &mut PrefetchState,
    ) -> PrefetchStep {
        self.references.prefetch_entry(Some(account), reference);
        self.prefetch_position_entry(account, market, state);
        PrefetchStep::SetPosition
    }

    fn prefetch_position_entry(
        &self,
        account: AccountNumber,
        market: MarketNumber,
        state: &mut PrefetchState,
    ) {
        state.hash = self.positions.hash(account, market);
        self.positions.prefetch_entry(state.hash);
        if let Some(account) = self.accounts.get(account) {
            prefetch::item(account);
        }
        if let Ok(market) = self.markets.get(market) {
            prefetch::item(market);
        }
    }

    fn prefetch_first_maker(&self, order: &PlaceOrder, state: &mut PrefetchState) -> PrefetchStep {
        self.positions.prefetch_likely(state.hash);
        let (Ok(market), Some(limit)) = (self.markets.get(order.market), yes_limit(order)) else {
            return PrefetchStep::Done;
        };
        market.ladder.prefetch_level(limit);
        let side = BookSide::of(order.outcome, order.side);
        let meets = market
            .ladder
            .best_level(side.opposite())
            .filter(|(price, _)| side.reaches(limit, *price));
        meets.map_or(PrefetchStep::Done, |(_, slot)| {
            state.found = slot;
            self.prefetch_order(slot);
            PrefetchStep::Neighbours
        })
    }

    fn prefetch_order(&self, slot: u32) {
        if let Some(order) = self.orders.get(slot) {
            prefetch::item(order);
        }
    }

    /// Prefetches the memory that closing an order touches, except the order itself.
    fn prefetch_neighbours(&self, slot: u32) {
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
            self.prefetch_order(neighbour);
        }
        if let Some(remembered) = self.ids.get(order.id_slot) {
            prefetch::item(remembered);
        }
        match self.positions.get(order.position) {
            Some(position) => prefetch::item(position),
            // A buyer that is filled.
            None => {
                let hash = self.positions.hash(order.account, order.market);
                self.positions.prefetch_entry(hash);
            }
        }
        if let Some(account) = self.accounts.get(order.account) {
            prefetch::item(account);
        }
        if let Ok(market) = self.markets.get(order.market) {
            prefetch::item(market);
            market.ladder.prefetch_level(order.yes_price);
        }
    }
}

/// Approximate limit of an unchecked order in Yes prices; admission may round it differently.
/// `None` when the amounts give no price.
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
