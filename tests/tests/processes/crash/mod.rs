//! Processes that are killed or stopped, and a disk that fails, under load: nothing acknowledged is lost.

pub(crate) mod busy;
mod failing_disk;
mod kill_engine;
mod kill_gateway;
mod kill_payments;
mod kill_quotes;
mod kill_reads;
mod kill_registrations;
mod stop_processes;
