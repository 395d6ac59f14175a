//! Order ids that were used, so that a repeated order is answered and not executed again
//! (docs/verify/rules.md §16).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foretell_model::limits::{EVICTED_PER_COMMAND, ORDER_ID_SHARES, RESERVED_ORDER_IDS};
use foretell_model::state::OrderIdState;
use foretell_model::{
    AccountNumber, KeyNumber, OrderId, OrderNumber, OrderType, PlaceOrder, Rejection,
    RejectionReason, TimeMs, TimeNs, TimeSeconds,
};

use crate::exchange::{Exchange, Stamp};
use crate::handler_result::{NotApplied, ensure};

/// A used order id, and the terms that a repeat must share.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RememberedOrder {
    pub(crate) number: OrderNumber,
    pub(crate) id: OrderId,
    pub(crate) timestamp: TimeMs,
    pub(crate) state: OrderIdState,
    pub(crate) in_expiry_queue: bool,
    pub(crate) order_type: OrderType,
    pub(crate) expiration: TimeSeconds,
    pub(crate) post_only: bool,
    pub(crate) key: KeyNumber,
    /// Of the key.
    pub(crate) owner: AccountNumber,
}

impl RememberedOrder {
    pub(crate) fn has_terms_of(&self, placed: &PlaceOrder) -> bool {
        self.order_type == placed.order_type
            && self.expiration == placed.expiration
            && self.post_only == placed.post_only
            && self.key == placed.key
    }

    /// Its signed second, then its number.
    fn expiry_key(&self) -> (u64, OrderNumber) {
        (self.timestamp.0 / 1_000, self.number)
    }
}

/// All ids that are remembered.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct OrderIds {
    orders: BTreeMap<OrderNumber, RememberedOrder>,
    numbers: HashMap<OrderId, OrderNumber>,
    /// Orders whose ids are evicted in time, earliest signed second first.
    expiry_queue: BTreeSet<(u64, OrderNumber)>,
    /// Number of orders of each owner in the expiry queue.
    of_owner: HashMap<AccountNumber, u64>,
}

impl OrderIds {
    pub(crate) fn get(&self, id: OrderId) -> Option<&RememberedOrder> {
        self.numbers.get(&id).map(|number| &self.orders[number])
    }

    /// The key that placed a live order.
    pub(crate) fn key_of(&self, number: OrderNumber) -> KeyNumber {
        self.orders[&number].key
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &RememberedOrder> {
        self.orders.values()
    }

    pub(crate) fn insert(&mut self, order: RememberedOrder) {
        if order.in_expiry_queue {
            self.expiry_queue.insert(order.expiry_key());
            *self.of_owner.entry(order.owner).or_default() += 1;
        }
        self.numbers.insert(order.id, order.number);
        self.orders.insert(order.number, order);
    }

    fn remove(&mut self, number: OrderNumber) -> Option<RememberedOrder> {
        let order = self.orders.remove(&number)?;
        self.numbers.remove(&order.id);
        if order.in_expiry_queue {
            self.expiry_queue.remove(&order.expiry_key());
            let held = self.of_owner.entry(order.owner).or_default();
            *held -= 1;
            if *held == 0 {
                self.of_owner.remove(&order.owner);
            }
        }
        Some(order)
    }

    /// The front of the expiry queue: the earliest signed second.
    fn front(&self) -> Option<&RememberedOrder> {
        let (_, number) = self.expiry_queue.first()?;
        self.orders.get(number)
    }

    /// Takes the front out of the expiry queue. The id of a live order is kept while it lives.
    fn evict_front(&mut self) {
        let number = self.front().map(|front| front.number);
        if let Some(mut front) = number.and_then(|number| self.remove(number))
            && front.state == OrderIdState::Live
        {
            front.in_expiry_queue = false;
            self.insert(front);
        }
    }

    /// A live order ended: its id is kept while it is in the expiry queue.
    pub(crate) fn order_ended(&mut self, number: OrderNumber) {
        let mut order = self
            .remove(number)
            .expect("an id is remembered at least while its order lives");
        order.state = OrderIdState::Done;
        if order.in_expiry_queue {
            self.insert(order);
        }
    }
}

impl Exchange {
    /// Whether the window for resending the order of this id has passed.
    fn is_due(&self, order: &RememberedOrder, now: TimeNs) -> bool {
        let second = order.timestamp.0 / 1_000;
        let clocks = [now, self.wall_clock(now)];
        let end = (second + 1) * 1_000 + self.settings.timestamp_past_ms;
        clocks.iter().all(|clock| end < clock.millis().0)
    }

    /// Rejects when the expiry queue, or the owner's share of it, is full and the front id is
    /// not due.
    pub(crate) fn check_room_for_an_id(
        &self,
        key: KeyNumber,
        now: TimeNs,
    ) -> Result<(), NotApplied> {
        let is_due = self
            .order_ids
            .front()
            .is_some_and(|front| self.is_due(front, now));
        if is_due {
            return Ok(());
        }
        let owner = self.keys[key.0 as usize].owner;
        let held = self.order_ids.of_owner.get(&owner).copied().unwrap_or(0);
        let allowed = self.settings.remembered_order_ids;
        let share = u64::from((allowed / ORDER_ID_SHARES).max(1));
        let has_reserve = held < share && held < u64::from(RESERVED_ORDER_IDS);
        ensure(
            has_reserve || self.order_ids.expiry_queue.len() < allowed as usize,
            RejectionReason::Busy,
        )?;
        ensure(
            held < share,
            Rejection::with(RejectionReason::TooManyOrderIds, held, share),
        )
    }

    /// Remembers the id of an applied placement; evicts a few due ids first.
    pub(crate) fn remember_order(&mut self, placed: &PlaceOrder, state: OrderIdState, at: Stamp) {
        for _ in 0..EVICTED_PER_COMMAND {
            let front = self.order_ids.front();
            if !front.is_some_and(|front| self.is_due(front, at.time)) {
                break;
            }
            self.order_ids.evict_front();
        }
        self.order_ids.insert(RememberedOrder {
            number: OrderNumber::of(at.sequence, 0),
            id: placed.order,
            timestamp: placed.timestamp,
            state,
            in_expiry_queue: true,
            order_type: placed.order_type,
            expiration: placed.expiration,
            post_only: placed.post_only,
            key: placed.key,
            owner: self.keys[placed.key.0 as usize].owner,
        });
    }
}
