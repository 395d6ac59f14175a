//! Orders: live ones by number, account and id, finished ones by id and by end.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::RandomState;
use foretell_model::codec::{Fixed, fixed, stored};
use foretell_model::{
    AccountNumber, CloseReason, MarketNumber, OrderId, OrderNumber, Sequence, TimeNs,
};

use crate::error::Impossible;
use crate::part::Part;
use crate::rows::order::{Order, OrderState};
use crate::storage::by_number::entry_of;
use crate::storage::chunk::Chunking;
use crate::storage::id_log::IdLog;
use crate::storage::row::LogRow;
use crate::storage::slot::count;

/// An order that ended with an unfilled remainder, and the frame that ended it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndedOrder {
    /// Sequence of the frame.
    pub sequence: Sequence,
    /// The order.
    pub order: Order,
    /// Why it ended.
    pub reason: CloseReason,
}

stored! {
    /// What a delayed order waits for (docs/verify/rules.md §22).
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Delay {
        /// When it meets the book.
        pub due: TimeNs,
        /// Reserved: micros of a BUY, lots of a SELL.
        pub reserved: u64,
        /// Reason of the first cancel that asked for it: its rest will not rest.
        pub cancel: Option<CloseReason>,
    }
}

fixed! {
    /// The stored form of a finished order.
    #[derive(PartialEq, Debug)]
    pub(crate) struct FinishedOrder {
        pub(crate) order: Order,
        /// The frame that ended it.
        pub(crate) sequence: Sequence,
    }
}

impl LogRow for FinishedOrder {
    const CHUNK_BITS: u32 = 14;
    const ID_BYTES: usize = OrderId::SIZE;
    const IS_PACKED: bool = true;
}

/// All orders.
#[derive(Debug)]
pub struct Orders {
    live: HashMap<OrderNumber, Order, RandomState>,
    live_ids: HashMap<OrderId, OrderNumber, RandomState>,
    /// The delays of live orders that wait.
    pub(crate) delays: BTreeMap<OrderNumber, Delay>,
    /// Live orders of each account that ever had one.
    by_account: Vec<BTreeSet<OrderNumber>>,
    /// Number of live orders in each market that ever had one.
    by_market: Vec<usize>,
    /// Finished orders, in the order they ended.
    pub(crate) finished: IdLog<FinishedOrder>,
}

impl Part for Orders {
    fn new(chunking: Chunking) -> Self {
        Self {
            live: HashMap::default(),
            live_ids: HashMap::default(),
            delays: BTreeMap::new(),
            by_account: Vec::new(),
            by_market: Vec::new(),
            finished: IdLog::new(chunking),
        }
    }
}

impl Orders {
    /// The live order with this number. Finished orders are found by id only.
    #[must_use]
    pub fn live(&self, number: OrderNumber) -> Option<&Order> {
        self.live.get(&number)
    }

    /// The delay of an order that waits.
    #[must_use]
    pub fn delay_of(&self, number: OrderNumber) -> Option<&Delay> {
        self.delays.get(&number)
    }

    /// The order with this id, live or finished.
    #[must_use]
    pub fn by_id(&self, id: &OrderId) -> Option<Order> {
        if let Some(number) = self.live_ids.get(id) {
            return self.live(*number).cloned();
        }
        let slot = self.finished.find(&id.0)?;
        Some(self.finished.log().get(slot)?.order)
    }

    /// The live orders of an account, by number.
    pub fn live_of(&self, account: AccountNumber) -> impl DoubleEndedIterator<Item = &Order> {
        let numbers = self.numbers_of(account).into_iter().flatten();
        numbers.filter_map(|number| self.live.get(number))
    }

    fn numbers_of(&self, account: AccountNumber) -> Option<&BTreeSet<OrderNumber>> {
        self.by_account.get(account.0 as usize)
    }

    /// The live orders of an account from a number on.
    pub(crate) fn live_from(
        &self,
        account: AccountNumber,
        first: OrderNumber,
    ) -> impl Iterator<Item = &Order> {
        let numbers = self.numbers_of(account).into_iter();
        let numbers = numbers.flat_map(move |numbers| numbers.range(first..));
        numbers.filter_map(|number| self.live.get(number))
    }

    /// Number of live orders of an account.
    #[must_use]
    pub fn live_count_of(&self, account: AccountNumber) -> usize {
        self.numbers_of(account).map_or(0, BTreeSet::len)
    }

