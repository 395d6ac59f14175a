//! The thread that keeps what the catalog's file says in memory, names of markets and profiles of
//! wallets: reads find them there and never wait for a database.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use foretell_catalog::CatalogError;

use crate::app::App;
use crate::catalog_door::CatalogDoor;

/// Between two looks whether the file changed.
const EVERY: Duration = Duration::from_millis(250);

/// Which of the two a gateway shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) names: bool,
    pub(crate) profiles: bool,
}

/// Follows the catalog until `stop`. One that is not there yet, or that another build made, leaves
/// the words that markets were registered with and the profiles known so far; that is told once.
pub(crate) fn follow(app: &App, door: &CatalogDoor, kept: Kept, stop: &AtomicBool) {
    let mut seen = None;
    let [mut names_failed, mut profiles_failed] = [false; 2];
    while !stop.load(Ordering::Relaxed) {
        if kept.names {
            note("names of markets", renew(app, door), &mut names_failed);
        }
        if kept.profiles {
            let renewed = app.profiles.renew(door, &mut seen);
            note("profiles", renewed, &mut profiles_failed);
        }
        std::thread::park_timeout(EVERY);
    }
}

fn note(what: &'static str, renewed: Result<(), CatalogError>, failed: &mut bool) {
    match renewed {
        Ok(()) => *failed = false,
        Err(CatalogError::Missing(_)) => {}
        Err(error) => {
            if !std::mem::replace(failed, true) {
                tracing::warn!(%error, what, "the catalog cannot be read: they stay as they are");
            }
        }
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
