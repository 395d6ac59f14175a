//! How far the sync with an upstream has come: kept in the catalog, in the transaction of the rows
//! it speaks of.

use std::collections::BTreeMap;
use std::time::Duration;

use foretell_catalog::{CatalogError, Writer};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::resource::Resource;
use crate::upstream::Page;

/// How much of a list was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Amount {
    /// Rows, each as often as it came; a page without rows counts as one, so that no list is read for ever.
    pub(super) rows: u64,
    /// Bytes.
    pub(super) bytes: u64,
}

impl Amount {
    /// With a page more.
    pub(super) fn and(self, page: &Page) -> Self {
        let rows = u64::try_from(page.rows.len()).unwrap_or(u64::MAX).max(1);
        Self {
            rows: self.rows.saturating_add(rows),
            bytes: self.bytes.saturating_add(page.bytes),
        }
    }
}

/// A full pass under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Full {
    /// The list it reads.
    pub(super) resource: Resource,
    /// Rows of it that were passed.
    pub(super) offset: u64,
    /// How much of it came, in all rounds of this pass.
    pub(super) read: Amount,
    /// When it began.
    pub(super) started: Timestamp,
}

impl Full {
    pub(super) const fn begin(started: Timestamp) -> Self {
        Self {
            resource: Resource::ALL[0],
            offset: 0,
            read: Amount { rows: 0, bytes: 0 },
            started,
        }
    }

    pub(super) fn at(&self, offset: u64, read: Amount) -> Self {
        Self {
            offset,
            read,
            ..self.clone()
        }
    }

    /// The same pass at the beginning of the next list; `None` after the last.
    pub(super) fn after(&self) -> Option<Self> {
        let resource = self.resource.next()?;
        Some(Self {
            resource,
            ..self.at(0, Amount::default())
        })
    }
}

/// How far the sync has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Point {
    /// The full pass under way.
    pub(super) full: Option<Full>,
    /// When the last finished one began.
    done: Option<Timestamp>,
    /// Newest `updatedAt` of each list.
    seen: BTreeMap<Resource, Timestamp>,
}

/// Its form in the catalog.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    list: Option<String>,
    offset: u64,
    read: Amount,
    started: Option<Timestamp>,
    done: Option<Timestamp>,
    seen: BTreeMap<String, Timestamp>,
}

impl Point {
    /// Under which name the catalog keeps it.
    pub(super) fn key(upstream: &str) -> String {
        format!("sync {upstream}")
    }

    /// What was kept; something that cannot be read is a beginning.
    pub(super) fn load(writer: &Writer, upstream: &str) -> Result<Self, CatalogError> {
        let text = writer.state(&Self::key(upstream))?;
        Ok(text.map_or_else(Self::default, |text| Self::read(&text)))
    }

    fn read(text: &str) -> Self {
        let kept: Kept = serde_json::from_str(text).unwrap_or_default();
        let resource = kept.list.as_deref().and_then(Resource::named);
        Self {
            full: resource.zip(kept.started).map(|(resource, started)| Full {
                resource,
                offset: kept.offset,
                read: kept.read,
                started,
            }),
            done: kept.done,
            seen: kept
                .seen
                .iter()
                .filter_map(|(name, seen)| Some((Resource::named(name)?, *seen)))
                .collect(),
        }
    }

    pub(super) fn text(&self) -> String {
        let full = self.full.as_ref();
        let name = |resource: Resource| resource.name().to_owned();
        let kept = Kept {
            list: full.map(|full| name(full.resource)),
            offset: full.map_or(0, |full| full.offset),
            read: full.map_or_else(Amount::default, |full| full.read),
            started: full.map(|full| full.started),
            done: self.done,
            seen: self
                .seen
                .iter()
                .map(|(list, seen)| (name(*list), *seen))
                .collect(),
        };
        serde_json::to_string(&kept).expect("texts, numbers and times have a JSON form")
    }

    /// Whether it is time to read everything.
    pub(super) fn is_due(&self, now: Timestamp, every: Duration) -> bool {
        match self.done {
            None => true,
            Some(done) => {
                Duration::try_from(now.duration_since(done)).is_ok_and(|age| age >= every)
            }
        }
    }

    /// A full pass saw a page whose newest row is this old.
    pub(super) fn saw(&mut self, resource: Resource, newest: Option<Timestamp>) {
        if let Some(newest) = newest {
            let seen = self.seen.entry(resource).or_insert(newest);
            *seen = newest.max(*seen);
        }
    }

    /// A full pass that began at `started` has ended: what changed since may have been missed.
    pub(super) fn finish(&mut self, started: Timestamp) {
        self.done = Some(started);
        for seen in self.seen.values_mut() {
            *seen = started.min(*seen);
        }
    }

    /// Where a pass over the changes begins.
    pub(super) fn seen(&self, resource: Resource) -> Option<Timestamp> {
        self.seen.get(&resource).copied()
    }

    /// A pass over the changes has ended.
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
        let mut point = Point::default();
        assert_eq!(Point::read(&point.text()), point);
        point.full = Some(Full::begin(at(5)).at(
            70,
            Amount {
                rows: 90,
                bytes: 4_000,
            },
        ));
        point.saw(Resource::Events, Some(at(9)));
        point.saw(Resource::Events, Some(at(7)));
        point.saw(Resource::Markets, None);
        assert_eq!(Point::read(&point.text()), point);
        assert_eq!(point.seen(Resource::Events), Some(at(9)));
        assert_eq!(Point::read("not JSON"), Point::default());
    }

    #[test]
    fn after_a_full_pass_the_changes_are_read_from_its_beginning() {
        let mut point = Point::default();
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
        let mut full = Some(Full::begin(at(0)));
        let mut lists = Vec::new();
        while let Some(at) = full {
            lists.push(at.resource);
            full = at.at(40, Amount::default()).after();
        }
        assert_eq!(lists, Resource::ALL);
    }
}
