//! The id memory: what became of every order id that could still be sent again, and the index
//! from id to resting order.
//!
//! An id is remembered from its placement until its timestamp has left the window, or until the
//! order ends if that is later; so it executes at most once for ever (protocol 8).

use foretell_model::digest::Fate;
use foretell_model::limits::FORGOTTEN_PER_COMMAND;
use foretell_model::{
    AccountNumber, KeyNumber, Micros, OrderId, OrderNumber, OrderType, RefusalReason, Settings,
    TimeMs, TimeNs, TimeSeconds,
};

use crate::keys::Keys;
use crate::slab::{NONE, Slab};
use crate::table::{KeyHasher, Table};
use crate::timeline::Timeline;

/// What a repeat of an order must share with the first to be the same request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Terms {
    pub(crate) expiration: TimeSeconds,
    pub(crate) key: KeyNumber,
    pub(crate) order_type: OrderType,
    pub(crate) post_only: bool,
}

/// A remembered id.
#[derive(Debug)]
pub(crate) struct Remembered {
    pub(crate) id: OrderId,
    pub(crate) number: OrderNumber,
    pub(crate) timestamp: TimeMs,
    pub(crate) terms: Terms,
    /// The resting order; `NONE` unless it lives.
    pub(crate) slot: u32,
    /// The next of its second in the timeline.
    link: u32,
    pub(crate) killed: Option<RefusalReason>,
    /// The marketable minimum that a killed order was below, in micros; 0 otherwise.
    minimum: u32,
    pub(crate) in_timeline: bool,
}

// The memory may hold millions of them.
const _: () = assert!(size_of::<Remembered>() <= 80);

// A minimum fits its field.
const _: () = assert!(Settings::MAX_MARKETABLE_MINIMUM.0 <= u32::MAX as u64);

impl Remembered {
    /// The marketable minimum that a killed order was below; 0 otherwise.
    pub(crate) fn minimum(&self) -> Micros {
        Micros(self.minimum.into())
    }

    pub(crate) fn fate(&self) -> Fate {
        match self.killed {
            Some(reason) => Fate::Killed {
                reason,
                minimum: self.minimum(),
            },
            None if self.slot == NONE => Fate::Done,
            None => Fate::Live,
        }
    }
}

/// All remembered ids.
#[derive(Debug)]
pub(crate) struct OrderIndex {
    places: Slab<Remembered>,
    by_id: Table,
    timeline: Timeline,
    /// By owner: how many ids of the timeline came with its keys. Shorter than the accounts when the
    /// last of them have none.
    held: Vec<u32>,
    hasher: KeyHasher,
}

impl OrderIndex {
    pub(crate) fn with_capacity(
        ids: usize,
        seconds: usize,
        accounts: usize,
        hasher: KeyHasher,
    ) -> Self {
        Self {
            places: Slab::with_capacity(ids),
            by_id: Table::with_capacity(ids),
            timeline: Timeline::with_capacity(seconds),
            held: Vec::with_capacity(accounts),
            hasher,
        }
    }

    /// The hash of an id, for [`Self::find`] and [`Self::remember`].
    pub(crate) fn hash(&self, id: &OrderId) -> u32 {
        self.hasher.name(&id.0)
    }

