//! The exchange of an app, as its catalog asks it when it reads a record.

use std::sync::{Arc, Weak};

use foretell_catalog::{Exchange, Trading};
use foretell_model::ConditionId;
use foretell_wire::catalog::CatalogTrading;

use crate::app::App;
use crate::catalog::catalog_facts::known;
use crate::render::market_facts::{catalog_figures, last_step};

/// The exchange of an app.
#[derive(Debug)]
struct AppExchange(Weak<App>);

impl Exchange for AppExchange {
    fn trading(&self, condition: &ConditionId) -> Option<Trading> {
        let app = self.0.upgrade()?;
        let volume_24hr = app.catalog_facts.day_volume(condition);
        // This thread yields to others, so what it holds meanwhile, they wait for: nothing is
        // rendered under the view's lock.
        let (facts, trading, changed, description) = {
            let state = app.shared_view.read();
            let (number, market) = state.view.markets().by_condition(condition)?;
            let (facts, trading) = known(&app.descriptions, &state.view, number)?;
            let description = app.descriptions.of(market);
            (facts, trading, last_step(market), description)
        };
        let trading = CatalogTrading {
            volume_24hr,
            ..trading
        };
        Some(Trading {
            figures: catalog_figures(&facts, &trading, changed),
            fields: facts.catalog_fields(&trading, Some(&description)),
        })
    }
}

/// Lets the catalog of an app ask its exchange.
pub(crate) fn connect(app: &Arc<App>) {
    if let Some(pool) = &app.catalog {
        pool.ask(Arc::new(AppExchange(Arc::downgrade(app))));
    }
}
