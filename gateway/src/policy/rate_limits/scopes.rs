//! The scopes of the rate limits, and which counters a request increments
//! (docs/api/limits.md).

use http::Method;

use crate::policy::rate_limits::window::{Millis, SPAN};

use crate::http::surface::Surface;

/// A row of the interface's table; the two windows of writes are separate scopes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Scope {
    /// Every request to the catalog surface.
    Catalog,
    /// `GET /events`.
    CatalogEvents,
    /// `GET /markets` of the catalog.
    CatalogMarkets,
    /// `GET /events` and `GET /markets` together.
    CatalogListings,
    /// `GET /tags`.
    CatalogTags,
    /// `GET /public-search`.
    CatalogSearch,
    /// Every request to the trading surface.
    Trading,
    /// `GET /` and `/ok`.
    Health,
    /// `GET /book`.
    Book,
    /// `POST /books`.
    Books,
    /// `GET /price`.
    Price,
    /// `POST /prices`, `/midpoints`, `/spreads`, `/last-trades-prices`.
    Prices,
    /// `GET /midpoint`.
    Midpoint,
    /// `GET /prices-history`.
    PricesHistory,
    /// `POST /batch-prices-history`.
    BatchPricesHistory,
    /// Own orders and trades, builders' trades.
    Ledger,
    /// Lists of markets: half a megabyte a page.
    MarketLists,
    /// Every request to `/ui/`.
    Page,
    /// `GET /ui/api/data/*`.
    PageData,
    /// `GET /ui/api/catalog/*`.
    PageCatalog,
    /// `GET /ui/api/markets/summary`.
    PageSummary,
    /// `GET /ui/api/proof/{trade}`.
    PageProof,
    /// `GET /ui/api/site` and `/ui/api/engine` together.
    PageEngine,
    /// `POST /ui/wallet`.
    PageWallet,
    /// `POST` and `DELETE /auth/*`: every key, and its end, is journalled.
    Keys,
    /// Orders of an API key in 10 s.
    OrderBurst,
    /// Orders of an API key in 10 min.
    OrderSustained,
    /// Cancels of an API key in 10 s.
    CancelBurst,
    /// Cancels of an API key in 10 min.
    CancelSustained,
    /// Orders of all API keys of an owner in 10 s.
    OwnerOrderBurst,
    /// Orders of all API keys of an owner in 10 min.
    OwnerOrderSustained,
    /// Cancels of all API keys of an owner in 10 s.
    OwnerCancelBurst,
    /// Cancels of all API keys of an owner in 10 min.
    OwnerCancelSustained,
    /// Account actions of an owner in 10 s.
    Actions,
    /// `POST /heartbeats`: the start and the end of a chain are journalled.
    Heartbeats,
}

/// A scope and the limit of its window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cap {
    pub(crate) scope: Scope,
    pub(crate) most: u32,
}

const SHORT: Millis = 10_000;
const LONG: Millis = 600_000;

