//! The thread that loads the catalog's data into memory for reads: inputs of lists, names of
//! markets and profiles of wallets.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use foretell_catalog::CatalogError;

use crate::app::App;
use crate::catalog::catalog_pool::CatalogPool;

/// Interval of the checks for a changed file.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// Turns between two writes of own markets: requests write their own changes at once, and this adds
/// those of time and of other gateways.
const OWN_TURNS: u32 = 8;

/// The parts that a gateway uses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchedData {
    pub(crate) lists: bool,
    pub(crate) names: bool,
    pub(crate) profiles: bool,
    /// Own markets are written, not read.
    pub(crate) own: bool,
}

impl WatchedData {
    pub(crate) const fn anything(self) -> bool {
        self.lists || self.names || self.profiles || self.own
    }
}

/// Follows the catalog until `stop`. While the file is missing or of another build, the registered
/// texts and the profiles loaded so far stay in use; one log line reports the latter.
pub(crate) fn watch(app: &App, pool: &CatalogPool, watched: WatchedData, stop: &AtomicBool) {
    let mut seen = None;
    let [mut lists_failed, mut names_failed, mut profiles_failed] = [false; 3];
    let (mut own_failed, mut turn) = (false, 0_u32);
    while !stop.load(Ordering::Relaxed) {
        // First, because a list requested earlier would wait for it.
        if watched.lists {
            report("lists", refresh_lists(app, pool), &mut lists_failed);
        }
        if watched.names {
            report(
                "names of markets",
                refresh_names(app, pool),
                &mut names_failed,
            );
        }
        if watched.profiles {
            let refreshed = app.profiles.refresh(pool, &mut seen);
            report("profiles", refreshed, &mut profiles_failed);
        }
        let own = app.own_catalog.as_ref();
        if let Some(own) = own.filter(|_| turn.is_multiple_of(OWN_TURNS))
            && app.shared_view.is_ready()
        {
            report(
                "own markets",
                own.write(&app.shared_view, pool),
                &mut own_failed,
            );
        }
        turn = turn.wrapping_add(1);
        std::thread::park_timeout(CHECK_INTERVAL);
    }
}

fn report(what: &'static str, refreshed: Result<(), CatalogError>, failed: &mut bool) {
    match refreshed {
        Ok(()) => *failed = false,
        Err(CatalogError::Missing(_)) => {}
        Err(error) => {
            if !std::mem::replace(failed, true) {
                tracing::warn!(%error, what, "cannot read the catalog: keeping the last loaded data");
            }
        }
    }
}

/// Takes in what the exchange knows, then what the file has.
pub(crate) fn refresh_lists(app: &App, pool: &CatalogPool) -> Result<(), CatalogError> {
    let catalog = pool.catalog()?;
    if app.shared_view.is_ready() {
        let (view, descriptions) = (&app.shared_view, &app.descriptions);
        let facts = &app.catalog_facts;
        facts.refresh(view, descriptions, app.exchange_time(), &catalog);
    }
    catalog.refresh_lists()
}

fn refresh_names(app: &App, pool: &CatalogPool) -> Result<(), CatalogError> {
    let catalog = pool.catalog()?;
    let changed = catalog.refresh_lookup()?;
    if !changed.is_empty() {
        app.descriptions.refresh(catalog.lookup(), &changed);
        app.event_markets.forget();
    }
    Ok(())
}
