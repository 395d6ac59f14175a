//! Orders: live ones by account, all of them by id and number, and what ended when.

use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use foretell_model::{AccountNumber, CloseReason, MarketNumber, OrderId, OrderNumber, Sequence};

use crate::error::Impossible;
use crate::order::{Order, OrderState};
use crate::slot_index::SlotIndex;

/// Place of an order in the list of all orders; in the order of their numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct OrderSlot(pub(crate) u32);

/// An order that ended with something unfilled, and the frame that ended it.
#[derive(Clone, Copy, Debug)]
pub struct Ended<'a> {
    /// The frame.
    pub sequence: Sequence,
    /// The order.
    pub order: &'a Order,
    /// Why it ended.
    pub reason: CloseReason,
}

/// All orders.
#[derive(Debug, Default)]
pub struct Orders {
    /// By number.
    all: Vec<Order>,
    ids: SlotIndex,
    id_key: RandomState,
    live: HashMap<OrderNumber, OrderSlot, RandomState>,
    /// Live ones of each account that ever had one; slots are in order of number.
    by_account: HashMap<AccountNumber, BTreeSet<OrderSlot>, RandomState>,
    /// How many are live in each market that ever had one.
    by_market: HashMap<MarketNumber, usize, RandomState>,
    /// Every order closed, by sequence, then as in the frame.
    ended: Vec<(Sequence, OrderSlot)>,
}

impl Orders {
    /// The order with this number, live or finished.
    #[must_use]
    pub fn get(&self, number: OrderNumber) -> Option<&Order> {
        if let Some(&slot) = self.live.get(&number) {
            return Some(self.at(slot));
        }
        let place = (self.all).binary_search_by_key(&number, |order| order.number);
        self.all.get(place.ok()?)
    }

    /// The order with this id, live or finished.
    #[must_use]
    pub fn by_id(&self, id: &OrderId) -> Option<&Order> {
        let bears_id = |slot: u32| self.at(OrderSlot(slot)).id == *id;
        let slot = self.ids.find(self.hash(id), bears_id)?;
        Some(self.at(OrderSlot(slot)))
    }

    /// The live orders of one account, by number.
    pub fn live_of(&self, account: AccountNumber) -> impl DoubleEndedIterator<Item = &Order> {
        let slots = self.by_account.get(&account).into_iter().flatten();
        slots.map(|&slot| self.at(slot))
    }

    /// How many live orders an account has.
    #[must_use]
    pub fn live_count_of(&self, account: AccountNumber) -> usize {
        self.by_account.get(&account).map_or(0, BTreeSet::len)
    }

    /// How many live orders a market has.
    #[must_use]
    pub fn live_count_in(&self, market: MarketNumber) -> usize {
        self.by_market.get(&market).copied().unwrap_or_default()
    }

    /// How many orders are live.
    #[must_use]
    pub fn live_count(&self) -> usize {
        self.live.len()
    }

    /// How many orders there are, finished and killed ones too.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Orders that ended with something unfilled in the frames `first` to `last`, both included,
    /// in the order they ended. Completed and killed orders are not among them.
    pub fn ended_between(
        &self,
        first: Sequence,
        last: Sequence,
    ) -> impl Iterator<Item = Ended<'_>> {
        let from = self
            .ended
            .partition_point(|&(sequence, _)| sequence < first);
        let later = self.ended.get(from..).unwrap_or_default().iter();
        later
            .take_while(move |&&(sequence, _)| sequence <= last)
            .filter_map(|&(sequence, slot)| {
                let order = self.at(slot);
                match order.state {
                    OrderState::Closed(reason) => Some(Ended {
                        sequence,
                        order,
                        reason,
                    }),
                    _ => None,
                }
            })
    }

    /// Slots are given out by `add` alone, and no order ever leaves the list.
    pub(crate) fn at(&self, slot: OrderSlot) -> &Order {
        &self.all[slot.0 as usize]
    }

    pub(crate) fn at_mut(&mut self, slot: OrderSlot) -> &mut Order {
        &mut self.all[slot.0 as usize]
    }

    /// Where a live order stands.
    pub(crate) fn live_slot(&self, number: OrderNumber) -> Result<OrderSlot, Impossible> {
        (self.live.get(&number).copied()).ok_or(Impossible::OrderNotLive(number))
    }

    /// Adds an order whose number is above all others. It is not live yet.
    pub(crate) fn add(&mut self, order: Order) -> Result<OrderSlot, Impossible> {
        if self.by_id(&order.id).is_some() {
            return Err(Impossible::NameTaken);
        }
        let slot = u32::try_from(self.all.len()).map_err(|_| Impossible::Full)?;
        self.ids.insert(self.hash(&order.id), slot);
        self.all.push(order);
        Ok(OrderSlot(slot))
    }

    /// The order rests from now on.
    pub(crate) fn rest(&mut self, slot: OrderSlot) {
        let order = self.at_mut(slot);
        order.state = OrderState::Live;
        let (number, account, market) = (order.number, order.account, order.market);
        self.live.insert(number, slot);
        *self.by_market.entry(market).or_default() += 1;
        self.by_account.entry(account).or_default().insert(slot);
    }

    /// The order is over. Whether it rested before does not matter.
    pub(crate) fn finish(&mut self, slot: OrderSlot, state: OrderState, sequence: Sequence) {
        let order = self.at_mut(slot);
        order.state = state;
        let (number, account, market) = (order.number, order.account, order.market);
        if self.live.remove(&number).is_some()
            && let Some(live) = self.by_account.get_mut(&account)
            && let Some(count) = self.by_market.get_mut(&market)
        {
            live.remove(&slot);
            *count -= 1;
        }
        if matches!(state, OrderState::Closed(_)) {
            self.ended.push((sequence, slot));
        }
    }

    /// Keyed, because an order's signer can search for ids that share a hash.
    fn hash(&self, id: &OrderId) -> u32 {
        #[allow(clippy::cast_possible_truncation)] // half of a hash is a hash
        let half = (self.id_key.hash_one(id) >> 32) as u32;
        half
    }
}
