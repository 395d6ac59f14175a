//! The catalog: markets, event groups, series and tags, stored in SQLite, with lists and search.
//!
//! - [`record`]: lenient parsing of upstream records; pure.
//! - [`import`]: splits files and pages into records with constant memory.
//! - [`Writer`], [`Batch`]: store records in transactions.
//! - [`Report`]: the result of storing.
//! - [`copy()`]: a copy as of one moment.
//! - [`query`]: parameters of the catalog surface as types.
//! - [`schema`]: what the answers are.
//! - [`Catalog`]: reads, from any number of threads and processes.

// Attributes of schemas name much that the code does not. With the feature every import is needed.
#![cfg_attr(not(feature = "documents"), allow(unused_imports))]

mod copy;
mod error;
pub mod every_record;
mod ids;
pub mod import;
mod lookup;
mod profile;
pub mod query;
mod read;
pub mod record;
mod render;
mod report;
pub mod schema;
mod search_match;
mod search_text;
mod sort_key;
mod store;
mod sync_state;
mod table;
mod trading;

pub use copy::copy;
pub use error::{CatalogError, NotFound};
pub use lookup::{EventTexts, Lookup, MarketTexts};
pub use profile::{Profile, Profiles};
pub use read::{Catalog, Sites, TagName, Unit};
pub use report::{NotTraded, Report, Tally};
pub use store::schema::VERSION as SCHEMA_VERSION;
pub use store::{Batch, Writer};
pub use sync_state::{SyncStatus, VanishedMarket};
pub use trading::{Exchange, Figures, Trading};
