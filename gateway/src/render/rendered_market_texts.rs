//! Market texts of the data surface's rows, rendered into JSON once each.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use foretell_model::ConditionId;
use foretell_view::Market;
use foretell_wire::data::{AssetIds, MarketNames, MarketText};
use foretell_wire::operator::MarketDescription;
use parking_lot::RwLock;

use crate::catalog::descriptions::Descriptions;

/// The texts rendered so far, one for each market shown.
pub(crate) struct MarketTexts {
    /// The form of assets.
    form: AssetIds,
    made: RwLock<HashMap<ConditionId, Arc<MarketText>, RandomState>>,
}

impl MarketTexts {
    pub(crate) fn new(form: AssetIds) -> Self {
        Self {
            form,
            made: RwLock::default(),
        }
    }

    /// The form of assets.
    pub(crate) fn form(&self) -> AssetIds {
        self.form
    }

    /// The text of a market.
    pub(crate) fn of(&self, market: &Market, descriptions: &Descriptions) -> Arc<MarketText> {
        if let Some(known) = self.made.read().get(&market.condition) {
            return Arc::clone(known);
        }
        // Hold the lock from reading the description to inserting the text. Descriptions change
        // before `forget` is called, so `forget` removes any text of an older description.
        let mut made = self.made.write();
        let description = descriptions.of(market);
        let text = Arc::new(MarketText::new(
            market.condition,
            &market.tokens,
            &names(&description),
            self.form,
        ));
        made.insert(market.condition, Arc::clone(&text));
        text
    }

    /// Removes texts whose descriptions have changed.
    pub(crate) fn forget(&self, changed: &[ConditionId]) {
        let mut made = self.made.write();
        for condition in changed {
            made.remove(condition);
        }
    }
}

/// The names of a market on the data surface, defined only here. All come from its description;
/// missing ones are empty.
pub(crate) fn names(description: &MarketDescription) -> MarketNames<'_> {
    let [yes, no] = &description.outcomes;
    let event = description.event.as_ref();
    MarketNames {
        title: &description.question,
        slug: &description.slug,
        icon: &description.icon,
        event_slug: event.map_or("", |event| &event.slug),
        outcomes: [yes, no],
        end_date: description.end_date.as_deref().unwrap_or(""),
    }
}