    /// Number of live orders in a market.
    #[must_use]
    pub fn live_count_in(&self, market: MarketNumber) -> usize {
        let live = self.by_market.get(market.0 as usize);
        live.copied().unwrap_or_default()
    }

    /// Number of live orders.
    #[must_use]
    pub fn live_count(&self) -> usize {
        self.live.len()
    }

    /// Number of orders, including finished and killed ones.
    #[must_use]
    pub fn count(&self) -> usize {
        self.live.len() + count(self.finished.log().len())
    }

    /// Orders that ended with an unfilled remainder in the frames `first` to `last`, both included,
    /// in the order they ended. Completed and killed orders are excluded. The cost is proportional
    /// to all orders that ended in those frames.
    pub fn ended_between(
        &self,
        first: Sequence,
        last: Sequence,
    ) -> impl Iterator<Item = EndedOrder> {
        let finished = self.finished.log();
        let from = finished.partition_point(|finished| finished.sequence < first);
        (from..finished.len())
            .map_while(|slot| finished.get(slot))
            .take_while(move |finished| finished.sequence <= last)
            .filter_map(|FinishedOrder { order, sequence }| match order.state {
                OrderState::Closed(reason) => Some(EndedOrder {
                    sequence,
                    order,
                    reason,
                }),
                _ => None,
            })
    }

    /// All live orders, by number.
    pub(crate) fn all_live(&self) -> Vec<&Order> {
        let mut orders: Vec<&Order> = self.live.values().collect();
        orders.sort_unstable_by_key(|order| order.number);
        orders
    }

    /// Whether a live order has this id. The exchange rejects ids of finished orders.
    pub(crate) fn is_live(&self, id: &OrderId) -> bool {
        self.live_ids.contains_key(id)
    }

    pub(crate) fn live_mut(&mut self, number: OrderNumber) -> Result<&mut Order, Impossible> {
        (self.live.get_mut(&number)).ok_or(Impossible::OrderNotLive(number))
    }

    /// Adds a resting order.
    pub(crate) fn rest(&mut self, mut order: Order) -> Result<(), Impossible> {
        order.state = OrderState::Live;
        self.insert(order)
    }

    /// Adds an order that waits out a delay.
    pub(crate) fn delay(&mut self, mut order: Order, delay: Delay) -> Result<(), Impossible> {
        order.state = OrderState::Delayed;
        self.delays.insert(order.number, delay);
        self.insert(order)
    }

    fn insert(&mut self, order: Order) -> Result<(), Impossible> {
        let number = order.number;
        if self.live_ids.insert(order.id, number).is_some() {
            return Err(Impossible::DuplicateName);
        }
        *entry_of(&mut self.by_market, order.market.0 as usize) += 1;
        entry_of(&mut self.by_account, order.account.0 as usize).insert(number);
        match self.live.insert(number, order) {
            None => Ok(()),
            Some(_) => Err(Impossible::DuplicateName),
        }
    }

    /// Removes a delayed order, which is then released or finished.
    pub(crate) fn remove_delayed(
        &mut self,
        number: OrderNumber,
    ) -> Result<(Order, Delay), Impossible> {
        let delay = self.delays.remove(&number);
        let delay = delay.ok_or(Impossible::OrderNotLive(number))?;
        Ok((self.remove_live(number)?, delay))
    }

    /// Notes a cancel of a delayed order.
    pub(crate) fn request_cancel(
        &mut self,
        number: OrderNumber,
        reason: CloseReason,
    ) -> Result<(), Impossible> {
        let delay = self.delays.get_mut(&number);
        let delay = delay.ok_or(Impossible::OrderNotLive(number))?;
        match delay.cancel.replace(reason) {
            None => Ok(()),
            Some(_) => Err(Impossible::OrderDiffers(number)),
        }
    }

    /// Removes a live order that does not wait.
    pub(crate) fn remove_live(&mut self, number: OrderNumber) -> Result<Order, Impossible> {
        let order = self.live.remove(&number);
        let order = order.ok_or(Impossible::OrderNotLive(number))?;
        self.live_ids.remove(&order.id);
        entry_of(&mut self.by_account, order.account.0 as usize).remove(&number);
        *entry_of(&mut self.by_market, order.market.0 as usize) -= 1;
        Ok(order)
    }

    /// Stores the finished order, which no longer rests.
    pub(crate) fn finish(
        &mut self,
        mut order: Order,
        state: OrderState,
        sequence: Sequence,
    ) -> Result<(), Impossible> {
        order.state = state;
        self.finished.push(&FinishedOrder { order, sequence })
    }
}
