//! Runs what is measured, and reads clocks.

pub(crate) mod ab_rounds;
pub(crate) mod cached;
pub(crate) mod gateway_process;
pub(crate) mod http;
pub(crate) mod latency;
pub(crate) mod live_exchange;
pub mod load_target;
pub(crate) mod nats_servers;
pub(crate) mod order_flow;
pub(crate) mod rounds;
pub(crate) mod running_engine;
pub(crate) mod stream_clients;
pub(crate) mod thread_time;
pub(crate) mod threads;
