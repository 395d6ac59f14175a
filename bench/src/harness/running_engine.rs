//! An engine on a thread of this process.

use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use foretell_engine::client::Client;
use foretell_engine::{EngineConfig, EngineError, Ready};
use foretell_link::{Answer, Request, Role, SnapshotAnswer, SnapshotResult, Status, Submit};
use foretell_model::{Command, Sequence, Verdict};

use super::threads::joined;
use crate::error::MeasureError;

/// Snapshots are published on request only.
const NEVER: Duration = Duration::from_secs(1_000_000);
const ENGINE: &str = "the engine";

pub(crate) struct RunningEngine {
    pub(crate) ready: Ready,
    thread: JoinHandle<Result<(), EngineError>>,
}

impl RunningEngine {
    /// Starts an engine and waits until gateways can connect. Ctrl-C ends the measurement, not the
    /// engine.
    pub(crate) fn start(mut config: EngineConfig) -> Result<Self, MeasureError> {
        config.handle_signals = false;
        let (ready_sender, ready_receiver) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            foretell_engine::run(&config, |ready| {
                // The receiver waits below.
                let _ = ready_sender.send(ready.clone());
            })
        });
        match ready_receiver.recv() {
            Ok(ready) => Ok(Self { ready, thread }),
            Err(_) => {
                joined(ENGINE, thread.join())??;
                Err(MeasureError::wrong("the engine ended before it was ready"))
            }
        }
    }

    /// An operator connection.
    pub(crate) fn operator(&self) -> Result<Client, MeasureError> {
        Ok(Client::connect(
            &self.ready.socket,
            "bench",
            Role::Operator,
        )?)
    }

    pub(crate) fn stop(self) -> Result<(), MeasureError> {
        self.ready.stop.stop();
        Ok(joined(ENGINE, self.thread.join())??)
    }
}

/// Configuration of an engine on a generated journal, whose times are of another day: snapshots are
/// published on request only.
pub(crate) fn on_generated_journal(data: &Path) -> EngineConfig {
    let mut config = EngineConfig::new(data.to_owned());
    config.accept_clock_jump = true;
    (config.publishing.interval, config.publishing.frames) = (NEVER, u64::MAX);
    config
}

/// Sends a command, which must be applied.
pub(crate) fn apply(
    operator: &mut Client,
    request: u64,
    command: Command,
) -> Result<Sequence, MeasureError> {
    let submit = Submit {
        request,
        operator: foretell_model::OperatorNumber::NONE,
        command,
        evidence: &[],
    };
    match operator.ask(Request::Submit(submit))? {
        Answer::Reply(reply) if matches!(reply.verdict, Verdict::Applied(_)) => {
            Ok(reply.last_sequence)
        }
        other => Err(MeasureError::Wrong(format!("{command:?}: {other:?}"))),
    }
}

/// Makes the engine publish a snapshot and waits for it.
pub(crate) fn snapshot(operator: &mut Client) -> Result<Sequence, MeasureError> {
    match operator.ask(Request::Snapshot { request: 0 })? {
        Answer::Snapshot(SnapshotAnswer {
            result: SnapshotResult::Published { sequence },
            ..
        }) => Ok(sequence),
        other => Err(MeasureError::Wrong(format!("no snapshot: {other:?}"))),
    }
}

/// Status of the engine.
pub(crate) fn status(operator: &mut Client) -> Result<Box<Status>, MeasureError> {
    match operator.ask(Request::Status { request: 0 })? {
        Answer::Status(status) => Ok(status),
        other => Err(MeasureError::Wrong(format!("no status: {other:?}"))),
    }
}
