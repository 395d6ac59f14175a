//! What the other processes of the host report of themselves: small files of the data directory that are replaced
//! whole. The gateway that serves the operator reads them for `/metrics` and `/status`, and `foretell doctor` does, too.

use std::io::{self, Write as _};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A report with the name of its file in the data directory.
pub trait HostReport: Serialize + DeserializeOwned {
    /// The file's name.
    const NAME: &'static str;

    /// Reads the report; `None` if there is none, or it cannot be read.
    #[must_use]
    fn read(data: &Path) -> Option<Self> {
        let bytes = std::fs::read(data.join(Self::NAME)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Replaces the report; readers find the old one or the new one.
    ///
    /// # Errors
    /// The file cannot be written.
    fn write(&self, data: &Path) -> io::Result<()> {
        let text = serde_json::to_vec(self).map_err(io::Error::other)?;
        let draft = data.join(format!("{}.tmp", Self::NAME));
        let mut options = std::fs::OpenOptions::new();
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.write(true).create(true).truncate(true).open(&draft);
        file?.write_all(&text)?;
        std::fs::rename(draft, data.join(Self::NAME))
    }
}

/// How far the webhook process has come.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WebhooksReport {
    /// Notices acknowledged by the receiver since the process started.
    pub delivered: u64,
    /// Failed attempts since the process started.
    pub failed_attempts: u64,
    /// Last journal sequence whose notices are all delivered.
    pub sequence: u64,
    /// The delivery that the receiver has not acknowledged yet.
    pub waiting: Option<WaitingDelivery>,
}

/// A delivery that is being retried.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WaitingDelivery {
    /// Id of its first notice.
    pub first: String,
    /// Journal sequence of its first notice.
    pub sequence: u64,
    /// Unix seconds of the first failed attempt.
    pub since: u64,
    /// Reason why the last attempt failed.
    pub reason: String,
}

impl HostReport for WebhooksReport {
    const NAME: &'static str = "webhooks.status";
}

impl WebhooksReport {
    /// Seconds since the first failed attempt of the delivery that waits; 0 if none waits.
    #[must_use]
    pub fn waiting_seconds(&self, now: u64) -> u64 {
        let waiting = self.waiting.as_ref();
        waiting.map_or(0, |waiting| now.saturating_sub(waiting.since))
    }
}

/// The processes that `foretell up` keeps running.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProcessesReport {
    /// In the order of their start.
    pub processes: Vec<SupervisedProcess>,
}

impl HostReport for ProcessesReport {
    const NAME: &'static str = "processes.status";
}

/// A process that `foretell up` keeps running.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SupervisedProcess {
    /// Name of the process: `engine`, `gateway-1`, `webhooks`.
    pub name: String,
    /// Whether it runs and has reported that it is ready.
    pub ready: bool,
    /// Number of restarts.
    pub restarts: u64,
    /// How it last ended, such as `exit status: 78`; empty if it did not.
    pub ended: String,
    /// Whether it ended for good: it is not restarted.
    pub final_end: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_replaced_whole_and_a_broken_one_is_none() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(WebhooksReport::read(data.path()), None);
        let mut report = WebhooksReport {
            delivered: 4,
            ..WebhooksReport::default()
        };
        report.write(data.path()).unwrap();
        assert_eq!(report.waiting_seconds(100), 0);
        report.waiting = Some(WaitingDelivery {
            since: 90,
            ..WaitingDelivery::default()
        });
        report.write(data.path()).unwrap();
        let read = WebhooksReport::read(data.path());
        assert_eq!(read.as_ref(), Some(&report));
        assert_eq!(report.waiting_seconds(100), 10);
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 1);
        std::fs::write(data.path().join(WebhooksReport::NAME), "{").unwrap();
        assert_eq!(WebhooksReport::read(data.path()), None);
    }
}
