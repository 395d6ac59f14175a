//! The thread that keeps the names of markets as the catalog has them: reads find them in memory and
//! never wait for the catalog.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use foretell_catalog::CatalogError;

use crate::app::App;
use crate::catalog_door::CatalogDoor;

/// Between two looks whether the catalog changed.
const EVERY: Duration = Duration::from_millis(250);

/// Follows the catalog until `stop`. One that is not there yet, or that another build made, leaves
/// the words that markets were registered with.
pub(crate) fn follow(app: &App, door: &CatalogDoor, stop: &AtomicBool) {
    let mut told = false;
    while !stop.load(Ordering::Relaxed) {
        match renew(app, door) {
            Ok(()) => told = false,
            Err(CatalogError::Missing(_)) => {}
            Err(error) if !told => {
                tracing::warn!("names of markets stay as they are: {error}");
                told = true;
            }
            Err(_) => {}
        }
        std::thread::park_timeout(EVERY);
    }
}

fn renew(app: &App, door: &CatalogDoor) -> Result<(), CatalogError> {
    let catalog = door.catalog()?;
    let changed = catalog.refresh_lookup()?;
    if !changed.is_empty() {
        app.descriptions.renew(catalog.lookup(), &changed);
        app.market_texts.forget(&changed);
    }
    Ok(())
}
