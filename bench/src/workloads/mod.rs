//! The work that is measured: deterministic, from explicit seeds.

pub(crate) mod catalog_records;
pub(crate) mod evidence;
pub(crate) mod generate;
pub(crate) mod history;
pub(crate) mod journal_writer;
pub mod journals;
pub(crate) mod random;
pub(crate) mod signed_orders;
pub(crate) mod stream;
pub(crate) mod venue;
pub(crate) mod workload;
