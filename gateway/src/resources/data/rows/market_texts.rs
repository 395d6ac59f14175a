//! The markets of one answer.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use foretell_model::{ConditionId, MarketNumber};
use foretell_view::{Market, View};
use foretell_wire::data::{AssetIds, MarketText};
use foretell_wire::operator::MarketDescription;

use crate::app::App;

pub(crate) fn market_text(app: &App, market: &Market, form: AssetIds) -> MarketText {
    let description = app.descriptions.of(market);
    MarketText::new(market.condition, &market.tokens, description, form)
}

/// The texts of the markets met so far, each made once.
pub(crate) struct MarketTexts {
    form: AssetIds,
    made: HashMap<MarketNumber, Arc<MarketText>, RandomState>,
}

impl MarketTexts {
    pub(crate) fn new(form: AssetIds) -> Self {
        Self {
            form,
            made: HashMap::default(),
        }
    }

    pub(crate) fn of(
        &mut self,
        app: &App,
        view: &View,
        market: MarketNumber,
    ) -> Option<Arc<MarketText>> {
        if let Some(known) = self.made.get(&market) {
            return Some(Arc::clone(known));
        }
        let listed = view.markets().get(market)?;
        let text = Arc::new(market_text(app, listed, self.form));
        self.made.insert(market, Arc::clone(&text));
        Some(text)
    }
}

/// The markets that a filter admits, each looked up once.
#[derive(Default)]
pub(crate) struct AdmittedMarkets {
    indices: HashMap<MarketNumber, Option<usize>, RandomState>,
    admitted: Vec<(ConditionId, Arc<MarketDescription>)>,
}

impl AdmittedMarkets {
    /// Index of a market; `None` when `admits` rejects it.
    pub(crate) fn index(
        &mut self,
        app: &App,
        view: &View,
        market: MarketNumber,
        admits: impl FnOnce(&Market, &MarketDescription) -> bool,
    ) -> Option<usize> {
        *self.indices.entry(market).or_insert_with(|| {
            let listed = view.markets().get(market)?;
            let description = app.descriptions.of(listed);
            let is_admitted = admits(listed, &description);
            is_admitted.then(|| {
                self.admitted.push((listed.condition, description));
                self.admitted.len() - 1
            })
        })
    }

    /// Condition and words of the market at an index.
    pub(crate) fn at(&self, index: usize) -> (ConditionId, &MarketDescription) {
        let (condition, description) = &self.admitted[index];
        (*condition, description)
    }
}
