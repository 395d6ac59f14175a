//! Search: events by title, slug and the questions of their markets, tags by label.
//!
//! A term of several words finds what holds them all. Best first: a field that is the term, one
//! that begins with it, one that holds it, then what holds its words apart; among equals the
//! newest. Words of one or two characters are found where a word begins with them.
//!
//! The index says which events hold three characters in a row. When few hold some three of the
//! term, only those are looked at; otherwise every text is read through, newest first, once. So
//! the costliest search costs one reading, whatever is asked: rank and count come with it.

mod candidates;
mod ranked;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use self::candidates::Candidates;
use self::ranked::Ranked;
use super::scope::Scope;
use super::{Catalog, texts};
use crate::error::CatalogError;
use crate::query::SearchQuery;
use crate::search_match::Matcher;
use crate::{ids, render};

impl Catalog {
    /// `GET /public-search`: `{events, tags, pagination}`. `totalResults` counts events.
    ///
    /// # Errors
    /// What the database said.
    pub fn search(&self, query: &SearchQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.pool.with_texts(|connection| {
            let search = Search {
                connection,
                query,
                scope: &scope,
            };
            let (events, total) = search.events()?;
            let tags = if query.tags {
                search.tags()?
            } else {
                Vec::new()
            };
            let shown = u64::from(query.page) * u64::from(query.limit);
            Ok(format!(
                r#"{{"events":{},"tags":{},"pagination":{{"hasMore":{},"totalResults":{total}}}}}"#,
                render::array(&events),
                render::array(&tags),
                shown < total
            ))
        })
    }
}

struct Search<'s> {
    connection: &'s Connection,
    query: &'s SearchQuery,
    scope: &'s Scope,
}

impl Search<'_> {
    fn offset(&self) -> usize {
        let before = u64::from(self.query.page - 1) * u64::from(self.query.limit);
        usize::try_from(before).unwrap_or(usize::MAX)
    }

    fn limit(&self) -> usize {
        usize::try_from(self.query.limit).unwrap_or(usize::MAX)
    }

    /// The events of the page, and how many there are in all.
    fn events(&self) -> Result<(Vec<String>, u64), CatalogError> {
        let matcher = Matcher::of(&self.query.term);
        let mut ranked = Ranked::up_to(self.offset().saturating_add(self.limit()));
        let candidates = Candidates::of(self.connection, &self.query.term, self.scope)?;
        candidates.texts(self.connection, |id, text| {
            if let Some(way) = matcher.way(text)
                && candidates.are_in_scope(id)
            {
                ranked.push(way, id);
            }
        })?;
        let page = ranked.page(self.offset(), self.limit());
        let short = "SELECT short FROM event_texts WHERE id = ?1";
        Ok((texts(self.connection, short, &page)?, ranked.total()))
    }

    /// The tags of the page: label equal, beginning, holding; then the newest.
    fn tags(&self) -> Result<Vec<String>, CatalogError> {
        let (events, creators) = match self.scope.condition("creator") {
            None => ("event_count".to_owned(), Vec::new()),
            Some((made, creators)) => (
                format!(
                    "(SELECT COUNT(DISTINCT t.event_id) FROM event_tags t
                      JOIN event_creators USING (event_id) WHERE t.tag_id = tags.id AND {made})"
                ),
                creators,
            ),
        };
        let least = i64::from(!matches!(self.scope, Scope::All));
        let statement = format!(
            "SELECT id, label, slug, events FROM
               (SELECT id, label, slug, searched, {events} AS events FROM tags
                WHERE instr(searched, ?) > 0)
             WHERE events >= ?
             ORDER BY searched <> ?, instr(searched, ?) <> 1, id DESC LIMIT ? OFFSET ?"
        );
        let term = || Value::Text(self.query.term.clone());
        let page = [self.limit(), self.offset()]
            .map(|rows| Value::from(i64::try_from(rows).unwrap_or(i64::MAX)));
        let values = creators
            .into_iter()
            .chain([term(), Value::from(least), term(), term()])
            .chain(page);
        let mut statement = self.connection.prepare_cached(&statement)?;
        let rows = statement.query_map(params_from_iter(values), |row| {
            let (label, slug): (String, String) = (row.get(1)?, row.get(2)?);
            let (id, events) = (ids::of_row(row.get(0)?), ids::of_row(row.get(3)?));
            Ok(render::search_tag(id, &label, &slug, events))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
