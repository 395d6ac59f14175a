//! Runs what is measured, and reads clocks.

pub(crate) mod ab_rounds;
pub(crate) mod book_writer;
pub(crate) mod gateway_process;
pub(crate) mod http;
pub(crate) mod latency;
pub(crate) mod live_exchange;
pub(crate) mod running_engine;
pub(crate) mod thread_time;
