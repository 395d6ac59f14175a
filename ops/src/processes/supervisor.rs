//! `foretell up`: runs each process as a child, restarts it, and stops all in order.
//!
//! A child reports readiness by one JSON line on standard output; its logs go to the shared
//! standard error. Each child asks the kernel for SIGTERM if the supervisor dies first.

use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{mpsc, watch};
use tracing::{error, info, warn};

use super::process::MASTER_SECRET_VARIABLE;
use crate::config;
use crate::failure::Failure;

/// A child that dies sooner than this after its start is restarted with a longer delay.
const STABLE_AFTER: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Time for a child to stop before it is killed: longer than a gateway waits for open requests.
const STOP_PATIENCE: Duration = Duration::from_secs(15);
/// Time for a gateway to tell its streams that it ends.
const CLOSE_PATIENCE: Duration = Duration::from_millis(500);

/// Exit codes that prevent a restart: the child rejected its settings or data and would again until
/// an operator intervenes.
const FINAL_CODES: [i32; 2] = [
    foretell_engine::EXIT_IO_ERROR as i32,
    foretell_engine::EXIT_REFUSED as i32,
];

/// A process to keep running.
#[derive(Clone, Debug)]
pub(crate) struct ProcessSpec {
    /// Unique name: `engine`, `gateway-1`.
    pub name: String,
    /// Arguments of the binary.
    pub arguments: Vec<String>,
}

/// How a child stops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stop {
    /// It runs.
    No,
    /// By SIGTERM, with this patience.
    Within(Duration),
    /// By SIGKILL: nobody will read what it has.
    Killed,
}

/// Events reported to the owner of the supervisor.
#[derive(Debug)]
pub(crate) enum Report {
    /// A child is ready.
    Ready {
        /// Name of the child.
        name: String,
        /// Process id.
        pid: u32,
        /// The JSON line it printed.
        line: Value,
    },
    /// A child ended and will be restarted.
    Restarting {
        /// Name of the child.
        name: String,
        /// Its exit status.
        status: ExitStatus,
    },
    /// A child ended and will not be restarted.
    Ended {
        /// Name of the child.
        name: String,
        /// Its exit status.
        status: ExitStatus,
    },
}

/// Runs children until stopped.
pub(crate) struct Supervisor {
    watched: Vec<Watched>,
    /// Whether children get no setting from the environment.
    is_sealed: bool,
    reports: mpsc::UnboundedSender<Report>,
}

struct Watched {
    name: String,
    stop: watch::Sender<Stop>,
    task: tokio::task::JoinHandle<()>,
}

impl Supervisor {
    /// A supervisor without children, and the receiver of its reports. With `is_sealed` children get no setting from the
    /// environment.
    #[must_use]
    pub(crate) fn new(is_sealed: bool) -> (Self, mpsc::UnboundedReceiver<Report>) {
        let (reports, receiver) = mpsc::unbounded_channel();
        (
            Self {
                watched: Vec::new(),
                is_sealed,
                reports,
            },
            receiver,
        )
    }

    /// Starts a child and keeps it running. Must be called on the main thread's runtime: the kernel
    /// ties the parent-death signal to the thread that spawned the child.
    pub(crate) fn start(&mut self, spec: ProcessSpec) {
        let (name, stop) = (spec.name.clone(), watch::Sender::new(Stop::No));
        let child = ChildCommand {
            spec,
            is_sealed: self.is_sealed,
        };
        let task = tokio::spawn(keep_running(child, stop.subscribe(), self.reports.clone()));
        self.watched.push(Watched { name, stop, task });
    }

    /// Stops the children one by one, the last started first: clients stop before the servers they
    /// call, so no open request is cut off.
    pub(crate) async fn stop(self) {
        for watched in self.watched.into_iter().rev() {
            watched.stop.send_replace(Stop::Within(STOP_PATIENCE));
            watched.ended().await;
        }
    }

    /// Lets the children close their connections, all at once, and kills the first one, which has the data.
    pub(crate) async fn close(self) {
        self.stop_all(Stop::Within(CLOSE_PATIENCE), Stop::Killed)
            .await;
    }

    /// Kills the children, all at once; with `keeps` the first one, which has the data, stops in order after the others.
    pub(crate) async fn end(self, keeps: bool) {
        let first = match keeps {
            true => Stop::Within(STOP_PATIENCE),
            false => Stop::Killed,
        };
        self.stop_all(Stop::Killed, first).await;
    }

    /// Stops the children at once, then the first one.
    async fn stop_all(self, others: Stop, first: Stop) {
        let mut watched = self.watched.into_iter();
        let engine = watched.next();
        let others: Vec<Watched> = watched
            .inspect(|child| _ = child.stop.send_replace(others))
            .collect();
        for child in others {
            child.ended().await;
        }
        if let Some(engine) = engine {
            engine.stop.send_replace(first);
            engine.ended().await;
        }
    }
}

