//! The scopes of the rate limits (docs/api/limits.md): each is a window, its setting and its limit.

use serde::{Deserialize, Serialize};

use crate::policy::rate_limits::window::{Millis, SPAN};

/// A scope and the limit of its window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cap {
    pub(crate) scope: Scope,
    pub(crate) most: u32,
}

const SHORT: Millis = 10_000;
const LONG: Millis = 600_000;

/// Declares the scopes: setting, default limit, length of the window, and the wider scope in which
/// every request of the scope counts, too.
macro_rules! scopes {
    ($($(#[doc = $doc:literal])+ $scope:ident = $setting:ident, $most:literal, $window:ident, $wider:expr;)+) => {
        /// A row of the interface's table; the two windows of writes are separate scopes.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub(crate) enum Scope { $($(#[doc = $doc])+ $scope),+ }

        /// How many requests of one client each window admits, with the defaults of the interface;
        /// 0 turns a limit off. A client is an IPv4 address or an IPv6 network of 64 bits; for
        /// orders and cancels it is an API key, and for orders and account actions also the key's
        /// owner. Windows are 10 seconds unless stated.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct RateLimits {
            /// `false` turns all limits off.
            pub enabled: bool,
            $($(#[doc = $doc])+ pub $setting: u32),+
        }

        impl RateLimits {
            /// Name and meaning of each setting.
            pub const SETTINGS: &[(&str, &str)] = &[
                ("enabled", "`false` turns all limits off."),
                $((stringify!($setting), concat!($($doc),+).trim_ascii_start())),+
            ];
        }

        impl Default for RateLimits {
            fn default() -> Self {
                Self { enabled: true, $($setting: $most),+ }
            }
        }

        impl RateLimits {
            const fn most(&self, scope: Scope) -> u32 {
                match scope { $(Scope::$scope => self.$setting),+ }
            }
        }

        impl Scope {
            /// The name of its setting, and of its metric of rejections.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$scope => stringify!($setting)),+ }
            }

            /// Length of its window.
            const fn window(self) -> Millis {
                match self { $(Self::$scope => $window),+ }
            }

            const fn wider(self) -> Option<Self> {
                use Scope::{Catalog, CatalogListings, Page, Trading};
                match self { $(Self::$scope => $wider),+ }
            }
        }
    };
}

scopes! {
    /// The catalog surface as a whole.
    Catalog = catalog, 4_000, SHORT, None;
    /// `GET /events` and `/events/keyset`.
    CatalogEvents = catalog_events, 500, SHORT, Some(CatalogListings);
    /// `GET /markets` and `/markets/keyset` of the catalog.
    CatalogMarkets = catalog_markets, 300, SHORT, Some(CatalogListings);
    /// `catalog_events` and `catalog_markets` together.
    CatalogListings = catalog_listings, 900, SHORT, Some(Catalog);
    /// `GET /tags`.
    CatalogTags = catalog_tags, 200, SHORT, Some(Catalog);
    /// `GET /public-search`.
    CatalogSearch = catalog_search, 350, SHORT, Some(Catalog);
    /// The trading surface as a whole.
    Trading = trading, 5_000, SHORT, None;
    /// `GET /` and `/ok`.
    Health = health, 50, SHORT, Some(Trading);
    /// `GET /book`.
    Book = book, 200, SHORT, Some(Trading);
    /// `GET` and `POST /books` together.
    Books = books, 80, SHORT, Some(Trading);
    /// `GET /price`.
    Price = price, 200, SHORT, Some(Trading);
    /// `GET` and `POST /prices`, `/midpoints`, `/spreads`, `/last-trades-prices` together.
    Prices = prices, 80, SHORT, Some(Trading);
    /// `GET /midpoint`.
    Midpoint = midpoint, 200, SHORT, Some(Trading);
    /// `GET /prices-history`.
    PricesHistory = prices_history, 100, SHORT, Some(Trading);
    /// `POST /batch-prices-history`.
    BatchPricesHistory = batch_prices_history, 80, SHORT, Some(Trading);
    /// `GET /data/trades`, `/data/orders`, `/data/order/{id}`, `/builder/trades`, `/auth/api-keys`,
    /// `/auth/readonly-api-keys`, `/withdrawals`, and the trades of `/live-activity/…` and `/markets/live-activity/…`
    /// together.
    Ledger = ledger, 150, SHORT, Some(Trading);
    /// `GET /markets`, `/simplified-markets`, `/sampling-markets`, `/sampling-simplified-markets`
    /// together.
    MarketLists = market_lists, 100, SHORT, Some(Trading);
    /// Every request to `/ui/`.
    Page = page, 1_500, SHORT, Some(Trading);
    /// `GET /ui/api/data/*`.
    PageData = page_data, 300, SHORT, Some(Page);
    /// `GET /ui/api/catalog/*`.
    PageCatalog = page_catalog, 300, SHORT, Some(Page);
    /// `GET /ui/api/markets/summary`.
    PageSummary = page_summary, 100, SHORT, Some(Page);
    /// `GET /ui/api/proof/{trade}`.
    PageProof = page_proof, 60, SHORT, Some(Page);
    /// `GET /ui/api/site` and `/ui/api/engine` together.
    PageEngine = page_engine, 100, SHORT, Some(Page);
    /// `POST /ui/wallet`.
    PageWallet = page_wallet, 100, SHORT, Some(Page);
    /// `POST` and `DELETE /auth/*`.
    Keys = keys, 20, SHORT, Some(Trading);
    /// Orders of an API key.
    OrderBurst = order_burst, 2_400, SHORT, None;
    /// Orders of an API key in 10 minutes.
    OrderSustained = order_sustained, 24_000, LONG, None;
    /// Cancels of an API key.
    CancelBurst = cancel_burst, 2_400, SHORT, None;
    /// Cancels of an API key in 10 minutes.
    CancelSustained = cancel_sustained, 24_000, LONG, None;
    /// Orders of all API keys of an owner.
    OwnerOrderBurst = owner_order_burst, 4_800, SHORT, None;
    /// Orders of all API keys of an owner in 10 minutes.
    OwnerOrderSustained = owner_order_sustained, 48_000, LONG, None;
    /// Cancels of all API keys of an owner.
    OwnerCancelBurst = owner_cancel_burst, 4_800, SHORT, None;
    /// Cancels of all API keys of an owner in 10 minutes.
    OwnerCancelSustained = owner_cancel_sustained, 48_000, LONG, None;
    /// Quote heartbeats and non-empty sets of quotes of an owner.
    QuoteSets = quote_sets, 2_000, SHORT, None;
    /// Quote heartbeats and non-empty sets of quotes of an owner in 10 minutes.
    QuoteSetsSustained = quote_sets_sustained, 24_000, LONG, None;
    /// Quotes changed by the sets of an owner; unchanged quotes do not count.
    QuoteChanges = quote_changes, 64_000, SHORT, None;
    /// `POST /heartbeats` and `/v1/heartbeats`.
    Heartbeats = heartbeats, 100, SHORT, Some(Trading);
    /// Milliseconds of a server thread's time that a client's requests and streams may use. Requests that exceed
    /// the limit are queued.
    Work = work, 2_500, SHORT, None;
    /// KiB that an address may write to the journal for owners without money: each command counts as a batch of its own,
    /// in whole pages.
    UnfundedJournal = unfunded_journal, 900, SHORT, None;
    /// The same for owners with money, all of one address together.
    AddressJournalBurst = address_journal_burst, 96_000, SHORT, None;
    /// The same in 10 minutes.
    AddressJournalSustained = address_journal_sustained, 960_000, LONG, None;
    /// KiB that an owner with money may write to the journal.
    OwnerJournalBurst = owner_journal_burst, 48_000, SHORT, None;
    /// The same in 10 minutes.
    OwnerJournalSustained = owner_journal_sustained, 480_000, LONG, None;
    /// Account actions of an owner. Keep it at 56 or less: the exchange remembers 512 actions of an
    /// account, and a captured request could be replayed once it is forgotten.
    Actions = actions, 50, SHORT, None;
}

impl Scope {
    /// Length of a slot of its window.
    pub(crate) const fn slot(self) -> Millis {
        self.window() / SPAN
    }

    /// Length of its window in seconds.
    pub(crate) const fn seconds(self) -> u64 {
        self.slot() * SPAN / 1_000
    }

    /// The scope and all wider ones.
    pub(crate) fn all(self) -> impl Iterator<Item = Self> + Clone {
        core::iter::successors(Some(self), |scope| scope.wider())
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
}

/// Kinds of writes of an API key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Writes {
    /// `POST /order`, and each order of `POST /orders`.
    Orders,
    /// Every cancel: each order named, each request that cancels many, each decrease, and each set without a
    /// quote.
    Cancels,
    /// Each set with a quote, and each heartbeat of quotes.
    QuoteSets,
    /// The quotes that a set changes.
    Quotes,
    /// Split, merge, redeem, convert.
    Actions,
}

impl Writes {
    /// The scopes counted for the key.
    pub(crate) const fn of_key(self) -> &'static [Scope] {
        match self {
            Self::Orders => &[Scope::OrderBurst, Scope::OrderSustained],
            Self::Cancels => &[Scope::CancelBurst, Scope::CancelSustained],
            Self::Actions | Self::QuoteSets | Self::Quotes => &[],
        }
    }

    /// The scopes counted for the key's owner: keys are free to create, accounts cost their owner.
    pub(crate) const fn of_owner(self) -> &'static [Scope] {
        match self {
            Self::Orders => &[Scope::OwnerOrderBurst, Scope::OwnerOrderSustained],
            Self::Cancels => &[Scope::OwnerCancelBurst, Scope::OwnerCancelSustained],
            Self::QuoteSets => &[Scope::QuoteSets, Scope::QuoteSetsSustained],
            Self::Quotes => &[Scope::QuoteChanges],
            Self::Actions => &[Scope::Actions],
        }
    }
}
