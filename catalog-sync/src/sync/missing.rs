//! Markets that are registered here and were in no list: asked for by condition.

use std::collections::{HashMap, HashSet};

use foretell_catalog::{CatalogError, SyncStatus, VanishedMarket};
use foretell_model::ConditionId;
use foretell_wire::text::ids;
use serde_json::Value;

use super::finding::{ListFinding, ListProblem};
use super::report::PullReport;
use super::resume_point::ResumePoint;
use super::{PageKind, Sync, SyncError};
use crate::exchange::RegisteredMarket;
use crate::resource::{List, Resource};
use crate::upstream::{Attempts, MarketsRequest, NAMED_MARKETS, UpstreamPage};

impl Sync {
    /// Whether a full pass has ended and no markets were looked for since.
    #[must_use]
    pub const fn is_search_due(&self) -> bool {
        self.is_search_due
    }

    /// The registered markets that the upstream did not have when they were last looked for.
    ///
    /// # Errors
    /// A database error.
    pub fn vanished(&self) -> Result<Vec<VanishedMarket>, CatalogError> {
        Ok(ResumePoint::load(&self.writer, self.upstream.name())?.vanished)
    }

    /// Looks for markets of an upstream that are registered here and not over, by their conditions: all of them
    /// while a search is due, else those that have vanished. What the upstream still has is stored;
    /// [`Self::vanished`] then has the others. A market that has another id than before gives up
    /// its old one.
    ///
    /// # Errors
    /// See [`SyncError`]. The next round looks again.
    pub async fn look_for(
        &mut self,
        registered: &[RegisteredMarket],
        pulled: &mut PullReport,
    ) -> Result<(), SyncError> {
        let missing = self.missing(registered)?;
        let conditions: Vec<ConditionId> = missing.iter().map(|it| it.condition).collect();
        let mut found = HashSet::new();
        for some in conditions.chunks(NAMED_MARKETS) {
            for closed in [false, true] {
                if self.is_at_limit(pulled)? {
                    return Ok(());
                }
                let request = MarketsRequest {
                    conditions: some,
                    closed,
                };
                let page = self.page(&request.to_string(), Attempts::All, pulled).await;
                let page = match page {
                    Ok(page) if has_others(&page, some) => Err("it answers with others".to_owned()),
                    Ok(page) => Ok(page),
                    Err(error) => Err(error.to_string()),
                };
                match page {
                    Ok(page) => {
                        found.extend(conditions_of(&page));
                        self.put(Resource::Markets, page, PageKind::Current, None, pulled)?;
                    }
                    Err(reason) => {
                        pulled.findings.push(ListFinding {
                            list: List::of(Resource::Markets, Some(closed)),
                            problem: ListProblem::NotByCondition(reason),
                        });
                        return Ok(());
                    }
                }
            }
        }
        self.supersede(registered)?;
        let mut point = ResumePoint::load(&self.writer, self.upstream.name())?;
        point.vanished = missing;
        point.vanished.retain(|it| !found.contains(&it.condition));
        self.is_search_due = false;
        self.put(
            Resource::Markets,
            UpstreamPage::default(),
            PageKind::Current,
            Some(&point),
            pulled,
        )?;
        Ok(())
    }

    /// Of these markets, those that no list had.
    fn missing(
        &self,
        registered: &[RegisteredMarket],
    ) -> Result<Vec<VanishedMarket>, CatalogError> {
        let vanished = self.vanished()?;
        let mut missing = Vec::new();
        for RegisteredMarket {
            condition, slug, ..
        } in registered
        {
            let known = self.catalog.upstream_markets(condition)?;
            let was_read = known.iter().any(|(id, _)| self.read_markets.contains(id));
            let is_due = match self.is_search_due {
                true => !was_read,
                false => vanished.iter().any(|it| it.condition == *condition),
            };
            if is_due {
                let record = known.into_iter().next();
                let (market, slug) = match record {
                    Some((id, slug)) => (Some(id), slug),
                    None => (None, slug.clone()),
                };
                missing.push(VanishedMarket {
                    condition: *condition,
                    market,
                    slug,
                });
            }
        }
        Ok(missing)
    }

    /// Takes the condition from records of the same market with an id that the upstream gave up.
    fn supersede(&mut self, registered: &[RegisteredMarket]) -> Result<(), CatalogError> {
        let mut old = Vec::new();
        for market in registered {
            let known = self.catalog.upstream_markets(&market.condition)?;
            let (read, unread): (Vec<u64>, Vec<u64>) =
                (known.iter().map(|(id, _)| *id)).partition(|id| self.read_markets.contains(id));
            if let Some(now) = read.first().filter(|_| self.is_search_due) {
                old.extend(unread.into_iter().map(|old| (old, *now)));
            }
        }
        if old.is_empty() {
            return Ok(());
        }
        let mut batch = self.writer.begin()?;
        old.into_iter()
            .try_for_each(|(id, now)| batch.supersede(id, now))?;
        batch.commit().map(|_| ())
    }

    /// Stores how far the catalog has the upstream after a round.
    ///
    /// # Errors
    /// A database error.
    pub fn keep_status(
        &mut self,
        pulled: &Result<PullReport, SyncError>,
        follows: bool,
    ) -> Result<(), CatalogError> {
        let point = ResumePoint::load(&self.writer, self.upstream.name())?;
        let pulled_findings = pulled.as_ref().map(|pulled| &*pulled.findings);
        let findings = pulled_findings.unwrap_or_else(|_| point.findings());
        let before = self.catalog.sync_status()?.unwrap_or_default();
        let mut status = SyncStatus {
            upstream: self.upstream.name().to_owned(),
            follows,
            round: Some(before.round)
                .filter(|_| before.upstream == self.upstream.name())
                .flatten(),
            complete: point.complete.map(jiff::Timestamp::as_second),
            is_complete: point.is_complete(),
            failed_lists: findings.iter().map(|it| it.list.to_string()).collect(),
            findings: findings.iter().map(ToString::to_string).collect(),
            vanished: point.vanished.clone(),
            stops_waiting: before.stops_waiting,
        };
        status.failed_lists.dedup();
        match pulled {
            Ok(pulled) if pulled.read_all_changes() => {
                status.round = Some(self.clock.now().as_second());
            }
            Ok(_) => {}
            Err(error) => status.findings.push(error.to_string()),
        }
        if status == before {
            return Ok(());
        }
        let mut batch = self.writer.begin()?;
        batch.set_sync_status(&status)?;
        batch.commit().map(|_| ())
    }
}

fn conditions_of(page: &UpstreamPage) -> Vec<ConditionId> {
    let of = |json: &Vec<u8>| {
        let record: HashMap<String, Value> = serde_json::from_slice(json).ok()?;
        ids::condition_id(record.get("conditionId")?.as_str()?.trim())
    };
    let rows = page.rows.iter().filter_map(|row| row.content.as_ref().ok());
    rows.filter_map(of).collect()
}

/// Whether a page has markets that were not asked for: the upstream ignores the conditions.
fn has_others(page: &UpstreamPage, asked: &[ConditionId]) -> bool {
    let found = conditions_of(page);
    found.iter().any(|condition| !asked.contains(condition))
}
