//! The file in which the engine reports its place in the cluster.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use foretell_link::ClusterStatus;

use crate::config::ClusterConfig;

/// Its name in the data directory.
pub const CLUSTER_STATUS_NAME: &str = "cluster-status";

/// The open file. Every report overwrites the last in place; readers find a torn one by its
/// checksum.
#[derive(Debug)]
pub(crate) struct StatusFile {
    file: File,
    pub(crate) now: ClusterStatus,
}

impl StatusFile {
    pub(crate) fn create(directory: &Path, cluster: &ClusterConfig) -> io::Result<Self> {
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(directory.join(CLUSTER_STATUS_NAME))?;
        let now = ClusterStatus {
            host: cluster.host.clone(),
            role: cluster.role.name().to_owned(),
            pid: std::process::id(),
            state: "starting".to_owned(),
            ..ClusterStatus::default()
        };
        Ok(Self { file, now })
    }

    /// Writes the report; a failure is not worth a stop.
    pub(crate) fn write(&mut self, wall_ns: u64) {
        self.now.wall_ms = wall_ns / 1_000_000;
        if let Err(error) = self.file.write_all_at(&self.now.encode(), 0) {
            tracing::warn!(%error, "cannot write the cluster's status");
        }
    }

    /// Sets the state, and logs it when it is new.
    pub(crate) fn set_state(&mut self, state: &str) {
        if self.now.state != state {
            tracing::info!(host = self.now.host, state, "cluster");
            state.clone_into(&mut self.now.state);
        }
    }
}
