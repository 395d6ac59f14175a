//! The events whose texts a search must read.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};

use crate::error::CatalogError;
use crate::search_match::is_long;
use crate::search_text::{phrase, prefix_word};

/// Up to this many events, single reads are cheaper than a scan of all texts. Unit tests have few
/// records and cover both paths.
const MAX_SINGLE_READS: usize = if cfg!(test) { 3 } else { 2_000 };
/// Most trigrams of a term that are looked up; a subset suffices for longer terms.
const PROBES: usize = 16;
/// Events that contain a trigram.
const TRIGRAMS: &str =
    "SELECT rowid FROM search WHERE search MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
/// Events with a word that begins with one or two given characters.
const PREFIXES: &str = "SELECT rowid FROM search_prefixes WHERE search_prefixes MATCH ?1
                        ORDER BY rowid DESC LIMIT ?2";

/// A superset of the matches.
pub(super) struct Candidates {
    /// Newest first; `None` for all events.
    listed: Option<Vec<i64>>,
    /// Events of the search's creators, ascending; `None` for all.
    scope: Option<Vec<i64>>,
}

impl Candidates {
    /// The candidates of a term and an optional scope, whose ids are ascending.
    pub(super) fn of(
        connection: &Connection,
        term: &str,
        scope: Option<Vec<i64>>,
    ) -> Result<Self, CatalogError> {
        let mut listed = shortest_list(connection, term)?;
        if let Some(scope) = &scope
            && scope.len() <= listed.as_ref().map_or(MAX_SINGLE_READS, Vec::len)
        {
            listed = Some(scope.iter().rev().copied().collect());
        }
        Ok(Self { listed, scope })
    }

    /// Whether an event belongs to the search's creators.
    pub(super) fn are_in_scope(&self, id: i64) -> bool {
        let scope = self.scope.as_ref();
        scope.is_none_or(|scope| scope.binary_search(&id).is_ok())
    }

    /// Passes the text of each candidate to `visit`, newest first.
    pub(super) fn texts(
        &self,
        connection: &Connection,
        mut visit: impl FnMut(i64, &[u8]),
    ) -> Result<(), CatalogError> {
        let Some(ids) = &self.listed else {
            let mut all =
                connection.prepare_cached("SELECT id, text FROM search_texts ORDER BY id DESC")?;
            let mut rows = all.query([])?;
            while let Some(row) = rows.next()? {
                visit(row.get(0)?, row.get_ref(1)?.as_bytes().unwrap_or_default());
            }
            return Ok(());
        };
        let mut one = connection.prepare_cached("SELECT text FROM search_texts WHERE id = ?1")?;
        for id in ids {
            one.query_row([id], |row| {
                visit(*id, row.get_ref(0)?.as_bytes().unwrap_or_default());
                Ok(())
            })
            .optional()?;
        }
        Ok(())
    }
}

/// The shortest list of events that contain one trigram of the term. If all its words are shorter:
/// that begin a word with one of them. `None` when every such list is long.
fn shortest_list(connection: &Connection, term: &str) -> Result<Option<Vec<i64>>, CatalogError> {
    let words: BTreeSet<&str> = term.split(' ').collect();
    let (long, short): (Vec<&str>, Vec<&str>) = words.into_iter().partition(|it| is_long(it));
    let (statement, asked) = if long.is_empty() {
        let prefix = |word: &&str| phrase(&prefix_word(word));
        (PREFIXES, short.iter().map(prefix).collect())
    } else {
        (TRIGRAMS, trigrams(&long))
    };
    let mut statement = connection.prepare_cached(statement)?;
    let mut shortest: Option<Vec<i64>> = None;
    for asked in asked {
        let long = shortest.as_ref().map_or(MAX_SINGLE_READS + 1, Vec::len);
        let limit = i64::try_from(long).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![asked, limit], |row| row.get(0))?;
        let found: Vec<i64> = rows.collect::<Result<_, _>>()?;
        if found.len() < long {
            shortest = Some(found);
        }
    }
    Ok(shortest)
}

/// Distinct trigrams of the words, selected evenly.
fn trigrams(words: &[&str]) -> Vec<String> {
    let mut all = BTreeSet::new();
    for word in words {
        let mut starts: Vec<usize> = word.char_indices().map(|(at, _)| at).collect();
        starts.push(word.len());
        all.extend(starts.windows(4).map(|part| &word[part[0]..part[3]]));
    }
    let every = all.len().div_ceil(PROBES).max(1);
    all.into_iter().step_by(every).map(phrase).collect()
}
