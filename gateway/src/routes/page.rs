//! The page, and the reads of other surfaces that it needs, on its own origin.

use foretell_wire::ErrorCode::{NotFound, WalletForeignOrigin, WalletNotLocal};
use foretell_wire::limits::ORDER_BODY_BYTES;

use crate::http::route::{Route, get, post, read};
use crate::http::surface::Surface;
use crate::page::PageConfig;
use crate::policy::rate_limits::Scope::{
    Page, PageCatalog, PageData, PageEngine, PageProof, PageSummary, PageWallet,
};
use crate::resources::catalog::{lists, records};
use crate::resources::data::{activity, closed_positions, holders, positions, totals, trades};
use crate::resources::page::{engine_room, files, proof, site, summary, wallet};

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
    routes.extend(data().map(|route| route.mounted_from(Surface::Data)));
    routes.extend(catalog().map(|route| route.mounted_from(Surface::Catalog)));
    routes
}

/// Those that are on no other surface.
pub(super) fn described(has_wallet: bool) -> Vec<Route> {
    let mut routes = vec![
        get("/ui", Page, files::file),
        get("/ui/", Page, files::file),
        get("/ui/{*path}", Page, files::file),
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

fn data() -> [Route; 8] {
    [
        read("/ui/api/data/trades", PageData, trades::list),
        read("/ui/api/data/positions", PageData, positions::list),
        read(
            "/ui/api/data/closed-positions",
            PageData,
            closed_positions::list,
        ),
        read("/ui/api/data/holders", PageData, holders::list),
        read("/ui/api/data/activity", PageData, activity::list),
        read("/ui/api/data/value", PageData, totals::value),
        read("/ui/api/data/oi", PageData, totals::open_interest),
        read("/ui/api/data/live-volume", PageData, totals::live_volume),
    ]
}

fn catalog() -> [Route; 10] {
    [
        get("/ui/api/catalog/markets", PageCatalog, lists::markets),
        get(
            "/ui/api/catalog/markets/slug/{slug}",
            PageCatalog,
            records::market_by_slug,
        ),
        get("/ui/api/catalog/markets/{id}", PageCatalog, records::market),
        get("/ui/api/catalog/events", PageCatalog, lists::events),
        get(
            "/ui/api/catalog/events/slug/{slug}",
            PageCatalog,
            records::event_by_slug,
        ),
        get("/ui/api/catalog/events/{id}", PageCatalog, records::event),
        get("/ui/api/catalog/tags", PageCatalog, lists::tags),
        get(
            "/ui/api/catalog/tags/slug/{slug}",
            PageCatalog,
            records::tag_by_slug,
        ),
        get("/ui/api/catalog/tags/{id}", PageCatalog, records::tag),
        get("/ui/api/catalog/public-search", PageCatalog, lists::search),
    ]
}
