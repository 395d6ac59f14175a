//! The id memory: the outcome of every order id that could still be resent, and the index from id
//! to resting order.
//!
//! An id is remembered from placement until its timestamp leaves the window, or until the order
//! ends if that is later. So an id executes at most once (docs/verify/rules.md §16).

use foretell_model::state::OrderIdState;
use foretell_model::{
    KeyNumber, Micros, OrderId, OrderNumber, OrderType, RejectionReason, Settings, TimeMs, TimeNs,
    TimeSeconds,
};

use crate::id_expiry_queue::IdExpiryQueue;
use crate::slab::{NONE, Slab};
use crate::table::{KeyHasher, Table};

/// Terms that a repeat must share with the first order to count as the same request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OrderTerms {
    pub(crate) expiration: TimeSeconds,
    pub(crate) key: KeyNumber,
    pub(crate) order_type: OrderType,
    pub(crate) post_only: bool,
}

/// A remembered id.
#[derive(Debug)]
pub(crate) struct RememberedId {
    pub(crate) id: OrderId,
    pub(crate) number: OrderNumber,
    pub(crate) timestamp: TimeMs,
    pub(crate) terms: OrderTerms,
    /// Slot of the resting order; `NONE` when the order does not rest.
    pub(crate) order: u32,
    /// Next id with the same second in the expiry queue.
    link: u32,
    pub(crate) killed: Option<RejectionReason>,
    /// The marketable minimum that a killed order was below, in micros; 0 otherwise.
    minimum: u32,
    pub(crate) in_expiry_queue: bool,
}

// The memory may hold millions of entries.
const _: () = assert!(size_of::<RememberedId>() <= 80);

// The minimum fits in 32 bits.
const _: () = assert!(Settings::MAX_MARKETABLE_MINIMUM.0 <= u32::MAX as u64);

impl RememberedId {
    /// The marketable minimum that a killed order was below; 0 otherwise.
    pub(crate) fn minimum(&self) -> Micros {
        Micros(self.minimum.into())
    }

    pub(crate) fn state(&self) -> OrderIdState {
        match self.killed {
            Some(reason) => OrderIdState::Killed {
                reason,
                minimum: self.minimum(),
            },
            None if self.order == NONE => OrderIdState::Done,
            None => OrderIdState::Live,
        }
    }
}

/// All remembered ids.
#[derive(Debug)]
pub(crate) struct IdMemory {
    entries: Slab<RememberedId>,
    by_id: Table,
    expiry_queue: IdExpiryQueue,
    hasher: KeyHasher,
}

impl IdMemory {
    pub(crate) fn with_capacity(ids: usize, seconds: usize, hasher: KeyHasher) -> Self {
        Self {
            entries: Slab::with_capacity(ids),
            by_id: Table::with_capacity(ids),
            expiry_queue: IdExpiryQueue::with_capacity(seconds),
            hasher,
        }
    }

    /// The hash of an id, for [`Self::find`] and [`Self::remember`].
    #[inline(always)]
    pub(crate) fn hash(&self, id: &OrderId) -> u32 {
        self.hasher.name(&id.0)
    }

