//! Errors of measurements.

use std::fmt::Display;
use std::io;

use foretell_audit::AuditError;
use foretell_engine::EngineError;
use foretell_engine::client::ClientError;
use foretell_gateway::GatewayError;
use foretell_journal::JournalError;
use foretell_ops::failure::Failure;
use thiserror::Error;

use crate::harness::load_target::TargetError;

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
    /// A server must not be loaded.
    #[error(transparent)]
    Target(#[from] TargetError),
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
    /// The command line failed.
    #[error(transparent)]
    Failure(#[from] Failure),
    /// The auditor failed.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// A thread of the measurement panicked.
    #[error("{what} panicked: {text}")]
    Panicked {
        /// The thread.
        what: &'static str,
        /// Its message.
        text: String,
    },
    /// A wrong answer or other work than expected: its figures are worthless.
    #[error("{0}")]
    Wrong(String),
}

impl MeasureError {
    /// For `map_err`: names the attempted operation.
    pub(crate) const fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }

    pub(crate) fn wrong(what: impl Display) -> Self {
        Self::Wrong(what.to_string())
    }
}

/// Adds the next step.
impl From<MeasureError> for Failure {
    fn from(error: MeasureError) -> Self {
        let text = error.to_string();
        match error {
            MeasureError::Failure(failure) => failure,
            MeasureError::Audit(error) => error.into(),
            MeasureError::Target(TargetError::NotOurs { .. }) => Self::new(text).hint(
                "a load on somebody else's server is an attack; give --server-is-mine if you run it or its operator has agreed",
            ),
            _ => Self::new(text),
        }
    }
}
