//! Errors of measurements on a whole engine or exchange.

use std::io;

use foretell_catalog::CatalogError;
use foretell_engine::EngineError;
use foretell_engine::client::ClientError;
use foretell_gateway::GatewayError;
use foretell_journal::JournalError;
use thiserror::Error;

use crate::measure::matching::Disagreement;

/// Why a measurement failed.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// A file or a socket failed.
    #[error("{what}: {source}")]
    Io {
        /// Attempted operation.
        what: &'static str,
        /// Cause.
        source: io::Error,
    },
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The engine does not start, or failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The engine's socket failed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The gateway does not start, or failed.
    #[error(transparent)]
    Gateway(#[from] GatewayError),
    /// The catalog cannot be written.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// Lanes did different work.
    #[error(transparent)]
    Disagreement(#[from] Disagreement),
    /// A wrong answer: figures of wrong work are worthless.
    #[error("{0}")]
    Wrong(String),
}

impl MeasureError {
    /// For `map_err`: names the attempted operation.
    pub(crate) const fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}
