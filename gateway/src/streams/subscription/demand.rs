//! Demand: the markets and keys whose messages are encoded.
//!
//! A receiver takes a lease before it reads the view. The follower reads the demand at the start of
//! each batch, under the view's write lock: so every frame after the sequence that the receiver
//! then reads is encoded. Encoding goes on for the resume window after the last lease ended, so
//! that a client that reconnects finds what it missed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::fast::RandomState;
use foretell_model::{AccountNumber, KeyNumber, MarketNumber, Sequence};
use parking_lot::Mutex;

/// The markets and keys whose messages are encoded.
pub(crate) struct Demand {
    /// How long encoding goes on after the last lease.
    window: Duration,
    wanted: Mutex<Wanted>,
}

#[derive(Default)]
struct Wanted {
    markets: HashMap<MarketNumber, Want, RandomState>,
    keys: HashMap<KeyNumber, (AccountNumber, Want), RandomState>,
    lifecycle: Want,
    /// Whether the next batch must derive `watched` again.
    changed: bool,
    /// When the first window without a lease ends.
    next_end: Option<Instant>,
    watched: Arc<Watched>,
}

/// The state of one market, of one key, or of the lifecycle messages.
#[derive(Clone, Copy, Default)]
struct Want {
    leases: usize,
    /// When the last lease ended.
    idle_since: Option<Instant>,
    /// Every later frame is encoded; `None` before the follower has noticed the first lease.
    since: Option<Sequence>,
}

impl Want {
    /// Takes a lease; true when nothing was encoded before.
    fn take(&mut self) -> bool {
        self.leases += 1;
        self.idle_since = None;
        self.since.is_none()
    }

    fn release(&mut self) {
        self.leases = self.leases.saturating_sub(1);
        if self.leases == 0 {
            self.idle_since = Some(Instant::now());
        }
    }

    /// Whether it is still encoded at `now`.
    fn lasts(&self, now: Instant, window: Duration) -> bool {
        self.leases > 0
            || (self.idle_since).is_some_and(|idle| now.saturating_duration_since(idle) < window)
    }
}

/// What to encode of a batch of frames.
#[derive(Default, Debug)]
pub(crate) struct Watched {
    markets: HashSet<MarketNumber, RandomState>,
    keys: HashMap<AccountNumber, Vec<KeyNumber>, RandomState>,
    lifecycle: bool,
}

impl Watched {
    /// Whether anything is wanted.
    pub(crate) fn is_any(&self) -> bool {
        self.lifecycle || !self.markets.is_empty() || !self.keys.is_empty()
    }

    /// Whether messages of this market are wanted.
    pub(crate) fn market(&self, market: MarketNumber) -> bool {
        self.markets.contains(&market)
    }

    /// Whether messages of any key are wanted.
    pub(crate) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// The keys of this owner whose messages are wanted.
    pub(crate) fn keys_of(&self, owner: AccountNumber) -> &[KeyNumber] {
        self.keys.get(&owner).map_or(&[], Vec::as_slice)
    }

    /// Whether the messages of all markets are wanted: `new_market` and `market_resolved`.
    pub(crate) fn lifecycle(&self) -> bool {
        self.lifecycle
    }

    /// These markets, keys with their owners, and lifecycle messages.
    pub(crate) fn of(
        markets: impl IntoIterator<Item = MarketNumber>,
        keys: impl IntoIterator<Item = (KeyNumber, AccountNumber)>,
        lifecycle: bool,
    ) -> Self {
        let mut watched = Self {
            markets: markets.into_iter().collect(),
            lifecycle,
            ..Self::default()
        };
        for (key, owner) in keys {
            watched.keys.entry(owner).or_default().push(key);
        }
        watched
    }
}

impl Demand {
    /// Demand of nothing; encoding goes on for `window` after the last lease.
    pub(crate) fn new(window: Duration) -> Self {
        Self {
            window,
            wanted: Mutex::default(),
        }
    }

