//! Keeps the catalog in step with an upstream or files, and the exchange in step with the catalog.

pub mod clock;
pub mod difference;
pub mod exchange;
pub mod limits;
pub mod pass;
pub mod progress;
pub mod reconcile;
pub mod resource;
pub mod sync;
pub mod upstream;
pub mod words;
