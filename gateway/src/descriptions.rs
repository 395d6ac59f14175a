//! What markets are called: the descriptions they were registered with, read once each.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use foretell_model::{ConditionId, Outcome};
use foretell_view::Market;
use parking_lot::RwLock;
use serde::Deserialize;

/// The part of a market's description this surface shows. What is missing is empty, and the
/// outcomes are then `Yes` and `No`.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct Description {
    outcomes: [String; 2],
}

impl Default for Description {
    fn default() -> Self {
        Self { outcomes: ["Yes".to_owned(), "No".to_owned()] }
    }
}

impl Description {
    /// The label of an outcome.
    pub(crate) fn outcome(&self, outcome: Outcome) -> &str {
        &self.outcomes[outcome.index()]
    }
}

/// The descriptions read so far. One never changes while its market is registered.
#[derive(Default)]
pub(crate) struct Descriptions {
    read: RwLock<HashMap<ConditionId, Arc<Description>, RandomState>>,
}

impl Descriptions {
    /// The description of a market.
    pub(crate) fn of(&self, market: &Market) -> Arc<Description> {
        if let Some(known) = self.read.read().get(&market.condition) {
            return Arc::clone(known);
        }
        let description: Description =
            serde_json::from_slice(&market.description).unwrap_or_default();
        let description = Arc::new(description);
        self.read.write().insert(market.condition, Arc::clone(&description));
        description
    }
}
