//! Heartbeat chains and their deadlines (docs/verify/rules.md §15). The journal records which
//! chains run (`SetHeartbeat`); deadlines are kept here alone. A missed deadline causes a
//! journalled cancel.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use foretell_link::HeartbeatId;
use foretell_model::AccountNumber;

/// The result of a heartbeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BeatResult {
    /// No chain ran; one with this id starts once the exchange accepts it.
    Started(HeartbeatId),
    /// A start was requested while this chain runs; it continues.
    Running(HeartbeatId),
    /// The id matched; the deadline was extended.
    Extended,
    /// The id did not match; this is the chain's id (`NONE` = no chain runs).
    WrongId(HeartbeatId),
}

#[derive(Debug)]
struct Chain {
    id: HeartbeatId,
    /// As [`crate::status::Gauges::moved`].
    deadline: u64,
}

/// All running chains. Times are monotonic nanoseconds, with what moves of a sandbox's clock passed over.
#[derive(Debug)]
pub(crate) struct Heartbeats {
    window: u64,
    chains: HashMap<AccountNumber, Chain>,
    deadlines: BTreeSet<(u64, AccountNumber)>,
    /// Ids are not secret. A random start makes ids of different runs differ.
    next_id: u128,
}

impl Heartbeats {
    fn new(window: u64, seed: u128) -> Self {
        Self {
            window,
            chains: HashMap::new(),
            deadlines: BTreeSet::new(),
            next_id: seed,
        }
    }

    /// After an engine start every owner with an active heartbeat gets a full window, under a new
    /// id that it has to request.
    pub(crate) fn resume(window: Duration, owners: &[AccountNumber], seed: u64, now: u64) -> Self {
        let window = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
        let mut heartbeats = Self::new(window, u128::from(seed) << 64);
        for owner in owners {
            heartbeats.start(*owner, now);
        }
        heartbeats
    }

    pub(crate) fn beat(&mut self, owner: AccountNumber, id: HeartbeatId, now: u64) -> BeatResult {
        match self.chains.get(&owner).map(|chain| chain.id) {
            None if id == HeartbeatId::NONE => BeatResult::Started(self.start(owner, now)),
            None => BeatResult::WrongId(HeartbeatId::NONE),
            Some(right) if id == right => {
                self.set(owner, right, now);
                BeatResult::Extended
            }
            Some(right) if id == HeartbeatId::NONE => {
                self.set(owner, right, now);
                BeatResult::Running(right)
            }
            Some(right) => BeatResult::WrongId(right),
        }
    }

    /// Starts a chain with a new id; replaces a running one.
    fn start(&mut self, owner: AccountNumber, now: u64) -> HeartbeatId {
        // Never zero, which means "no chain".
        self.next_id = self.next_id.checked_add(1).unwrap_or(1);
        let id = HeartbeatId(self.next_id.to_be_bytes());
        self.set(owner, id, now);
        id
    }

    /// Removes the chain with this id, because the exchange rejected it.
    pub(crate) fn cancel_start(&mut self, owner: AccountNumber, id: HeartbeatId) {
        if self.chains.get(&owner).is_some_and(|chain| chain.id == id) {
            self.remove(owner);
        }
    }

    /// Ends one chain whose deadline has passed and returns its owner.
    pub(crate) fn expire(&mut self, now: u64) -> Option<AccountNumber> {
        let &(deadline, owner) = self.deadlines.first()?;
        if deadline > now {
            return None;
        }
        self.remove(owner);
        Some(owner)
    }

    pub(crate) fn next_deadline(&self) -> Option<u64> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    fn set(&mut self, owner: AccountNumber, id: HeartbeatId, now: u64) {
        self.remove(owner);
        let deadline = now.saturating_add(self.window);
        self.chains.insert(owner, Chain { id, deadline });
        self.deadlines.insert((deadline, owner));
    }

    fn remove(&mut self, owner: AccountNumber) {
        if let Some(chain) = self.chains.remove(&owner) {
            self.deadlines.remove(&(chain.deadline, owner));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: AccountNumber = AccountNumber(1);
    const B: AccountNumber = AccountNumber(2);
    const WRONG: HeartbeatId = HeartbeatId([9; 16]);

    #[test]
    fn a_chain_lives_as_long_as_it_is_fed_with_its_own_id() {
        let mut beats = Heartbeats::new(15, u128::MAX);
        assert_eq!(
            beats.beat(A, WRONG, 0),
            BeatResult::WrongId(HeartbeatId::NONE)
        );
        let BeatResult::Started(id) = beats.beat(A, HeartbeatId::NONE, 0) else {
            panic!("a chain starts");
        };
        assert_ne!(id, HeartbeatId::NONE);
        assert_eq!(beats.beat(A, HeartbeatId::NONE, 5), BeatResult::Running(id));
        assert_eq!(beats.beat(A, WRONG, 10), BeatResult::WrongId(id));
        assert_eq!(beats.next_deadline(), Some(20), "a wrong id moves nothing");
        assert_eq!(beats.beat(A, id, 19), BeatResult::Extended);
        assert_eq!(beats.expire(33), None);
        assert_eq!(beats.expire(34), Some(A));
        assert_eq!(beats.expire(u64::MAX), None);
        assert_eq!(
            beats.beat(A, id, 35),
            BeatResult::WrongId(HeartbeatId::NONE)
        );
    }

    #[test]
    fn owners_expire_in_order_and_a_refused_start_leaves_nothing() {
        let mut beats = Heartbeats::new(15, 7);
        let of_b = beats.start(B, 1);
        let of_a = beats.start(A, 2);
        assert_ne!(of_a, of_b);
        beats.cancel_start(A, of_b);
        assert_eq!(beats.expire(100), Some(B));
        beats.cancel_start(A, of_a);
        assert_eq!(beats.next_deadline(), None);
    }
}
