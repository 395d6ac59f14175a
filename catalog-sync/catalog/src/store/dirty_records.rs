//! Records changed by an open batch.

use std::collections::BTreeSet;

/// Changed records whose derived data must be rewritten before the commit.
#[derive(Debug, Default)]
pub(super) struct DirtyRecords {
    /// Events whose record, markets, tags or series changed.
    pub(super) events: BTreeSet<u64>,
    /// Markets without an event that changed.
    pub(super) lone_markets: BTreeSet<u64>,
    /// Tags that events gained or lost.
    pub(super) tags: BTreeSet<u64>,
}

impl DirtyRecords {
    /// A market that changed, with or without an event.
    pub(super) fn market(&mut self, id: u64, event: Option<u64>) {
        match event {
            Some(event) => self.events.insert(event),
            None => self.lone_markets.insert(id),
        };
    }
}
