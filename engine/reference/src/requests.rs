//! Applied cancel requests, so that rules 1 answer a repeat (docs/verify/rules.md §16).

use std::collections::{BTreeMap, HashMap};

use foretell_model::limits::{EVICTED_PER_COMMAND, MAX_REMEMBERED_REQUESTS, REQUEST_MEMORY_NS};
use foretell_model::{AccountNumber, CommandOutcome, Digest16, Sequence, TimeNs};

use crate::exchange::{Exchange, Stamp, is_over};
use crate::handler_result::NotApplied;

/// An applied cancel request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RememberedRequest {
    pub(crate) sequence: Sequence,
    pub(crate) time: TimeNs,
    pub(crate) owner: AccountNumber,
    pub(crate) request: Digest16,
    pub(crate) last: Sequence,
    pub(crate) cancelled: u32,
}

/// All requests that are remembered, by the sequence of their command.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Requests {
    requests: BTreeMap<Sequence, RememberedRequest>,
    sequences: HashMap<(AccountNumber, Digest16), Sequence>,
}

impl Requests {
    pub(crate) fn values(&self) -> impl Iterator<Item = &RememberedRequest> {
        self.requests.values()
    }

    pub(crate) fn insert(&mut self, known: RememberedRequest) {
        let name = (known.owner, known.request);
        self.sequences.insert(name, known.sequence);
        self.requests.insert(known.sequence, known);
    }

    fn get(&self, owner: AccountNumber, request: Digest16) -> Option<&RememberedRequest> {
        let sequence = self.sequences.get(&(owner, request))?;
        self.requests.get(sequence)
    }

    fn oldest(&self) -> Option<&RememberedRequest> {
        self.requests.first_key_value().map(|(_, oldest)| oldest)
    }

    fn remove_oldest(&mut self) {
        if let Some((_, oldest)) = self.requests.pop_first() {
            self.sequences.remove(&(oldest.owner, oldest.request));
        }
    }
}

impl Exchange {
    /// Rules 2 remember no requests, so they never stop here.
    pub(crate) fn check_request(
        &self,
        owner: AccountNumber,
        request: Digest16,
    ) -> Result<(), NotApplied> {
        match self.requests.get(owner, request) {
            Some(known) => Err(NotApplied::Repeated {
                first: known.sequence,
                last: known.last,
                outcome: CommandOutcome::Cancelled {
                    orders: known.cancelled,
                },
            }),
            None => Ok(()),
        }
    }

    pub(crate) fn remember_request(&mut self, owner: AccountNumber, request: Digest16, at: Stamp) {
        if request == Digest16::ZERO {
            return;
        }
        for _ in 0..EVICTED_PER_COMMAND {
            match self.requests.oldest() {
                Some(oldest) if is_over(oldest.time, REQUEST_MEMORY_NS, at.time) => {
                    self.requests.remove_oldest();
                }
                _ => break,
            }
        }
        if self.requests.requests.len() >= MAX_REMEMBERED_REQUESTS {
            self.requests.remove_oldest();
        }
        self.requests.insert(RememberedRequest {
            sequence: at.sequence,
            time: at.time,
            owner,
            request,
            last: at.sequence,
            cancelled: 0,
        });
    }

    /// Adds closed orders to the request whose work began at `first`.
    pub(crate) fn count_for_request(&mut self, first: Sequence, orders: u32, at: Stamp) {
        if let Some(known) = self.requests.requests.get_mut(&first) {
            known.last = at.sequence;
            known.cancelled += orders;
        }
    }
}