impl Scope {
    /// The name of its setting, and of its metric of rejections.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::CatalogEvents => "catalog_events",
            Self::CatalogMarkets => "catalog_markets",
            Self::CatalogListings => "catalog_listings",
            Self::CatalogTags => "catalog_tags",
            Self::CatalogSearch => "catalog_search",
            Self::Trading => "trading",
            Self::Health => "health",
            Self::Book => "book",
            Self::Books => "books",
            Self::Price => "price",
            Self::Prices => "prices",
            Self::Midpoint => "midpoint",
            Self::PricesHistory => "prices_history",
            Self::BatchPricesHistory => "batch_prices_history",
            Self::Ledger => "ledger",
            Self::MarketLists => "market_lists",
            Self::Page => "page",
            Self::PageData => "page_data",
            Self::PageCatalog => "page_catalog",
            Self::PageSummary => "page_summary",
            Self::PageProof => "page_proof",
            Self::PageEngine => "page_engine",
            Self::PageWallet => "page_wallet",
            Self::Keys => "keys",
            Self::OrderBurst => "order_burst",
            Self::OrderSustained => "order_sustained",
            Self::CancelBurst => "cancel_burst",
            Self::CancelSustained => "cancel_sustained",
            Self::OwnerOrderBurst => "owner_order_burst",
            Self::OwnerOrderSustained => "owner_order_sustained",
            Self::OwnerCancelBurst => "owner_cancel_burst",
            Self::OwnerCancelSustained => "owner_cancel_sustained",
            Self::Actions => "actions",
            Self::Heartbeats => "heartbeats",
        }
    }

    /// Length of a slot of its window, in milliseconds.
    pub(crate) const fn slot(self) -> Millis {
        match self {
            Self::OrderSustained
            | Self::CancelSustained
            | Self::OwnerOrderSustained
            | Self::OwnerCancelSustained => LONG / SPAN,
            _ => SHORT / SPAN,
        }
    }

    /// Length of its window in seconds.
    pub(crate) const fn seconds(self) -> u64 {
        self.slot() * SPAN / 1_000
    }

    /// The scopes of a request by address: the surface as a whole, its route, and groups of routes.
    /// `route` is `None` for an unknown path.
    pub(crate) fn of_request(
        surface: Surface,
        method: &Method,
        route: Option<&str>,
    ) -> [Option<Self>; 3] {
        let route = route.unwrap_or_default();
        let reads = matches!(*method, Method::GET | Method::HEAD);
        match surface {
            Surface::Trading if is_of_page(route) => {
                [Some(Self::Trading), Some(Self::Page), Self::of_page(route)]
            }
            Surface::Trading => {
                let row = if reads {
                    Self::trading_read(route)
                } else if *method == Method::POST {
                    Self::trading_post(route)
                } else if *method == Method::DELETE && route.starts_with("/auth/") {
                    Some(Self::Keys)
                } else {
                    None
                };
                [Some(Self::Trading), row, None]
            }
            Surface::Catalog => {
                let [row, shared] = match route {
                    "/events" if reads => [Some(Self::CatalogEvents), Some(Self::CatalogListings)],
                    "/markets" if reads => {
                        [Some(Self::CatalogMarkets), Some(Self::CatalogListings)]
                    }
                    "/tags" if reads => [Some(Self::CatalogTags), None],
                    "/public-search" if reads => [Some(Self::CatalogSearch), None],
                    _ => [None, None],
                };
                [Some(Self::Catalog), row, shared]
            }
            // The interface limits neither: one has an allowlist, the other a token.
            Surface::Data | Surface::Operator | Surface::Health => [None; 3],
        }
    }

    /// The scope of a path of the page besides [`Self::Page`]; files have none.
    fn of_page(route: &str) -> Option<Self> {
        Some(match route {
            "/ui/wallet" => Self::PageWallet,
            "/ui/api/site" | "/ui/api/engine" => Self::PageEngine,
            "/ui/api/markets/summary" => Self::PageSummary,
            "/ui/api/proof/{trade}" => Self::PageProof,
            _ if route.starts_with("/ui/api/data/") => Self::PageData,
            _ if route.starts_with("/ui/api/catalog/") => Self::PageCatalog,
            _ => return None,
        })
    }

    fn trading_read(route: &str) -> Option<Self> {
        Some(match route {
            "/" | "/ok" => Self::Health,
            "/book" => Self::Book,
            "/price" => Self::Price,
            "/midpoint" => Self::Midpoint,
            "/prices-history" => Self::PricesHistory,
            "/data/trades"
            | "/data/orders"
            | "/data/order/{id}"
            | "/builder/trades"
            | "/live-activity/events/{condition}"
            | "/markets/live-activity/{condition}" => Self::Ledger,
            "/books" => Self::Books,
            "/prices" | "/midpoints" | "/spreads" | "/last-trades-prices" => Self::Prices,
            "/markets"
            | "/simplified-markets"
            | "/sampling-markets"
            | "/sampling-simplified-markets" => Self::MarketLists,
            "/auth/api-keys" | "/auth/readonly-api-keys" => Self::Ledger,
            _ => return None,
        })
    }

    fn trading_post(route: &str) -> Option<Self> {
        Some(match route {
            "/books" => Self::Books,
            "/prices" | "/midpoints" | "/spreads" | "/last-trades-prices" => Self::Prices,
            "/batch-prices-history" => Self::BatchPricesHistory,
            _ if route.starts_with("/auth/") => Self::Keys,
            _ if route.ends_with("/heartbeats") => Self::Heartbeats,
            _ => return None,
        })
    }
}

fn is_of_page(route: &str) -> bool {
    route == "/ui" || route.starts_with("/ui/")
}

/// Kinds of writes of an API key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Writes {
    /// `POST /order`, and each order of `POST /orders`.
    Orders,
    /// Every cancel: each order named, and each request that cancels many.
    Cancels,
    /// Split, merge, redeem, convert.
    Actions,
}

