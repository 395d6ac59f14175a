//! The processes of the exchange as subcommands, and what they share: signals, directories, exit codes.

use std::path::Path;
use std::process::ExitStatus;

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;

/// Exit codes of the engine after which only an operator may start it again.
pub(crate) const ENGINE_FINAL_CODES: &[i32] = &[];

/// A runtime for a program that mostly waits.
///
/// # Errors
/// The kernel has no descriptors left for it.
pub(crate) fn small_runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("cannot start a runtime: {error}")))
}

/// Tells the supervisor, by one JSON line on standard output, that this process is ready.
pub(crate) fn say_ready(name: &str, more: &Value) {
    let mut line = json!({ "ready": name });
    if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
        line.extend(more.clone());
    }
    output::line(&line.to_string());
}

/// SIGTERM or SIGINT.
pub(crate) struct StopSignal {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl StopSignal {
    /// Starts listening for both.
    ///
    /// # Errors
    /// The handlers cannot be installed.
    pub(crate) fn install() -> Result<Self, Failure> {
        use tokio::signal::unix::{SignalKind, signal};
        let install = |kind| {
            signal(kind)
                .map_err(|error| Failure::new(format!("cannot listen for signals: {error}")))
        };
        Ok(Self {
            terminate: install(SignalKind::terminate())?,
            interrupt: install(SignalKind::interrupt())?,
        })
    }

    /// Returns when one arrived.
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Makes the data directory, for its owner only.
///
/// # Errors
/// It cannot be made, is no directory, or others may enter it.
pub(crate) fn prepare_data_directory(path: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
    let failure = |text: String| Failure::new(format!("data directory {}: {text}", path.display()));
    if !path.exists() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|error| failure(error.to_string()))?;
    }
    let metadata = std::fs::symlink_metadata(path).map_err(|error| failure(error.to_string()))?;
    if !metadata.is_dir() {
        return Err(failure("is not a directory".to_owned()));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(failure(format!(
            "others may enter it (mode {:o})",
            metadata.permissions().mode() & 0o777
        ))
        .hint(format!("chmod 700 {}", path.display())));
    }
    Ok(())
}

/// What to say when a child ended for good.
#[must_use]
pub(crate) fn ended(name: &str, status: ExitStatus) -> Failure {
    Failure::new(format!(
        "{name} ended ({status}) and is not started again; its log says why"
    ))
}
