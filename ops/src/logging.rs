//! Logs go to standard error; standard output is for answers.

use std::io::IsTerminal as _;

use tracing_subscriber::EnvFilter;

use crate::config::{Log, LogFormat};
use crate::failure::Failure;

/// Installs the logger of this process. `FORETELL_LOG` takes precedence over the setting.
///
/// # Errors
/// The filter does not parse.
pub(crate) fn install(log: &Log) -> Result<(), Failure> {
    let text = std::env::var("FORETELL_LOG").unwrap_or_else(|_| log.level.clone());
    let filter = EnvFilter::try_new(&text).map_err(|error| {
        Failure::new(format!("log.level {text:?}: {error}"))
            .hint("a level such as `info` or `warn,foretell_gateway=debug`")
    })?;
    let builder = tracing_subscriber::fmt()
        .with_ansi(std::io::stderr().is_terminal())
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let installed = match log.format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    };
    installed.map_err(|error| Failure::new(format!("cannot install the log: {error}")))
}
