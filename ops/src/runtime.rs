//! The runtime of commands that ask a running exchange.

use crate::failure::Failure;

/// A runtime for a mostly idle program.
///
/// # Errors
/// The kernel has no descriptors left.
pub(crate) fn small() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start a runtime: {error}")))
}
