//! Measurements of the exchange, each compared with a baseline in the same process.
//!
//! Absolute figures do not hold across machines; ratios within one run do. [`matching`] alternates
//! a bare array book, the core and the frame encoder over one recorded order stream. [`report`]
//! checks goals, [`comparison`] compares two reports, and [`drawing`] draws them as a page.
//! [`stream`] is the stream's file, [`generate`] makes one.
//!
//! [`recover`] restarts an engine, compared with a read of its journal. [`entry`] sends signed
//! orders to a whole exchange, compared with a sync and a signature check. [`reads`] queries a
//! gateway, compared with a bare HTTP server. [`journal`] times the engine's acknowledgements,
//! compared with a sync. [`load`] sends a constant rate to an exchange and to servers with the same
//! checks, or to a server of the caller's. [`data`] queries the data surface on a long history.
//! [`replay`] re-executes a journal part by part. [`markets`] measures the cost of registered
//! markets, [`snapshots`] that of history. [`start`] starts gateways on a long and a short history
//! and times snapshots. [`catalog`] imports and queries a large catalog. [`all`] runs everything,
//! small. [`audited_journal`] writes journals for audits.
//!
//! Deliberately absent: rules of the exchange, and command line parsing (`ops`).

mod ab_rounds;
mod accounting_book;
pub mod all;
mod array_book;
pub mod audited_journal;
mod bare_server;
mod book_writer;
pub mod catalog;
pub mod comparison;
pub mod data;
pub mod drawing;
mod encoding;
pub mod entry;
mod error;
mod evidence;
pub mod external_baseline;
mod gateway_process;
mod generate;
mod history;
mod http;
pub mod journal;
mod journal_writer;
mod latency;
mod live_exchange;
pub mod load;
pub mod markets;
pub mod matching;
pub mod reads;
pub mod recover;
pub mod replay;
pub mod report;
mod resting_journal;
mod running_engine;
mod signed_orders;
pub mod snapshots;
pub mod start;
mod step;
pub mod stream;
mod stream_journal;
mod sync_file;
mod thread_time;
pub mod totals;
mod venue_setup;
mod workload;

pub use comparison::Comparison;
pub use error::MeasureError;
pub use external_baseline::ExternalBaseline;
pub use generate::generate;
pub use latency::process_nanos;
pub use matching::compare;
pub use report::Report;
pub use stream::{Stream, StreamError};
