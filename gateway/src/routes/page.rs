//! The page, and the reads of other surfaces that it needs, on its own origin.

use foretell_wire::ErrorCode::{NotFound, WalletForeignOrigin, WalletNotLocal};
use foretell_wire::limits::ORDER_BODY_BYTES;

use crate::http::route::{Route, get, post, read};
use crate::http::surface::Surface;
use crate::page::PageConfig;
use crate::policy::rate_limits::Scope::{
    self, Page, PageCatalog, PageData, PageEngine, PageProof, PageSummary, PageWallet,
};
use crate::resources::page::{engine_room, files, proof, site, summary, wallet};
use crate::routes::{catalog, data};

/// The part of the page that a trading surface serves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PageRoutes {
    None,
    /// The page, and with `wallet` the development wallets.
    Page {
        wallet: bool,
    },
}

impl PageRoutes {
    pub(crate) fn of(config: Option<&PageConfig>) -> Self {
        config.map_or(Self::None, |page| Self::Page {
            wallet: !page.development_wallets.is_empty(),
        })
    }
}

/// Everything below `/ui`.
pub(super) fn routes(has_wallet: bool) -> Vec<Route> {
    let mut routes = described(has_wallet);
    mount(&mut routes, Surface::Data, PageData, DATA);
    mount(&mut routes, Surface::Catalog, PageCatalog, CATALOG);
    routes
}

/// Routes of the page's OpenAPI document: those that no other surface has.
pub(super) fn described(has_wallet: bool) -> Vec<Route> {
    let mut routes = vec![
        get("/ui", Page, files::file),
        get("/ui/", Page, files::file),
        get("/ui/{*file}", Page, files::file),
        get("/ui/logo", Page, files::logo).errors(&[&[NotFound]]),
        get("/ui/api/site", PageEngine, site::show),
        get("/ui/api/engine", PageEngine, engine_room::show),
        read("/ui/api/markets/summary", PageSummary, summary::list),
        read("/ui/api/proof/{trade}", PageProof, proof::show),
    ];
    if has_wallet {
        routes.push(
            post("/ui/wallet", PageWallet, wallet::call)
                .body(ORDER_BODY_BYTES)
                .errors(&[&[WalletNotLocal, WalletForeignOrigin]]),
        );
    }
    routes
}

/// Adds routes of another surface: their paths there follow its name here.
fn mount(routes: &mut Vec<Route>, surface: Surface, scope: Scope, paths: &[&'static str]) {
    let (prefix, mut others) = match surface {
        Surface::Data => ("/ui/api/data", data::routes()),
        _ => ("/ui/api/catalog", catalog::routes()),
    };
    routes.extend(paths.iter().map(|path| {
        let is_it = |route: &Route| path.strip_prefix(prefix) == Some(route.path);
        let place = others
            .iter()
            .position(is_it)
            .expect("a route of the surface");
        others.swap_remove(place).mounted_from(surface, path, scope)
    }));
}

const DATA: &[&str] = &[
    "/ui/api/data/trades",
    "/ui/api/data/positions",
    "/ui/api/data/closed-positions",
    "/ui/api/data/holders",
    "/ui/api/data/activity",
    "/ui/api/data/value",
    "/ui/api/data/oi",
    "/ui/api/data/live-volume",
];

const CATALOG: &[&str] = &[
    "/ui/api/catalog/markets",
    "/ui/api/catalog/markets/slug/{slug}",
    "/ui/api/catalog/markets/{id}",
    "/ui/api/catalog/events",
    "/ui/api/catalog/events/slug/{slug}",
    "/ui/api/catalog/events/{id}",
    "/ui/api/catalog/tags",
    "/ui/api/catalog/tags/slug/{slug}",
    "/ui/api/catalog/tags/{id}",
    "/ui/api/catalog/public-search",
];
