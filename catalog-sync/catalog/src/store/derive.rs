//! End of a batch: rewrites all data derived from its changed records, once per record and inside
//! the same transaction.

use std::collections::BTreeSet;

use rusqlite::{Connection, OptionalExtension, params};

use super::dirty_records::DirtyRecords;
use super::links::{self, SERIES, TAGS};
use crate::error::CatalogError;
use crate::search_text::{document, prefixes};
use crate::{ids, render};

/// Rewrites the derived data of a batch.
pub(super) fn derive(connection: &Connection, dirty: &DirtyRecords) -> Result<(), CatalogError> {
    let mut changes = ChangeNumbers::load(connection)?;
    let mut tags = dirty.tags.clone();
    for event in &dirty.events {
        // A market may name an event whose own record was skipped.
        if let Some(texts) = StoredTexts::of(connection, *event)?
            && derive_event(connection, *event, &texts, changes.next())?
        {
            tags.extend(links::of_event(connection, TAGS, *event)?);
        }
    }
    for tag in &tags {
        connection
            .prepare_cached(
                "UPDATE tags SET event_count =
                   (SELECT COUNT(*) FROM event_tags JOIN events ON id = event_id
                    WHERE tag_id = ?1 AND hidden = 0) WHERE id = ?1",
            )?
            .execute([ids::row(*tag)])?;
    }
    for market in &dirty.lone_markets {
        connection
            .prepare_cached("UPDATE markets SET change = ?2 WHERE id = ?1 AND event_id IS NULL")?
            .execute(params![ids::row(*market), changes.next()])?;
    }
    changes.store(connection)
}

/// Allocates change numbers. They increase within a transaction and become visible at its commit,
/// so a reader at change n has seen all changes up to n.
struct ChangeNumbers {
    last: i64,
}

impl ChangeNumbers {
    fn load(connection: &Connection) -> Result<Self, CatalogError> {
        let last = connection
            .prepare_cached("SELECT last FROM changes")?
            .query_row([], |row| row.get(0))?;
        Ok(Self { last })
    }

    const fn next(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    fn store(self, connection: &Connection) -> Result<(), CatalogError> {
        connection
            .prepare_cached("UPDATE changes SET last = ?1 WHERE last <> ?1")?
            .execute([self.last])?;
        Ok(())
    }
}

/// Returns whether the event was hidden or shown.
fn derive_event(
    connection: &Connection,
    event: u64,
    texts: &StoredTexts,
    change: i64,
) -> Result<bool, CatalogError> {
    let tags = texts_of_links(
        connection,
        TAGS,
        "SELECT json FROM tags WHERE id = ?1",
        event,
    )?;
    let series = texts_of_links(
        connection,
        SERIES,
        "SELECT json FROM series WHERE id = ?1",
        event,
    )?;
    let whole = render::with_fields(
        &texts.base,
        &[
            ("tags", &render::array(&tags)),
            ("series", &render::array(&series)),
            ("eventMetadata", &texts.metadata),
        ],
    );
    let (questions, hidden) = questions_of(connection, event)?;
    let is_hidden = questions.is_empty() && hidden > 0;
    let fields = [texts.title.as_str(), texts.slug.as_str()].into_iter();
    let questions = questions.iter().map(String::as_str);
    let search_text = (!is_hidden).then(|| document(fields.chain(questions)));
    if texts.search_text != search_text {
        let is_new = texts.search_text.is_none();
        index_event(connection, event, search_text.as_deref(), is_new)?;
    }
    connection
        .prepare_cached("UPDATE event_texts SET whole = ?2 WHERE id = ?1")?
        .execute(params![ids::row(event), whole])?;
    connection
        .prepare_cached("UPDATE events SET change = ?2, hidden = ?3 WHERE id = ?1")?
        .execute(params![ids::row(event), change, is_hidden])?;
    derive_creators(connection, event)?;
    Ok(texts.hidden != is_hidden)
}

/// Stored texts of an event.
struct StoredTexts {
    base: String,
    metadata: String,
    /// Its indexed search text, if it is indexed.
    search_text: Option<String>,
    title: String,
    slug: String,
    hidden: bool,
}

impl StoredTexts {
    fn of(connection: &Connection, event: u64) -> Result<Option<Self>, CatalogError> {
        Ok(connection
            .prepare_cached(
                "SELECT base, metadata, text, title, slug, hidden FROM event_texts JOIN events USING (id)
                 LEFT JOIN search_texts USING (id) WHERE id = ?1",
            )?
            .query_row([ids::row(event)], |row| {
                Ok(Self {
                    base: row.get(0)?,
                    metadata: row.get(1)?,
                    search_text: row.get(2)?,
                    title: row.get(3)?,
                    slug: row.get(4)?,
                    hidden: row.get(5)?,
                })
            })
            .optional()?)
    }
}

fn texts_of_links(
    connection: &Connection,
    links: links::Links,
    statement: &str,
    event: u64,
) -> Result<Vec<String>, CatalogError> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut texts = Vec::new();
    for id in links::of_event(connection, links, event)? {
        texts.push(statement.query_row([ids::row(id)], |row| row.get(0))?);
    }
    Ok(texts)
}

