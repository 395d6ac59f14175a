//! Search: events by title, slug and the questions of their markets, tags by label.
//!
//! All words of a term must match. Ranking: a field equals the term, begins with it, contains it,
//! then contains its words separately; within a class newest first. Words of one or two characters
//! match only at the beginning of a word.
//!
//! The index lists the events of each trigram. If some trigram of the term is in few events, only
//! those events are read. Otherwise one scan reads all texts, newest first, and yields rank and
//! count. So no search costs more than one scan.

mod candidates;
mod ranked;

use std::sync::Arc;

use foretell_wire::json_text;
use rusqlite::Connection;

use self::candidates::Candidates;
use self::ranked::Ranked;
use super::creator_filter::CreatorFilter;
use super::groups::GroupSets;
use super::{Catalog, array_of};
use crate::error::CatalogError;
use crate::query::{FlagFilter, Order, Page, SearchQuery};
use crate::schema::Pagination;
use crate::search_match::Matcher;
use crate::table::{ListRequest, RowSet, Table, WantedFlags};
use crate::{ids, render};

impl Catalog {
    /// `GET /public-search`: `{events, tags, pagination}`. `totalResults` counts events.
    ///
    /// # Errors
    /// What the database said.
    pub fn search(&self, query: &SearchQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.pool.with_texts(|connection| {
            let filter = match query.has_event_filter() {
                true => Some(EventFilter::of(connection, self.table(connection)?, query)?),
                false => None,
            };
            let creator_events = match &scope {
                CreatorFilter::All => None,
                CreatorFilter::Creators(creators) => {
                    let table = self.table(connection)?;
                    let events = table.events_by(creators);
                    Some(CreatorEvents { table, events })
                }
            };
            let search = Search {
                connection,
                query,
                creator_events: creator_events.as_ref(),
                filter: filter.as_ref(),
            };
            let (events, total) = search.events()?;
            let tags = if query.tags {
                search.tags()?
            } else {
                Vec::new()
            };
            let shown = u64::try_from(query.page * query.limit).unwrap_or(u64::MAX);
            let tags = render::array(&tags);
            let pagination = json_text(&Pagination {
                has_more: shown < total,
                total_results: total,
            });
            Ok(format!(
                r#"{{"events":{events},"tags":{tags},"pagination":{pagination}}}"#
            ))
        })
    }
}

struct Search<'s> {
    connection: &'s Connection,
    query: &'s SearchQuery,
    /// The creators' records; `None` for all records.
    creator_events: Option<&'s CreatorEvents>,
    /// Filter and sort order of events; `None` without.
    filter: Option<&'s EventFilter>,
}

/// Records of the creators in a search.
struct CreatorEvents {
    table: Arc<Table>,
    events: RowSet,
}

impl CreatorEvents {
    /// The ids of the events, ascending.
    fn ids(&self) -> Vec<i64> {
        let rows = self.events.rows();
        let mut ids: Vec<i64> = rows.map(|row| self.table.events.id(row)).collect();
        ids.sort_unstable();
        ids
    }

    /// Number of the events with a tag.
    fn with_tag(&self, tag: i64) -> usize {
        let events = self.table.tags.rows_of(tag);
        events.filter(|event| self.events.contains(*event)).count()
    }
}

/// The options of a search that need the table.
struct EventFilter {
    table: Arc<Table>,
    groups: GroupSets,
}

impl EventFilter {
    fn of(
        connection: &Connection,
        table: Arc<Table>,
        query: &SearchQuery,
    ) -> Result<Self, CatalogError> {
        let groups = GroupSets::of(connection, &table, &query.groups())?;
        Ok(Self { table, groups })
    }

    /// Whether an event passes.
    fn pass(&self, id: i64, flags: FlagFilter) -> bool {
        let (events, wanted) = (&self.table.events, WantedFlags::from(flags));
        let row = events.row_of(id);
        row.is_some_and(|row| events.has(row, wanted) && self.groups.pass(Some(row)))
    }
}

impl Search<'_> {
    fn offset(&self) -> usize {
        (self.query.page - 1) * self.query.limit
    }

    /// The events of the page as an array, and the total number of matches.
    fn events(&self) -> Result<(String, u64), CatalogError> {
        let matcher = Matcher::of(&self.query.term);
        let mut ranked = Ranked::up_to(self.offset() + self.query.limit);
        let candidates = Candidates::of(
            self.connection,
            &self.query.term,
            self.creator_events.map(CreatorEvents::ids),
        )?;
        let (flags, order) = (self.query.flags(), self.query.order());
        let mut matches = Vec::new();
        candidates.texts(self.connection, |id, text| {
            if let Some(match_class) = matcher.match_class(text)
                && candidates.are_in_scope(id)
                && self.filter.is_none_or(|filter| filter.pass(id, flags))
            {
                ranked.push(match_class, id);
                matches.extend(order.is_some().then_some(id));
            }
        })?;
        let page = match (&order, self.filter) {
            (Some(order), Some(filter)) => self.sorted(&filter.table, order, matches),
            _ => ranked.page(self.offset(), self.query.limit),
        };
        let short = "SELECT short FROM event_texts WHERE id = ?1";
        Ok((array_of(self.connection, short, &page)?, ranked.total()))
    }

    /// The page of the matches in a sort order.
    fn sorted(&self, table: &Table, order: &Order, matches: Vec<i64>) -> Vec<i64> {
        let asked = ListRequest {
            after: None,
            flags: FlagFilter::default(),
            order,
            page: Page {
                limit: self.query.limit,
                offset: self.offset(),
            },
            ranges: &[],
            selection: Some(matches),
        };
        let rows = table.events.page(&asked, |_| true);
        rows.into_iter().map(|row| table.events.id(row)).collect()
    }

    /// The tags of the page: label equals, begins with, contains the term; then newest first. A tag
    /// counts only events in scope, and is in scope if it has any.
    fn tags(&self) -> Result<Vec<String>, CatalogError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT id, label, slug, event_count FROM tags WHERE instr(searched, ?1) > 0
             ORDER BY searched <> ?1, instr(searched, ?1) <> 1, id DESC",
        )?;
        let mut found = statement.query([&self.query.term])?;
        let (mut before, mut tags) = (0, Vec::new());
        while tags.len() < self.query.limit
            && let Some(row) = found.next()?
        {
            let id = row.get(0)?;
            let events = match self.creator_events {
                None => row.get(3)?,
                Some(creator_events) => {
                    i64::try_from(creator_events.with_tag(id)).unwrap_or(i64::MAX)
                }
            };
            if self.creator_events.is_some() && events == 0 {
                continue;
            }
            before += 1;
            if before > self.offset() {
                let (label, slug): (String, String) = (row.get(1)?, row.get(2)?);
                let [id, events] = [id, events].map(ids::of_row);
                tags.push(render::search_tag(id, &label, &slug, events));
            }
        }
        Ok(tags)
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