impl Writes {
    /// The scopes counted for the key.
    pub(crate) const fn of_key(self) -> &'static [Scope] {
        match self {
            Self::Orders => &[Scope::OrderBurst, Scope::OrderSustained],
            Self::Cancels => &[Scope::CancelBurst, Scope::CancelSustained],
            Self::Actions => &[],
        }
    }

    /// The scopes counted for the key's owner: keys are free to create, accounts cost their owner.
    pub(crate) const fn of_owner(self) -> &'static [Scope] {
        match self {
            Self::Orders => &[Scope::OwnerOrderBurst, Scope::OwnerOrderSustained],
            Self::Cancels => &[Scope::OwnerCancelBurst, Scope::OwnerCancelSustained],
            Self::Actions => &[Scope::Actions],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_count_in_their_rows() {
        use Scope::*;
        let (get, post) = (Method::GET, Method::POST);
        for (surface, method, route, expected) in [
            (Surface::Trading, &get, "/", vec![Trading, Health]),
            (Surface::Trading, &get, "/book", vec![Trading, Book]),
            (
                Surface::Trading,
                &Method::HEAD,
                "/book",
                vec![Trading, Book],
            ),
            (Surface::Trading, &post, "/books", vec![Trading, Books]),
            (Surface::Trading, &get, "/books", vec![Trading, Books]),
            (Surface::Trading, &get, "/price", vec![Trading, Price]),
            (Surface::Trading, &get, "/spreads", vec![Trading, Prices]),
            (Surface::Trading, &post, "/prices", vec![Trading, Prices]),
            (Surface::Trading, &get, "/midpoint", vec![Trading, Midpoint]),
            (Surface::Trading, &get, "/spread", vec![Trading]),
            (
                Surface::Trading,
                &get,
                "/prices-history",
                vec![Trading, PricesHistory],
            ),
            (
                Surface::Trading,
                &post,
                "/batch-prices-history",
                vec![Trading, BatchPricesHistory],
            ),
            (
                Surface::Trading,
                &get,
                "/data/trades",
                vec![Trading, Ledger],
            ),
            (
                Surface::Trading,
                &get,
                "/data/orders",
                vec![Trading, Ledger],
            ),
            (
                Surface::Trading,
                &get,
                "/data/order/{id}",
                vec![Trading, Ledger],
            ),
            (
                Surface::Trading,
                &get,
                "/builder/trades",
                vec![Trading, Ledger],
            ),
            (
                Surface::Trading,
                &post,
                "/auth/api-key",
                vec![Trading, Keys],
            ),
            (
                Surface::Trading,
                &get,
                "/auth/derive-api-key",
                vec![Trading],
            ),
            (Surface::Trading, &post, "/order", vec![Trading]),
            (
                Surface::Trading,
                &get,
                "/markets",
                vec![Trading, MarketLists],
            ),
            (
                Surface::Trading,
                &get,
                "/sampling-simplified-markets",
                vec![Trading, MarketLists],
            ),
            (
                Surface::Trading,
                &get,
                "/markets/{condition_id}",
                vec![Trading],
            ),
            (
                Surface::Catalog,
                &get,
                "/events",
                vec![Catalog, CatalogEvents, CatalogListings],
            ),
            (
                Surface::Catalog,
                &get,
                "/markets",
                vec![Catalog, CatalogMarkets, CatalogListings],
            ),
            (Surface::Trading, &get, "/ui/", vec![Trading, Page]),
            (Surface::Trading, &get, "/ui/{*path}", vec![Trading, Page]),
            (
                Surface::Trading,
                &get,
                "/ui/api/data/trades",
                vec![Trading, Page, PageData],
            ),
            (
                Surface::Trading,
                &get,
                "/ui/api/catalog/markets/{id}",
                vec![Trading, Page, PageCatalog],
            ),
            (
                Surface::Trading,
                &get,
                "/ui/api/proof/{trade}",
                vec![Trading, Page, PageProof],
            ),
            (
                Surface::Trading,
                &post,
                "/ui/wallet",
                vec![Trading, Page, PageWallet],
            ),
            (Surface::Catalog, &get, "/markets/{id}", vec![Catalog]),
            (Surface::Catalog, &get, "/tags", vec![Catalog, CatalogTags]),
            (
                Surface::Catalog,
                &get,
                "/public-search",
                vec![Catalog, CatalogSearch],
            ),
            (Surface::Data, &get, "/trades", vec![]),
        ] {
            let found: Vec<_> = Scope::of_request(surface, method, Some(route))
                .into_iter()
                .flatten()
                .collect();
            assert_eq!(found, expected, "{method} {route}");
        }
        let nowhere = Scope::of_request(Surface::Trading, &get, None);
        assert_eq!(
            nowhere,
            [Some(Trading), None, None],
            "a path that is not there"
        );
    }
}
