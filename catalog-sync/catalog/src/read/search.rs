//! Search: events by title, slug and the questions of their markets, tags by label.
//!
//! A term of several words finds what holds them all. Best first: a field that is the term, one
//! that begins with it, one that holds it, then what holds its words apart; among equals the
//! newest. Words of one or two characters are found where a word begins with them.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::scope::Scope;
use super::{Catalog, texts};
use crate::error::CatalogError;
use crate::query::SearchQuery;
use crate::search_text::{BEGIN, END, phrase, prefix_word};
use crate::{ids, render};

impl Catalog {
    /// `GET /public-search`: `{events, tags, pagination}`. `totalResults` counts events.
    ///
    /// # Errors
    /// What the database said.
    pub fn search(&self, query: &SearchQuery) -> Result<String, CatalogError> {
        let scope = self.scope(query.creator.as_deref());
        self.pool.with(|connection| {
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
        let term = &self.query.term;
        let all = Matches::of_words(term);
        let total = self.count(&all)?;
        let needed = self.offset().saturating_add(self.limit());
        let mut found: Vec<i64> = Vec::new();
        let tiers = [
            Matches::of_text(&format!("{BEGIN}{term}{END}")),
            Matches::of_text(&format!("{BEGIN}{term}")),
            Matches {
                prefixes: all.prefixes.clone(),
                ..Matches::of_text(term)
            },
            all,
        ];
        // Each tier holds the one before it, so rows are only ever added behind.
        for tier in tiers.iter().filter(|tier| tier.finds_anything()) {
            if found.len() >= needed || u64::try_from(found.len()).is_ok_and(|found| found >= total)
            {
                break;
            }
            let ids = self.newest(tier, needed)?;
            let known: std::collections::HashSet<i64> = found.iter().copied().collect();
            found.extend(ids.into_iter().filter(|id| !known.contains(id)));
        }
        let page: Vec<i64> = found
            .into_iter()
            .skip(self.offset())
            .take(self.limit())
            .collect();
        let short = "SELECT short FROM event_texts WHERE id = ?1";
        Ok((texts(self.connection, short, &page)?, total))
    }

    fn condition(&self, matches: &Matches) -> (String, Vec<Value>) {
        let (mut condition, mut values) = matches.condition();
        if let Some((made, creators)) = self.scope.condition("creator") {
            condition.push_str(&format!(
                " AND rowid IN (SELECT event_id FROM event_creators WHERE {made})"
            ));
            values.extend(creators);
        }
        (condition, values)
    }

    /// The newest matches: as many as could be needed behind what better tiers found.
    fn newest(&self, matches: &Matches, needed: usize) -> Result<Vec<i64>, CatalogError> {
        let (condition, mut values) = self.condition(matches);
        let statement = format!("SELECT rowid FROM {condition} ORDER BY rowid DESC LIMIT ?");
        values.push(Value::from(i64::try_from(needed).unwrap_or(i64::MAX)));
        let mut statement = self.connection.prepare_cached(&statement)?;
        let rows = statement.query_map(params_from_iter(values), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn count(&self, matches: &Matches) -> Result<u64, CatalogError> {
        let (condition, values) = self.condition(matches);
        let statement = format!("SELECT COUNT(*) FROM {condition}");
        let mut statement = self.connection.prepare_cached(&statement)?;
        Ok(statement.query_row(params_from_iter(values), |row| row.get(0).map(ids::of_row))?)
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

/// What is asked of the two search tables.
struct Matches {
    /// Of `search`: texts of three and more characters.
    trigrams: Vec<String>,
    /// Of `search_prefixes`: what a word begins with.
    prefixes: Vec<String>,
}

impl Matches {
    /// A text as one piece; not searchable when it is shorter than three characters.
    fn of_text(text: &str) -> Self {
        let long = text.chars().nth(2).is_some();
        Self {
            trigrams: long.then(|| phrase(text)).into_iter().collect(),
            prefixes: Vec::new(),
        }
    }

    /// Every word of a text.
    fn of_words(text: &str) -> Self {
        let (long, short): (Vec<&str>, Vec<&str>) = text
            .split(' ')
            .partition(|word| word.chars().nth(2).is_some());
        Self {
            trigrams: long.into_iter().map(phrase).collect(),
            prefixes: short
                .into_iter()
                .map(|word| phrase(&prefix_word(word)))
                .collect(),
        }
    }

    const fn finds_anything(&self) -> bool {
        !self.trigrams.is_empty() || !self.prefixes.is_empty()
    }

    /// `table WHERE …`, and its values.
    fn condition(&self) -> (String, Vec<Value>) {
        let prefixes = || Value::Text(self.prefixes.join(" AND "));
        let trigrams = || Value::Text(self.trigrams.join(" AND "));
        if self.trigrams.is_empty() {
            return (
                "search_prefixes WHERE search_prefixes MATCH ?".to_owned(),
                vec![prefixes()],
            );
        }
        if self.prefixes.is_empty() {
            return ("search WHERE search MATCH ?".to_owned(), vec![trigrams()]);
        }
        (
            "search WHERE search MATCH ? AND rowid IN
               (SELECT rowid FROM search_prefixes WHERE search_prefixes MATCH ?)"
                .to_owned(),
            vec![trigrams(), prefixes()],
        )
    }
}
