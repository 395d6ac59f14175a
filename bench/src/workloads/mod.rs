//! The work that is measured: deterministic, from explicit seeds.

pub mod audited_journal;
pub(crate) mod evidence;
pub(crate) mod generate;
pub(crate) mod history;
pub(crate) mod journal_writer;
pub(crate) mod resting_journal;
pub(crate) mod signed_orders;
pub mod stream;
pub(crate) mod stream_journal;
pub mod totals;
pub(crate) mod venue;
pub(crate) mod workload;
