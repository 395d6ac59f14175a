//! The texts of the markets in one answer.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use foretell_model::MarketNumber;
use foretell_view::View;
use foretell_wire::data::MarketText;

use crate::app::App;

/// The texts of the markets met so far, each looked up once.
#[derive(Default)]
pub(crate) struct MarketTextIndex {
    indices: HashMap<MarketNumber, Option<usize>, RandomState>,
    texts: Vec<Arc<MarketText>>,
}

impl MarketTextIndex {
    /// Index of a market's text; `None` when its title does not match the filter.
    pub(crate) fn index(
        &mut self,
        app: &App,
        view: &View,
        market: MarketNumber,
        title: Option<&str>,
    ) -> Option<usize> {
        *self.indices.entry(market).or_insert_with(|| {
            let listed = view.markets().get(market)?;
            let text = app.market_texts.of(listed, &app.descriptions);
            if title.is_some_and(|title| !text.title_contains(title)) {
                return None;
            }
            self.texts.push(text);
            Some(self.texts.len() - 1)
        })
    }

    /// The text at an index, shared.
    pub(crate) fn shared(&self, index: usize) -> Arc<MarketText> {
        Arc::clone(&self.texts[index])
    }

    /// The text at an index.
    pub(crate) fn text(&self, index: usize) -> &MarketText {
        &self.texts[index]
    }
}
