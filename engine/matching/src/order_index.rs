//! The id memory: what became of every order id that could still be sent again, and the index
//! from id to resting order.
//!
//! An id is remembered from its placement until its timestamp has left the window, or until the
//! order ends if that is later; so it executes at most once for ever (protocol 8).

use foretell_model::digest::Fate;
use foretell_model::limits::FORGOTTEN_PER_COMMAND;
use foretell_model::{
    KeyNumber, OrderId, OrderNumber, OrderType, RefusalReason, TimeMs, TimeNs, TimeSeconds,
};

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
    pub(crate) in_timeline: bool,
}

// The memory may hold millions of them.
const _: () = assert!(size_of::<Remembered>() <= 80);

impl Remembered {
    pub(crate) fn fate(&self) -> Fate {
        match self.killed {
            Some(reason) => Fate::Killed(reason),
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
    hasher: KeyHasher,
}

impl OrderIndex {
    pub(crate) fn with_capacity(ids: usize, seconds: usize, hasher: KeyHasher) -> Self {
        Self {
            places: Slab::with_capacity(ids),
            by_id: Table::with_capacity(ids),
            timeline: Timeline::with_capacity(seconds),
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

    /// Whether a placement must be refused as busy: `limit` ids or more stand in the timeline and
    /// its front cannot go yet.
    pub(crate) fn is_full(&self, limit: u32, now: TimeNs, window_past_ms: u64) -> bool {
        self.timeline.len() >= limit as usize && !self.front_is_due(now, window_past_ms)
    }

    /// Takes a few ids whose timestamps have left the window off the timeline.
    #[inline(always)]
    pub(crate) fn forget_some(&mut self, now: TimeNs, window_past_ms: u64) {
        for _ in 0..FORGOTTEN_PER_COMMAND {
            if !self.front_is_due(now, window_past_ms) {
                return;
            }
            let places = &self.places;
            let Some(place) = self.timeline.pop(&self.hasher, |place| places[place].link) else {
                return;
            };
            self.places[place].in_timeline = false;
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
    ) -> u32 {
        let place = self.keep((hash, id), number, timestamp, terms, true);
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
    ) -> u32 {
        if in_timeline {
            self.remember(named, number, timestamp, terms)
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
            in_timeline,
        });
        self.by_id.insert(hash, place);
        place
    }

    /// The order at a place rests in `slot`.
    pub(crate) fn rests(&mut self, place: u32, slot: u32) {
        self.places[place].slot = slot;
    }

    /// The book refused the order at a place.
    pub(crate) fn killed(&mut self, place: u32, reason: RefusalReason) {
        self.places[place].killed = Some(reason);
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

    /// The first contradiction between places, index and timeline.
    pub(crate) fn check(&self) -> Result<(), String> {
        let in_timeline = self.iter().filter(|(_, entry)| entry.in_timeline).count();
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
    fn front_is_due(&self, now: TimeNs, window_past_ms: u64) -> bool {
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
        OrderIndex::with_capacity(8, 8, KeyHasher::new(3))
    }

    fn id(number: u64) -> OrderId {
        let mut id = [9; 32];
        id[..8].copy_from_slice(&number.to_le_bytes());
        OrderId(id)
    }

    fn remember(memory: &mut OrderIndex, number: u64, timestamp: u64) -> u32 {
        let id = id(number);
        let named = (memory.hash(&id), id);
        memory.remember(named, OrderNumber(number), TimeMs(timestamp), TERMS)
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
        memory.forget_some(ms(6_100), 100);
        assert!(find(&memory, 1).is_some());
        memory.forget_some(ms(6_101), 100);
        assert!(find(&memory, 1).is_none());
        assert_eq!(memory.check(), Ok(()));
    }

    #[test]
    fn a_live_id_stays_until_its_order_ends() {
        let mut memory = memory();
        let place = remember(&mut memory, 1, 5_000);
        memory.rests(place, 77);
        memory.forget_some(ms(60_000), 100);
        assert_eq!(find(&memory, 1).map(Remembered::fate), Some(Fate::Live));
        assert!(!memory.at(place).in_timeline);
        memory.ended(place);
        assert!(find(&memory, 1).is_none());
        assert_eq!(memory.check(), Ok(()));
    }

    #[test]
    fn few_ids_go_at_a_time_and_a_full_memory_is_busy_only_without_a_due_front() {
        let mut memory = memory();
        for number in 1..=6 {
            remember(&mut memory, number, 7_000 - number * 1_000);
        }
        // The front stands at second 1, which is over at 2,000 ms.
        assert!(memory.is_full(6, ms(2_100), 100));
        assert!(!memory.is_full(7, ms(2_100), 100));
        assert!(!memory.is_full(6, ms(2_101), 100));
        memory.forget_some(ms(1_000_000), 100);
        let left: Vec<_> = memory.iter().map(|(_, entry)| entry.number.0).collect();
        assert_eq!(left, [1, 2]);
        assert_eq!(memory.check(), Ok(()));
    }

    #[test]
    fn a_burned_id_says_why() {
        let mut memory = memory();
        let place = remember(&mut memory, 1, 5_000);
        memory.killed(place, RefusalReason::FokNotFilled);
        let fate = find(&memory, 1).map(Remembered::fate);
        assert_eq!(fate, Some(Fate::Killed(RefusalReason::FokNotFilled)));
    }
}
