//! Keeps the catalog in step with an upstream or files, and the exchange in step with the catalog.
//!
//! [`Service`] runs the whole way: pages of the [`upstream`] are read in passes ([`pass`]) and put
//! into the catalog ([`sync`]); what changed there is compared with what the exchange has
//! ([`difference`]) and given as commands ([`reconcile`], [`exchange`]). [`Importer`] does the first
//! half for files.
//!
//! Deliberately absent: matching, and any memory of what was done. A crash of either side needs no
//! repair: records are put again and change nothing, and the comparison starts from what both
//! sides have now.

pub mod clock;
pub mod difference;
mod disk;
pub mod exchange;
mod importer;
pub mod limits;
pub mod pass;
mod progress;
pub mod reconcile;
pub mod resource;
mod service;
pub mod sync;
mod turn;
pub mod upstream;
pub mod words;

pub use importer::Importer;
pub use progress::Progress;
pub use service::{Round, Service, Settings, StartFailure};
