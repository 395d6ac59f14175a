//! `foretell up --sandbox`: an exchange for tests, which lives as long as its standard input (docs/start/sandbox.md).

use std::io::BufRead as _;
use std::net::SocketAddr;
use std::path::PathBuf;

use foretell_operator_client::OperatorClient;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::config::Config;
use crate::failure::Failure;
use crate::operator::client;

/// The settings of its processes, in its data directory: they read no other file and no environment.
const SETTINGS_NAME: &str = "sandbox.toml";
/// Prefix of the name of a temporary data directory.
const DIRECTORY_PREFIX: &str = "foretell-";
/// Collateral of each wallet of `--wallets`.
const WALLET_FUNDS: &str = "10000";

/// A line of standard input.
enum Line {
    /// `keep`: the data directory outlives the sandbox.
    Keep,
    /// `reset`: the exchange starts again, without data.
    Reset,
}

/// The life of a sandbox: its data directory, and its standard input.
pub(crate) struct Sandbox {
    /// A directory that goes with it; `None` when the caller named one.
    temporary: Option<TempDir>,
    keeps: bool,
    /// Closed by the end of standard input.
    lines: mpsc::UnboundedReceiver<Line>,
}

/// What standard input asks for.
pub(crate) enum Request<'a> {
    /// The exchange starts again, in a new data directory.
    Reset(&'a mut Sandbox),
    /// The exchange stops.
    End,
}

impl Sandbox {
    /// Watches standard input. Without a data directory it makes one, and sets it.
    ///
    /// # Errors
    /// The directory or the thread cannot be made.
    pub(crate) fn begin(data: &mut Option<PathBuf>) -> Result<Self, Failure> {
        let temporary = match data {
            Some(_) => None,
            None => Some(temporary_directory()?),
        };
        if let Some(directory) = &temporary {
            *data = Some(directory.path().to_owned());
        }
        Ok(Self {
            temporary,
            keeps: false,
            lines: watch_input()?,
        })
    }

    /// Waits for a reset, or for the end of standard input or of its terminal.
    pub(crate) async fn request(&mut self) -> Request<'_> {
        loop {
            let line = tokio::select! {
                line = self.lines.recv() => line,
                () = hang_up() => None,
            };
            match line {
                Some(Line::Keep) => self.keeps = true,
                Some(Line::Reset) if self.temporary.is_some() => return Request::Reset(self),
                Some(Line::Reset) => {
                    tracing::error!("a directory of --data is not reset: start another sandbox");
                }
                None => {
                    tracing::info!("standard input ended: stopping");
                    return Request::End;
                }
            }
        }
    }

    /// Whether nobody will read the data directory.
    pub(crate) const fn is_disposable(&self) -> bool {
        self.temporary.is_some() && !self.keeps
    }

    /// Makes a new data directory and returns it; the one before is removed, unless the caller keeps it.
    ///
    /// # Errors
    /// One cannot be made, or the other not removed.
    pub(crate) fn renew(&mut self) -> Result<PathBuf, Failure> {
        let directory = temporary_directory()?;
        let path = directory.path().to_owned();
        let before = self.temporary.replace(directory);
        leave(before, std::mem::take(&mut self.keeps))?;
        Ok(path)
    }

    /// Removes the data directory, unless the caller named it or keeps it.
    ///
    /// # Errors
    /// It cannot be removed.
    pub(crate) fn end(self) -> Result<(), Failure> {
        leave(self.temporary, self.keeps)
    }
}

fn temporary_directory() -> Result<TempDir, Failure> {
    let directory = tempfile::Builder::new().prefix(DIRECTORY_PREFIX).tempdir();
    directory.map_err(|error| Failure::new(format!("cannot make a data directory: {error}")))
}

