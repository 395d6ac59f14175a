//! Resume point of the sync with an upstream. The catalog stores it in the transaction of the rows
//! that it covers.

use std::collections::BTreeMap;
use std::time::Duration;

use foretell_catalog::{CatalogError, Writer};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::resource::Resource;
use crate::upstream::UpstreamPage;

/// The part of a list that was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct AmountRead {
    /// Rows, repeated ones included. An empty page counts as one row, so that every pass ends.
    pub(super) rows: u64,
    /// Bytes.
    pub(super) bytes: u64,
}

impl AmountRead {
    /// The sum with one more page.
    pub(super) fn and(self, page: &UpstreamPage) -> Self {
        let rows = u64::try_from(page.rows.len()).unwrap_or(u64::MAX).max(1);
        Self {
            rows: self.rows.saturating_add(rows),
            bytes: self.bytes.saturating_add(page.bytes),
        }
    }
}

/// A running full pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FullProgress {
    /// The current list.
    pub(super) resource: Resource,
    /// Offset in the list.
    pub(super) offset: u64,
    /// Amount read of the list in all rounds of this pass.
    pub(super) read: AmountRead,
    /// Start time of the pass.
    pub(super) started: Timestamp,
}

impl FullProgress {
    pub(super) const fn begin(started: Timestamp) -> Self {
        Self {
            resource: Resource::ALL[0],
            offset: 0,
            read: AmountRead { rows: 0, bytes: 0 },
            started,
        }
    }

    pub(super) fn at(&self, offset: u64, read: AmountRead) -> Self {
        Self {
            offset,
            read,
            ..self.clone()
        }
    }

    /// The pass at the beginning of the next list; `None` after the last.
    pub(super) fn after(&self) -> Option<Self> {
        let resource = self.resource.next()?;
        Some(Self {
            resource,
            ..self.at(0, AmountRead::default())
        })
    }
}

/// Progress of the sync.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ResumePoint {
    /// The running full pass.
    pub(super) full: Option<FullProgress>,
    /// Start time of the last finished pass.
    done: Option<Timestamp>,
    /// Newest `updatedAt` of each list.
    seen: BTreeMap<Resource, Timestamp>,
}

/// The stored form.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredPoint {
    list: Option<String>,
    offset: u64,
    read: AmountRead,
    started: Option<Timestamp>,
    done: Option<Timestamp>,
    seen: BTreeMap<String, Timestamp>,
}

impl ResumePoint {
    /// The key of the state in the catalog.
    pub(super) fn key(upstream: &str) -> String {
        format!("sync {upstream}")
    }

    /// Loads the stored point; an unreadable one becomes the initial state.
    pub(super) fn load(writer: &Writer, upstream: &str) -> Result<Self, CatalogError> {
        let text = writer.state(&Self::key(upstream))?;
        Ok(text.map_or_else(Self::default, |text| Self::read(&text)))
    }

    fn read(text: &str) -> Self {
        let stored: StoredPoint = serde_json::from_str(text).unwrap_or_default();
        let resource = stored.list.as_deref().and_then(Resource::named);
        Self {
            full: resource
                .zip(stored.started)
                .map(|(resource, started)| FullProgress {
                    resource,
                    offset: stored.offset,
                    read: stored.read,
                    started,
                }),
            done: stored.done,
            seen: stored
                .seen
                .iter()
                .filter_map(|(name, seen)| Some((Resource::named(name)?, *seen)))
                .collect(),
        }
    }

    pub(super) fn text(&self) -> String {
        let full = self.full.as_ref();
        let name = |resource: Resource| resource.name().to_owned();
        let stored = StoredPoint {
            list: full.map(|full| name(full.resource)),
            offset: full.map_or(0, |full| full.offset),
            read: full.map_or_else(AmountRead::default, |full| full.read),
            started: full.map(|full| full.started),
            done: self.done,
            seen: self
                .seen
                .iter()
                .map(|(list, seen)| (name(*list), *seen))
                .collect(),
        };
        serde_json::to_string(&stored).expect("texts, numbers and times have a JSON form")
    }

    /// Whether a full pass is due.
    pub(super) fn is_due(&self, now: Timestamp, every: Duration) -> bool {
        match self.done {
            None => true,
            Some(done) => {
                Duration::try_from(now.duration_since(done)).is_ok_and(|age| age >= every)
            }
        }
    }

    /// Records the newest `updatedAt` of a page of a full pass.
    pub(super) fn saw(&mut self, resource: Resource, newest: Option<Timestamp>) {
        if let Some(newest) = newest {
            let seen = self.seen.entry(resource).or_insert(newest);
            *seen = newest.max(*seen);
        }
    }

    /// Ends a full pass that began at `started`; it may have missed later changes.
    pub(super) fn finish(&mut self, started: Timestamp) {
        self.done = Some(started);
        for seen in self.seen.values_mut() {
            *seen = started.min(*seen);
        }
    }

    /// Lower bound of a pass through changes.
    pub(super) fn seen(&self, resource: Resource) -> Option<Timestamp> {
        self.seen.get(&resource).copied()
    }

    /// Ends a pass through changes.
    pub(super) fn advance(&mut self, resource: Resource, newest: Option<Timestamp>) {
        if let Some(newest) = newest {
            self.seen.insert(resource, newest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_770_000_000 + second).unwrap()
    }

    #[test]
    fn a_point_survives_a_restart() {
        let mut point = ResumePoint::default();
        assert_eq!(ResumePoint::read(&point.text()), point);
        point.full = Some(FullProgress::begin(at(5)).at(
            70,
            AmountRead {
                rows: 90,
                bytes: 4_000,
            },
        ));
        point.saw(Resource::Events, Some(at(9)));
        point.saw(Resource::Events, Some(at(7)));
        point.saw(Resource::Markets, None);
        assert_eq!(ResumePoint::read(&point.text()), point);
        assert_eq!(point.seen(Resource::Events), Some(at(9)));
        assert_eq!(ResumePoint::read("not JSON"), ResumePoint::default());
    }

    #[test]
    fn after_a_full_pass_the_changes_are_read_from_its_beginning() {
        let mut point = ResumePoint::default();
        assert!(point.is_due(at(0), Duration::from_secs(60)));
        point.saw(Resource::Events, Some(at(50)));
        point.saw(Resource::Markets, Some(at(2)));
        point.finish(at(10));
        assert_eq!(point.seen(Resource::Events), Some(at(10)));
        assert_eq!(point.seen(Resource::Markets), Some(at(2)));
        assert!(!point.is_due(at(69), Duration::from_secs(60)));
        assert!(point.is_due(at(70), Duration::from_secs(60)));
        assert!(
            !point.is_due(at(0), Duration::from_secs(60)),
            "a clock that went back"
        );
    }

    #[test]
    fn a_full_pass_goes_through_all_lists() {
        let mut full = Some(FullProgress::begin(at(0)));
        let mut lists = Vec::new();
        while let Some(at) = full {
            lists.push(at.resource);
            full = at.at(40, AmountRead::default()).after();
        }
        assert_eq!(lists, Resource::ALL);
    }
}
