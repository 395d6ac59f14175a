//! Answers with a single record.

use foretell_model::WalletAddress;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension};

use super::Catalog;
use super::creator_filter::CreatorFilter;
use super::record_texts::RecordTexts;
use crate::error::{CatalogError, NotFound};
use crate::query::{Column, OneQuery};
use crate::table::Table;

/// A requested record.
pub(super) struct One<'q> {
    /// Whether it belongs to one of these wallets.
    pub(super) belongs: fn(&Table, &[WalletAddress], i64) -> bool,
    pub(super) query: &'q OneQuery,
    /// The error without it.
    pub(super) nothing: NotFound,
}

impl Catalog {
    /// The JSON of the record whose id `find` returns, if it is in scope.
    pub(super) fn one(
        &self,
        one: &One<'_>,
        find: impl FnOnce(&Connection) -> Result<Option<i64>, CatalogError>,
        text: impl Fn(RecordTexts<'_>, i64) -> Result<Option<String>, CatalogError>,
    ) -> Result<String, CatalogError> {
        let record = |connection: &Connection, id: Option<i64>| {
            let text = id.map(|id| text(self.texts(connection), id)).transpose()?;
            text.flatten().ok_or(CatalogError::NotFound(one.nothing))
        };
        match self.scope(one.query.creator.as_deref()) {
            CreatorFilter::All => self
                .pool
                .with(|connection| record(connection, find(connection)?)),
            CreatorFilter::Creators(creators) => self.with_table(|connection, table| {
                let belongs = |id: &i64| (one.belongs)(table, &creators, *id);
                record(connection, find(connection)?.filter(belongs))
            }),
        }
    }
}

/// Of the shown records of a table with one slug, the newest.
pub(super) fn newest_of_slug(
    connection: &Connection,
    table: &'static str,
    slug: &str,
) -> Result<Option<i64>, CatalogError> {
    let shown = match table {
        "tags" => "",
        _ => "AND hidden = 0",
    };
    let statement =
        format!("SELECT id FROM {table} WHERE slug = ?1 {shown} ORDER BY id DESC LIMIT 1");
    first(connection, &statement, Value::Text(slug.to_owned()))
}

/// The first id that a statement returns for a value.
pub(super) fn first(
    connection: &Connection,
    statement: &str,
    value: Value,
) -> Result<Option<i64>, CatalogError> {
    Ok(connection
        .prepare_cached(statement)?
        .query_row([value], |row| row.get(0))
        .optional()?)
}

/// The text of a record in one column.
pub(super) fn text_of(
    connection: &Connection,
    statement: &str,
    id: i64,
) -> Result<Option<String>, CatalogError> {
    Ok(connection
        .prepare_cached(statement)?
        .query_row([id], |row| row.get(0))
        .optional()?)
}

/// The text of a record in a column that lists sort by; the statements find its slug and its title.
pub(super) fn sort_text(
    connection: &Connection,
    [slug, title]: [&str; 2],
    column: Column,
    id: i64,
) -> Result<String, CatalogError> {
    let statement = match column {
        Column::Slug => slug,
        _ => title,
    };
    Ok(text_of(connection, statement, id)?.unwrap_or_default())
}
