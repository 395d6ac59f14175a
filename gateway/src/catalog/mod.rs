//! Records of the catalog, and the words of own markets.

pub(crate) mod catalog_exchange;
pub(crate) mod catalog_facts;
pub(crate) mod catalog_pool;
pub(crate) mod catalog_watcher;
pub(crate) mod descriptions;
pub(crate) mod event_markets;
pub(crate) mod own_catalog;
pub(crate) mod profiles;
