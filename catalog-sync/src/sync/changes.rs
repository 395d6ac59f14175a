//! A pass through the changes since the last pass.

use jiff::Timestamp;

use super::lists::is_unreachable;
use super::report::PullReport;
use super::resume_point::{AmountRead, ResumePoint};
use super::{PageKind, Sync, SyncError};
use crate::limits::PAGE_ROWS;
use crate::pass::{PassStep, UpdatedPass};
use crate::resource::{List, Resource};
use crate::upstream::{Attempts, ListOrder, PageRequest, Position};

/// How a pass through the changes of a list ended.
enum Changes {
    /// All were read; the newest `updatedAt`.
    All(Option<Timestamp>),
    /// There are others: only a full pass finds them.
    Some,
    /// They cannot be read now.
    Failed,
    /// The round's limit came first.
    AtLimit,
}

impl Sync {
    /// Reads the changes; returns whether it read all of them. `false` if the upstream ignored the
    /// requested order or there were too many: a full pass follows, over several rounds if needed.
    pub(super) async fn updated(
        &mut self,
        point: &mut ResumePoint,
        pulled: &mut PullReport,
    ) -> Result<bool, SyncError> {
        let mut are_all = true;
        for resource in [Resource::Events, Resource::Markets] {
            let Some(seen) = point.seen(resource) else {
                continue;
            };
            self.progress.begin(format!("changed {}", resource.name()));
            let began = self.clock.now();
            let (mut newest, mut has_failed) = (None, false);
            for closed in [false, true] {
                let list = List::of(resource, Some(closed));
                match self.changes(list, seen, point, pulled).await? {
                    Changes::All(its) => newest = newest.max(its),
                    Changes::Failed => has_failed = true,
                    Changes::AtLimit => return Ok(false),
                    Changes::Some => {
                        (has_failed, are_all) = (true, false);
                        break;
                    }
                }
            }
            if !has_failed {
                // Clamp: an `updatedAt` in the future would hide all later changes.
                point.advance(resource, newest.map(|newest| newest.min(began)));
            }
            pulled.changes_failed |= has_failed && are_all;
        }
        Ok(are_all)
    }

    async fn changes(
        &mut self,
        list: List,
        seen: Timestamp,
        point: &ResumePoint,
        pulled: &mut PullReport,
    ) -> Result<Changes, SyncError> {
        let mut pass = UpdatedPass::since(seen, point.first_page(list.resource));
        let mut read = AmountRead::default();
        loop {
            if self.is_at_limit(pulled)? {
                return Ok(Changes::AtLimit);
            }
            let request = PageRequest {
                list,
                order: ListOrder::LastUpdated,
                limit: PAGE_ROWS,
                position: pass.position().clone(),
            };
            let page = match self.page(&request.to_string(), Attempts::All, pulled).await {
                Ok(page) => page,
                // Pages by cursor in this order are rare: by offset the newest changes come first.
                Err(error)
                    if error.is_rejection() && request.position == Position::Cursor(None) =>
                {
                    pass = UpdatedPass::since(seen, Position::Offset(0));
                    continue;
                }
                Err(error) if error.is_rejection() => return Ok(Changes::Some),
                Err(error) if is_unreachable(&error, pulled) => return Err(error.into()),
                Err(_) => return Ok(Changes::Failed),
            };
            let next = pass.take(&page);
            read = read.and(&page);
            self.put(list.resource, page, PageKind::Changes, None, pulled)?;
            let limit = self.limits.of_list(list.resource, read.rows, read.bytes);
            let is_over = matches!(next, PassStep::More | PassStep::Again) && pulled.reach(limit);
            match next {
                PassStep::Done => return Ok(Changes::All(pass.newest())),
                PassStep::Unordered | PassStep::Repeats => return Ok(Changes::Some),
                PassStep::More | PassStep::Again if is_over => return Ok(Changes::Some),
                PassStep::More | PassStep::Again => {}
            }
        }
    }
}