/// Removes a temporary data directory, or keeps it.
fn leave(temporary: Option<TempDir>, keeps: bool) -> Result<(), Failure> {
    let Some(directory) = temporary else {
        return Ok(());
    };
    if keeps {
        tracing::info!(directory = %directory.keep().display(), "data directory kept");
        return Ok(());
    }
    let failed = |error| Failure::new(format!("cannot remove the data directory: {error}"));
    directory.close().map_err(failed)
}

/// Waits for SIGHUP: the terminal is closed.
async fn hang_up() {
    match signal(SignalKind::hangup()) {
        Ok(mut hang_up) => {
            hang_up.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}

/// A thread that reads standard input to its end: a terminal, a pipe or a file.
fn watch_input() -> Result<mpsc::UnboundedReceiver<Line>, Failure> {
    let (sender, lines) = mpsc::unbounded_channel();
    let watch = move || {
        // Bytes that are no text are no line that it knows.
        for line in std::io::stdin().lock().split(b'\n').map_while(Result::ok) {
            let known = match line.trim_ascii() {
                b"keep" => Line::Keep,
                b"reset" => Line::Reset,
                _ => continue,
            };
            // Without a receiver the exchange ends already.
            let _ = sender.send(known);
        }
    };
    let thread = std::thread::Builder::new().name("stdin".to_owned());
    let spawned = thread.spawn(watch);
    spawned.map_err(|error| Failure::new(format!("cannot watch standard input: {error}")))?;
    Ok(lines)
}

/// Writes the settings of the processes; returns their file.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_settings(config: &Config) -> Result<PathBuf, Failure> {
    let file = config.data.directory.join(SETTINGS_NAME);
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(format!("cannot write {}: {error}", file.display()))
    };
    let text = toml::to_string(config).map_err(|error| failed(&error))?;
    std::fs::write(&file, text).map_err(|error| failed(&error))?;
    Ok(file)
}

/// What the caller is told, as JSON or text.
pub(crate) struct Announcement {
    fields: Value,
}

impl Announcement {
    /// Creates the wallets, and says where the exchange is.
    ///
    /// # Errors
    /// A wallet cannot be created, or the token cannot be read.
    pub(crate) async fn prepare(
        config: &Config,
        operator_client: &OperatorClient,
        [trading, data, catalog, operator]: [SocketAddr; 4],
        wallets: u32,
    ) -> Result<Self, Failure> {
        let mut created = Vec::new();
        for _ in 0..wallets {
            let wanted = json!({ "amount": WALLET_FUNDS });
            created.push(
                operator_client
                    .post::<Value>("/sandbox/wallets", &wanted)
                    .await?,
            );
        }
        let url = |address: SocketAddr| format!("http://{address}");
        let fields = json!({
            "ready": "sandbox",
            "trading": url(trading),
            "data": url(data),
            "catalog": url(catalog),
            "operator": url(operator),
            "token": client::token(&config.operator_token_file())?,
            "chain": config.signing.chain,
            "directory": config.data.directory,
            "pid": std::process::id(),
            "wallets": created,
        });
        Ok(Self { fields })
    }

    /// One object.
    pub(crate) const fn json(&self) -> &Value {
        &self.fields
    }

    /// Lines for a person.
    pub(crate) fn text(fields: &Value) -> String {
        let field = |name| crate::output::field(fields, name);
        let wallets = fields["wallets"].as_array().into_iter().flatten();
        let wallets = wallets.map(|wallet| {
            let field = |name| crate::output::field(wallet, name);
            format!(
                "wallet    {} with collateral {WALLET_FUNDS}\n  key     {}\n",
                field("address"),
                field("private_key")
            )
        });
        format!(
            "trading   {}\ndata      {}\ncatalog   {}\noperator  {}\n  token   {}\nchain     {}\ndirectory {}\n{}\
             The end of standard input stops everything (Ctrl-D).",
            field("trading"),
            field("data"),
            field("catalog"),
            field("operator"),
            field("token"),
            field("chain"),
            field("directory"),
            wallets.collect::<String>()
        )
    }
}
