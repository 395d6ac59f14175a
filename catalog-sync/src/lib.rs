//! Synchronizes the catalog with an upstream or files, and the exchange with the catalog.
//!
//! [`Service`] runs all steps. It reads pages of the [`upstream`] in passes ([`pass`]) and stores
//! them in the catalog ([`sync`]). It compares changes with the exchange ([`difference`]) and sends
//! commands ([`reconcile`], [`exchange`]). [`Importer`] does the first half for files.
//!
//! Not here: matching, and any memory of completed work. A crash of either side needs no repair:
//! storing a record again changes nothing, and each comparison starts from the current state of
//! both sides.

mod catalog_lock;
pub mod clock;
pub mod difference;
mod disk;
pub mod exchange;
mod importer;
pub mod limits;
pub mod market_text;
pub mod pass;
mod progress;
pub mod reconcile;
pub mod resource;
mod service;
pub mod sync;
pub mod upstream;

pub use importer::Importer;
pub use progress::Progress;
pub use service::{RoundReport, Service, Settings, StartError};
