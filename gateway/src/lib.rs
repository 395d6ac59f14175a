//! The HTTP server: routes, limits, one file per resource.
//!
//! [`start`] wires the modules in the order a request passes them: listeners and connections
//! (`server`, `connection`), client address and limits (`request_policy`), route and body
//! (`dispatch`, `routes`), credentials (`auth`), a resource (`resources`), then either the engine
//! (`engine_link`) or the view (`shared_view`, kept up to date with the journal by `follower`). The
//! view starts from the engine's newest snapshot (`view_bootstrap`) and shares the files of its
//! history with the other gateways (`chunk_adopter`).
//!
//! Deliberately absent: the rules of the exchange, the public JSON (`foretell_wire`), signatures
//! and secrets (`foretell_auth`). The crate has no state that must survive: a gateway may die at
//! any time.

mod admission;
mod allowlist;
mod answer;
mod app;
mod auth;
mod authenticate;
mod body;
mod book_cache;
mod book_source;
mod bounds;
mod catalog_exchange;
mod catalog_facts;
mod catalog_metrics;
mod catalog_pool;
mod catalog_watcher;
mod chunk_adopter;
mod client_address;
mod client_quotas;
mod cluster;
mod cluster_metrics;
mod config;
mod connection;
mod cors;
mod descriptions;
mod dispatch;
mod engine_link;
mod event_markets;
mod failure;
mod follower;
mod gateway;
mod hyper_errors;
mod idle_clock;
mod idle_reaper;
mod limits;
mod market_facts;
mod market_pages;
mod metrics;
mod operator_actor;
mod operator_acts;
mod operator_token;
mod oracle;
mod order_json;
mod own_catalog;
mod page;
mod profiles;
mod rate_limits;
mod rendered_market_texts;
mod request_context;
mod request_policy;
mod resources;
mod route_table;
mod routes;
mod server;
mod shared_view;
mod signature_gate;
mod slot_cache;
mod stream_metrics;
mod streams;
mod surface;
#[cfg(test)]
mod test_view;
mod timing;
mod trade_json;
mod trade_search;
mod unpaid;
mod unread_answers;
mod view_bootstrap;
mod waiters;

pub use auth::BadPrefix;
pub use config::{CatalogConfig, GatewayConfig, HeaderPrefix, PriceSide, RequestPolicyConfig};
pub use cors::{BadOrigin, Origin};
pub use foretell_wire::data::AssetIds;
pub use foretell_wire::time::TimeForm;
pub use gateway::{Gateway, GatewayError, run, start};
pub use limits::{
    CHECKED_AT_START, ConnectionLimits, ENDING_CONNECTIONS, OPERATOR_CONNECTIONS, StreamLimits,
};
pub use metrics::metrics_example;
pub use operator_token::{OperatorToken, OperatorTokenError};
pub use oracle::OracleConfig;
pub use page::{Currency, Logo, PageConfig, SiteConfig};
pub use rate_limits::RateLimits;
pub use streams::stream_fold::{StreamFold, StreamMessage, StreamReceiver};
pub use streams::websocket::{ClientMessage, FrameReader, MAX_REASON, Violation};
pub use surface::Surface;
