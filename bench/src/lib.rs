//! Measurements of the exchange, each compared with a baseline in the same process.
//!
//! Absolute figures do not hold across machines; ratios within one run do. A report checks goals
//! ([`report`]); two reports can be compared ([`compare`]) or drawn as a page ([`report::page`]).
//!
//! - `workloads` makes the work: order streams, journals, signed orders, catalog records.
//! - `baselines` are the bare servers, books and files that every figure is compared with.
//! - `harness` runs what is measured and reads clocks.
//! - [`measure`] has one file for each measurement, and runs every one, small, as `all`.

mod baselines;
pub mod compare;
mod error;
pub mod harness;
pub mod measure;
pub mod report;
pub mod workloads;

pub use compare::Comparison;
pub use error::MeasureError;
pub use measure::Measurement;
pub use report::Report;
