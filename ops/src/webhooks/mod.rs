//! `foretell webhooks`: delivers notices of the journal to an operator's systems, at least once and in its
//! order (docs/operate/webhooks.md). While outward is closed it delivers nothing (docs/verify/rules.md §31).

pub(crate) mod cursor;
mod progress;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use foretell_gateway::outbox::{Outbox, OutboxError};
use foretell_gateway::{OperatorToken, sign_webhook};
use foretell_journal::wall_clock;
use foretell_model::Sequence;
use foretell_wire::notices::{Delivery, Notice};
use serde_json::json;
use tracing::{info, warn};

use crate::cli::WebhooksArgs;
use crate::config::Config;
use crate::data_directory::check_owner;
use crate::failure::Failure;
use crate::processes::process;
use crate::runtime;
use crate::secret_file;
use progress::Progress;

/// Most notices of a delivery.
const BATCH: usize = 100;
/// Frames read before their notices are delivered.
const FRAMES: usize = 1_024;
/// Pause after the first failed delivery; it doubles up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// How long a receiver may take.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Where and how to deliver.
struct Receiver {
    http: reqwest::Client,
    url: String,
    secret: OperatorToken,
}

/// Delivers until SIGTERM.
///
/// # Errors
/// The settings are wrong, or the journal cannot be read.
pub(crate) fn run(config: &Config, arguments: &WebhooksArgs) -> Result<ExitCode, Failure> {
    process::stop_with_parent(arguments.supervised)?;
    check_owner(&config.data.directory)?;
    let receiver = Receiver::new(config)?;
    let paths = Paths::of(config);
    paths.begin()?;
    let mut progress = Progress::begin(&paths.data)?;
    runtime::small()?.block_on(async {
        let mut stop = process::StopSignal::install()?;
        process::report_ready("webhooks", &json!({}));
        tokio::select! {
            ended = deliver_all(&paths, &receiver, &mut progress) => ended,
            () = stop.wait() => Ok(()),
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Checks what a start of the process needs: the secret and the position.
///
/// # Errors
/// Those with which the process refuses to start.
pub(crate) fn check(config: &Config) -> Result<(), Failure> {
    Receiver::new(config)?;
    cursor::read(&config.data.directory).map(drop)
}

/// The files of the data directory that the process uses.
struct Paths {
    data: PathBuf,
    journal: PathBuf,
    snapshots: PathBuf,
}

impl Paths {
    fn of(config: &Config) -> Self {
        let data = config.data.directory.clone();
        Self {
            journal: data.join(foretell_engine::JOURNAL_DIRECTORY),
            snapshots: data.join(foretell_engine::SNAPSHOT_DIRECTORY),
            data,
        }
    }

    /// At the first start: what comes from now on is delivered.
    fn begin(&self) -> Result<(), Failure> {
        if cursor::read(&self.data)?.is_none() {
            let end = Outbox::open(&self.journal, &self.snapshots, None);
            let end = end.map_err(|error| Failure::new(error.to_string()))?;
            cursor::write(&self.data, end.position())?;
        }
        Ok(())
    }
}

/// Follows the journal; begins again where the last delivery ended when it is rebuilt or restored.
async fn deliver_all(
    paths: &Paths,
    receiver: &Receiver,
    progress: &mut Progress,
) -> Result<(), Failure> {
    loop {
        match follow(paths, receiver, progress).await {
            Err(Stopped::Closed) => {}
            Err(Stopped::Follow(OutboxError::Rebuilt)) => {
                info!("the engine recovered to an earlier frame; following again");
            }
            Err(Stopped::Follow(error)) => return Err(Failure::new(error.to_string())),
            Err(Stopped::Cursor(error)) => return Err(error),
            Ok(never) => match never {},
        }
    }
}

enum Stopped {
    Follow(OutboxError),
    Cursor(Failure),
    /// The journal was restored since outward was open.
    Closed,
}

/// Waits while outward is closed at the end of the journal. Returns the last frame by which it is open: those
/// up to there are delivered, also the ones before a restore.
async fn wait_until_open(paths: &Paths) -> Result<Sequence, Stopped> {
    let end = Outbox::open(&paths.journal, &paths.snapshots, None);
    let mut end = end.map_err(Stopped::Follow)?;
    if end.is_outward_closed() {
        warn!(
            "outward is closed since a restore: nothing is delivered until an admin opens withdrawals"
        );
    }
    while end.is_outward_closed() {
        // As below.
        tokio::task::yield_now().await;
        if end.read(FRAMES).map_err(Stopped::Follow)?.is_none() {
            end.wait();
        }
    }
    Ok(end.position().sequence)
}

async fn follow(
    paths: &Paths,
    receiver: &Receiver,
    progress: &mut Progress,
) -> Result<std::convert::Infallible, Stopped> {
    let open = wait_until_open(paths).await?;
    let read = cursor::read(&paths.data).map_err(Stopped::Cursor)?;
    let outbox = Outbox::open(&paths.journal, &paths.snapshots, read);
    let mut outbox = outbox.map_err(Stopped::Follow)?;
    loop {
        // Nothing else runs in this process: it may block until the next frame, or a while.
        tokio::task::yield_now().await;
        let Some(notices) = outbox.read(FRAMES).map_err(Stopped::Follow)? else {
            outbox.wait();
            continue;
        };
        if outbox.is_outward_closed() && outbox.position().sequence > open {
            return Err(Stopped::Closed);
        }
        for batch in notices.chunks(BATCH) {
            receiver.deliver(batch, progress).await;
        }
        // Only now: what is repeated after a crash has the ids that it had.
        let position = outbox.position();
        cursor::write(&paths.data, position).map_err(Stopped::Cursor)?;
        progress.reached(position.sequence);
    }
}

impl Receiver {
    fn new(config: &Config) -> Result<Self, Failure> {
        let webhooks = &config.webhooks;
        let secret = secret_file::load(secret_file::WEBHOOKS_SECRET, &webhooks.secret_file)?;
        let http = foretell_operator_client::http_client_of(&webhooks.url)
            .timeout(TIMEOUT)
            // An answer of another address is no receipt.
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| Failure::new(format!("cannot make an HTTP client: {error}")))?;
        Ok(Self {
            http,
            url: webhooks.url.clone(),
            secret,
        })
    }

    /// Repeats a delivery until the receiver has taken it.
    async fn deliver(&self, notices: &[Notice], progress: &mut Progress) {
        let Some(first) = notices.first() else {
            return;
        };
        let body = foretell_wire::json_text(&Delivery { notices });
        let mut pause = FIRST_PAUSE;
        while let Err(why) = self.post(&body).await {
            progress.failed(first, &why);
            warn!(%why, first = first.id, retry_seconds = pause.as_secs(), "webhook not delivered");
            tokio::time::sleep(pause).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
        progress.delivered(notices.len());
    }

    async fn post(&self, body: &str) -> Result<(), String> {
        let timestamp = wall_clock::since_epoch().as_secs().to_string();
        let signature = sign_webhook(self.secret.bytes(), &timestamp, body.as_bytes());
        let request = self
            .http
            .post(&self.url)
            .header("content-type", "application/json")
            .header("x-foretell-timestamp", &timestamp)
            .header("x-foretell-signature", signature)
            .body(body.to_owned());
        // The URL may have a secret.
        let sent = request.send().await;
        let answer = sent.map_err(|error| error.without_url().to_string())?;
        match answer.status().is_success() {
            true => Ok(()),
            false => Err(format!("the receiver answered {}", answer.status())),
        }
    }
}
