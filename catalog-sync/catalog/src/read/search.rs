//! Search: events by title, slug and the questions of their markets, tags by label.
//!
//! A term of several words finds what holds them all. Best first: a field that is the term, one
//! that begins with it, one that holds it, then what holds its words apart; among equals the
//! newest. Words of one or two characters are found where a word begins with them.

use std::collections::{BTreeSet, HashSet};

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::scope::Scope;
use super::{Catalog, texts};
use crate::error::CatalogError;
use crate::query::SearchQuery;
use crate::search_text::{BEGIN, END, phrase, prefix_word};
use crate::{ids, render};

/// Texts of three and more characters.
const TRIGRAMS: &str = "search";
/// What words begin with.
const PREFIXES: &str = "search_prefixes";

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
        let words = Words::of(&self.query.term);
        let all = self.with_every_word(&words)?;
        let needed = self.offset().saturating_add(self.limit());
        let mut found = Vec::new();
        let mut known = HashSet::new();
        let mut add = |ids: Vec<i64>| {
            found.extend(ids.into_iter().filter(|id| known.insert(*id)));
            found.len() < needed
        };
        // Each tier holds the one before it, so rows are only ever added behind.
        let mut wanting = all.total() > 0;
        let pieces = if wanting {
            self.pieces(&all, needed)?
        } else {
            Vec::new()
        };
        for tier in pieces {
            if wanting {
                wanting = add(self.in_one_piece(&tier, &all, needed)?);
            }
        }
        if wanting {
            add(all.newest(self, &words, needed)?);
        }
        let page: Vec<i64> = found
            .into_iter()
            .skip(self.offset())
            .take(self.limit())
            .collect();
        let short = "SELECT short FROM event_texts WHERE id = ?1";
        Ok((texts(self.connection, short, &page)?, all.total()))
    }

    /// What is looked up in one piece, best first: the term as a whole field, at the beginning of
    /// one, anywhere. Nowhere at all is most common with several words, and settles all three.
    fn pieces(&self, all: &Every, needed: usize) -> Result<Vec<String>, CatalogError> {
        let term = &self.query.term;
        let (whole, beginning) = (format!("{BEGIN}{term}{END}"), format!("{BEGIN}{term}"));
        // Three characters are the least that can be looked up.
        if term.chars().nth(2).is_none() {
            return Ok(vec![whole, beginning]);
        }
        if term.contains(' ') && self.in_one_piece(term, all, needed)?.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![whole, beginning, term.clone()])
    }

    fn in_one_piece(
        &self,
        text: &str,
        all: &Every,
        needed: usize,
    ) -> Result<Vec<i64>, CatalogError> {
        let limit = all.how_many_of_a_tier(needed);
        Ok(all.keep(self.newest(TRIGRAMS, &phrase(text), limit)?))
    }

    /// What holds every word of the term.
    fn with_every_word(&self, words: &Words) -> Result<Every, CatalogError> {
        match (&words.long, &words.short) {
            (Some(long), None) => Ok(Every::Counted(self.count(TRIGRAMS, long)?)),
            // One short word is never looked up in one piece.
            (None, Some(short)) if !self.query.term.contains(' ') => {
                Ok(Every::Counted(self.count(PREFIXES, short)?))
            }
            (None, Some(short)) => Ok(Every::Listed(self.newest(PREFIXES, short, usize::MAX)?)),
            (Some(long), Some(short)) => {
                let long = self.newest(TRIGRAMS, long, usize::MAX)?;
                let short = self.newest(PREFIXES, short, usize::MAX)?;
                Ok(Every::Listed(in_both(&long, &short)))
            }
            (None, None) => Ok(Every::Counted(0)),
        }
    }

    fn condition(&self, table: &str, asked: &str) -> (String, Vec<Value>) {
        let mut condition = format!("{table} WHERE {table} MATCH ?");
        let mut values = vec![Value::Text(asked.to_owned())];
        if let Some((made, creators)) = self.scope.condition("creator") {
            // The plus keeps the search the outer loop: asked row by row it takes for ever.
            condition.push_str(" AND +rowid IN (SELECT event_id FROM event_creators WHERE ");
            condition.push_str(&made);
            condition.push(')');
            values.extend(creators);
        }
        (condition, values)
    }

    /// The newest matches, at most `limit`.
    fn newest(&self, table: &str, asked: &str, limit: usize) -> Result<Vec<i64>, CatalogError> {
        let (condition, mut values) = self.condition(table, asked);
        let statement = format!("SELECT rowid FROM {condition} ORDER BY rowid DESC LIMIT ?");
        values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
        let mut statement = self.connection.prepare_cached(&statement)?;
        let rows = statement.query_map(params_from_iter(values), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    fn count(&self, table: &str, asked: &str) -> Result<u64, CatalogError> {
        let (condition, values) = self.condition(table, asked);
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

/// The words of a term, as each search table is asked for all of its own.
struct Words {
    /// Those of three and more characters.
    long: Option<String>,
    /// Those of one and two, found where a word begins with them.
    short: Option<String>,
}

impl Words {
    fn of(term: &str) -> Self {
        let once: BTreeSet<&str> = term.split(' ').collect();
        let (long, short): (Vec<&str>, Vec<&str>) = once
            .into_iter()
            .partition(|word| word.chars().nth(2).is_some());
        let joined = |asked: Vec<String>| (!asked.is_empty()).then(|| asked.join(" AND "));
        let prefix = |word| phrase(&prefix_word(word));
        Self {
            long: joined(long.into_iter().map(phrase).collect()),
            short: joined(short.into_iter().map(prefix).collect()),
        }
    }
}

/// The events that hold every word of the term.
enum Every {
    /// One table knows them all; this many.
    Counted(u64),
    /// Both tables were needed: their ids, newest first.
    Listed(Vec<i64>),
}

impl Every {
    fn total(&self) -> u64 {
        match self {
            Self::Counted(count) => *count,
            Self::Listed(ids) => ids.len() as u64,
        }
    }

    /// How many of a tier are looked up to have `needed` of those kept.
    const fn how_many_of_a_tier(&self, needed: usize) -> usize {
        match self {
            Self::Counted(_) => needed,
            Self::Listed(_) => usize::MAX,
        }
    }

    /// Those of a tier that hold every word: `a bob` is held in one piece
    /// by `extra bob` too, where no word begins with `a`.
    fn keep(&self, mut tier: Vec<i64>) -> Vec<i64> {
        if let Self::Listed(ids) = self {
            tier.retain(|id| ids.binary_search_by(|other| id.cmp(other)).is_ok());
        }
        tier
    }

    fn newest(
        &self,
        search: &Search<'_>,
        words: &Words,
        needed: usize,
    ) -> Result<Vec<i64>, CatalogError> {
        match (self, &words.long, &words.short) {
            (Self::Listed(ids), ..) => Ok(ids.clone()),
            (Self::Counted(_), Some(long), _) => search.newest(TRIGRAMS, long, needed),
            (Self::Counted(_), None, Some(short)) => search.newest(PREFIXES, short, needed),
            (Self::Counted(_), None, None) => Ok(Vec::new()),
        }
    }
}

/// What stands in both of two lists that fall.
fn in_both(one: &[i64], other: &[i64]) -> Vec<i64> {
    let mut other = other.iter().copied().peekable();
    let stands = |id: &i64| {
        while other.next_if(|next| next > id).is_some() {}
        other.peek() == Some(id)
    };
    one.iter().copied().filter(stands).collect()
}
