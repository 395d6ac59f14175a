//! Rules 1: digests of cancel requests, so that a resent request counts as a repeat. Rules 2 apply
//! every cancel and remember no requests.

use foretell_model::limits::{EVICTED_PER_COMMAND, MAX_REMEMBERED_REQUESTS, REQUEST_MEMORY_NS};
use foretell_model::{AccountNumber, CommandOutcome, Digest16, Sequence, TimeNs};

use crate::command_context::{CommandContext, NotApplied};
use crate::indexed_queue::IndexedQueue;
use crate::table::KeyHasher;

/// A remembered cancel request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CancelRequest {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    pub(crate) owner: AccountNumber,
    pub(crate) digest: Digest16,
    /// Sequence of the last command of its work so far.
    pub(crate) last: Sequence,
    /// Orders closed so far.
    pub(crate) cancelled: u32,
}

/// The cancel requests of the last 90 seconds.
#[derive(Debug)]
pub(crate) struct CancelRequests {
    requests: IndexedQueue<CancelRequest>,
    hasher: KeyHasher,
}

impl CancelRequests {
    pub(crate) fn with_capacity(requests: usize, hasher: KeyHasher) -> Self {
        Self {
            requests: IndexedQueue::with_capacity(requests),
            hasher,
        }
    }

    /// Rejects a request that is remembered. A zero digest is never remembered.
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

    /// Remembers the request of an applied cancel and evicts old ones first.
    pub(crate) fn remember(
        &mut self,
        owner: AccountNumber,
        digest: Digest16,
        context: &CommandContext<'_>,
    ) {
        if digest == Digest16::ZERO {
            return;
        }
        self.evict_some(context.now);
        self.requests.push(
            self.hash(owner, digest),
            CancelRequest {
                sequence: context.sequence,
                time: context.now,
                owner,
                digest,
                last: context.sequence,
                cancelled: 0,
            },
        );
    }

    /// Restores a remembered request; the caller restores in order of sequence. Returns false when
    /// it is already present or the memory is full.
    pub(crate) fn restore(&mut self, request: CancelRequest) -> bool {
        let is_new = self.ensure_new(request.owner, request.digest).is_ok()
            && self.requests.len() < MAX_REMEMBERED_REQUESTS;
        if is_new {
            let hash = self.hash(request.owner, request.digest);
            self.requests.push(hash, request);
        }
        is_new
    }

    /// Adds the closed orders of a command to its request. Ignores a request that is not
    /// remembered.
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

    /// All requests by sequence.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &CancelRequest> {
        self.requests.iter()
    }

    /// Clears all requests, at the switch to rules 2.
    pub(crate) fn clear(&mut self) {
        while self.requests.front().is_some() {
            self.evict_oldest();
        }
    }

    fn evict_some(&mut self, now: TimeNs) {
        for _ in 0..EVICTED_PER_COMMAND {
            match self.requests.front() {
                Some(oldest) if oldest.time.0.saturating_add(REQUEST_MEMORY_NS) < now.0 => {
                    self.evict_oldest();
                }
                _ => break,
            }
        }
        if self.requests.len() >= MAX_REMEMBERED_REQUESTS {
            self.evict_oldest();
        }
    }

    fn evict_oldest(&mut self) {
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

    fn context(
        sequence: u64,
        now: u64,
        events: &mut Vec<foretell_model::Event>,
    ) -> CommandContext<'_> {
        CommandContext {
            rules: Rules::One,
            code: 3,
            sequence: Sequence(sequence),
            now: TimeNs(now),
            operator: foretell_model::OperatorNumber::NONE,
            touched: 0,
            visited: std::cell::Cell::new(0),
            events,
        }
    }

    #[test]
    fn the_memory_of_requests_is_bounded() {
        let mut requests = CancelRequests::with_capacity(4, KeyHasher::new(1));
        let events = &mut Vec::new();
        let digest = |number: usize| Digest16((number as u128 + 1).to_le_bytes());
        for number in 0..=MAX_REMEMBERED_REQUESTS {
            requests.remember(AccountNumber(0), digest(number), &context(1, 10, events));
        }
        assert_eq!(requests.iter().count(), MAX_REMEMBERED_REQUESTS);
        assert!(requests.ensure_new(AccountNumber(0), digest(0)).is_ok());
        assert!(requests.ensure_new(AccountNumber(0), digest(1)).is_err());
        requests.remember(
            AccountNumber(0),
            digest(0),
            &context(1, 11 + REQUEST_MEMORY_NS, events),
        );
        // Four were old and were evicted, which made room.
        assert_eq!(requests.iter().count(), MAX_REMEMBERED_REQUESTS - 3);
    }

    #[test]
    fn the_zero_digest_is_never_remembered() {
        let mut requests = CancelRequests::with_capacity(4, KeyHasher::new(1));
        let events = &mut Vec::new();
        requests.remember(AccountNumber(0), Digest16::ZERO, &context(1, 10, events));
        requests.count(AccountNumber(0), Digest16::ZERO, 3, Sequence(1));
        assert_eq!(requests.iter().count(), 0);
    }
}
