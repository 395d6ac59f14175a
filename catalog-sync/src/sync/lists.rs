//! A full pass through the lists of an upstream.

use jiff::Timestamp;

use super::finding::ListProblem;
use super::report::PullReport;
use super::resume_point::{Paging, Reading, ResumePoint};
use super::{PageKind, Sync, SyncError};
use crate::limits::PAGE_ROWS;
use crate::pass::{FullPass, PassStep};
use crate::upstream::{Attempts, ListOrder, PageRequest, Position, UpstreamError, UpstreamPage};

/// What follows a page that was not received.
enum AfterFailure {
    /// The upstream has no pages by cursor.
    ByOffset,
    /// It no longer knows the cursor of an earlier round.
    FromBeginning,
    /// The list ends here.
    End(ListProblem),
}

impl Sync {
    /// Reads the lists of the running pass, if there is one; `false` when the round's limit came
    /// first.
    pub(super) async fn full(
        &mut self,
        point: &mut ResumePoint,
        pulled: &mut PullReport,
    ) -> Result<bool, SyncError> {
        let Some(is_retry) = point.full.as_ref().map(|full| full.is_retry) else {
            return Ok(true);
        };
        let attempts = if is_retry {
            Attempts::One
        } else {
            Attempts::All
        };
        while let Some(reading) = first(point) {
            self.progress.begin(reading.list.to_string());
            if !self.list(reading, attempts, point, pulled).await? {
                return Ok(false);
            }
        }
        pulled.ended = !is_retry;
        self.is_search_due = true;
        point.finish();
        Ok(true)
    }

    /// Reads a list, or the rest of it, up to its limit; `false` when the round's limit came first.
    async fn list(
        &mut self,
        reading: Reading,
        attempts: Attempts,
        point: &mut ResumePoint,
        pulled: &mut PullReport,
    ) -> Result<bool, SyncError> {
        let (list, mut read) = (reading.list, reading.read);
        let resource = list.resource;
        let mut is_resumed = reading.position.is_some();
        let begin = reading
            .position
            .unwrap_or_else(|| point.first_page(resource));
        let mut pass = FullPass::from(begin);
        loop {
            if self.is_at_limit(pulled)? {
                let nothing = UpstreamPage::default();
                self.put(resource, nothing, PageKind::Current, Some(point), pulled)?;
                return Ok(false);
            }
            let request = PageRequest {
                list,
                order: ListOrder::Oldest,
                limit: PAGE_ROWS,
                position: pass.position().clone(),
            };
            let page = match self.page(&request.to_string(), attempts, pulled).await {
                Ok(page) if !is_by_offset(&request.position, &page) => page,
                Ok(_) => {
                    point.page_by(resource, Paging::Offset);
                    pass = FullPass::from(Position::Offset(0));
                    continue;
                }
                Err(error) => match after(&error, &request.position, read.rows, is_resumed) {
                    AfterFailure::ByOffset => {
                        point.page_by(resource, Paging::Offset);
                        pass = FullPass::from(Position::Offset(0));
                        continue;
                    }
                    AfterFailure::FromBeginning => {
                        is_resumed = false;
                        pass = FullPass::from(Position::Cursor(None));
                        continue;
                    }
                    AfterFailure::End(_) if is_unreachable(&error, pulled) => {
                        return Err(error.into());
                    }
                    AfterFailure::End(problem) => {
                        point.end_list(Some(problem));
                        return Ok(true);
                    }
                },
            };
            is_resumed = false;
            if request.position == Position::Cursor(None) {
                point.page_by(resource, Paging::Keyset);
            }
            point.saw(resource, newest(&page));
            let step = pass.take(&page);
            read = read.and(&page);
            let limit = self.limits.of_list(resource, read.rows, read.bytes);
            let end = match step {
                PassStep::Done => Some(None),
                PassStep::Repeats | PassStep::Unordered => Some(Some(ListProblem::Repeats)),
                PassStep::More | PassStep::Again => {
                    limit.as_ref().map(|limit| Some(ListProblem::limit(limit)))
                }
            };
            match &end {
                Some(problem) => point.end_list(problem.clone()),
                None => point.reached(pass.position().clone(), read),
            }
            if matches!(end, Some(Some(ListProblem::Limit(_)))) {
                pulled.reach(limit);
            }
            self.put(resource, page, PageKind::Current, Some(point), pulled)?;
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

fn first(point: &ResumePoint) -> Option<Reading> {
    point.full.as_ref()?.rest.first().cloned()
}

/// Whether an answer to a first request by cursor shows that the upstream ignores cursors: a bare
/// list, or a full page that names no next one.
fn is_by_offset(position: &Position, page: &UpstreamPage) -> bool {
    let rows = u64::try_from(page.rows.len()).unwrap_or(u64::MAX);
    let is_whole = page.is_wrapped && (page.next_cursor.is_some() || rows < PAGE_ROWS);
    *position == Position::Cursor(None) && !is_whole
}

/// Whether the upstream cannot be reached at all, so that no other list needs to be tried.
pub(super) fn is_unreachable(error: &UpstreamError, pulled: &PullReport) -> bool {
    pulled.pages == 0 && matches!(error, UpstreamError::NoAnswer { .. })
}

fn after(error: &UpstreamError, position: &Position, rows: u64, is_resumed: bool) -> AfterFailure {
    let is_json = !matches!(
        error,
        UpstreamError::Broken { .. } | UpstreamError::NotJson { .. }
    );
    let ends_at = |offset| ListProblem::EndsAt {
        offset,
        reason: error.to_string(),
    };
    match position {
        Position::Cursor(None) if error.is_rejection() || !is_json => AfterFailure::ByOffset,
        Position::Cursor(Some(_)) if error.is_rejection() && is_resumed => {
            AfterFailure::FromBeginning
        }
        Position::Cursor(Some(_)) if error.is_rejection() => AfterFailure::End(ends_at(rows)),
        Position::Offset(offset @ 1..) if error.is_rejection() => {
            AfterFailure::End(ends_at(*offset))
        }
        _ => AfterFailure::End(ListProblem::unreadable(error)),
    }
}

fn newest(page: &UpstreamPage) -> Option<Timestamp> {
    page.rows.iter().filter_map(|row| row.updated).max()
}
