//! The catalog: markets, events, series and tags, kept in SQLite, searched and read.
//!
//! - [`record`]: records of an upstream, read leniently; pure.
//! - [`import`]: files and pages of records, taken apart with constant memory.
//! - [`Writer`], [`Batch`]: putting records, in transactions that readers see whole.
//! - [`Report`]: what that did.
//! - [`query`]: parameters of the catalog surface, read into types.
//! - [`Catalog`]: reading it, from any number of threads and processes.

mod error;
mod ids;
pub mod import;
mod lookup;
mod profile;
pub mod query;
mod read;
pub mod record;
mod render;
mod report;
mod search_match;
mod search_text;
mod shown;
mod store;
mod table;

pub use error::{CatalogError, NotFound};
pub use lookup::{EventWords, Lookup, MarketWords};
pub use profile::{Profile, Profiles};
pub use read::{Catalog, Sites, Unit};
pub use report::{NotTraded, Report, Tally};
pub use store::schema::VERSION as SCHEMA_VERSION;
pub use store::{Batch, Writer};
