//! How far the webhooks have come, as the process reports it in the data directory.

use std::path::{Path, PathBuf};

use foretell_gateway::host_reports::{HostReport as _, WaitingDelivery, WebhooksReport};
use foretell_journal::wall_clock::since_epoch;
use foretell_model::Sequence;
use foretell_wire::notices::Notice;
use tracing::warn;

use super::cursor;
use crate::failure::Failure;

/// The report of this process.
pub(super) struct Progress {
    data: PathBuf,
    report: WebhooksReport,
}

impl Progress {
    /// Begins with the position of the last run. A delivery after it that waited then still waits.
    pub(super) fn begin(data: &Path) -> Result<Self, Failure> {
        let sequence = cursor::read(data)?.map_or(0, |position| position.sequence.0);
        let last = WebhooksReport::read(data).unwrap_or_default();
        let mut progress = Self {
            data: data.to_owned(),
            report: WebhooksReport {
                sequence,
                waiting: last.waiting.filter(|waiting| waiting.sequence > sequence),
                ..WebhooksReport::default()
            },
        };
        progress.write();
        Ok(progress)
    }

    /// An attempt failed.
    pub(super) fn failed(&mut self, first: &Notice, reason: &str) {
        self.report.failed_attempts += 1;
        let before = self.report.waiting.take();
        let before = before.filter(|waiting| waiting.first == first.id);
        self.report.waiting = Some(WaitingDelivery {
            first: first.id.clone(),
            sequence: first.sequence,
            since: before.map_or_else(|| since_epoch().as_secs(), |waiting| waiting.since),
            reason: reason.to_owned(),
        });
        self.write();
    }

    /// The receiver acknowledged notices.
    pub(super) fn delivered(&mut self, notices: usize) {
        self.report.delivered += notices as u64;
        self.report.waiting = None;
        self.write();
    }

    /// All notices up to a sequence are delivered.
    pub(super) fn reached(&mut self, sequence: Sequence) {
        self.report.sequence = sequence.0;
        self.write();
    }

    fn write(&mut self) {
        if let Err(error) = self.report.write(&self.data) {
            warn!(%error, "cannot report the progress of webhooks");
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_gateway::outbox::Position;

    use super::*;

    #[test]
    fn only_a_delivery_behind_the_position_still_waits() {
        let data = tempfile::tempdir().unwrap();
        let position = Position {
            branch: [7; 32],
            sequence: Sequence(9),
        };
        cursor::write(data.path(), position).unwrap();
        for (sequence, is_left) in [(9, false), (10, true)] {
            let waiting = WaitingDelivery {
                sequence,
                ..WaitingDelivery::default()
            };
            let last = WebhooksReport {
                waiting: Some(waiting),
                ..WebhooksReport::default()
            };
            last.write(data.path()).unwrap();
            let progress = Progress::begin(data.path()).unwrap();
            assert_eq!(progress.report.waiting.is_some(), is_left, "{sequence}");
            assert_eq!(progress.report.sequence, 9);
        }
    }
}
