//! `foretell up`: each process a child of its own, watched, restarted, stopped together.
//!
//! A child says that it is ready by one JSON line on its standard output; its logs go to standard
//! error, which it shares with us. A child asks the kernel for SIGTERM should we die first.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch};
use tracing::{error, info, warn};

use crate::failure::Failure;
use crate::process::MASTER_SECRET_VARIABLE;

/// A child that dies sooner than this after its start waits longer before the next one.
const STEADY: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// How long a child may take to stop before it is killed: longer than a gateway waits for requests
/// under way.
const STOP_PATIENCE: Duration = Duration::from_secs(15);

/// Exit codes after which a child is not started again: it refuses its settings or its data and would
/// refuse them again, so an operator has to look first.
const FINAL_CODES: [i32; 2] = [
    foretell_engine::EXIT_IO_ERROR as i32,
    foretell_engine::EXIT_REFUSED as i32,
];

/// One process to keep running.
#[derive(Clone, Debug)]
pub(crate) struct ProcessSpec {
    /// Unique name: `engine`, `gateway-1`.
    pub name: String,
    /// Arguments of the binary.
    pub arguments: Vec<String>,
}

/// What the supervisor tells whoever started it.
#[derive(Debug)]
pub(crate) enum Report {
    /// A child is ready; the line it said so with.
    Ready {
        /// Its name.
        name: String,
        /// Its process id.
        pid: u32,
        /// What it printed.
        line: Value,
    },
    /// A child ended and will not be started again.
    Ended {
        /// Its name.
        name: String,
        /// How.
        status: ExitStatus,
    },
}

/// Runs children until told to stop.
pub(crate) struct Supervisor {
    watched: Vec<Watched>,
    reports: mpsc::UnboundedSender<Report>,
}

struct Watched {
    name: String,
    stop: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

impl Supervisor {
    /// A supervisor without children; reports arrive at the receiver.
    #[must_use]
    pub(crate) fn new() -> (Self, mpsc::UnboundedReceiver<Report>) {
        let (reports, receiver) = mpsc::unbounded_channel();
        (
            Self {
                watched: Vec::new(),
                reports,
            },
            receiver,
        )
    }

    /// Starts a child and keeps it running. Must be called on the main thread's runtime: the
    /// kernel ties a child's parent-death signal to the thread that made it.
    pub(crate) fn start(&mut self, spec: ProcessSpec) {
        let (name, stop) = (spec.name.clone(), watch::Sender::new(false));
        let task = tokio::spawn(keep_running(spec, stop.subscribe(), self.reports.clone()));
        self.watched.push(Watched { name, stop, task });
    }

    /// Stops the children one by one, the last started first: those who ask go before those who
    /// answer, so that nothing in flight is cut off.
    pub(crate) async fn stop(self) {
        for Watched { name, stop, task } in self.watched.into_iter().rev() {
            stop.send_replace(true);
            if task.await.is_err() {
                error!(process = name, "its watcher failed");
            }
        }
    }
}

async fn keep_running(
    spec: ProcessSpec,
    mut stop: watch::Receiver<bool>,
    reports: mpsc::UnboundedSender<Report>,
) {
    let mut pause = FIRST_PAUSE;
    while !*stop.borrow() {
        let started = Instant::now();
        match run_once(&spec, &mut stop, &reports).await {
            Err(failure) => error!(process = spec.name, "cannot start: {failure}"),
            Ok(Ending::Stopped) => return,
            Ok(Ending::Exited(status)) => {
                let code = status.code();
                if code.is_some_and(|code| FINAL_CODES.contains(&code)) {
                    error!(process = spec.name, %status, "ended; it is not started again");
                    // Nobody listening means `up` itself is going down.
                    let _ = reports.send(Report::Ended {
                        name: spec.name.clone(),
                        status,
                    });
                    return;
                }
                warn!(process = spec.name, %status, "ended; starting it again");
            }
        }
        if started.elapsed() >= STEADY {
            pause = FIRST_PAUSE;
        }
        if tokio::time::timeout(pause, told_to_stop(&mut stop))
            .await
            .is_ok()
        {
            return;
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

enum Ending {
    Stopped,
    Exited(ExitStatus),
}

async fn run_once(
    spec: &ProcessSpec,
    stop: &mut watch::Receiver<bool>,
    reports: &mpsc::UnboundedSender<Report>,
) -> Result<Ending, Failure> {
    let mut child = spawn(spec)?;
    let pid = child.id().unwrap_or(0);
    info!(process = spec.name, pid, "started");
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout).lines();
        let (name, reports) = (spec.name.clone(), reports.clone());
        tokio::spawn(async move {
            while let Ok(Some(text)) = lines.next_line().await {
                if let Ok(line) = serde_json::from_str(&text) {
                    let _ = reports.send(Report::Ready {
                        name: name.clone(),
                        pid,
                        line,
                    });
                }
            }
        });
    }
    tokio::select! {
        status = child.wait() => Ok(Ending::Exited(status.map_err(wait_failure)?)),
        () = told_to_stop(stop) => {
            terminate(&mut child, &spec.name).await;
            Ok(Ending::Stopped)
        }
    }
}

/// Returns when the supervisor stops this child, or is gone itself.
async fn told_to_stop(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

fn spawn(spec: &ProcessSpec) -> Result<Child, Failure> {
    let binary = std::env::current_exe()
        .map_err(|error| Failure::new(format!("cannot find our own binary: {error}")))?;
    command(spec, &binary)
        .spawn()
        .map_err(|error| Failure::new(format!("cannot start {}: {error}", binary.display())))
}

fn command(spec: &ProcessSpec, binary: &Path) -> Command {
    let mut command = Command::new(binary);
    command
        .args(&spec.arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        // A child of its own group: Ctrl-C reaches us alone, and we stop them in order.
        .process_group(0);
    // The engine never sees the master secret (protocol 7), nor does anybody else without need.
    if spec
        .arguments
        .first()
        .is_none_or(|first| first != "gateway")
    {
        command.env_remove(MASTER_SECRET_VARIABLE);
    }
    command
}

async fn terminate(child: &mut Child, name: &str) {
    let pid = child
        .id()
        .and_then(|pid| i32::try_from(pid).ok())
        .and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // It may have ended in between; then there is nothing to stop.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    match tokio::time::timeout(STOP_PATIENCE, child.wait()).await {
        Ok(Ok(status)) => info!(process = name, %status, "stopped"),
        Ok(Err(error)) => error!(process = name, "cannot wait for it: {error}"),
        Err(_) => {
            warn!(process = name, "did not stop in time; killed");
            let _ = child.kill().await;
        }
    }
}

fn wait_failure(error: std::io::Error) -> Failure {
    Failure::new(format!("cannot wait for it: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_gateways_get_the_master_secret_from_the_environment() {
        for (first, gets_it) in [("gateway", true), ("engine", false), ("demo-bots", false)] {
            let spec = ProcessSpec {
                name: "a child".to_owned(),
                arguments: vec![first.to_owned(), "--supervised".to_owned()],
            };
            let command = command(&spec, Path::new("/nonexistent"));
            let mut changes = command.as_std().get_envs();
            let removed = changes.any(|(name, value)| {
                name.to_str() == Some(MASTER_SECRET_VARIABLE) && value.is_none()
            });
            assert_eq!(removed, !gets_it, "{first}");
        }
    }
}
