//! The operator client of a deployment: its address, its token, its exit codes.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use foretell_operator_client::{OperatorClient, OperatorError};
use foretell_wire::ApiError;
use serde::de::IgnoredAny;

use super::listening;
use crate::config::{Config, Loaded};
use crate::exit_codes::{REFUSED, UNREACHABLE};
use crate::failure::Failure;

/// How long to wait until a gateway's view has caught up with the journal.
const READY_PATIENCE: Duration = Duration::from_secs(60);
const READY_PAUSE: Duration = Duration::from_millis(10);

/// What ends that outward is closed.
pub(crate) const OPEN_HINT: &str = "compare it with what was paid, then open it: foretell withdrawals reconcile, foretell withdrawals open";

/// The reason of this run's commands, from the command line.
static REASON: OnceLock<String> = OnceLock::new();

/// Sets the reason of all commands of this run, once.
pub(crate) fn set_reason(reason: String) {
    let _ = REASON.set(reason);
}

/// The address of the exchange that runs on the data directory of this run.
static RUNNING: OnceLock<SocketAddr> = OnceLock::new();

/// Looks up where the exchange of the data directory listens, once. An address of the command line or of the environment
/// wins.
pub(crate) fn find_running(loaded: &Loaded) {
    let is_given = loaded.origins.is_of_caller("operator.listen");
    let found = listening::address(&loaded.config.data.directory);
    if let Some(address) = found.filter(|_| !is_given) {
        let _ = RUNNING.set(address);
    }
}

/// The address of the operator surface that commands use.
pub(crate) fn operator_address(config: &Config) -> SocketAddr {
    RUNNING.get().copied().unwrap_or(config.operator.listen)
}

/// The bearer token of a file.
pub(crate) fn token(path: &Path) -> Result<String, Failure> {
    let token = std::fs::read_to_string(path).map_err(|error| {
        Failure::new(format!(
            "cannot read the operator's token {}: {error}",
            path.display()
        ))
        .hint("run it with the --data of a running exchange, as the user who started it")
        .code(UNREACHABLE)
    })?;
    Ok(token.trim().to_owned())
}

/// A client of the person at the command line, for the exchange that runs on the data directory, else for the configured
/// listener.
///
/// # Errors
/// The token file cannot be read.
pub(crate) fn connect(config: &Config) -> Result<OperatorClient, Failure> {
    client(operator_address(config), &config.own_token_file())
}

/// A client of a process of the deployment, which acts as the first admin.
///
/// # Errors
/// The token file cannot be read.
pub(crate) fn connect_to(listen: SocketAddr, config: &Config) -> Result<OperatorClient, Failure> {
    client(listen, &config.operator_token_file())
}

/// A client of the synchronization of the catalog, which acts as the operator of that name.
///
/// # Errors
/// The token file cannot be read.
pub(crate) fn connect_sync(listen: SocketAddr, config: &Config) -> Result<OperatorClient, Failure> {
    client(listen, &config.sync_token_file())
}

fn client(listen: SocketAddr, token_file: &Path) -> Result<OperatorClient, Failure> {
    let token = token(token_file)?;
    let client = OperatorClient::new(&format!("http://{listen}"), &token).map_err(Failure::new)?;
    Ok(client.with_reason(REASON.get().map_or("", String::as_str)))
}

/// Waits until the gateway is ready for a purpose, as `/readyz` with its query says.
///
/// # Errors
/// The gateway is not ready within a minute; the error contains its last answer.
pub(crate) async fn wait_ready(client: &OperatorClient, path: &str) -> Result<(), Failure> {
    let deadline = tokio::time::Instant::now() + READY_PATIENCE;
    loop {
        match client.get::<IgnoredAny>(path).await {
            Ok(_) => return Ok(()),
            Err(error) if tokio::time::Instant::now() > deadline => return Err(error.into()),
            Err(_) => tokio::time::sleep(READY_PAUSE).await,
        }
    }
}

impl From<OperatorError> for Failure {
    fn from(error: OperatorError) -> Self {
        let failure = Self::new(error.to_string());
        match error {
            OperatorError::Rejected { .. } => failure.code(REFUSED),
            OperatorError::Unreachable { .. } => failure
                .hint("`foretell up`, or --data and operator.listen of the one that runs")
                .code(UNREACHABLE),
            OperatorError::CutOff(_) => failure.code(UNREACHABLE),
            OperatorError::UnexpectedAnswer(_) => failure,
        }
    }
}

/// An argument that the surface would reject.
impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        Self::new(format!("{} ({})", error.text(), error.status())).code(REFUSED)
    }
}
