//! Measurements of the exchange, each beside a floor that runs in the same process.
//!
//! Absolute figures do not hold between machines, ratios of one run do: [`matching`] runs a bare
//! array book, the core and the frame encoder over one recorded order stream, in turns, and
//! [`report`] says which goals are met, [`comparison`] what
//! changed since an earlier report, and [`drawing`] makes a page of reports. [`stream`] is the stream's file, [`generate`] makes one.
//! [`recover`] restarts an engine beside a bare read of its journal; [`entry`] sends signed orders
//! to a whole exchange beside a bare sync and signature check; [`reads`] asks a gateway beside a
//! bare HTTP server; [`journal`] takes the engine's acknowledgements beside a bare sync;
//! [`load`] sends orders, cancels and reads at a constant rate, to an exchange beside bare servers
//! with the same checks or to a server of the caller's; [`data`] asks the data surface for
//! everything on a long history; [`replay`] executes a journal again, part by part;
//! [`markets`] says what registered markets cost and [`snapshots`] what history does; [`start`]
//! starts gateways on a long history beside an empty one, and measures what snapshots cost;
//! [`catalog`] imports a large catalog and asks it. [`all`] runs everything, small.
//! [`audited_journal`] writes what audits read.
//!
//! Deliberately absent: any rule of the exchange, and command line parsing (`ops`).

pub mod all;
mod array_book;
pub mod audited_journal;
mod bare_server;
mod book_writer;
pub mod catalog;
pub mod comparison;
pub mod data;
pub mod drawing;
mod dress;
mod encoding;
pub mod entry;
mod error;
mod evidence;
mod gateway_process;
mod generate;
mod history;
mod http;
pub mod journal;
mod journal_writer;
mod kept_book;
mod latency;
mod live_exchange;
pub mod load;
pub mod markets;
pub mod matching;
pub mod reads;
pub mod recover;
pub mod reference;
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
mod turns;
mod venue;

pub use comparison::Comparison;
pub use error::MeasureError;
pub use generate::generate;
pub use latency::process_nanos;
pub use matching::compare;
pub use reference::Reference;
pub use report::Report;
pub use stream::{Stream, StreamError};
