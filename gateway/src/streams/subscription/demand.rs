//! Demand: the subjects whose messages are encoded.
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

/// A group of messages that are encoded while anyone receives them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Subject {
    /// The messages of a market.
    Market(MarketNumber),
    /// The messages of a key's owner, as the key's holder sees them.
    Key(KeyNumber, AccountNumber),
    /// `new_market` and `market_resolved` of all markets.
    Lifecycle,
}

/// The subjects whose messages are encoded.
#[derive(Debug)]
pub(crate) struct Demand {
    /// How long encoding goes on after the last lease.
    window: Duration,
    wanted: Mutex<Wanted>,
}

#[derive(Default, Debug)]
struct Wanted {
    subjects: HashMap<Subject, Want, RandomState>,
    /// Whether the next batch must derive `watched` again.
    changed: bool,
    /// When the first window without a lease ends.
    next_end: Option<Instant>,
    watched: Arc<Watched>,
}

/// The state of one subject.
#[derive(Clone, Copy, Default, Debug)]
struct Want {
    leases: usize,
    /// When the last lease ended.
    idle_since: Option<Instant>,
    /// Every later frame is encoded; `None` before the follower has noticed the first lease.
    since: Option<Sequence>,
}

impl Want {
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

    /// These subjects, each named once.
    pub(crate) fn of(subjects: impl IntoIterator<Item = Subject>) -> Self {
        let mut watched = Self::default();
        for subject in subjects {
            match subject {
                Subject::Market(market) => {
                    watched.markets.insert(market);
                }
                Subject::Key(key, owner) => watched.keys.entry(owner).or_default().push(key),
                Subject::Lifecycle => watched.lifecycle = true,
            }
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

    /// Wants the messages of a subject.
    pub(crate) fn lease(self: &Arc<Self>, subject: Subject) -> Lease {
        let mut wanted = self.wanted.lock();
        let want = wanted.subjects.entry(subject).or_default();
        want.leases += 1;
        want.idle_since = None;
        let is_new = want.since.is_none();
        wanted.changed |= is_new;
        Lease {
            demand: Arc::clone(self),
            subject,
        }
    }

    /// Every later frame's messages of the subject are encoded; `None` when they are not.
    pub(crate) fn since(&self, subject: Subject) -> Option<Sequence> {
        self.wanted.lock().subjects.get(&subject)?.since
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
        for want in wanted.subjects.values_mut() {
            want.since = None;
        }
        wanted.changed = true;
    }
}

impl Wanted {
    /// Drops what ended, and notes since when the rest is encoded.
    fn settle(&mut self, sequence: Sequence, now: Instant, window: Duration) {
        self.subjects.retain(|_, want| want.lasts(now, window));
        for want in self.subjects.values_mut() {
            want.since.get_or_insert(sequence);
        }
        let idle = self.subjects.values().filter_map(|want| want.idle_since);
        self.next_end = idle.min().map(|idle| idle + window);
        self.changed = false;
        self.watched = Arc::new(Watched::of(self.subjects.keys().copied()));
    }
}

/// A subject's messages are encoded while it lives.
#[derive(Debug)]
pub(crate) struct Lease {
    demand: Arc<Demand>,
    subject: Subject,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let wanted = &mut *self.demand.wanted.lock();
        let Some(want) = wanted.subjects.get_mut(&self.subject) else {
            return;
        };
        want.leases = want.leases.saturating_sub(1);
        if want.leases == 0 {
            want.idle_since = Some(Instant::now());
            // The next batch notes when its window ends.
            wanted.changed = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBER: MarketNumber = MarketNumber(4);
    const MARKET: Subject = Subject::Market(NUMBER);
    const KEY: KeyNumber = KeyNumber(7);
    const OWNER: AccountNumber = AccountNumber(2);
    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn what_is_leased_is_encoded_from_the_next_batch_on() {
        let demand = Arc::new(Demand::new(LONG));
        assert!(!demand.begin_batch(Sequence(5)).is_any());
        let lease = demand.lease(MARKET);
        let second = demand.lease(MARKET);
        let watched = demand.begin_batch(Sequence(6));
        assert!(watched.market(NUMBER) && !watched.market(MarketNumber(5)));
        drop(lease);
        assert!(demand.begin_batch(Sequence(7)).market(NUMBER));
        assert_eq!(demand.since(MARKET), Some(Sequence(6)));
        drop(second);
        assert!(
            demand.begin_batch(Sequence(8)).market(NUMBER),
            "its window lasts"
        );
        let _again = demand.lease(MARKET);
        assert_eq!(demand.since(MARKET), Some(Sequence(6)));
    }

    #[test]
    fn encoding_ends_with_the_window() {
        let demand = Arc::new(Demand::new(Duration::ZERO));
        let leases = (
            demand.lease(MARKET),
            demand.lease(Subject::Key(KEY, OWNER)),
            demand.lease(Subject::Lifecycle),
        );
        let watched = demand.begin_batch(Sequence(6));
        assert!(watched.is_any() && watched.lifecycle() && watched.has_keys());
        assert_eq!(watched.keys_of(OWNER), [KEY]);
        assert_eq!(watched.keys_of(AccountNumber(3)), []);
        drop(leases);
        assert!(!demand.begin_batch(Sequence(7)).is_any());
        assert_eq!(demand.since(MARKET), None);
        assert_eq!(demand.since(Subject::Key(KEY, OWNER)), None);
        let _lease = demand.lease(MARKET);
        demand.begin_batch(Sequence(9));
        assert_eq!(demand.since(MARKET), Some(Sequence(9)), "encoded anew");
    }

    #[test]
    fn keys_of_one_owner_are_encoded_side_by_side() {
        let demand = Arc::new(Demand::new(LONG));
        let _leases = [KEY, KeyNumber(8)].map(|key| demand.lease(Subject::Key(key, OWNER)));
        let watched = demand.begin_batch(Sequence(1));
        let mut keys = watched.keys_of(OWNER).to_vec();
        keys.sort_unstable();
        assert_eq!(keys, [KEY, KeyNumber(8)]);
    }

    #[test]
    fn a_new_history_is_encoded_from_its_first_batch() {
        let demand = Arc::new(Demand::new(LONG));
        let _lease = demand.lease(MARKET);
        demand.begin_batch(Sequence(6));
        demand.restart();
        assert_eq!(demand.since(MARKET), None);
        demand.begin_batch(Sequence(3));
        assert_eq!(demand.since(MARKET), Some(Sequence(3)));
    }
}
