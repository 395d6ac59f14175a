//! Tells the supervisor once that reads can be served: when the host follows the log, or before that
//! with what its journal held when the log does not answer.

use foretell_journal::replica;

use super::status::StatusFile;
use crate::config::EngineConfig;
use crate::directory::Directory;
use crate::error::EngineError;
use crate::stop::StopHandle;
use crate::threads::Ready;

/// Calls a function once.
pub(crate) struct Readiness<'a, F> {
    config: &'a EngineConfig,
    directory: &'a Directory,
    stop: StopHandle,
    on_ready: Option<F>,
}

impl<'a, F: FnOnce(&Ready)> Readiness<'a, F> {
    pub(crate) const fn new(
        config: &'a EngineConfig,
        directory: &'a Directory,
        stop: StopHandle,
        on_ready: F,
    ) -> Self {
        Self {
            config,
            directory,
            stop,
            on_ready: Some(on_ready),
        }
    }

    /// The log does not answer: gateways serve the confirmed part of the journal. Writes find no
    /// engine.
    pub(crate) fn without_log(&mut self, status: &mut StatusFile) -> Result<(), EngineError> {
        if self.on_ready.is_none() {
            return Ok(());
        }
        let journal = self.directory.journal();
        let confirmed = replica::publish_confirmed(&journal, &self.config.journal);
        let Some(end) = confirmed.map_err(EngineError::Journal)? else {
            return Ok(());
        };
        status.now.term = end.term;
        status.now.own_sequence = end.last.0;
        tracing::warn!(
            sequence = end.last.0,
            "the log does not respond: serving reads up to the last confirmed frame"
        );
        self.ready(end.term, end.genesis, end.last);
        Ok(())
    }

    pub(crate) fn ready(
        &mut self,
        epoch: u64,
        genesis: [u8; 32],
        sequence: foretell_model::Sequence,
    ) {
        if let Some(on_ready) = self.on_ready.take() {
            on_ready(&Ready {
                socket: self.directory.socket(),
                epoch,
                genesis,
                sequence,
                stop: self.stop.clone(),
            });
        }
    }
}
