//! The markets that one answer is about, by what they are called.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use foretell_model::MarketNumber;
use foretell_view::View;
use foretell_wire::data::MarketText;

use crate::app::App;

/// The texts of the markets that were met, each looked up once.
#[derive(Default)]
pub(super) struct Named {
    places: HashMap<MarketNumber, Option<usize>, RandomState>,
    texts: Vec<Arc<MarketText>>,
}

impl Named {
    /// Where a market stands; `None` when its title is not what is asked for.
    pub(super) fn place(
        &mut self,
        app: &App,
        view: &View,
        market: MarketNumber,
        title: Option<&str>,
    ) -> Option<usize> {
        *self.places.entry(market).or_insert_with(|| {
            let listed = view.markets().get(market)?;
            let text = app.market_texts.of(listed, &app.descriptions);
            if title.is_some_and(|title| !text.title_contains(title)) {
                return None;
            }
            self.texts.push(text);
            Some(self.texts.len() - 1)
        })
    }

    /// The text at a place, to be kept.
    pub(super) fn shared(&self, place: usize) -> Arc<MarketText> {
        Arc::clone(&self.texts[place])
    }

    /// The text at a place.
    pub(super) fn text(&self, place: usize) -> &MarketText {
        &self.texts[place]
    }
}
