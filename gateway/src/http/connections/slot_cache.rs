//! The cache of the gateway: a fixed number of slots, each with the last value and its key. A key
//! holds all inputs of its value, so an entry is valid as long as its key is the one asked for.
//! Memory is bounded by the slots; a new value evicts the one in its slot.

use parking_lot::Mutex;

/// Values by slot and key. Slots wrap.
pub(crate) struct SlotCache<Key, Value>(Box<[Slot<Key, Value>]>);

type Slot<Key, Value> = Mutex<Option<(Key, Value)>>;

impl<Key: PartialEq, Value: Clone> SlotCache<Key, Value> {
    pub(crate) fn with_slots(slots: usize) -> Self {
        Self((0..slots).map(|_| Mutex::new(None)).collect())
    }

    /// The value in a slot, if it was made from this key.
    pub(crate) fn get(&self, slot: usize, key: &Key) -> Option<Value> {
        let slot = self.at(slot).lock();
        let (_, value) = slot.as_ref().filter(|(known, _)| known == key)?;
        Some(value.clone())
    }

    /// Stores a value. It is made outside of the lock, so concurrent misses may each make it.
    pub(crate) fn put(&self, slot: usize, key: Key, value: Value) {
        let old = self.at(slot).lock().replace((key, value));
        drop(old);
    }

    fn at(&self, slot: usize) -> &Slot<Key, Value> {
        &self.0[slot % self.0.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_good_for_what_it_was_made_of() {
        let cache = SlotCache::with_slots(2);
        assert_eq!(cache.get(0, &"a"), None);
        cache.put(0, "a", 1);
        assert_eq!(cache.get(0, &"a"), Some(1));
        assert_eq!((cache.get(0, &"b"), cache.get(1, &"a")), (None, None));
        cache.put(2, "c", 3);
        assert_eq!(cache.get(0, &"a"), None, "it shares the slot");
        assert_eq!(cache.get(0, &"c"), Some(3));
    }
}