    /// What is remembered of an id with this hash.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u32, id: &OrderId) -> Option<&Remembered> {
        let place = self
            .by_id
            .find(hash, |place| self.places[place].id == *id)?;
        Some(&self.places[place])
    }

    /// Brings near where an id with this hash is looked for.
    pub(crate) fn bring_entry(&self, hash: u32) {
        self.by_id.bring(hash);
    }

    /// The place of an id with this hash, most likely.
    pub(crate) fn guess(&self, hash: u32) -> Option<u32> {
        self.by_id.guess(hash)
    }

    /// What is, or was, remembered at a place.
    pub(crate) fn get(&self, place: u32) -> Option<&Remembered> {
        self.places.get(place)
    }

    /// What is remembered at a place in use.
    pub(crate) fn at(&self, place: u32) -> &Remembered {
        &self.places[place]
    }

    /// Ids that stand in the timeline.
    pub(crate) const fn len(&self) -> usize {
        self.timeline.len()
    }

    /// How many of them came with keys of this owner.
    pub(crate) fn held_by(&self, owner: AccountNumber) -> u32 {
        self.held.get(owner.0 as usize).copied().unwrap_or(0)
    }

    /// Takes a few ids whose timestamps have left the window off the timeline.
    #[inline(always)]
    pub(crate) fn forget_some(&mut self, now: TimeNs, window_past_ms: u64, keys: &Keys) {
        for _ in 0..FORGOTTEN_PER_COMMAND {
            if !self.is_front_due(now, window_past_ms) {
                return;
            }
            let places = &self.places;
            let Some(place) = self.timeline.pop(&self.hasher, |place| places[place].link) else {
                return;
            };
            self.places[place].in_timeline = false;
            if let Some(owner) = keys.owner_of(self.places[place].terms.key) {
                self.held[owner.0 as usize] -= 1;
            }
            if self.places[place].slot == NONE {
                self.forget(place);
            }
        }
    }

    /// Remembers the id, which has this hash, of an order that was just admitted; it does not rest
    /// yet. Its place.
    #[inline(always)]
    pub(crate) fn remember(
        &mut self,
        (hash, id): (u32, OrderId),
        number: OrderNumber,
        timestamp: TimeMs,
        terms: Terms,
        keys: &Keys,
    ) -> u32 {
        let place = self.keep((hash, id), number, timestamp, terms, true);
        if let Some(owner) = keys.owner_of(terms.key) {
            self.count(owner);
        }
        let before = self
            .timeline
            .append(timestamp.0 / 1_000, place, &self.hasher);
        if before != NONE {
            self.places[before].link = place;
        }
        place
    }

    /// Remembers an id as it was remembered elsewhere. Ids come back by number, so that those of one
    /// second stand in the timeline as they stood.
    pub(crate) fn put_back(
        &mut self,
        named: (u32, OrderId),
        number: OrderNumber,
        timestamp: TimeMs,
        terms: Terms,
        in_timeline: bool,
        keys: &Keys,
    ) -> u32 {
        if in_timeline {
            self.remember(named, number, timestamp, terms, keys)
        } else {
            self.keep(named, number, timestamp, terms, false)
        }
    }

    #[inline(always)]
    fn keep(
        &mut self,
        (hash, id): (u32, OrderId),
        number: OrderNumber,
        timestamp: TimeMs,
        terms: Terms,
        in_timeline: bool,
    ) -> u32 {
        let place = self.places.insert(Remembered {
            id,
            number,
            timestamp,
            terms,
            slot: NONE,
            link: NONE,
            killed: None,
            minimum: 0,
            in_timeline,
        });
        self.by_id.insert(hash, place);
        place
    }

    fn count(&mut self, owner: AccountNumber) {
        let at = owner.0 as usize;
        if self.held.len() <= at {
            self.held.resize(at + 1, 0);
        }
        self.held[at] += 1;
    }

    /// The order at a place rests in `slot`.
    pub(crate) fn rests(&mut self, place: u32, slot: u32) {
        self.places[place].slot = slot;
    }

    /// The book refused the order at a place, for a marketable minimum if that is not 0.
    pub(crate) fn killed(&mut self, place: u32, reason: RefusalReason, minimum: Micros) {
        self.places[place].killed = Some(reason);
        self.places[place].minimum =
            u32::try_from(minimum.0).expect("settings keep minimums below 2^32 micros");
    }

    /// The resting order at a place has ended.
    #[inline(always)]
    pub(crate) fn ended(&mut self, place: u32) {
        self.places[place].slot = NONE;
        if !self.places[place].in_timeline {
            self.forget(place);
        }
    }

    /// Every remembered id with its place. Allocates.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Remembered)> {
        self.places.iter()
    }

    /// The first contradiction between places, index, timeline and what owners hold.
    pub(crate) fn check(&self, keys: &Keys) -> Result<(), String> {
        let mut held = vec![0_u32; self.held.len()];
        let mut in_timeline = 0;
        for (_, entry) in self.iter().filter(|(_, entry)| entry.in_timeline) {
            in_timeline += 1;
            let owner = keys.owner_of(entry.terms.key);
            if let Some(held) = owner.and_then(|owner| held.get_mut(owner.0 as usize)) {
                *held += 1;
            }
        }
        if held != self.held {
            return Err("id memory: an owner holds another number of ids".into());
        }
        if in_timeline != self.timeline.len() || self.by_id.len() != self.places.len() {
            return Err("id memory: its timeline or index has another length".into());
        }
        let mut coming = self.iter().skip(Table::CHECKED_AHEAD);
        for (_, entry) in self.iter() {
            if let Some((_, later)) = coming.next() {
                self.bring_entry(self.hash(&later.id));
            }
            let found = self.find(self.hash(&entry.id), &entry.id);
            if found.map(|found| found.number) != Some(entry.number) {
                return Err(format!(
                    "id memory: {} is not found by its id",
                    entry.number
                ));
            }
            if entry.slot == NONE && !entry.in_timeline {
                return Err(format!("id memory: {} should be forgotten", entry.number));
            }
        }
        Ok(())
    }

    /// Due: even the last millisecond of its second is before the window.
    pub(crate) fn is_front_due(&self, now: TimeNs, window_past_ms: u64) -> bool {
        self.timeline
            .front_second()
            .is_some_and(|second| (second + 1) * 1_000 + window_past_ms < now.millis().0)
    }

    fn forget(&mut self, place: u32) {
        let hash = self.hash(&self.places[place].id);
        self.by_id.remove(hash, place);
        self.places.release(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: Terms = Terms {
        expiration: TimeSeconds(0),
        key: KeyNumber(0),
        order_type: OrderType::Gtc,
        post_only: false,
    };

    fn memory() -> OrderIndex {
        OrderIndex::with_capacity(8, 8, 1, KeyHasher::new(3))
    }

    /// No key is known, so no owner is charged.
    fn keys() -> Keys {
        Keys::with_capacity(0, KeyHasher::new(3))
    }

    fn id(number: u64) -> OrderId {
        let mut id = [9; 32];
        id[..8].copy_from_slice(&number.to_le_bytes());
        OrderId(id)
    }

    fn remember(memory: &mut OrderIndex, number: u64, timestamp: u64) -> u32 {
        let id = id(number);
        let named = (memory.hash(&id), id);
        memory.remember(
            named,
            OrderNumber(number),
            TimeMs(timestamp),
            TERMS,
            &keys(),
        )
    }

    fn find(memory: &OrderIndex, number: u64) -> Option<&Remembered> {
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
        memory.forget_some(ms(6_100), 100, &keys());
        assert!(find(&memory, 1).is_some());
        memory.forget_some(ms(6_101), 100, &keys());
        assert!(find(&memory, 1).is_none());
        assert_eq!(memory.check(&keys()), Ok(()));
    }

    #[test]
    fn a_live_id_stays_until_its_order_ends() {
        let mut memory = memory();
        let place = remember(&mut memory, 1, 5_000);
        memory.rests(place, 77);
        memory.forget_some(ms(60_000), 100, &keys());
        assert_eq!(find(&memory, 1).map(Remembered::fate), Some(Fate::Live));
        assert!(!memory.at(place).in_timeline);
        memory.ended(place);
        assert!(find(&memory, 1).is_none());
        assert_eq!(memory.check(&keys()), Ok(()));
    }

    #[test]
    fn few_ids_go_at_a_time_once_the_front_is_due() {
        let mut memory = memory();
        for number in 1..=6 {
            remember(&mut memory, number, 7_000 - number * 1_000);
        }
        // The front stands at second 1, which is over at 2,000 ms.
        assert_eq!(memory.len(), 6);
        assert!(!memory.is_front_due(ms(2_100), 100));
        assert!(memory.is_front_due(ms(2_101), 100));
        memory.forget_some(ms(1_000_000), 100, &keys());
        let left: Vec<_> = memory.iter().map(|(_, entry)| entry.number.0).collect();
        assert_eq!(left, [1, 2]);
        assert_eq!(memory.check(&keys()), Ok(()));
    }

    #[test]
    fn a_burned_id_says_why() {
        let mut memory = memory();
        let place = remember(&mut memory, 1, 5_000);
        memory.killed(place, RefusalReason::MarketableBelowMinimum, Micros(7));
        let fate = Fate::Killed {
            reason: RefusalReason::MarketableBelowMinimum,
            minimum: Micros(7),
        };
        assert_eq!(find(&memory, 1).map(Remembered::fate), Some(fate));
    }
}
