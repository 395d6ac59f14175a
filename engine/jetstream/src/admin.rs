//! Making and checking the streams of a cluster.

use foretell_replication::LogError;

use crate::log::{JetStreamLog, unreachable};
use crate::stream_config::{check_server, check_stream, configs};

/// Makes the streams with this number of replicas, or checks those that exist.
///
/// # Errors
/// The servers are too old, a stream has other settings, or no answer.
pub fn init(log: &JetStreamLog, replicas: usize) -> Result<(), LogError> {
    check_server(&log.client)?;
    for config in configs(log.settings(), replicas) {
        let made = log.block_on(log.context.get_or_create_stream(config.clone()));
        let made = made.map_err(|error| unreachable(&error))?;
        check_stream(made.cached_info(), &config)?;
    }
    Ok(())
}

/// Checks the servers and the streams without changing them.
///
/// # Errors
/// As [`init`]; a stream is missing.
pub fn check(log: &JetStreamLog) -> Result<(), LogError> {
    check_server(&log.client)?;
    for config in configs(log.settings(), 0) {
        let found = log.block_on(log.context.get_stream(&config.name));
        let found = found.map_err(|error| unreachable(&error))?;
        check_stream(found.cached_info(), &config)?;
    }
    Ok(())
}

/// Removes the messages before number `before` from the journal's stream.
///
/// # Errors
/// No answer.
pub fn purge(log: &JetStreamLog, before: u64) -> Result<u64, LogError> {
    let name = log.settings().stream.clone();
    log.block_on(async {
        let stream = log
            .context
            .get_stream(&name)
            .await
            .map_err(|error| unreachable(&error))?;
        let purged = stream
            .purge()
            .sequence(before)
            .await
            .map_err(|error| unreachable(&error))?;
        Ok(purged.purged)
    })
}

/// The largest message that the servers accept.
#[must_use]
pub fn max_payload(log: &JetStreamLog) -> usize {
    log.client.server_info().max_payload
}
