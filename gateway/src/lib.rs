//! The HTTP server: routes, limits, one file per resource.
//!
//! [`start`] wires the modules in the order a request passes them: listeners, connections, routes and
//! bodies (`http`, `routes`), client address and limits (`policy`), credentials (`access`), a resource
//! (`resources`), then either the engine (`engine`) or the view (`view`, kept up to date with the
//! journal). The view starts from the engine's newest snapshot and shares the files of its history with
//! the other gateways.
//!
//! Deliberately absent: the rules of the exchange, the public JSON (`foretell_wire`), signatures
//! and secrets (`foretell_auth`). The crate has no state that must survive: a gateway may die at
//! any time.

// Attributes of schemas name much that the code does not. With the feature every import is needed.
#![cfg_attr(
    not(feature = "documents"),
    allow(unused_imports, clippy::extra_unused_type_parameters)
)]

mod access;
mod app;
mod catalog;
mod config;
mod engine;
mod gateway;
pub mod host_reports;
mod http;
mod metrics;
mod openapi;
pub mod outbox;
mod page;
mod policy;
mod rejected_orders;
mod render;
mod resources;
mod routes;
mod streams;
mod view;

pub use access::credentials::BadPrefix;
pub use access::operator_token::{OperatorToken, OperatorTokenError};
pub use access::oracle::{OracleConfig, sign_webhook};
pub use config::SIGNER_CACHE_MIB;
pub use config::{CatalogConfig, GatewayConfig, GatewayPlace, HeaderPrefix, RequestPolicyConfig};
pub use foretell_wire::Compatibility;
pub use foretell_wire::text::time::TimeForm;
pub use gateway::{Gateway, GatewayError, run, start};
pub use http::surface::Surface;
pub use metrics::metrics_example;
pub use page::{Currency, Logo, PageConfig, SiteConfig};
pub use policy::cors::{BadOrigin, Origin};
pub use policy::limits::{
    CHECKED_AT_START, ConnectionLimits, ENDING_CONNECTIONS, HEALTH_CONNECTIONS,
    OPERATOR_CONNECTIONS, StreamLimits,
};
pub use policy::rate_limits::RateLimits;
pub use streams::connection::websocket::{ClientMessage, FrameReader, MAX_REASON, Violation};
pub use streams::stream_fold::{StreamFold, StreamMessage, StreamReceiver};

#[cfg(test)]
#[path = "../tests/view/mod.rs"]
mod test_view;
