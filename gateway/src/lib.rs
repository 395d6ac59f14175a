//! The HTTP server: routes, limits, one file per resource.
//!
//! [`start`] wires the machine in the order a request moves: listeners and connections
//! (`server`, `connection`), who asks and how often (`edge`), route and body (`dispatch`,
//! `routes`), credentials (`auth`), a resource (`resources`), then either the engine
//! (`engine_link`) or the view (`replica`, which `follower` keeps up with the journal). The view
//! begins with the engine's newest image (`start`) and shares the files of its history with the
//! other gateways (`keeper`).
//!
//! Deliberately absent: the rules of the exchange, the public JSON (`foretell_wire`), how
//! signatures and secrets work (`foretell_auth`). Nothing here is state that must survive: a
//! gateway may die at any time.

mod admission;
mod allowlist;
mod answer;
mod app;
mod auth;
mod bare_refusal;
mod body;
mod bounds;
mod call;
mod catalog_door;
mod client_address;
mod client_shares;
mod config;
mod connection;
mod cors;
mod descriptions;
mod dispatch;
mod edge;
mod engine_link;
mod failure;
mod follower;
mod gateway;
mod glance;
mod headings;
mod keeper;
mod limits;
mod market_facts;
mod market_pages;
mod market_texts;
mod metrics;
mod operator_token;
mod profiles;
mod rate_limits;
mod receipts;
mod replica;
mod resources;
mod routes;
mod server;
mod signatures;
mod start;
mod surfaces;
mod sweep;
mod targets;
#[cfg(test)]
mod test_view;
mod texts;
mod timing;
mod trade_rows;
mod trade_search;
mod unread;
mod waiters;
mod words;

pub use auth::BadPrefix;
pub use catalog_door::CatalogConfig;
pub use config::{GatewayConfig, HeaderPrefix, PriceSide, Surface};
pub use cors::{BadOrigin, Origin};
pub use edge::EdgeConfig;
pub use foretell_wire::time::TimeForm;
pub use gateway::{Gateway, GatewayError, run, start};
pub use limits::{CHECKED_AT_START, ConnectionLimits, ENDING_CONNECTIONS, OPERATOR_CONNECTIONS};
pub use operator_token::{OperatorToken, OperatorTokenError};
pub use rate_limits::RateLimits;
