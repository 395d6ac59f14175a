//! The thread that keeps what the catalog's file says in memory: what lists are made with, names of
//! markets and profiles of wallets. Reads find them there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use foretell_catalog::CatalogError;

use crate::app::App;
use crate::catalog_door::CatalogDoor;

/// Between two looks whether the file changed.
const EVERY: Duration = Duration::from_millis(250);

/// Which of them a gateway shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) lists: bool,
    pub(crate) names: bool,
    pub(crate) profiles: bool,
}

impl Kept {
    pub(crate) const fn anything(self) -> bool {
        self.lists || self.names || self.profiles
    }
}

/// Follows the catalog until `stop`. One that is not there yet, or that another build made, leaves
/// the words that markets were registered with and the profiles known so far; that is told once.
pub(crate) fn follow(app: &App, door: &CatalogDoor, kept: Kept, stop: &AtomicBool) {
    let mut seen = None;
    let [mut lists_failed, mut names_failed, mut profiles_failed] = [false; 3];
    while !stop.load(Ordering::Relaxed) {
        // First: a list that is asked for before waits for it.
        if kept.lists {
            let renewed = door.catalog().and_then(|catalog| catalog.refresh_lists());
            note("lists", renewed, &mut lists_failed);
        }
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