    /// The entry of an id with this hash.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u32, id: &OrderId) -> Option<&RememberedId> {
        let slot = self.by_id.find(hash, |slot| self.entries[slot].id == *id)?;
        Some(&self.entries[slot])
    }

    /// Prefetches the index entry of an id with this hash.
    pub(crate) fn prefetch_entry(&self, hash: u32) {
        self.by_id.prefetch(hash);
    }

    /// The slot of the first index entry with this hash, without comparing the id.
    pub(crate) fn guess(&self, hash: u32) -> Option<u32> {
        self.by_id.guess(hash)
    }

    /// The entry in a slot, which may be free already.
    pub(crate) fn get(&self, slot: u32) -> Option<&RememberedId> {
        self.entries.get(slot)
    }

    /// The entry in a slot in use.
    pub(crate) fn at(&self, slot: u32) -> &RememberedId {
        &self.entries[slot]
    }

    /// Number of ids in the expiry queue.
    pub(crate) const fn len(&self) -> usize {
        self.expiry_queue.len()
    }

    /// Removes the front id from the expiry queue. Returns the key that it was placed with.
    pub(crate) fn expire_front(&mut self) -> Option<KeyNumber> {
        let entries = &self.entries;
        let slot = self.expiry_queue.pop(|slot| entries[slot].link)?;
        self.entries[slot].in_expiry_queue = false;
        let key = self.entries[slot].terms.key;
        if self.entries[slot].order == NONE {
            self.evict(slot);
        }
        Some(key)
    }

    /// Remembers the id of an admitted order that does not rest yet. Returns its slot.
    #[inline(always)]
    pub(crate) fn remember(
        &mut self,
        (hash, id): (u32, OrderId),
        number: OrderNumber,
        timestamp: TimeMs,
        terms: OrderTerms,
    ) -> u32 {
        let slot = self.insert((hash, id), number, timestamp, terms, true);
        let before = self.expiry_queue.append(timestamp.0 / 1_000, slot);
        if before != NONE {
            self.entries[before].link = slot;
        }
        slot
    }

    /// Names a quote. Its id is remembered while it is live: its group's revision rises, so no set repeats.
    pub(crate) fn name(
        &mut self,
        named: (u32, OrderId),
        number: OrderNumber,
        timestamp: TimeMs,
        terms: OrderTerms,
    ) -> u32 {
        self.insert(named, number, timestamp, terms, false)
    }

    /// Restores a remembered id. The caller restores ids in order of number, which restores the
    /// order of the expiry queue within a second.
    pub(crate) fn restore(
        &mut self,
        named: (u32, OrderId),
        number: OrderNumber,
        timestamp: TimeMs,
        terms: OrderTerms,
        in_expiry_queue: bool,
    ) -> u32 {
        if in_expiry_queue {
            self.remember(named, number, timestamp, terms)
        } else {
            self.name(named, number, timestamp, terms)
        }
    }

    #[inline(always)]
    fn insert(
        &mut self,
        (hash, id): (u32, OrderId),
        number: OrderNumber,
        timestamp: TimeMs,
        terms: OrderTerms,
        in_expiry_queue: bool,
    ) -> u32 {
        let slot = self.entries.insert(RememberedId {
            id,
            number,
            timestamp,
            terms,
            order: NONE,
            link: NONE,
            killed: None,
            minimum: 0,
            in_expiry_queue,
        });
        self.by_id.insert(hash, slot);
        slot
    }

    /// Records that the order of a slot rests in the order pool at `order`.
    pub(crate) fn rests(&mut self, slot: u32, order: u32) {
        self.entries[slot].order = order;
    }

    /// Records that the book killed the order of a slot; `minimum` is 0 unless it was the reason.
    pub(crate) fn killed(&mut self, slot: u32, reason: RejectionReason, minimum: Micros) {
        self.entries[slot].killed = Some(reason);
        self.entries[slot].minimum =
            u32::try_from(minimum.0).expect("settings insert minimums below 2^32 micros");
    }

    /// Records that the resting order of a slot ended.
    #[inline(always)]
    pub(crate) fn ended(&mut self, slot: u32) {
        self.entries[slot].order = NONE;
        if !self.entries[slot].in_expiry_queue {
            self.evict(slot);
        }
    }

    /// Every remembered id with its slot. Allocates.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &RememberedId)> {
        self.entries.iter()
    }

    /// Checks slots, index and expiry queue; returns the first inconsistency.
    pub(crate) fn check(&self) -> Result<(), String> {
        let queued = self.iter().filter(|(_, entry)| entry.in_expiry_queue);
        let in_expiry_queue = queued.count();
        if in_expiry_queue != self.expiry_queue.len() || self.by_id.len() != self.entries.len() {
            return Err("id memory: expiry queue or index has another length".into());
        }
        let mut coming = self.iter().skip(Table::PREFETCH_DISTANCE);
        for (_, entry) in self.iter() {
            if let Some((_, later)) = coming.next() {
                self.prefetch_entry(self.hash(&later.id));
            }
            let found = self.find(self.hash(&entry.id), &entry.id);
            if found.map(|found| found.number) != Some(entry.number) {
                return Err(format!(
                    "id memory: {} is not found by its id",
                    entry.number
                ));
            }
            if entry.order == NONE && !entry.in_expiry_queue {
                return Err(format!("id memory: {} should be evicted", entry.number));
            }
        }
        Ok(())
    }

    /// Whether the front id is due: even the last millisecond of its second is before the window.
    pub(crate) fn is_front_due(&self, now: TimeNs, window_past_ms: u64) -> bool {
        self.expiry_queue
            .front_second()
            .is_some_and(|second| (second + 1) * 1_000 + window_past_ms < now.millis().0)
    }

    fn evict(&mut self, slot: u32) {
        let hash = self.hash(&self.entries[slot].id);
        self.by_id.remove(hash, slot);
        self.entries.release(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: OrderTerms = OrderTerms {
        expiration: TimeSeconds(0),
        key: KeyNumber(0),
        order_type: OrderType::Gtc,
        post_only: false,
    };

    fn memory() -> IdMemory {
        IdMemory::with_capacity(8, 8, KeyHasher::new(3))
    }

    fn id(number: u64) -> OrderId {
        let mut id = [9; 32];
        id[..8].copy_from_slice(&number.to_le_bytes());
        OrderId(id)
    }

    fn remember(memory: &mut IdMemory, number: u64, timestamp: u64) -> u32 {
        let id = id(number);
        let named = (memory.hash(&id), id);
        memory.remember(named, OrderNumber(number), TimeMs(timestamp), TERMS)
    }

    fn find(memory: &IdMemory, number: u64) -> Option<&RememberedId> {
        let id = id(number);
        memory.find(memory.hash(&id), &id)
    }

    const fn ms(millis: u64) -> TimeNs {
        TimeNs(millis * 1_000_000)
    }

    #[test]
    fn an_id_is_forgotten_after_the_whole_of_its_second_left_the_window() {
        let mut memory = memory();
        remember(&mut memory, 1, 5_000);
        assert!(!memory.is_front_due(ms(6_100), 100));
        assert!(memory.is_front_due(ms(6_101), 100));
        assert!(find(&memory, 1).is_some());
        assert_eq!(memory.expire_front(), Some(TERMS.key));
        assert!(find(&memory, 1).is_none());
        assert_eq!(memory.check(), Ok(()));
    }

    #[test]
    fn a_live_id_stays_until_its_order_ends() {
        let mut memory = memory();
        let slot = remember(&mut memory, 1, 5_000);
        memory.rests(slot, 77);
        memory.expire_front();
        assert_eq!(
            find(&memory, 1).map(RememberedId::state),
            Some(OrderIdState::Live)
        );
        assert!(!memory.at(slot).in_expiry_queue);
        memory.ended(slot);
        assert!(find(&memory, 1).is_none());
        assert_eq!(memory.check(), Ok(()));
    }

    #[test]
    fn the_oldest_second_goes_first() {
        let mut memory = memory();
        for number in 1..=6 {
            remember(&mut memory, number, 7_000 - number * 1_000);
        }
        // The front has second 1, which is over at 2,000 ms.
        assert_eq!(memory.len(), 6);
        assert!(!memory.is_front_due(ms(2_100), 100));
        assert!(memory.is_front_due(ms(2_101), 100));
        memory.expire_front();
        memory.expire_front();
        let left: Vec<_> = memory.iter().map(|(_, entry)| entry.number.0).collect();
        assert_eq!(left, [1, 2, 3, 4]);
        assert_eq!(memory.check(), Ok(()));
    }

    #[test]
    fn a_burned_id_says_why() {
        let mut memory = memory();
        let slot = remember(&mut memory, 1, 5_000);
        memory.killed(slot, RejectionReason::MarketableBelowMinimum, Micros(7));
        let state = OrderIdState::Killed {
            reason: RejectionReason::MarketableBelowMinimum,
            minimum: Micros(7),
        };
        assert_eq!(find(&memory, 1).map(RememberedId::state), Some(state));
    }
}