/// Questions of an event's shown markets by id, and the number of its hidden ones.
fn questions_of(connection: &Connection, event: u64) -> Result<(Vec<String>, usize), CatalogError> {
    let mut statement = connection
        .prepare_cached("SELECT question, hidden FROM markets WHERE event_id = ?1 ORDER BY id")?;
    let rows = statement.query_map([ids::row(event)], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut questions: Vec<(String, bool)> = rows.collect::<Result<_, _>>()?;
    let all = questions.len();
    questions.retain(|(_, is_hidden)| !is_hidden);
    let hidden = all - questions.len();
    Ok((
        questions
            .into_iter()
            .map(|(question, _)| question)
            .collect(),
        hidden,
    ))
}

/// Replaces the search index entries of an event; a hidden one has none.
fn index_event(
    connection: &Connection,
    event: u64,
    search_text: Option<&str>,
    is_new: bool,
) -> Result<(), CatalogError> {
    let id = ids::row(event);
    if !is_new {
        for statement in [
            "DELETE FROM search_texts WHERE id = ?1",
            "DELETE FROM search WHERE rowid = ?1",
            "DELETE FROM search_prefixes WHERE rowid = ?1",
        ] {
            connection.prepare_cached(statement)?.execute([id])?;
        }
    }
    let Some(search_text) = search_text else {
        return Ok(());
    };
    connection
        .prepare_cached("INSERT INTO search_texts (id, text) VALUES (?1, ?2)")?
        .execute(params![id, search_text])?;
    connection
        .prepare_cached("INSERT INTO search (rowid, text) VALUES (?1, ?2)")?
        .execute(params![id, search_text])?;
    connection
        .prepare_cached("INSERT INTO search_prefixes (rowid, text) VALUES (?1, ?2)")?
        .execute(params![id, prefixes(search_text)])?;
    Ok(())
}

/// Updates the creators of an event and of its markets.
fn derive_creators(connection: &Connection, event: u64) -> Result<(), CatalogError> {
    let id = ids::row(event);
    let creators = |statement| -> Result<BTreeSet<[u8; 20]>, CatalogError> {
        let mut statement = connection.prepare_cached(statement)?;
        let rows = statement.query_map([id], |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    };
    let made = creators(
        "SELECT creator FROM markets WHERE event_id = ?1 AND creator IS NOT NULL
         UNION ALL SELECT creator FROM events WHERE id = ?1 AND creator IS NOT NULL",
    )?;
    let known = creators("SELECT creator FROM event_creators WHERE event_id = ?1")?;
    if made == known {
        return Ok(());
    }
    connection
        .prepare_cached("DELETE FROM event_creators WHERE event_id = ?1")?
        .execute([id])?;
    let mut insert = connection.prepare_cached("INSERT INTO event_creators VALUES (?1, ?2)")?;
    for creator in made {
        insert.execute(params![creator, id])?;
    }
    Ok(())
}
