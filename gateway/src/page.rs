//! The page (docs/api/page.md): its files, its settings, and what its views read again and again.

pub(crate) mod day_volume;
pub(crate) mod files;
#[cfg(test)]
mod join;
pub(crate) mod typed_data;

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use foretell_auth::Signer;
use foretell_wire::schema::JsonSchema;
use serde::Serialize;
use tokio::sync::Mutex;

use crate::http::answer::StatePosition;
use crate::page::day_volume::DayVolumes;

/// The page of a deployment. A trading surface with it serves `/ui/`.
#[derive(Clone, Debug, Default)]
pub struct PageConfig {
    /// The site's name and currency.
    pub site: SiteConfig,
    /// The site's logo.
    pub logo: Option<Logo>,
    /// Keys that `/ui/wallet` signs with; empty turns the route off. Public development keys only.
    pub development_wallets: Vec<Arc<Signer>>,
}

/// Name and currency, as the page shows them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct SiteConfig {
    /// Name of the site.
    pub name: String,
    /// The currency of amounts.
    pub currency: Currency,
}

impl Default for SiteConfig {
    fn default() -> Self {
        Self {
            name: "Foretell".to_owned(),
            currency: Currency::default(),
        }
    }
}

/// How amounts of collateral are displayed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Currency {
    /// Before an amount: `$`.
    pub symbol: String,
    /// ISO 4217, or the name of a token: `USD`.
    pub code: String,
    /// Decimals shown, 0 to 6.
    #[schemars(range(max = 6))]
    pub decimals: u32,
}

impl Default for Currency {
    fn default() -> Self {
        Self {
            symbol: "$".to_owned(),
            code: "USD".to_owned(),
            decimals: 2,
        }
    }
}

/// A picture, served at `/ui/logo`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Logo {
    /// Its media type.
    pub content_type: &'static str,
    /// Its bytes.
    pub bytes: Bytes,
}

/// The page of this process.
pub(crate) struct Page {
    pub(crate) config: PageConfig,
    pub(crate) volumes: DayVolumes,
    /// The newest answer of `/ui/api/engine`, and when it was made.
    pub(crate) engine_room: Mutex<Option<EngineRoom>>,
}

/// A rendered answer of `/ui/api/engine`.
#[derive(Clone)]
pub(crate) struct EngineRoom {
    pub(crate) made: Instant,
    pub(crate) body: Bytes,
    pub(crate) position: StatePosition,
}

impl Page {
    pub(crate) fn new(config: PageConfig) -> Self {
        Self {
            config,
            volumes: DayVolumes::default(),
            engine_room: Mutex::new(None),
        }
    }
}
