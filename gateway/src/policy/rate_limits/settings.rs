//! The limits that an operator may set.

use serde::{Deserialize, Serialize};

use crate::policy::rate_limits::scopes::{Cap, Scope};

/// How many requests of one client each window admits, with the defaults of the interface; 0 turns
/// a limit off. A client is an IPv4 address or an IPv6 network of 64 bits; for orders and cancels
/// it is an API key, and for orders and account actions also the key's owner. Windows are 10
/// seconds unless stated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimits {
    /// `false` turns all limits off.
    pub enabled: bool,
    /// The catalog surface as a whole.
    pub catalog: u32,
    /// `GET /events`.
    pub catalog_events: u32,
    /// `GET /markets` of the catalog.
    pub catalog_markets: u32,
    /// `GET /events` and `GET /markets` together.
    pub catalog_listings: u32,
    /// `GET /tags`.
    pub catalog_tags: u32,
    /// `GET /public-search`.
    pub catalog_search: u32,
    /// The trading surface as a whole.
    pub trading: u32,
    /// `GET /` and `/ok`.
    pub health: u32,
    /// `GET /book`.
    pub book: u32,
    /// `GET` and `POST /books` together.
    pub books: u32,
    /// `GET /price`.
    pub price: u32,
    /// `GET` and `POST /prices`, `/midpoints`, `/spreads`, `/last-trades-prices` together.
    pub prices: u32,
    /// `GET /midpoint`.
    pub midpoint: u32,
    /// `GET /prices-history`.
    pub prices_history: u32,
    /// `POST /batch-prices-history`.
    pub batch_prices_history: u32,
    /// `GET /data/trades`, `/data/orders`, `/data/order/{id}`, `/builder/trades`, `/auth/api-keys`,
    /// `/auth/readonly-api-keys`, and the trades of `/live-activity/…` and `/markets/live-activity/…`
    /// together.
    pub ledger: u32,
    /// `GET /markets`, `/simplified-markets`, `/sampling-markets`, `/sampling-simplified-markets`
    /// together.
    pub market_lists: u32,
    /// Every request to `/ui/`.
    pub page: u32,
    /// `GET /ui/api/data/*`.
    pub page_data: u32,
    /// `GET /ui/api/catalog/*`.
    pub page_catalog: u32,
    /// `GET /ui/api/markets/summary`.
    pub page_summary: u32,
    /// `GET /ui/api/proof/{trade}`.
    pub page_proof: u32,
    /// `GET /ui/api/site` and `/ui/api/engine` together.
    pub page_engine: u32,
    /// `POST /ui/wallet`.
    pub page_wallet: u32,
    /// `POST` and `DELETE /auth/*`.
    pub keys: u32,
    /// Orders of an API key.
    pub order_burst: u32,
    /// Orders of an API key in 10 minutes.
    pub order_sustained: u32,
    /// Cancels of an API key.
    pub cancel_burst: u32,
    /// Cancels of an API key in 10 minutes.
    pub cancel_sustained: u32,
    /// Orders of all API keys of an owner.
    pub owner_order_burst: u32,
    /// Orders of all API keys of an owner in 10 minutes.
    pub owner_order_sustained: u32,
    /// Cancels of all API keys of an owner.
    pub owner_cancel_burst: u32,
    /// Cancels of all API keys of an owner in 10 minutes.
    pub owner_cancel_sustained: u32,
    /// `POST /heartbeats`.
    pub heartbeats: u32,
    /// Account actions of an owner. Keep it at 56 or less: the exchange remembers 512 actions of an
    /// account, and a captured request could be replayed after it was forgotten.
    pub actions: u32,
}

impl Default for RateLimits {
    fn default() -> Self {
        Self {
            enabled: true,
            catalog: 4_000,
            catalog_events: 500,
            catalog_markets: 300,
            catalog_listings: 900,
            catalog_tags: 200,
            catalog_search: 350,
            trading: 5_000,
            health: 50,
            book: 200,
            books: 80,
            price: 200,
            prices: 80,
            midpoint: 200,
            prices_history: 100,
            batch_prices_history: 80,
            ledger: 150,
            market_lists: 100,
            page: 1_500,
            page_data: 300,
            page_catalog: 300,
            page_summary: 100,
            page_proof: 60,
            page_engine: 100,
            page_wallet: 100,
            keys: 20,
            order_burst: 2_400,
            order_sustained: 24_000,
            cancel_burst: 2_400,
            cancel_sustained: 24_000,
            owner_order_burst: 4_800,
            owner_order_sustained: 48_000,
            owner_cancel_burst: 4_800,
            owner_cancel_sustained: 48_000,
            heartbeats: 100,
            actions: 50,
        }
    }
}

impl RateLimits {
    /// No limits; for measurements.
    #[must_use]
    pub fn off() -> Self {
        Self {
            enabled: false,
            ..Self::default()
        }
    }

    /// The limit of a scope; `None` when it is off. With several `gateways` on a surface each
    /// enforces its part, rounded up so that none becomes 0.
    pub(crate) fn cap(&self, scope: Scope, gateways: u32) -> Option<Cap> {
        let most = self.most(scope).div_ceil(gateways.max(1));
        (self.enabled && most > 0).then_some(Cap { scope, most })
    }

    fn most(&self, scope: Scope) -> u32 {
        match scope {
            Scope::Catalog => self.catalog,
            Scope::CatalogEvents => self.catalog_events,
            Scope::CatalogMarkets => self.catalog_markets,
            Scope::CatalogListings => self.catalog_listings,
            Scope::CatalogTags => self.catalog_tags,
            Scope::CatalogSearch => self.catalog_search,
            Scope::Trading => self.trading,
            Scope::Health => self.health,
            Scope::Book => self.book,
            Scope::Books => self.books,
            Scope::Price => self.price,
            Scope::Prices => self.prices,
            Scope::Midpoint => self.midpoint,
            Scope::PricesHistory => self.prices_history,
            Scope::BatchPricesHistory => self.batch_prices_history,
            Scope::Ledger => self.ledger,
            Scope::MarketLists => self.market_lists,
            Scope::Page => self.page,
            Scope::PageData => self.page_data,
            Scope::PageCatalog => self.page_catalog,
            Scope::PageSummary => self.page_summary,
            Scope::PageProof => self.page_proof,
            Scope::PageEngine => self.page_engine,
            Scope::PageWallet => self.page_wallet,
            Scope::Keys => self.keys,
            Scope::OrderBurst => self.order_burst,
            Scope::OrderSustained => self.order_sustained,
            Scope::CancelBurst => self.cancel_burst,
            Scope::CancelSustained => self.cancel_sustained,
            Scope::OwnerOrderBurst => self.owner_order_burst,
            Scope::OwnerOrderSustained => self.owner_order_sustained,
            Scope::OwnerCancelBurst => self.owner_cancel_burst,
            Scope::OwnerCancelSustained => self.owner_cancel_sustained,
            Scope::Actions => self.actions,
            Scope::Heartbeats => self.heartbeats,
        }
    }
}
