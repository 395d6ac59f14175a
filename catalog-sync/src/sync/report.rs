//! Result of a round's reading.

use foretell_catalog::Report;
use serde_json::{Value, json};

use super::ListFinding;
use crate::limits::{LimitReached, texts};

/// Result of a round's reading.
#[derive(Clone, Debug, Default)]
pub struct PullReport {
    /// Whether a pass through all lists has ended in this round and read each to its end.
    pub full: bool,
    /// Whether a pass through all lists has ended in this round, as far as they can be read.
    pub ended: bool,
    /// What the last full pass lacks.
    pub findings: Vec<ListFinding>,
    /// Whether changes could not be read.
    pub(super) changes_failed: bool,
    /// Pages received.
    pub pages: u64,
    /// Bytes of these pages.
    pub bytes: u64,
    /// Retried requests.
    pub retries: u64,
    /// Result of storing the records.
    pub records: Report,
    /// Reached limits.
    pub limits: Vec<LimitReached>,
}

impl PullReport {
    /// Adds a reached limit, without duplicates; returns whether there was one.
    pub(super) fn reach(&mut self, reached: Option<LimitReached>) -> bool {
        let Some(limit) = reached else {
            return false;
        };
        if !self.limits.contains(&limit) {
            self.limits.push(limit);
        }
        true
    }

    /// Whether the round got to the newest changes.
    pub(super) fn read_all_changes(&self) -> bool {
        !self.changes_failed && self.limits.is_empty()
    }

    /// The JSON output.
    #[must_use]
    pub fn json(&self) -> Value {
        json!({
            "full": self.full,
            "complete": self.findings.is_empty(),
            "findings": texts(&self.findings),
            "pages": self.pages,
            "bytes": self.bytes,
            "retries": self.retries,
            "records": self.records,
            "limits": texts(&self.limits),
        })
    }
}
