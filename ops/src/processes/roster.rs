//! The processes that `foretell up` keeps running, as it reports them in the data directory.

use std::path::{Path, PathBuf};

use foretell_gateway::host_reports::{HostReport as _, ProcessesReport, SupervisedProcess};
use tokio::sync::mpsc;
use tracing::warn;

use super::supervisor::Report;

/// What the supervisor says, noted in the data directory as it is received.
pub(super) struct Reports {
    receiver: mpsc::UnboundedReceiver<Report>,
    roster: Roster,
}

impl Reports {
    pub(super) fn new(receiver: mpsc::UnboundedReceiver<Report>, data: &Path) -> Self {
        Self {
            receiver,
            roster: Roster::new(data),
        }
    }

    /// The next report; `None` when the supervisor is gone.
    pub(super) async fn recv(&mut self) -> Option<Report> {
        let report = self.receiver.recv().await?;
        self.roster.note(&report);
        Some(report)
    }
}

/// The report of an `up`, removed with it.
struct Roster {
    data: PathBuf,
    report: ProcessesReport,
}

impl Roster {
    fn new(data: &Path) -> Self {
        Self {
            data: data.to_owned(),
            report: ProcessesReport::default(),
        }
    }

    /// Takes note of what a process did.
    fn note(&mut self, report: &Report) {
        match report {
            Report::Ready { name, .. } => self.process(name).ready = true,
            Report::Restarting { name, status } => {
                let process = self.process(name);
                process.ready = false;
                process.restarts += 1;
                process.ended = status.to_string();
            }
            Report::Ended { name, status } => {
                let process = self.process(name);
                process.ready = false;
                process.ended = status.to_string();
                process.final_end = true;
            }
        }
        if let Err(error) = self.report.write(&self.data) {
            warn!(%error, "cannot report the processes");
        }
    }

    fn process(&mut self, name: &str) -> &mut SupervisedProcess {
        let processes = &mut self.report.processes;
        let place = processes.iter().position(|process| process.name == name);
        let place = place.unwrap_or_else(|| {
            processes.push(SupervisedProcess {
                name: name.to_owned(),
                ..SupervisedProcess::default()
            });
            processes.len() - 1
        });
        &mut processes[place]
    }
}

impl Drop for Roster {
    fn drop(&mut self) {
        // There is none before the first process is ready.
        let _ = std::fs::remove_file(self.data.join(ProcessesReport::NAME));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    use super::*;

    #[test]
    fn a_process_that_ended_for_good_stays_in_the_report() {
        let data = tempfile::tempdir().unwrap();
        let mut roster = Roster::new(data.path());
        let name = || "webhooks".to_owned();
        let ready = Report::Ready {
            name: name(),
            pid: 7,
            line: serde_json::Value::Null,
        };
        roster.note(&ready);
        roster.note(&Report::Restarting {
            name: name(),
            status: ExitStatus::from_raw(1 << 8),
        });
        roster.note(&Report::Ended {
            name: name(),
            status: ExitStatus::from_raw(78 << 8),
        });
        let read = ProcessesReport::read(data.path()).unwrap();
        let expected = SupervisedProcess {
            name: name(),
            ready: false,
            restarts: 1,
            ended: "exit status: 78".to_owned(),
            final_end: true,
        };
        assert_eq!(read.processes, [expected]);
        drop(roster);
        assert_eq!(ProcessesReport::read(data.path()), None);
    }
}
