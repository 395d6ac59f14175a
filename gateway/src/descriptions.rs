//! What markets are called: the descriptions they were registered with, read once each.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use foretell_model::{ConditionId, Outcome};
use foretell_view::Market;
use foretell_wire::operator::MarketDescription;
use parking_lot::RwLock;

/// The descriptions read so far. One never changes while its market is registered, so there are
/// as many as markets.
#[derive(Default)]
pub(crate) struct Descriptions {
    read: RwLock<HashMap<ConditionId, Arc<MarketDescription>, RandomState>>,
}

impl Descriptions {
    /// The description of a market; a frame that carries none gives the empty one.
    pub(crate) fn of(&self, market: &Market) -> Arc<MarketDescription> {
        if let Some(known) = self.read.read().get(&market.condition) {
            return Arc::clone(known);
        }
        let description = MarketDescription::from_evidence(&market.description).unwrap_or_default();
        let description = Arc::new(description);
        self.read
            .write()
            .insert(market.condition, Arc::clone(&description));
        description
    }

    /// The label of an outcome.
    pub(crate) fn label(&self, market: &Market, outcome: Outcome) -> String {
        self.of(market).outcomes[outcome.index()].clone()
    }
}