    /// Wants the messages of a market.
    pub(crate) fn market(self: &Arc<Self>, market: MarketNumber) -> MarketLease {
        let mut wanted = self.wanted.lock();
        let is_new = wanted.markets.entry(market).or_default().take();
        wanted.changed |= is_new;
        MarketLease {
            demand: Arc::clone(self),
            market,
        }
    }

    /// Wants the messages of `owner` as the holder of `key` sees them.
    pub(crate) fn key(self: &Arc<Self>, key: KeyNumber, owner: AccountNumber) -> KeyLease {
        let mut wanted = self.wanted.lock();
        let (_, want) = (wanted.keys.entry(key)).or_insert_with(|| (owner, Want::default()));
        let is_new = want.take();
        wanted.changed |= is_new;
        KeyLease {
            demand: Arc::clone(self),
            key,
        }
    }

    /// Wants `new_market` and `market_resolved` of all markets.
    pub(crate) fn lifecycle(self: &Arc<Self>) -> LifecycleLease {
        let mut wanted = self.wanted.lock();
        let is_new = wanted.lifecycle.take();
        wanted.changed |= is_new;
        LifecycleLease {
            demand: Arc::clone(self),
        }
    }

    /// Every later frame's messages of the market are encoded; `None` when they are not.
    pub(crate) fn market_since(&self, market: MarketNumber) -> Option<Sequence> {
        self.wanted.lock().markets.get(&market)?.since
    }

    /// As [`Self::market_since`], for a key.
    pub(crate) fn key_since(&self, key: KeyNumber) -> Option<Sequence> {
        self.wanted.lock().keys.get(&key)?.1.since
    }

    /// As [`Self::market_since`], for the lifecycle messages.
    pub(crate) fn lifecycle_since(&self) -> Option<Sequence> {
        self.wanted.lock().lifecycle.since
    }

    /// What to encode of the frames after `sequence`. The follower calls it under the view's write
    /// lock, before each batch.
    pub(crate) fn begin_batch(&self, sequence: Sequence) -> Arc<Watched> {
        let mut wanted = self.wanted.lock();
        let now = Instant::now();
        if wanted.changed || wanted.next_end.is_some_and(|end| end <= now) {
            wanted.settle(sequence, now, self.window);
        }
        Arc::clone(&wanted.watched)
    }

    /// Forgets since when things are encoded: the view was replaced by one at another sequence.
    pub(crate) fn restart(&self) {
        let mut wanted = self.wanted.lock();
        wanted.for_each(|want| want.since = None);
        wanted.changed = true;
    }
}

impl Wanted {
    /// Drops what ended, and notes since when the rest is encoded.
    fn settle(&mut self, sequence: Sequence, now: Instant, window: Duration) {
        self.markets.retain(|_, want| want.lasts(now, window));
        self.keys.retain(|_, (_, want)| want.lasts(now, window));
        if !self.lifecycle.lasts(now, window) {
            self.lifecycle = Want::default();
        }
        let mut next_end: Option<Instant> = None;
        self.for_each(|want| {
            want.since.get_or_insert(sequence);
            if let Some(idle) = want.idle_since {
                let end = idle + window;
                next_end = Some(next_end.map_or(end, |next| next.min(end)));
            }
        });
        self.next_end = next_end;
        self.changed = false;
        let keys = self.keys.iter().map(|(key, (owner, _))| (*key, *owner));
        let lifecycle = self.lifecycle.since.is_some();
        self.watched = Arc::new(Watched::of(self.markets.keys().copied(), keys, lifecycle));
    }

    /// Changes everything that is wanted.
    fn for_each(&mut self, mut change: impl FnMut(&mut Want)) {
        self.markets.values_mut().for_each(&mut change);
        self.keys.values_mut().for_each(|(_, want)| change(want));
        if self.lifecycle.leases > 0 || self.lifecycle.idle_since.is_some() {
            change(&mut self.lifecycle);
        }
    }

    /// A lease has ended: the next batch notes when its window ends.
    fn release(want: Option<&mut Want>, changed: &mut bool) {
        if let Some(want) = want {
            want.release();
            *changed |= want.leases == 0;
        }
    }
}

