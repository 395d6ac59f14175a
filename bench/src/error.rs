//! Why a measurement of a whole engine or exchange ended without figures.

use std::io;

use foretell_catalog::CatalogError;
use foretell_engine::EngineError;
use foretell_engine::client::ClientError;
use foretell_gateway::GatewayError;
use foretell_journal::JournalError;
use thiserror::Error;

use crate::matching::Disagreement;

/// Why there are no figures.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// A file or a socket failed.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// Why not.
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
    /// Lanes did not do the same work.
    #[error(transparent)]
    Disagreement(#[from] Disagreement),
    /// Something answered what it must not: figures of wrong work are worth nothing.
    #[error("{0}")]
    Wrong(String),
}

impl MeasureError {
    /// For `map_err`: names what was being done.
    pub(crate) const fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}
