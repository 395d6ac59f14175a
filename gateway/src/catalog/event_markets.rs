//! The markets of each catalog event, for filters by event.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use foretell_model::MarketNumber;
use foretell_view::{Market, View};
use parking_lot::Mutex;

use crate::catalog::descriptions::Descriptions;

/// Markets added under one lock hold: the first look at a description reads its JSON.
const STEP: u32 = 512;

/// The markets of each event, as far as they were asked for. Names of events change with the
/// catalog; markets only come in addition.
#[derive(Default)]
pub(crate) struct EventMarkets {
    index: Mutex<EventIndex>,
}

#[derive(Default)]
struct EventIndex {
    /// The number of the next market to add.
    next: u32,
    of_event: HashMap<u64, Vec<MarketNumber>, RandomState>,
}

impl EventMarkets {
    /// The markets of some events in ascending order, without duplicates. `None` after a step that
    /// did not reach the newest market; the caller then releases the view and asks again.
    pub(crate) fn find(
        &self,
        view: &View,
        descriptions: &Descriptions,
        events: &[u64],
    ) -> Option<Vec<MarketNumber>> {
        let mut index = self.index.lock();
        for _ in 0..STEP {
            let number = MarketNumber(index.next);
            let Some(market) = view.markets().get(number) else {
                return Some(index.markets(events));
            };
            for event in events_of(view, market, descriptions).into_iter().flatten() {
                let markets = index.of_event.entry(event).or_default();
                if markets.last() != Some(&number) {
                    markets.push(number);
                }
            }
            index.next += 1;
        }
        None
    }

    /// Drops the index after a change of the catalog.
    pub(crate) fn forget(&self) {
        *self.index.lock() = EventIndex::default();
    }
}

impl EventIndex {
    fn markets(&self, events: &[u64]) -> Vec<MarketNumber> {
        let known = events.iter().filter_map(|event| self.of_event.get(event));
        let mut markets: Vec<_> = known.flatten().copied().collect();
        markets.sort_unstable();
        markets.dedup();
        markets
    }
}

/// The event that names a market, and its neg-risk event group.
fn events_of(view: &View, market: &Market, descriptions: &Descriptions) -> [Option<u64>; 2] {
    let named = descriptions.of(market);
    let group = market
        .question
        .and_then(|(group, _)| view.events().get(group));
    [
        named.event.as_ref().and_then(|event| event.id),
        group.map(|group| group.id.0),
    ]
}
