//! Resume point of the sync with an upstream. The catalog stores it in the transaction of the rows
//! that it covers.

use std::collections::BTreeMap;
use std::time::Duration;

use foretell_catalog::{CatalogError, VanishedMarket, Writer};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::finding::{ListFinding, ListProblem};
use crate::resource::{List, Resource};
use crate::upstream::{Position, UpstreamPage};

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

/// A list that is being read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Reading {
    /// The list.
    pub(super) list: List,
    /// Position of the next page; `None` = at the beginning.
    pub(super) position: Option<Position>,
    /// Amount read of the list in all rounds of this pass.
    pub(super) read: AmountRead,
}

impl Reading {
    const fn begin(list: List) -> Self {
        Self {
            list,
            position: None,
            read: AmountRead { rows: 0, bytes: 0 },
        }
    }
}

/// A running pass through lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FullProgress {
    /// Start time of the pass.
    pub(super) started: Timestamp,
    /// The lists to read, the current one first.
    pub(super) rest: Vec<Reading>,
    /// Whether it reads only the lists that could not be read before.
    pub(super) is_retry: bool,
}

/// How the pages of a resource are requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Paging {
    /// By cursor.
    Keyset,
    /// By offset.
    Offset,
}

/// Progress of the sync.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ResumePoint {
    /// The running pass.
    pub(super) full: Option<FullProgress>,
    /// Lists of the last full pass that could not be read: each round tries again.
    failed: Vec<Reading>,
    /// Of the running or the last full pass.
    findings: Vec<ListFinding>,
    /// Start time of the last finished full pass.
    done: Option<Timestamp>,
    /// Start time of the last full pass that read every list to its end.
    pub(super) complete: Option<Timestamp>,
    /// Newest `updatedAt` of each resource.
    seen: BTreeMap<Resource, Timestamp>,
    /// Answers of the upstream to the question whether it has pages by cursor.
    paging: BTreeMap<Resource, Paging>,
    /// Markets that are registered here and that the upstream no longer has.
    pub(super) vanished: Vec<VanishedMarket>,
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
        serde_json::from_str(text).unwrap_or_default()
    }

    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).expect("texts, numbers and times have a JSON form")
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

    /// Begins a full pass.
    pub(super) fn begin(&mut self, started: Timestamp) {
        let ends = |finding: &ListFinding| matches!(finding.problem, ListProblem::EndsAt { .. });
        if self.findings.iter().any(ends) {
            // Perhaps the upstream has learned to page by cursor.
            self.paging.clear();
        }
        self.failed.clear();
        self.findings.clear();
        self.full = Some(FullProgress {
            started,
            rest: List::ALL.map(Reading::begin).to_vec(),
            is_retry: false,
        });
    }

    /// Begins to read the lists that could not be read; returns whether there are any.
    pub(super) fn begin_again(&mut self, started: Timestamp) -> bool {
        let rest = std::mem::take(&mut self.failed);
        let is_unreadable =
            |finding: &ListFinding| matches!(finding.problem, ListProblem::Unreadable(_));
        self.findings.retain(|finding| !is_unreadable(finding));
        let has_rest = !rest.is_empty();
        self.full = has_rest.then_some(FullProgress {
            started,
            rest,
            is_retry: true,
        });
        has_rest
    }

    /// Sets how far the current list was read.
    pub(super) fn reached(&mut self, position: Position, read: AmountRead) {
        if let Some(reading) = self.full.as_mut().and_then(|full| full.rest.first_mut()) {
            reading.position = Some(position);
            reading.read = read;
        }
    }

    /// Ends the current list. One that could not be read is tried again in the next round.
    pub(super) fn end_list(&mut self, problem: Option<ListProblem>) {
        let Some(full) = self.full.as_mut().filter(|full| !full.rest.is_empty()) else {
            return;
        };
        let reading = full.rest.remove(0);
        let list = reading.list;
        if matches!(problem, Some(ListProblem::Unreadable(_))) {
            self.failed.push(reading);
        }
        let finding = problem.map(|problem| ListFinding { list, problem });
        self.findings.extend(finding);
    }

    /// Ends the running pass, which may have missed later changes.
    pub(super) fn finish(&mut self) {
        let Some(full) = self.full.take() else {
            return;
        };
        if !full.is_retry {
            self.done = Some(full.started);
            for seen in self.seen.values_mut() {
                *seen = full.started.min(*seen);
            }
        }
        if self.findings.is_empty() {
            self.complete = Some(full.started);
        }
    }

    /// Whether the last full pass read every list to its end.
    pub(super) fn is_complete(&self) -> bool {
        self.complete.is_some() && self.complete >= self.done
    }

    /// What the running or the last full pass lacks.
    pub(super) fn findings(&self) -> &[ListFinding] {
        &self.findings
    }

    /// Records the newest `updatedAt` of a page of a full pass.
    pub(super) fn saw(&mut self, resource: Resource, newest: Option<Timestamp>) {
        let retried = self.full.as_ref().filter(|full| full.is_retry);
        if let Some(retried) = retried {
            // The changes of the other lists of the resource were read up to what was seen.
            let newest = newest.map(|newest| newest.min(retried.started));
            newest.map(|newest| self.seen.entry(resource).or_insert(newest));
        } else if let Some(newest) = newest {
            let seen = self.seen.entry(resource).or_insert(newest);
            *seen = newest.max(*seen);
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

    /// The first page of a resource: by cursor unless the upstream has declined that.
    pub(super) fn first_page(&self, resource: Resource) -> Position {
        match self.paging.get(&resource) {
            Some(Paging::Offset) => Position::Offset(0),
            _ if !resource.has_keyset() => Position::Offset(0),
            Some(Paging::Keyset) | None => Position::Cursor(None),
        }
    }

    /// Remembers how the pages of a resource are requested.
    pub(super) fn page_by(&mut self, resource: Resource, paging: Paging) {
        self.paging.insert(resource, paging);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_770_000_000 + second).unwrap()
    }

    fn unreadable() -> ListProblem {
        ListProblem::Unreadable("502".into())
    }

    #[test]
    fn a_point_survives_a_restart() {
        let mut point = ResumePoint::default();
        assert_eq!(ResumePoint::read(&point.text()), point);
        point.begin(at(5));
        let rest = &mut point.full.as_mut().unwrap().rest;
        rest[0].position = Some(Position::Cursor(Some("a".into())));
        rest[1].position = Some(Position::Offset(70));
        rest[1].read = AmountRead {
            rows: 90,
            bytes: 4_000,
        };
        point.end_list(Some(unreadable()));
        point.page_by(Resource::Events, Paging::Keyset);
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
        point.begin(at(10));
        point.saw(Resource::Events, Some(at(50)));
        point.saw(Resource::Markets, Some(at(2)));
        point.finish();
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
    fn a_full_pass_goes_through_all_lists_and_again_through_those_that_failed() {
        let mut point = ResumePoint::default();
        point.begin(at(0));
        let mut lists = Vec::new();
        while let Some(reading) = point.full.as_ref().and_then(|full| full.rest.first()) {
            lists.push(reading.list);
            let ends = ListProblem::EndsAt {
                offset: 9,
                reason: String::new(),
            };
            point.end_list(match lists.len() {
                1 => Some(ends),
                3 => Some(unreadable()),
                _ => None,
            });
        }
        assert_eq!(lists, List::ALL);
        point.finish();
        assert_eq!((point.findings().len(), point.complete), (2, None));

        point.saw(Resource::Events, Some(at(3)));
        assert!(point.begin_again(at(60)));
        assert_eq!(point.findings().len(), 1);
        let full = point.full.as_ref().unwrap();
        assert_eq!((full.rest.len(), full.rest[0].list), (1, List::ALL[2]));
        point.saw(Resource::Events, Some(at(90)));
        point.end_list(None);
        point.finish();
        assert_eq!(point.seen(Resource::Events), Some(at(3)));
        assert!(!point.begin_again(at(120)));
        assert_eq!((point.findings().len(), point.complete), (1, None));
    }
}
