//! The whole process: alone, or as a host of a cluster.

use crate::cluster;
use crate::config::EngineConfig;
use crate::directory::Directory;
use crate::error::EngineError;
use crate::format::claim_format;
use crate::threads::{Ready, run_alone};

/// Runs the engine until it is stopped. Calls `on_ready` once: when gateways can connect, or in a
/// cluster when they can read.
///
/// A panic of one of its threads aborts the process: later answers could not be trusted, while
/// recovery from the journal can.
///
/// # Errors
/// Every [`EngineError`]; the process exits with [`EngineError::exit_code`].
pub fn run(config: &EngineConfig, on_ready: impl FnOnce(&Ready)) -> Result<(), EngineError> {
    let directory = Directory::lock(&config.data_directory)?;
    claim_format(&config.data_directory)?;
    match &config.cluster {
        Some(cluster) => cluster::run(config, cluster, &directory, on_ready),
        None => run_alone(config, &directory, on_ready),
    }
}