/// A market's messages are encoded while it lives.
pub(crate) struct MarketLease {
    demand: Arc<Demand>,
    market: MarketNumber,
}

impl Drop for MarketLease {
    fn drop(&mut self) {
        let wanted = &mut *self.demand.wanted.lock();
        Wanted::release(wanted.markets.get_mut(&self.market), &mut wanted.changed);
    }
}

/// A key's messages are encoded while it lives.
pub(crate) struct KeyLease {
    demand: Arc<Demand>,
    key: KeyNumber,
}

impl Drop for KeyLease {
    fn drop(&mut self) {
        let wanted = &mut *self.demand.wanted.lock();
        let want = wanted.keys.get_mut(&self.key).map(|(_, want)| want);
        Wanted::release(want, &mut wanted.changed);
    }
}

/// The lifecycle messages are encoded while it lives.
pub(crate) struct LifecycleLease {
    demand: Arc<Demand>,
}

impl Drop for LifecycleLease {
    fn drop(&mut self) {
        let wanted = &mut *self.demand.wanted.lock();
        Wanted::release(Some(&mut wanted.lifecycle), &mut wanted.changed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKET: MarketNumber = MarketNumber(4);
    const KEY: KeyNumber = KeyNumber(7);
    const OWNER: AccountNumber = AccountNumber(2);
    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn what_is_leased_is_encoded_from_the_next_batch_on() {
        let demand = Arc::new(Demand::new(LONG));
        assert!(!demand.begin_batch(Sequence(5)).is_any());
        let lease = demand.market(MARKET);
        let second = demand.market(MARKET);
        let watched = demand.begin_batch(Sequence(6));
        assert!(watched.market(MARKET) && !watched.market(MarketNumber(5)));
        drop(lease);
        assert!(demand.begin_batch(Sequence(7)).market(MARKET));
        assert_eq!(demand.market_since(MARKET), Some(Sequence(6)));
        drop(second);
        assert!(
            demand.begin_batch(Sequence(8)).market(MARKET),
            "its window lasts"
        );
        let _again = demand.market(MARKET);
        assert_eq!(demand.market_since(MARKET), Some(Sequence(6)));
    }

    #[test]
    fn encoding_ends_with_the_window() {
        let demand = Arc::new(Demand::new(Duration::ZERO));
        let leases = (
            demand.market(MARKET),
            demand.key(KEY, OWNER),
            demand.lifecycle(),
        );
        let watched = demand.begin_batch(Sequence(6));
        assert!(watched.is_any() && watched.lifecycle() && watched.has_keys());
        assert_eq!(watched.keys_of(OWNER), [KEY]);
        assert_eq!(watched.keys_of(AccountNumber(3)), []);
        drop(leases);
        assert!(!demand.begin_batch(Sequence(7)).is_any());
        assert_eq!(demand.market_since(MARKET), None);
        assert_eq!(demand.key_since(KEY), None);
        let _lease = demand.market(MARKET);
        demand.begin_batch(Sequence(9));
        assert_eq!(
            demand.market_since(MARKET),
            Some(Sequence(9)),
            "encoded anew"
        );
    }

    #[test]
    fn keys_of_one_owner_are_encoded_side_by_side() {
        let demand = Arc::new(Demand::new(LONG));
        let _leases = [KEY, KeyNumber(8)].map(|key| demand.key(key, OWNER));
        let watched = demand.begin_batch(Sequence(1));
        let mut keys = watched.keys_of(OWNER).to_vec();
        keys.sort_unstable();
        assert_eq!(keys, [KEY, KeyNumber(8)]);
    }

    #[test]
    fn a_new_history_is_encoded_from_its_first_batch() {
        let demand = Arc::new(Demand::new(LONG));
        let _lease = demand.market(MARKET);
        demand.begin_batch(Sequence(6));
        demand.restart();
        assert_eq!(demand.market_since(MARKET), None);
        demand.begin_batch(Sequence(3));
        assert_eq!(demand.market_since(MARKET), Some(Sequence(3)));
    }
}
