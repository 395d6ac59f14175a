//! What `foretell up` says to systemd (sd_notify(3)): ready, stopping, and while its processes answer that it
//! lives. Without systemd nothing is said.

use std::collections::BTreeSet;
use std::time::Duration;

use foretell_operator_client::OperatorClient;
use sd_notify::NotifyState;
use serde_json::Value;
use tokio::time::{Interval, MissedTickBehavior, interval, timeout};
use tracing::warn;

/// The process that answers operators, and the engine, by the supervisor's names.
const GATEWAY: &str = "gateway-1";
const ENGINE: &str = "engine";
/// Signs of life in the time after which systemd ends the service.
const SIGNS: u32 = 4;

/// Says that the exchange is ready.
pub(super) fn ready() {
    say(NotifyState::Ready);
}

/// Says that the exchange stops.
pub(super) fn stopping() {
    say(NotifyState::Stopping);
}

fn say(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        warn!(%error, "systemd cannot be told");
    }
}

/// Asks the processes and reports to systemd.
pub(super) struct Watchdog {
    client: OperatorClient,
    /// Signs of life; `None` when systemd waits for none.
    signs: Option<Interval>,
    /// Processes that have been ready since they were started.
    ready: BTreeSet<String>,
    is_cluster: bool,
}

impl Watchdog {
    /// A watchdog of processes that are ready. The engine of a cluster's host is not asked: while it follows
    /// or waits, it serves no gateway.
    pub(super) fn new(client: OperatorClient, is_cluster: bool) -> Self {
        let signs = sd_notify::watchdog_enabled().map(|limit| {
            let mut signs = interval(limit / SIGNS);
            signs.set_missed_tick_behavior(MissedTickBehavior::Delay);
            signs
        });
        Self {
            client,
            signs,
            ready: [GATEWAY, ENGINE].map(str::to_owned).into(),
            is_cluster,
        }
    }

    /// A process became ready.
    pub(super) fn begins(&mut self, name: &str) {
        self.ready.insert(name.to_owned());
    }

    /// A process ended. While it is started again it need not answer: a replay takes its time.
    pub(super) fn ends(&mut self, name: &str) {
        self.ready.remove(name);
    }

    /// Returns when the next sign is due; never, when systemd waits for none.
    pub(super) async fn due(&mut self) {
        match &mut self.signs {
            Some(signs) => drop(signs.tick().await),
            None => std::future::pending().await,
        }
    }

    /// Gives a sign of life if every process that is ready answers.
    pub(super) async fn sign(&self) {
        let patience = self.signs.as_ref().map_or(Duration::ZERO, Interval::period);
        let answers = timeout(patience, self.answer()).await;
        match answers.unwrap_or_else(|_| Err("no answer in time".to_owned())) {
            Ok(()) => say(NotifyState::Watchdog),
            Err(why) => warn!(%why, "no sign of life for systemd: a process does not answer"),
        }
    }

    /// The gateway's status contains the engine's, if it answers.
    async fn answer(&self) -> Result<(), String> {
        if !self.ready.contains(GATEWAY) {
            return Ok(());
        }
        let status: Result<Value, _> = self.client.get("/status").await;
        let status = status.map_err(|error| error.to_string())?;
        let must_answer = self.ready.contains(ENGINE) && !self.is_cluster;
        match must_answer && status["engine"].is_null() {
            true => Err("the engine gives the gateway no status".to_owned()),
            false => Ok(()),
        }
    }
}
