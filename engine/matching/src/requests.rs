//! Rules 1: the digests of cancel requests, so that one that is sent again is the same request.
//! Rules 2 carry every cancel out and remember none.

use foretell_model::limits::{FORGOTTEN_PER_COMMAND, MAX_REMEMBERED_REQUESTS, REQUEST_MEMORY_NS};
use foretell_model::{AccountNumber, CommandOutcome, Digest16, Sequence, TimeNs};

use crate::recall::Recall;
use crate::step::{NotApplied, Step};
use crate::table::KeyHasher;

/// A remembered cancel request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    pub(crate) owner: AccountNumber,
    pub(crate) digest: Digest16,
    /// The last command of its work so far.
    pub(crate) last: Sequence,
    /// Orders ended so far.
    pub(crate) cancelled: u32,
}

/// The cancel requests of the last 90 seconds.
#[derive(Debug)]
pub(crate) struct Requests {
    requests: Recall<Request>,
    hasher: KeyHasher,
}

impl Requests {
    pub(crate) fn with_capacity(requests: usize, hasher: KeyHasher) -> Self {
        Self {
            requests: Recall::with_capacity(requests),
            hasher,
        }
    }

    /// Passes a request that is new, or not to be remembered.
    pub(crate) fn ensure_new(
        &self,
        owner: AccountNumber,
        digest: Digest16,
    ) -> Result<(), NotApplied> {
        if digest == Digest16::ZERO {
            return Ok(());
        }
        let found = self.requests.find(self.hash(owner, digest), |request| {
            (request.owner, request.digest) == (owner, digest)
        });
        found.map_or(Ok(()), |request| {
            Err(NotApplied::Repeated {
                first: request.sequence,
                last: request.last,
                outcome: CommandOutcome::Cancelled {
                    orders: request.cancelled,
                },
            })
        })
    }

    /// Remembers the request of an applied cancel, after forgetting old ones.
    pub(crate) fn remember(&mut self, owner: AccountNumber, digest: Digest16, step: &Step<'_>) {
        if digest == Digest16::ZERO {
            return;
        }
        self.forget_some(step.now);
        self.requests.push(
            self.hash(owner, digest),
            Request {
                sequence: step.sequence,
                time: step.now,
                owner,
                digest,
                last: step.sequence,
                cancelled: 0,
            },
        );
    }

    /// Remembers a request as it was remembered elsewhere, the earlier ones before it; false when
    /// it is remembered already, or there are too many.
    pub(crate) fn put_back(&mut self, request: Request) -> bool {
        let is_new = self.ensure_new(request.owner, request.digest).is_ok()
            && self.requests.len() < MAX_REMEMBERED_REQUESTS;
        if is_new {
            let hash = self.hash(request.owner, request.digest);
            self.requests.push(hash, request);
        }
        is_new
    }

    /// Counts what a command of a request's work did. A request that is not remembered counts
    /// nothing.
    pub(crate) fn count(
        &mut self,
        owner: AccountNumber,
        digest: Digest16,
        orders: u32,
        last: Sequence,
    ) {
        let hash = self.hash(owner, digest);
        let found = self.requests.find_mut(hash, |request| {
            (request.owner, request.digest) == (owner, digest)
        });
        if let Some(request) = found {
            request.last = last;
            request.cancelled += orders;
        }
    }

    /// All of them by sequence.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Request> {
        self.requests.iter()
    }

    /// Forgets all, as the switch to rules 2 does.
    pub(crate) fn clear(&mut self) {
        while self.requests.front().is_some() {
            self.forget_oldest();
        }
    }

    fn forget_some(&mut self, now: TimeNs) {
        for _ in 0..FORGOTTEN_PER_COMMAND {
            match self.requests.front() {
                Some(oldest) if oldest.time.0.saturating_add(REQUEST_MEMORY_NS) < now.0 => {
                    self.forget_oldest();
                }
                _ => break,
            }
        }
        if self.requests.len() >= MAX_REMEMBERED_REQUESTS {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(oldest) = self.requests.front() {
            let hash = self.hash(oldest.owner, oldest.digest);
            self.requests.pop(hash);
        }
    }

    fn hash(&self, owner: AccountNumber, digest: Digest16) -> u32 {
        let mut name = [0; 32];
        name[..16].copy_from_slice(&digest.0);
        self.hasher.scoped(owner.0, &name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Rules;

    fn step(sequence: u64, now: u64, events: &mut Vec<foretell_model::Event>) -> Step<'_> {
        Step {
            rules: Rules::One,
            code: 3,
            sequence: Sequence(sequence),
            now: TimeNs(now),
            events,
        }
    }

    #[test]
    fn the_memory_of_requests_is_bounded() {
        let mut requests = Requests::with_capacity(4, KeyHasher::new(1));
        let events = &mut Vec::new();
        let digest = |number: usize| Digest16((number as u128 + 1).to_le_bytes());
        for number in 0..=MAX_REMEMBERED_REQUESTS {
            requests.remember(AccountNumber(0), digest(number), &step(1, 10, events));
        }
        assert_eq!(requests.iter().count(), MAX_REMEMBERED_REQUESTS);
        assert!(requests.ensure_new(AccountNumber(0), digest(0)).is_ok());
        assert!(requests.ensure_new(AccountNumber(0), digest(1)).is_err());
        requests.remember(
            AccountNumber(0),
            digest(0),
            &step(1, 11 + REQUEST_MEMORY_NS, events),
        );
        // Four were old, and then there was room.
        assert_eq!(requests.iter().count(), MAX_REMEMBERED_REQUESTS - 3);
    }

    #[test]
    fn the_zero_digest_is_never_remembered() {
        let mut requests = Requests::with_capacity(4, KeyHasher::new(1));
        let events = &mut Vec::new();
        requests.remember(AccountNumber(0), Digest16::ZERO, &step(1, 10, events));
        requests.count(AccountNumber(0), Digest16::ZERO, 3, Sequence(1));
        assert_eq!(requests.iter().count(), 0);
    }
}