impl Watched {
    async fn ended(self) {
        if self.task.await.is_err() {
            error!(child = self.name, "watcher task failed");
        }
    }
}

/// A child to start.
struct ChildCommand {
    spec: ProcessSpec,
    /// As in [`Supervisor`].
    is_sealed: bool,
}

async fn keep_running(
    child: ChildCommand,
    mut stop: watch::Receiver<Stop>,
    reports: mpsc::UnboundedSender<Report>,
) {
    let spec = &child.spec;
    let mut pause = FIRST_PAUSE;
    while *stop.borrow() == Stop::No {
        let started = Instant::now();
        match run_once(&child, &mut stop, &reports).await {
            Err(failure) => error!(child = spec.name, "cannot start: {failure}"),
            Ok(Ending::Stopped) => return,
            Ok(Ending::Exited(status)) => {
                let code = status.code();
                if code.is_some_and(|code| FINAL_CODES.contains(&code)) {
                    error!(child = spec.name, %status, "exited; not restarting");
                    // Without a receiver `up` itself is exiting.
                    let _ = reports.send(Report::Ended {
                        name: spec.name.clone(),
                        status,
                    });
                    return;
                }
                warn!(child = spec.name, %status, "exited; restarting");
                let name = spec.name.clone();
                let _ = reports.send(Report::Restarting { name, status });
            }
        }
        if started.elapsed() >= STABLE_AFTER {
            pause = FIRST_PAUSE;
        }
        if tokio::time::timeout(pause, stop_requested(&mut stop))
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
    command: &ChildCommand,
    stop: &mut watch::Receiver<Stop>,
    reports: &mpsc::UnboundedSender<Report>,
) -> Result<Ending, Failure> {
    let spec = &command.spec;
    let mut child = spawn(command)?;
    let pid = child.id().unwrap_or(0);
    info!(child = spec.name, pid, "started");
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
        how = stop_requested(stop) => {
            match how {
                Stop::Killed => {
                    // It may have exited already.
                    let _ = child.kill().await;
                }
                Stop::No => terminate(&mut child, &spec.name, STOP_PATIENCE).await,
                Stop::Within(patience) => terminate(&mut child, &spec.name, patience).await,
            }
            Ok(Ending::Stopped)
        }
    }
}

/// Returns when the supervisor stops this child or is dropped.
async fn stop_requested(stop: &mut watch::Receiver<Stop>) -> Stop {
    let requested = stop.wait_for(|stop| *stop != Stop::No).await;
    requested.map_or(Stop::Within(STOP_PATIENCE), |stop| *stop)
}

fn spawn(child: &ChildCommand) -> Result<Child, Failure> {
    let binary = std::env::current_exe()
        .map_err(|error| Failure::new(format!("cannot find our own binary: {error}")))?;
    command(child, &binary)
        .spawn()
        .map_err(|error| Failure::new(format!("cannot start {}: {error}", binary.display())))
}

fn command(child: &ChildCommand, binary: &Path) -> Command {
    let ChildCommand { spec, is_sealed } = child;
    let mut command = Command::new(binary);
    command
        .args(&spec.arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        // A separate process group: Ctrl-C signals only the supervisor, which stops the children in
        // order.
        .process_group(0);
    // Only processes that need the master secret see it; the engine never does
    // (docs/internals/decisions/0012).
    if spec
        .arguments
        .first()
        .is_none_or(|first| first != "gateway")
    {
        command.env_remove(MASTER_SECRET_VARIABLE);
    }
    if *is_sealed {
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        names
            .filter(|name| config::is_variable(name))
            .for_each(|name| {
                command.env_remove(name);
            });
    }
    command
}

async fn terminate(child: &mut Child, name: &str, patience: Duration) {
    let pid = child
        .id()
        .and_then(|pid| i32::try_from(pid).ok())
        .and_then(rustix::process::Pid::from_raw);
    if let Some(pid) = pid {
        // The child may have exited already.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    match tokio::time::timeout(patience, child.wait()).await {
        Ok(Ok(status)) => info!(child = name, %status, "stopped"),
        Ok(Err(error)) => error!(child = name, "cannot wait for the process: {error}"),
        Err(_) => {
            warn!(child = name, "did not stop in time; killed");
            let _ = child.kill().await;
        }
    }
}

fn wait_failure(error: std::io::Error) -> Failure {
    Failure::new(format!("cannot wait for the process: {error}"))
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
            let child = ChildCommand {
                spec,
                is_sealed: false,
            };
            let command = command(&child, Path::new("/nonexistent"));
            let mut changes = command.as_std().get_envs();
            let removed = changes.any(|(name, value)| {
                name.to_str() == Some(MASTER_SECRET_VARIABLE) && value.is_none()
            });
            assert_eq!(removed, !gets_it, "{first}");
        }
    }
}
